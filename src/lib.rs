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
//! 1. `crates/core/src/program/mod.rs`: [`program::KernelCode`], a decoded kernel. Each instruction
//!    has an op class, registers, and semantics that do not depend on the language it was written
//!    in.
//! 2. `crates/core/src/path/mod.rs`: [`path::WarpPath`], the sequence of instructions that a warp
//!    executed, and [`path::BlockPaths`], the paths of a block's warps. Paths contain no times.
//! 3. `crates/exec/src/lib.rs`: [`exec::Executor`], which executes a launch functionally, block by
//!    block, and produces the paths.
//! 4. `crates/core/src/program/timing.rs`: [`program::TimingTable`], which binds the op classes of
//!    a program to the units of a [`machine::Machine`]: each instruction gets its unit, initiation
//!    interval and latency.
//! 5. `crates/sim/src/paper/mod.rs`: the engine of the paper model, about 300 lines. Its `issue`
//!    computes when an instruction starts and completes.
//! 6. `crates/bound/src/contract.rs`: [`bound::Bound`], the trait of every bound.
//!    `crates/bound/src/iwb.rs` is a short and proved example.
//! 7. `crates/judge/src/check/judge.rs`: the comparison of simulated makespans with the values of
//!    bounds, block by block.
//! 8. `crates/cli/src/commands/check/mod.rs`: the command `check`, which drives all of this.
//!
//! ### First example: `warpbound check saxpy`
//!
//! 1. `src/main.rs` calls [`cli::main`]. It parses the arguments (`crates/cli/src/args.rs`) and
//!    calls the function of the command, here `run` in `crates/cli/src/commands/check/mod.rs`.
//! 2. `prepare` in `crates/cli/src/commands/check/judged.rs` loads the kernel through
//!    `crates/cli/src/load.rs`: it finds the launch file `kernels/saxpy/saxpy.ron`, parses the PTX
//!    module that the file names, and makes a [`check::Workload`] of them. It also determines the
//!    machines and policies.
//! 3. [`check::judge_each`] (`crates/judge/src/check/each.rs`) makes a [`check::Plan`] per machine.
//!    `check_all` in `crates/judge/src/check/replay.rs` executes the kernel once for all machines
//!    and policies that can share its paths.
//! 4. For each block, [`sim`] replays the paths under the policy, and [`bound::Analyser`] analyses
//!    them. Neither sees a result of the other.
//! 5. `Judge::block` in `crates/judge/src/check/judge.rs` compares the makespan of the block with
//!    the value of each bound. The totals are a [`check::JudgedLaunch`], which has a
//!    [`check::Verdict`].
//! 6. `crates/report/src/check.rs` formats it as text or JSON, and `crates/cli/src/output.rs`
//!    prints it and determines the exit code.
//!
//! ### Second example: a bound, from a path to a judged number
//!
//! 1. [`bound::Analyser`] (`crates/bound/src/section.rs`) splits the paths of a block at barriers
//!    into sections. For each section it analyses each warp as if the warp ran alone, by the
//!    algorithm in `crates/bound/src/algorithm.rs`, and records the load on each unit. The result
//!    is a [`bound::SectionAnalysis`].
//! 2. [`bound::Bound::warp_values`], for example that of [`bound::Iwb`], turns a section into one
//!    value per warp. [`bound::Bound::add_section`] takes the maximum over the warps and adds it to
//!    the [`bound::BoundReport`] of the block.
//! 3. [`bound::Bound::applicable`] tests the premises of the bound on a [`bound::Context`], which
//!    holds the facts about the machine, the policy and the run (`crates/bound/src/context.rs`).
//!    Only a bound whose premises hold gets a [`bound::Applicable`], and only an `Applicable` turns
//!    a value into a [`bound::Guarantee`].
//! 4. `Judge::block` in `crates/judge/src/check/judge.rs` enters the guarantee beside the
//!    makespan of the block in a [`check::BlockTable`], and adds it to the [`check::BoundRow`] of
//!    the run.
//! 5. `settle` in `crates/judge/src/check/order.rs` withdraws the verdicts if the paths of the
//!    functional run depend on timing, for example because of a memory race.
//!    [`check::BoundRow::verdict`] is the judged result.
//!
//! ### Third example: an instruction, from PTX text to a cycle
//!
//! The example is `bfind.u32 %r2, %r1;`.
//!
//! 1. [`ptx::Module::parse`] reads the file: `crates/front/src/ptx/lexer.rs` makes tokens of the
//!    text, `crates/front/src/ptx/parser/mod.rs` makes a syntax tree of the tokens, and
//!    `crates/front/src/ptx/resolve/mod.rs` resolves names.
//! 2. [`ptx::Module::program`] lowers the kernel. `instruction` in
//!    `crates/front/src/ptx/lower/mod.rs` passes the instruction to the file of its family, here
//!    `crates/front/src/ptx/lower/bits.rs`, which returns the semantics: a [`program::Sem`] with
//!    [`program::sem::IntOp::Bfind`].
//! 3. The table `isa/ptx.ron`, an [`isa::IsaTable`], maps the opcode root `bfind` to the op class
//!    `alu.bits`. Semantics and op class together are the [`program::Instr`].
//! 4. [`exec::Executor`] executes the instruction for the 32 lanes of a warp: `execute` in
//!    `crates/exec/src/step.rs` passes it to `crates/exec/src/per_lane.rs`, which calls
//!    `crates/exec/src/arith/int.rs`, and `crates/exec/src/arith/bits.rs` computes the value. The
//!    executed instruction becomes a [`path::Step`] of the [`path::WarpPath`].
//! 5. [`program::TimingTable::new`] looks `alu.bits` up in the machine. The machine in
//!    `configs/ecrts25-orin.ron` maps its family `alu` to the unit `int`, `init` 1 and `lat` 0.
//! 6. `Sm::issue` in `crates/sim/src/paper/mod.rs` runs when the policy has chosen the warp. The
//!    instruction starts in `max(now, cycle in which the unit is free)`, and its result is
//!    available `init + lat` cycles later.
//! 7. Observers get a [`trace::Issue`] with these cycles. Traces, statistics and critical paths are
//!    all made from such events.
//!
//! ## How data flows
//!
//! ```text
//!  ptx      ─┐                                       ┌─> sim ────┬─> events ──> trace, why
//!  sass     ─┼─> KernelCode ──> exec ──> BlockPaths ─┤           │
//!  micro    ─┘                                       │           ├─> check ──> report ──> cli
//!  accelsim ───> KernelCode ───────────> BlockPaths ─┤           │
//!                                                    ├─> bound ──┘
//!  TimingTable = KernelCode + Machine ───────────────┤
//!                                                    └─> explore   (every schedule of a block)
//! ```
//!
//! * A front end decodes a kernel into a [`program::KernelCode`]: [`ptx`] for PTX, [`sass`] for
//!   machine code, [`micro`] for small kernels in a notation of their own.
//! * [`accelsim`] reads traces of Accel-Sim's tracer. A trace contains both the instructions and
//!   the paths, so it is not executed.
//! * [`exec`] executes a launch functionally, once, 32 lanes at a time. It produces the
//!   [`path::BlockPaths`] of each block in launch order, four bytes per step, without any times.
//! * A *program* ([`program::sequence`]) is a sequence of launches over memory that persists
//!   ([`exec::Device`]). A program or a list of traces is an *application*
//!   ([`check::Application`]), and [`check::judge_from`] runs and judges its kernels one after the
//!   other.
//! * [`sim`] replays paths under a scheduling policy and emits events to observers ([`trace`]).
//!   [`bound`] reads the same paths and computes phases and bounds.
//! * [`check`] is the only module that compares a simulated makespan with a bound.
//! * [`explore`] searches instead of simulating one schedule. It finds the exact worst and best
//!   case of a block over all schedules, and long schedules of larger blocks
//!   ([`explore::adversary`]). On a machine with a pipeline it searches the choices of all arbiters
//!   of a launch ([`explore::choices`]). It also finds blocks and launches that violate a bound
//!   ([`explore::hunt`]) and timing anomalies ([`explore::anomaly`]). It enumerates the blocks of a
//!   small grammar ([`explore::grammar`]) and implements the Fermi model of Raravi and Andersson,
//!   2010 ([`explore::fermi`]).
//! * [`exec::all_paths`] executes warps with all loaded data unknown, so that its
//!   [`path::PathSet`]s cover every input. [`bound::all_paths`] computes the bound over all paths
//!   of a set.
//! * [`sweep`] defines plans, their points and their results. The points run through
//!   [`check::judge_each`], which the commands `check` and `compare` use, too.
//! * [`hybrid`] estimates execution times in another way. It measures the times of warps between
//!   points of the code, in traces of any machine, and combines them along the control flow graph.
//! * [`pwcet`] takes a sample of execution times, simulated or measured, and estimates which times
//!   are exceeded with a small probability, by extreme-value statistics.
//! * [`why`] reads the events of a run and finds its critical path, that is, the cause of each
//!   cycle of the makespan.
//! * [`load`] reads kernels, machines and policies by name or from files. [`compile`] makes PTX of
//!   CUDA C++ with a compiler of the user.
//! * [`report`] formats results as text and JSON. [`cli`] does all other input and output.
//!
//! ## Invariants
//!
//! * **Independence.** `sim` and `bound` share the machine description and the instruction
//!   sequence, but no code that computes a point in time, and neither crate depends on the other.
//!   Without this independence a comparison of the two would prove nothing.
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
//! ## Crates
//!
//! The code is in crates below `crates/`, one workspace. A crate may depend on those of lower rows;
//! `sim`, `bound`, `hybrid` and `pwcet` are one row:
//!
//! ```text
//!  cli                       arguments, output files, exit codes; the only crate that prints
//!  report                    text, JSON and pages of each command
//!  judge                     launches by name; verdicts; searches; plans of many runs
//!  sim    bound              timing simulation; phases and bounds
//!  hybrid pwcet              estimates from traces; statistics of measured times
//!  exec   trace    front     functional execution; events and critical paths; front ends
//!  core                      programs, paths, machines, diagnostics
//! ```
//!
//! `sim` and `bound` do not depend on each other, and `bound` depends on `core` alone. So Cargo
//! enforces that the simulation and the bounds are independent. `sim` depends on `core` and `trace`
//! alone, so that it cannot execute kernels itself. `why`, in the crate `trace`, cannot use the
//! simulation either: a critical path that is computed by the code that produced the times would
//! not explain them.
//!
//! The package `warpbound` re-exports the modules of all crates under the names that this guide
//! uses, and contains the program and the integration tests. Without its default feature `cli` it
//! has no command line, no reports and no hybrid analysis. It then does not depend on a parser of
//! arguments, libraries for fonts or a solver of linear programs.
//!
//! `python/` is the native part of the package for Python and a workspace member of its own, which
//! only `scripts/check-python.sh` builds. It calls commands through [`cli::Call`] and defines policies
//! through [`sim::policy::define_policy`]. `playground/` is a page for browsers, which
//! `scripts/playground.sh` builds; it uses the library without [`cli`].
//!
//! Within a crate, the modules of a folder (its files, and its subfolders as a whole) use each
//! other without a cycle. It does not matter by which path or re-export a module uses another one.
//! A `mod.rs` may use its children, and they may use what it defines itself. An item that it only
//! re-exports counts as an item of the child. `tests/layers.rs` enforces this rule, and compares
//! the rows above with each `Cargo.toml`.
//!
//! ## Where to look
//!
//! ### The simulated machine
//!
//! | topic | location |
//! |---|---|
//! | the exact rules of issue, dispatch and write-back | [`model`] |
//! | papers and other sources | [`model::bibliography`] |
//! | scheduling policies; those of a calling program | `crates/sim/src/policy/`, one file each; `crates/sim/src/policy/called.rs` |
//! | the engine of the paper model; the machines that it accepts | `crates/sim/src/paper/`; [`sim::PaperMachine`] |
//! | placement, barriers and ends of blocks, for both engines | `crates/sim/src/blocks/` |
//! | the reason why an issue slot is idle | [`trace::StallReason`], `crates/sim/src/idle.rs` |
//! | the detailed engine: fetch, operand collector, load/store unit | `crates/sim/src/pipeline/` |
//! | its simple and slow reference, for tests | `crates/sim/src/pipeline/by_cycle/` |
//! | several SMs; many cycles at a time, on several threads | `crates/sim/src/pipeline/gpu.rs`; `crates/sim/src/pipeline/window.rs` |
//! | caches, interconnect, DRAM | `crates/sim/src/pipeline/memory/` |
//! | the settings of a machine, with their defaults | [`machine::pipeline`], [`machine::memory`], [`machine::SharedMemorySpec`] |
//! | the way from a machine file to a [`machine::Machine`] | `crates/core/src/machine/written/`, then `layered`, `checked` and `used` beside it |
//! | the import of a GPGPU-Sim configuration | `crates/core/src/machine/gpgpusim/` |
//! | the features beyond the paper model; the bounds that account for each | `crates/core/src/machine/used/features.rs`; `crates/bound/src/claim.rs` |
//! | latencies, with their sources | `configs/*.ron` |
//! | comparison with another simulator | `tests/engine/accelsim.rs` |
//! | comparison with a real GPU: results and cycles; what was measured | `crates/cli/src/commands/bundle/`, `scripts/measure-on-card.py`, `crates/cli/src/commands/validate/`; `data/measured/` |
//!
//! ### Kernels and their execution
//!
//! | topic | location |
//! |---|---|
//! | the meaning of a PTX instruction; its execution | `crates/front/src/ptx/lower/`; `crates/exec/src/` |
//! | the op class of an opcode | `isa/ptx.ron` |
//! | machine code: encoding, text and meaning of instructions | `isa/pascal.ron`, `isa/turing.ron`, `crates/front/src/sass/table/`, `crates/front/src/sass/lower/` |
//! | machine code: dependences that control codes have to cover | `isa/latencies.ron`, `crates/front/src/sass/lower/accesses.rs`, `crates/judge/src/check/hazards/` |
//! | how machine code is checked | `docs/machine-code.md` |
//! | traces of Accel-Sim's tracer: reading, writing, opcodes | `crates/front/src/accelsim/`, `isa/traces/*.ron`, `docs/traces.md` |
//! | the launch file and the launch that it becomes | `crates/core/src/program/launch/` |
//! | guessed arguments of a launch | [`program::params`], [`program::template`] |
//! | programs of several launches: steps and loops | `crates/core/src/program/sequence/` |
//! | the properties of a memory access that timing depends on | [`program::MemoryOp`], set by the front ends |
//! | the memory lines and the banks of an access | `crates/core/src/path/lines.rs`; `crates/core/src/path/banks.rs` |
//! | textures and surfaces | [`program::image`], `crates/exec/src/image/` |
//! | the elements of a matrix fragment; the rounding of products | [`program::sem::Fragment`], [`program::sem::Product`] |
//! | reconvergence of diverged lanes; turns of their paths | [`program::cfg`], `crates/exec/src/stack/`; `independent.rs` there |
//! | the control flow of a warp; uniform branches | [`program::warp_cfg`]; [`program::uniform`] |
//! | loops; the edges that represent divergence | [`program::graph`] |
//!
//! ### Checks and bounds
//!
//! | topic | location |
//! |---|---|
//! | the plan, the run and the judgement of a check | `crates/judge/src/check/plan.rs`, `run.rs`, `judge.rs` and `judged_launch.rs` beside it |
//! | functional execution ahead of the simulation, on a thread of its own | `crates/judge/src/check/ahead.rs` |
//! | one functional run for several machines and policies | `crates/judge/src/check/replay.rs`, `crates/judge/src/check/applications.rs`, `crates/judge/src/check/each.rs` |
//! | the parts of a bound; beside the causes of a makespan | `crates/bound/src/parts.rs`; `crates/report/src/beside.rs` |
//! | the evidence for a bound: claims and premises; rules with their tests; the folder | `crates/report/src/evidence_pack/`; `crates/report/src/evidence_pack/rules.rs`; `crates/cli/src/commands/evidence_pack.rs` |
//! | the sentence that answers `check`, `static` and `wcet` | `crates/report/src/answer.rs` |
//! | applications, their totals, their runs | `crates/judge/src/check/application.rs`, `judged_application.rs`, `applications.rs` beside it |
//! | checkpoints: content; file; identity | `crates/judge/src/check/progress.rs`; `crates/cli/src/checkpoint.rs`; `crates/cli/src/checkpoint/identity.rs` |
//! | the cost of each simplification of the paper model | [`check::ablation`] |
//! | Algorithm 1 of Jeanmougin et al., ECRTS 2025 | `crates/bound/src/algorithm.rs` |
//! | the facts about the machine that all proofs use | [`bound::proofs`] |
//! | the proofs of IWB, SWB, LWB, RBB and PLB | [`bound::proofs::iwb`], [`bound::proofs::swb`], [`bound::proofs::lwb`], [`bound::proofs::rbb`], [`bound::proofs::plb`], [`bound::proofs::memory`] |
//! | the proofs of SRR and GSRR | [`bound::proofs::turns`] |
//! | bounds that do not hold, with counterexamples | [`bound::failed`] |
//! | the paths that are possible for any input; the bound over them | [`exec::all_paths`]; [`bound::all_paths`], `crates/judge/src/check/all_paths.rs` |
//! | whether runs keep to given loop bounds | `crates/judge/src/check/all_paths/kept.rs` |
//!
//! ### Searches and estimates
//!
//! | topic | location |
//! |---|---|
//! | the transition system of a block; of several resident blocks | `crates/judge/src/explore/model.rs`; `crates/judge/src/explore/resident.rs` |
//! | the worst schedule of a large block, slack and luck | [`explore::adversary`], `crates/report/src/worst.rs` |
//! | the hunt for a violation of a bound; on machines with changed settings | `crates/judge/src/explore/hunt/`; `crates/judge/src/explore/hunt/machines/` |
//! | the critical path of a run; the comparison of two runs | [`why`], `crates/report/src/explain.rs`; `crates/report/src/diff.rs`, `crates/report/src/cause.rs` |
//! | the hybrid analysis of Betts and Donaldson, ECRTS 2013; its traces | [`hybrid`]; `crates/hybrid/src/trace.rs` |
//! | instrumentation points of a kernel; when warps pass them | `crates/hybrid/src/instrumented.rs`; `crates/trace/src/trace/ipoints.rs`, `crates/hybrid/src/run.rs` |
//! | measured times; campaigns of random runs | `crates/cli/src/measurements.rs`; `crates/cli/src/commands/pwcet/`, [`sweep::Draws`] |
//! | plans, their points, records and shards; the folder of results | [`sweep`]; `crates/cli/src/files/results.rs` |
//! | a folder of results as a by-product of `check` and `compare` | `crates/cli/src/commands/sweep/recording.rs` |
//! | published numbers beside simulated ones | `crates/report/src/reproduce/`, `plans/` |
//!
//! ### Input and output
//!
//! | topic | location |
//! |---|---|
//! | the options of a command; the command; what it prints | `crates/cli/src/args/`; `crates/cli/src/commands/`; [`report`], one file or folder each |
//! | options that replace parts of a launch | `crates/judge/src/load/launches.rs`, `crates/judge/src/load/arguments.rs` |
//! | lists of machines and policies; batches on threads | `crates/cli/src/lists.rs`; `crates/cli/src/batch.rs` |
//! | the JSON object that contains every result; its tables as CSV | [`report::output`]; [`report::csv`] |
//! | JSON Schemas, made from the types; validation of outputs against them | `schemas/`, `crates/report/src/schemas.rs`; `crates/report/src/schema_files.rs`, `crates/report/src/validator.rs` |
//! | explanations of terms, which are tables of the book; the page of settings, which is made from comments | `crates/report/src/terms.rs`, `crates/report/src/book.rs`; `crates/core/src/machine/tests/documented.rs` |
//! | examples and exit codes in help and manual; completion in shells | `crates/cli/src/examples.rs`; `crates/cli/src/completion.rs` |
//! | commands that another program calls; the place that a command prints to | `crates/cli/src/called.rs`; `crates/cli/src/printer.rs` |
//! | the package for Python: commands, launches with arrays, results; captures of compilers | `python/src/`, `python/warpbound/`; `python/warpbound/cuda.py`, `triton.py` and `numba.py` beside it |
//! | traces of a run as files | `crates/trace/src/trace/csv.rs`, `crates/trace/src/trace/kanata.rs`, `crates/trace/src/trace/perfetto/` |
//! | counters of the memory in a trace | `crates/sim/src/pipeline/samples.rs` |
//! | the timeline of a run | `crates/report/src/timeline/`, with scripts in `crates/report/src/timeline/assets/` |
//! | PTX of CUDA C++: compilers, their options and messages; the command | `crates/judge/src/compile/`; `crates/cli/src/commands/compile.rs` |
//! | the source lines that PTX states; their files | `crates/front/src/ptx/origins.rs`; `crates/judge/src/load/sources.rs` |
//! | the page of results; the formula of a plot; plots; what all pages share | `crates/report/src/results/`; `crates/report/src/results/formula.rs`; `crates/report/src/plot/`; `crates/report/src/html/` |
//! | tests of pages in Chromium | `tests/browser.rs` |
//! | the location of a value in a RON file | `crates/core/src/diag/place.rs` |
//! | files that are read and written | `crates/cli/src/files/` |
//! | progress and cancellation | [`base::ProgressMonitor`], `crates/cli/src/stop.rs`, `crates/cli/src/progress.rs` |

pub use warpbound_bound as bound;
#[cfg(feature = "cli")]
pub use warpbound_cli as cli;
pub use warpbound_core::{base, diag, isa, machine, path, program};
pub use warpbound_exec as exec;
pub use warpbound_front::{accelsim, micro, ptx, sass};
#[cfg(feature = "cli")]
pub use warpbound_hybrid as hybrid;
pub use warpbound_judge::{check, compile, explore, load, sweep};
pub use warpbound_pwcet as pwcet;
#[cfg(feature = "cli")]
pub use warpbound_report as report;
pub use warpbound_sim as sim;
pub use warpbound_trace::{trace, why};

pub mod model;
