//! # warpbound: the architecture guide
//!
//! warpbound is a cycle-level timing simulator of one GPU streaming multiprocessor (SM). It checks
//! analytic bounds on execution times against every run that it simulates. The command line is a
//! thin layer over this library.
//!
//! The [glossary](model::glossary) defines the terms, and the [execution model](model) defines what
//! a simulated cycle is. `CONTRIBUTING.md` describes how to build, test and extend the code.
//!
//! ## Start here
//!
//! These eight files, read in this order, are the core of the program. Everything else adds a
//! source of programs, a feature of machines, another analysis or another form of output.
//!
//! 1. `src/program/mod.rs`: [`program::Program`], a decoded kernel. Each instruction has an op
//!    class, registers, and semantics that do not depend on the language it was written in.
//! 2. `src/path/mod.rs`: [`path::WarpPath`], the sequence of instructions that a warp executed, and
//!    [`path::BlockPaths`], the paths of a block's warps. Paths contain no times.
//! 3. `src/exec/mod.rs`: [`exec::Executor`], which executes a launch functionally, block by block,
//!    and produces the paths.
//! 4. `src/program/timing.rs`: [`program::TimingTable`], which binds the op classes of a program to
//!    the units of a [`machine::Machine`]: each instruction gets its unit, initiation interval and
//!    latency.
//! 5. `src/sim/paper/mod.rs`: the engine of the paper model, about 300 lines. Its `issue` computes
//!    when an instruction starts and completes.
//! 6. `src/bound/contract.rs`: [`bound::Bound`], the trait of every bound. `src/bound/iwb.rs` is a
//!    short and proved example.
//! 7. `src/check/judging.rs`: the comparison of simulated makespans with the values of bounds,
//!    block by block.
//! 8. `src/cli/commands/check/mod.rs`: the command `check`, which drives all of this.
//!
//! ### First walk: `warpbound check saxpy`
//!
//! 1. `src/main.rs` calls [`cli::main`]. It parses the arguments (`src/cli/args.rs`) and calls the
//!    function of the command, here `run` in `src/cli/commands/check/mod.rs`.
//! 2. `prepare` in `src/cli/commands/check/judged.rs` loads the kernel through
//!    `src/cli/load.rs`: it finds the launch file `kernels/saxpy/saxpy.ron`, parses the PTX module
//!    that the file names, and makes a [`check::Workload`] of them. It also determines the machines
//!    and policies.
//! 3. [`check::judge_each`] (`src/check/each.rs`) makes a [`check::Plan`] per machine. `check_all`
//!    in `src/check/replay.rs` executes the kernel once for all machines and policies that can share
//!    its paths.
//! 4. For each block, [`sim`] replays the paths under the policy, and [`bound::Analyser`] analyses
//!    them. Neither sees a result of the other.
//! 5. `Judge::block` in `src/check/judging.rs` compares the makespan of the block with the value of
//!    each bound. The totals are a [`check::Checked`], which has a [`check::Verdict`].
//! 6. `src/report/check.rs` formats it as text or JSON, and `src/cli/output.rs` prints it and
//!    determines the exit code.
//!
//! ### Second walk: a bound, from a path to a judged number
//!
//! 1. [`bound::Analyser`] (`src/bound/section.rs`) splits the paths of a block at barriers into
//!    sections. For each section it analyses each warp as if the warp ran alone, by the algorithm
//!    in `src/bound/algorithm.rs`, and records the load on each unit. The result is a
//!    [`bound::SectionAnalysis`].
//! 2. [`bound::Bound::warp_values`], for example that of [`bound::Iwb`], turns a section into one
//!    value per warp. [`bound::Bound::add_section`] takes the maximum over the warps and adds it to
//!    the [`bound::BoundReport`] of the block.
//! 3. [`bound::Bound::applicable`] tests the premises of the bound on a [`bound::Context`], which
//!    holds the facts about the machine, the policy and the run (`src/bound/context.rs`). Only a
//!    bound whose premises hold gets a [`bound::Applicable`], and only that turns a value into a
//!    [`bound::Guarantee`].
//! 4. `Judge::block` in `src/check/judging.rs` enters the guarantee beside the makespan of the
//!    block in a [`check::BlockTable`], and adds it to the [`check::BoundRow`] of the run.
//! 5. `settle` in `src/check/order.rs` withdraws the verdicts if the paths of the functional run
//!    depend on timing, for example because of a memory race. [`check::BoundRow::verdict`] is the
//!    judged result.
//!
//! ### Third walk: an instruction, from PTX text to a cycle
//!
//! The example is `bfind.u32 %r2, %r1;`.
//!
//! 1. [`ptx::Module::parse`] reads the file: `src/ptx/lexer.rs` makes tokens of the text,
//!    `src/ptx/parser/mod.rs` makes a syntax tree of the tokens, and `src/ptx/resolve/mod.rs`
//!    resolves names.
//! 2. [`ptx::Module::program`] lowers the kernel. `instruction` in `src/ptx/lower/mod.rs` passes
//!    the instruction to the file of its family, here `src/ptx/lower/bits.rs`, which returns the
//!    semantics: a [`program::Sem`] with [`program::sem::IntOp::Bfind`].
//! 3. The table `isa/ptx.ron`, read by [`isa::IsaTable`], maps the opcode root `bfind` to the op
//!    class `alu.bits`. Semantics and op class together are the [`program::Instr`].
//! 4. [`exec::Executor`] executes the instruction for the 32 lanes of a warp: `execute` in
//!    `src/exec/step.rs` calls `src/exec/arith/int.rs`, and `src/exec/arith/bits.rs` computes the
//!    value. The executed instruction becomes a [`path::Step`] of the [`path::WarpPath`].
//! 5. [`program::TimingTable::new`] looks `alu.bits` up in the machine. The machine in
//!    `configs/ecrts25-orin.ron` maps its family `alu` to the unit `int`, `init` 1 and `lat` 0.
//! 6. `Sm::issue` in `src/sim/paper/mod.rs` runs when the policy has chosen the warp. The
//!    instruction starts in `max(now, cycle in which the unit is free)`, and its result is
//!    available `init + lat` cycles later.
//! 7. Observers get a [`trace::Issue`] with these cycles. Traces, statistics and critical paths are
//!    all made from such events.
//!
//! ## How data flows
//!
//! ```text
//!  ptx      ─┐                                    ┌─> sim ────┬─> events ──> trace, why
//!  sass     ─┼─> Program ──> exec ──> BlockPaths ─┤           │
//!  micro    ─┘                                    │           ├─> check ──> report ──> cli
//!  accelsim ───> Program ───────────> BlockPaths ─┤           │
//!                                                 ├─> bound ──┘
//!  TimingTable = Program + Machine ───────────────┤
//!                                                 └─> explore   (every schedule of a block)
//! ```
//!
//! * A front end decodes a kernel into a [`program::Program`]: [`ptx`] for PTX, [`sass`] for
//!   machine code, [`micro`] for small kernels in a notation of their own.
//! * [`accelsim`] reads traces of Accel-Sim's tracer. A trace contains both the instructions and
//!   the paths, so that nothing is executed.
//! * [`exec`] executes a launch functionally, once, 32 lanes at a time. It produces the
//!   [`path::BlockPaths`] of each block in launch order, four bytes per step, without any times.
//! * A *program* ([`program::sequence`]) is a sequence of launches over memory that persists
//!   ([`exec::Device`]). A program or a list of traces is an *application*
//!   ([`check::Application`]), and [`check::judge_from`] runs and judges its kernels one after the
//!   other.
//! * [`sim`] replays paths under a scheduling policy and emits events to observers ([`trace`]).
//!   [`bound`] reads the same paths and computes phases and bounds.
//! * [`check`] is the only place where a simulated makespan meets a bound.
//! * [`explore`] searches instead of simulating one schedule. It finds the exact worst and best
//!   case of a block over all schedules, long schedules of larger blocks ([`explore::adversary`]),
//!   blocks and launches that violate a bound ([`explore::hunt`]) and timing anomalies
//!   ([`explore::anomaly`]). It enumerates the blocks of a small grammar ([`explore::grammar`]) and
//!   implements the Fermi model of Raravi and Andersson, 2010 ([`explore::fermi`]).
//! * [`exec::all_paths`] executes warps with all loaded data unknown, so that its
//!   [`path::PathSet`]s cover every input. [`bound::all_paths`] computes the bound over all paths
//!   of a set.
//! * [`sweep`] defines plans, their points and their results. The points run through
//!   [`check::judge_each`], which the commands `check` and `compare` use, too.
//! * [`hybrid`] estimates execution times in another way: it measures the times of warps between
//!   points of the code, in traces of any machine, and combines them along the control flow graph.
//! * [`pwcet`] takes a sample of execution times, simulated or measured, and estimates which times
//!   are exceeded with a small probability, by extreme-value statistics.
//! * [`why`] reads the events of a run and finds its critical path, that is, the cause of each
//!   cycle of the makespan.
//! * [`load`] reads what names and files refer to: kernels, machines, policies.
//! * [`report`] formats results as text and JSON. [`cli`] does all other input and output.
//!
//! ## Invariants
//!
//! * **Independence.** `sim` and `bound` share the machine description and the instruction
//!   sequence, but no code that computes a point in time, and neither imports the other. Without
//!   this independence a comparison of the two would prove nothing. `tests/layers.rs` enforces it.
//! * **Determinism.** The same input gives the same bytes on any number of threads. Times are
//!   integers and seeds are explicit (ChaCha8). No result depends on a clock, on the environment or
//!   on the order of a hash map.
//! * **Two types of time.** [`base::Cycle`] is an instant and [`base::Cycles`] a duration. Only the
//!   meaningful sums of them compile.
//! * **Parsed values are not used directly.** A [`machine::MachineSpec`] is the content of a file;
//!   a [`machine::Machine`] is always valid, and so is each of its parts. The same holds for
//!   launches and micro kernels.
//! * **Memory does not grow with the grid,** nor with the number of launches of a program. Blocks
//!   are streamed; only the makespan and the bound values of each are kept.
//! * **Every idle issue slot has exactly one reason** ([`trace::StallReason`]). On each sub-core
//!   the idle cycles and the cycles with an issue add up to the makespan. With dual issue, a cycle
//!   can have two issues.
//! * **No input causes a panic.** Bad input gives [`diag::Diagnostics`], with a location, a message
//!   and a hint for every error of a file at the same time.
//!
//! ## Layers
//!
//! A module may import modules of lower rows, and modules further to the right in its own row.
//!
//! ```text
//!  cli                                   arguments, output files, exit codes; the only layer that prints
//!  report   sweep                        text and JSON of each command; plans, points and results
//!  load                                  names and files to kernels, machines, policies
//!  check  explore  hybrid  pwcet  why    verdicts; searches; estimates from traces and from times;
//!                                        critical paths
//!  sim      bound                        timing simulation; phases and bounds (never each other)
//!  exec     trace                        functional execution; events and observers
//!  ptx   sass   micro   accelsim         front ends
//!  program  path  machine  isa           decoded kernels; paths; machines; op classes
//!  base     diag                         time, ids, masks; diagnostics
//!  model                                 documentation only: the model, the glossary, the papers
//! ```
//!
//! `why` needs what a front end decodes, the machine description and the events of a trace. It may
//! import neither `sim` nor `bound`: a critical path that is computed by the code that produced the
//! times would not explain them.
//!
//! Within a layer, the modules of a folder (files, and folders with everything in them) use each
//! other without a cycle, whatever the path or re-export. A `mod.rs` may use its children, and they
//! may use what it defines itself; what it only re-exports counts as the child's. `tests/layers.rs`
//! enforces both rules.
//!
//! ## Where to look
//!
//! ### The simulated machine
//!
//! | topic | location |
//! |---|---|
//! | the exact rules of issue, dispatch and write-back | [`model`] |
//! | papers and other sources | [`model::bibliography`] |
//! | scheduling policies | `src/sim/policy/`, one file each |
//! | the engine of the paper model; the machines that it accepts | `src/sim/paper/`; [`sim::PaperMachine`] |
//! | placement, barriers and ends of blocks, for both engines | `src/sim/blocks/` |
//! | the reason why an issue slot is idle | [`trace::StallReason`], `src/sim/idle.rs` |
//! | the detailed engine: fetch, operand collector, load/store unit | `src/sim/pipeline/` |
//! | its simple and slow reference, for tests | `src/sim/pipeline/by_cycle/` |
//! | several SMs; many cycles at a time, on several threads | `src/sim/pipeline/gpu.rs`; `src/sim/pipeline/window.rs` |
//! | caches, interconnect, DRAM | `src/sim/pipeline/memory/` |
//! | the settings of a machine, with their defaults | [`machine::pipeline`], [`machine::memory`], [`machine::SharedMemorySpec`] |
//! | the way from a machine file to a [`machine::Machine`] | `src/machine/written/`, then `layered`, `checked` and `used` beside it |
//! | the import of a GPGPU-Sim configuration | `src/machine/gpgpusim/` |
//! | the features beyond the paper model; the bounds that account for each | `src/machine/used/features.rs`; `src/bound/claim.rs` |
//! | latencies, with their sources | `configs/*.ron` |
//! | comparison with another simulator | `tests/engine/accelsim.rs` |
//!
//! ### Kernels and their execution
//!
//! | topic | location |
//! |---|---|
//! | the meaning of a PTX instruction; its execution | `src/ptx/lower/`; `src/exec/` |
//! | the op class of an opcode | `isa/ptx.ron` |
//! | machine code: encoding, text and meaning of instructions | `isa/pascal.ron`, `src/sass/table/`, `src/sass/lower/` |
//! | how machine code is checked | `docs/machine-code.md` |
//! | traces of Accel-Sim's tracer: reading, writing, opcodes | `src/accelsim/`, `isa/traces/*.ron`, `docs/traces.md` |
//! | the launch file and the launch that it becomes | `src/program/launch/` |
//! | guessed arguments of a launch | [`program::params`], [`program::template`] |
//! | programs of several launches: steps and loops | `src/program/sequence/` |
//! | the properties of a memory access that timing depends on | [`program::MemoryOp`], set by the front ends |
//! | the memory lines and the banks of an access | `src/path/lines.rs`; `src/path/banks.rs` |
//! | textures and surfaces | [`program::image`], `src/exec/image/` |
//! | the elements of a matrix fragment; the rounding of products | [`program::sem::Fragment`], [`program::sem::Product`] |
//! | reconvergence of diverged lanes | [`program::cfg`], `src/exec/stack/` |
//! | the control flow of a warp; uniform branches | [`program::warp_cfg`]; [`program::uniform`] |
//! | loops; the edges that represent divergence | [`program::graph`] |
//!
//! ### Checks and bounds
//!
//! | topic | location |
//! |---|---|
//! | a plan, its run, its judgement | `src/check/plan.rs`, `run.rs`, `judging.rs` and `checked.rs` beside it |
//! | functional execution ahead of the simulation, on a thread | `src/check/ahead.rs` |
//! | one functional run for several machines and policies | `src/check/replay.rs`, `src/check/applications.rs`, `src/check/each.rs` |
//! | applications, their totals, their runs | `src/check/application.rs`, `tally.rs`, `applications.rs` beside it |
//! | checkpoints: content; file; identity | `src/check/reached.rs`; `src/cli/checkpoint.rs`; `src/cli/checkpoint/identity.rs` |
//! | the cost of each simplification of the paper model | [`check::ablation`] |
//! | Algorithm 1 of Jeanmougin et al., ECRTS 2025 | `src/bound/algorithm.rs` |
//! | the facts about the machine that all proofs use | [`bound::proofs`] |
//! | the proofs of IWB, SWB, LWB and RBB | [`bound::proofs::iwb`], [`bound::proofs::swb`], [`bound::proofs::lwb`], [`bound::proofs::rbb`] |
//! | the proofs of SRR and GSRR | [`bound::proofs::turns`] |
//! | bounds that do not hold, with counterexamples | [`bound::failed`] |
//! | the paths that are possible for any input; the bound over them | [`exec::all_paths`]; [`bound::all_paths`], `src/check/every_path.rs` |
//!
//! ### Searches and estimates
//!
//! | topic | location |
//! |---|---|
//! | the transition system of a block; of several resident blocks | `src/explore/model.rs`; `src/explore/resident.rs` |
//! | the worst schedule of a large block, slack and luck | [`explore::adversary`], `src/report/worst.rs` |
//! | the critical path of a run; its comparison with another's | [`why`], `src/report/explain.rs`; `src/report/diff.rs` |
//! | the hybrid analysis of Betts and Donaldson, ECRTS 2013 | [`hybrid`]; its traces are `src/hybrid/trace.rs` |
//! | instrumentation points of a kernel; when warps pass them | `src/hybrid/instrumented.rs`; `src/trace/ipoints.rs`, `src/hybrid/run.rs` |
//! | measured times; campaigns of random runs | `src/cli/measurements.rs`; `src/cli/commands/pwcet/`, [`sweep::Draws`] |
//! | plans, their points, records and shards | [`sweep`]; the folder of results is `src/cli/files/results.rs` |
//! | a folder of results as a by-product of `check` and `compare` | `src/cli/commands/sweep/recording.rs` |
//! | published numbers beside simulated ones | `src/report/reproduce/`, `plans/` |
//!
//! ### Input and output
//!
//! | topic | location |
//! |---|---|
//! | the options of a command; the command; what it prints | `src/cli/args/`; `src/cli/commands/`; [`report`], one file or folder each |
//! | options that replace parts of a launch | `src/load/launches.rs`, `src/load/arguments.rs` |
//! | lists of machines and policies; batches on threads | `src/cli/lists.rs`; `src/cli/batch.rs` |
//! | the JSON object around every result | [`report::output`] |
//! | JSON Schemas, made from the types; the test of output against them | `schemas/`, `src/report/schemas.rs`; `tests/support/json_output.rs` |
//! | traces of a run as files | `src/trace/csv.rs`, `src/trace/kanata.rs`, `src/trace/perfetto/` |
//! | counters of the memory in a trace | `src/sim/pipeline/samples.rs` |
//! | the timeline of a run | `src/report/timeline/`, with scripts in `src/report/timeline/assets/` |
//! | the page of results; plots; what all pages share | `src/report/results/`; `src/report/plot/`; `src/report/html/` |
//! | tests of pages in Chromium | `tests/browser.rs` |
//! | the location of a value in a RON file | `src/diag/place.rs` |
//! | files that are read and written | `src/cli/files/` |
//! | progress and cancellation | [`base::Watch`], `src/cli/stop.rs`, `src/cli/progress.rs` |

// what tests inside have in common with those outside names the crate
#[cfg(test)]
extern crate self as warpbound;

pub mod accelsim;
pub mod base;
pub mod bound;
pub mod check;
pub mod cli;
pub mod diag;
pub mod exec;
pub mod explore;
pub mod hybrid;
pub mod isa;
pub mod load;
pub mod machine;
pub mod micro;
pub mod model;
pub mod path;
pub mod program;
pub mod ptx;
pub mod pwcet;
pub mod report;
pub mod sass;
pub mod sim;
pub mod sweep;
pub mod trace;
pub mod why;
