//! # warpbound: the architecture guide
//!
//! A cycle-level timing simulator of one GPU streaming multiprocessor (SM) that checks analytic
//! execution-time bounds against every run. The command line is a thin layer over this library.
//!
//! ## How data flows
//!
//! ```text
//!  ptx    ─┐                                     ┌─> sim    schedules the warps ──events──> trace
//!  sass   ─┤                                     │                                            │
//!  micro  ─┴─> Program ──exec──> BlockPaths ─────┤    (two engines: paper model, pipeline)    │
//!  accelsim ─> Program, ───────> BlockPaths      │                                            │
//!              (program)  once   (path)          ├─> bound  Algorithm 1, GUB, IWB, ..., RBB   │
//!                                                │         │                                  v
//!              TimingTable = Program + Machine ──┤  both ──> check: a verdict per bound ──> report ──> cli
//!                                                └─> explore  every schedule of a block
//! ```
//!
//! * A front end ([`ptx`], [`sass`] for machine code, [`micro`]) decodes a kernel into a [`program::Program`]: instructions
//!   with op class, registers and language-neutral semantics ([`program::sem`]).
//! * A trace of another tool ([`accelsim`]) gives both, the instructions that were executed and the paths: nothing is executed.
//! * [`exec`] runs a launch functionally, once, 32 lanes at a time, and yields the
//!   [`path::BlockPaths`] of one block after the other: what each warp executed, four bytes a
//!   step. There is no time in it.
//! * A program ([`program::sequence`]) is a sequence of launches over memory that persists
//!   ([`exec::Device`]). It, or a list of traces, is an application ([`check::Application`]);
//!   [`check::observe_application`] runs and judges its kernels one after the other.
//! * [`program::TimingTable`] brings a program's op classes and a [`machine::Machine`] together:
//!   unit, initiation interval and latency per instruction.
//! * [`sim`] replays paths under a scheduling policy and tells observers ([`trace`]) what happened
//!   when. [`bound`] reads the same paths and computes phases and bounds.
//! * [`explore`] searches instead of simulating: the exact worst and best case over all schedules, long schedules of
//!   blocks that are too large for that ([`explore::adversary`]), blocks and launches that break a bound ([`explore::hunt`]), anomalies ([`explore::anomaly`]), every block of
//!   a small grammar ([`explore::grammar`]), and the Fermi model of Raravi and Andersson, 2010 ([`explore::fermi`]).
//! * [`sweep`] runs the points of a plan, each as [`check`] would, with one functional run for all that can share it
//!   ([`check::judge_each`], which the commands `check` and `compare` use too).
//! * What holds for *every* input needs no run: [`exec::all_paths`] executes warps with loaded data unknown and gives
//!   [`path::PathSet`]s instead of paths, and [`bound::all_paths`] bounds whatever path each warp takes.
//! * [`hybrid`] is the other way to an execution time: it measures warps between points of the code in traces, from whatever
//!   machine, and puts the times together along the control flow graph.
//! * [`pwcet`] takes execution times, simulated or measured, and nothing else: tests, fits, and the times that runs exceed hardly ever.
//! * [`why`] reads the events of a run and finds the critical path: what each cycle of its makespan hangs on.
//! * [`check`] is the only place where a simulated makespan meets a bound. [`report`] turns results into
//!   text and JSON, [`cli`] does all input and output.
//!
//! ## Invariants
//!
//! * **Independence.** `sim` and `bound` share the machine description and the instruction
//!   sequence, never code that computes a point in time, and neither imports the other. That is
//!   what makes the check a check. `tests/layers.rs` enforces it, with the layer order below.
//! * **Determinism.** Same input, same bytes: integer time, explicit seeds (ChaCha8), no clock, no
//!   environment, no iteration over hash maps where order shows.
//! * **Two kinds of time.** [`base::Cycle`] is an instant, [`base::Cycles`] a duration; only the
//!   sums that make sense compile.
//! * **Parsed is not used.** A [`machine::MachineSpec`] is what people write, a
//!   [`machine::Machine`] exists only validated, and so does each of its parts. Likewise launches and
//!   micro kernels.
//! * **Memory does not grow with the grid,** nor with the launches of a program. Blocks are streamed;
//!   only makespan and bound values of each are kept.
//! * **Every idle issue slot has one reason** ([`trace::StallReason`]); reasons and issues add up
//!   to the makespan (with dual issue a cycle can have two issues).
//! * **Front ends survive anything.** A bad input gives [`diag::Diagnostics`] with place, text and
//!   hint, all problems of a file at once; a panic is a fault of ours.
//!
//! ## Layers
//!
//! An arrow may only point down, or to the right within a row.
//!
//! ```text
//!  cli                          arguments, files, exit codes; the only layer that does IO
//!  report   sweep               what each command prints: text and JSON of one struct; plans, points, results
//!  check    explore  hybrid  pwcet  why  verdicts, counterexamples; all schedules, hunts, anomalies; estimates from traces, from times; critical paths
//!  sim      bound               timing engine; phases and bounds        (never each other)
//!  exec     trace               functional run; events and observers
//!  ptx   sass   micro   accelsim   front ends
//!  program  path  machine  isa  decoded kernels; paths; machines; op classes
//!  base     diag                time, ids, masks; diagnostics
//!  model                        documentation only: the rules, the bibliography
//! ```
//!
//! `why` is so high because it needs what a front end decodes, what a machine says and what a trace tells, and so far
//! from `sim` and `bound` that it may use neither: a path that is computed with the code that made the times explains nothing.
//!
//! Within a layer the same holds without an order that is written down: the modules of a folder (files, and
//! folders with all that is in them) use each other without a circle, whatever path or re-export they go by.
//! A `mod.rs` may use its children, and they what it defines itself; what it only passes on is the child's.
//! `tests/layers.rs` enforces both rules.
//!
//! ## Where to look
//!
//! | you look for | it is in |
//! |---|---|
//! | the rules of issue, dispatch and write-back, exactly | [`model`]; the engine is [`sim`] |
//! | papers and other sources | [`model::bibliography`] |
//! | a scheduling policy | `src/sim/policy/`, one file each |
//! | the engine of the paper model, and which machines it takes | `src/sim/paper/`, [`sim::PaperMachine`] |
//! | placement, barriers and the end of blocks, for both engines | `src/sim/blocks/` |
//! | what the cycles of a makespan hang on | [`why`], which defines it; printed by `src/report/explain.rs` (`run --explain`), compared by `src/report/diff.rs` |
//! | why an issue slot stays idle | [`trace::StallReason`], `src/sim/idle.rs` |
//! | the SM as it is: fetch, operand collector, load/store unit | `src/sim/pipeline/`; simple and slow, for tests, `by_cycle/` there |
//! | several SMs, cycle by cycle together, or each for itself for a while and on several threads | `src/sim/pipeline/gpu.rs`; `window.rs` there |
//! | caches, interconnect, DRAM | `src/sim/pipeline/memory/` |
//! | what can be switched on, and its default | [`machine::pipeline`], [`machine::memory`], [`machine::SharedMemorySpec`] |
//! | how a machine file becomes a machine | `src/machine/`: `written`, `layered`, `checked`, `used` |
//! | how a configuration of GPGPU-Sim becomes one | `src/machine/gpgpusim/` |
//! | what of that is beyond the paper model, and which bound accounts for it | `src/machine/used/features.rs`, `src/bound/claim.rs` |
//! | what timing knows of a memory access | [`program::MemoryOp`], set by the front ends |
//! | a plan, its run, the judging of it | `src/check/`: `plan.rs`, `run.rs`, `judging.rs`, `checked.rs` |
//! | functional runs ahead of the simulation, on a thread | `src/check/ahead.rs` |
//! | cycles against another simulator | `tests/engine/accelsim.rs` |
//! | what each simplification costs | [`check::ablation`] |
//! | one functional run for several machines and policies, of which one that fails takes nothing from the others | `src/check/replay.rs`; of an application `src/check/applications.rs`; of either `src/check/each.rs` |
//! | lists of machines and policies on the command line | `src/cli/lists.rs`; batches on threads `src/cli/batch.rs` |
//! | plans, their points, records and shards | [`sweep`]; the folder of results is `src/cli/files/results.rs`, as a by-product of `check` and `compare` `src/cli/commands/sweep/recording.rs` |
//! | numbers of papers beside ours | `src/report/reproduce/` (published ones in `published.rs`, `betts.rs`, `diagxtrm/published.rs`, `pastis/published.rs`), `plans/` |
//! | execution times from elsewhere; a campaign of runs that differ by chance | `src/cli/measurements.rs`; `src/cli/commands/pwcet/`, [`sweep::Draws`] |
//! | the page of results, its plots | `src/report/results/`, `src/report/plot/` |
//! | the timeline of a run, its scripts | `src/report/timeline/`, `assets/` in it; what all pages have is `src/report/html/` |
//! | pages in a browser | `tests/browser.rs`, with Chromium |
//! | Algorithm 1 of Jeanmougin et al., ECRTS 2025 | `src/bound/algorithm.rs` |
//! | the facts about the machine that the proofs of the bounds use | [`bound::proofs`] |
//! | the proofs of IWB, SWB, LWB, RBB | [`bound::proofs::iwb`], [`bound::proofs::swb`], [`bound::proofs::lwb`], [`bound::proofs::rbb`] |
//! | the proofs of SRR and GSRR | [`bound::proofs::turns`] |
//! | bounds that do not hold | [`bound::failed`] |
//! | the transition system that is searched | `src/explore/model.rs`, of several blocks `src/explore/resident.rs` |
//! | the worst schedule of a large block, slack and luck | [`explore::adversary`], `src/report/worst.rs` |
//! | what warps may execute whatever the data are, and the bound over it | [`exec::all_paths`] makes sets of paths ([`path::PathSet`]), [`bound::all_paths`] bounds them, with the proof; put together in `src/check/every_path.rs` |
//! | the hybrid analysis of Betts and Donaldson, ECRTS 2013 | [`hybrid`]; the format of its traces is `src/hybrid/trace.rs` |
//! | where a warp passes which point of the code, as text and for `hybrid` | `src/trace/ipoints.rs`; the points of a kernel are `src/hybrid/instrumented.rs`, a run without a text is `src/hybrid/run.rs` |
//! | how an instruction of machine code is encoded, printed, what it does | `isa/pascal.ron`, `src/sass/table/`, `src/sass/lower/`; checked as `docs/machine-code.md` says |
//! | how a trace of Accel-Sim's tracer is read and written, what its opcodes are | `src/accelsim/`, `isa/traces/*.ron`; `docs/traces.md` |
//! | which lines of memory and banks an access takes | `src/path/lines.rs`, `src/path/banks.rs`, for functional runs and traces |
//! | what a PTX instruction does | `src/ptx/lower/` (to semantics), `src/exec/` (its execution) |
//! | what a launch file may say, and how it becomes a launch | `src/program/launch/` |
//! | textures and surfaces: what they are, how a fetch computes | [`program::image`], `src/exec/image/` |
//! | programs of several launches: steps, loops | `src/program/sequence/` |
//! | applications: what they are, their totals, their runs | `src/check/application.rs`, `tally.rs`, `one_policy.rs`, side by side `applications.rs` |
//! | checkpoints: what is in them, the file, what it belongs to | `src/check/reached.rs`, `src/cli/checkpoint.rs`, `src/cli/checkpoint/identity.rs` |
//! | guessed launches | [`program::params`], [`program::template`] |
//! | options that replace parts of a launch | `src/cli/launches.rs` |
//! | where in a RON file a value stands | `src/diag/place.rs` |
//! | where the elements of a matrix are, how products round | [`program::sem::Fragment`], [`program::sem::Product`] |
//! | reconvergence of diverged lanes | [`program::cfg`], `src/exec/stack/` |
//! | where warps can go, and which branches are uniform | [`program::warp_cfg`], [`program::uniform`]; loops, and the edges of divergence, [`program::graph`] |
//! | what is in a trace, and how it is written | `src/trace/csv.rs`, `kanata.rs`, `perfetto/`; counters of the memory `src/sim/pipeline/samples.rs` |
//! | latencies and their sources | `configs/*.ron` |
//! | how a run is watched and ended early | [`base::Watch`], `src/cli/stop.rs`, `src/cli/progress.rs` |
//! | files that are read and written | `src/cli/files/` |
//! | which op class an opcode has | `isa/ptx.ron` |
//! | what a command prints, as text and as JSON | [`report`], a file per command; the object around it is [`report::output`] |
//! | JSON Schema files of that | `schemas/`, made from the types by `src/report/schemas.rs`; `tests/support/json_output.rs` holds output against them |
//!
//! ## Words
//!
//! One word a thing, and no word for two things.
//!
//! | word | means |
//! |---|---|
//! | launch, block, warp, lane | as CUDA has them; a *program* is a sequence of launches |
//! | application | several kernels in order that run as one: a program, or a list of traces |
//! | checkpoint | a file with which another process goes on between two kernels of an application |
//! | instruction, pc | one of a kernel's decoded program, and its number there |
//! | op class | what an instruction is to the machine: chooses its unit, and nothing else |
//! | step, path | an instruction that a warp executed; all of a warp's, in order |
//! | section | the part of a path between two barriers of the whole block |
//! | unit, instance | a functional unit of the machine; one of several, where sub-cores have one each |
//! | `init`, `lat` | initiation interval: cycles a unit is taken; latency: cycles after those until the result is there |
//! | issue, start, done | when an instruction leaves the scheduler, when its unit takes it, when its result is there |
//! | issue slot | a cycle of a sub-core in which it may issue; each has issued something or has a stall reason |
//! | warp slot | one of the 64 positions for warps on an SM; a warp keeps its own |
//! | place | a position for a resident block on an SM |
//! | resident | on an SM now; blocks wait in launch order until one of their size fits |
//! | policy | who issues next: gto, lrr, ...; a *work-conserving* one issues whenever a warp is ready |
//! | makespan | from the start of a block or launch to its end |
//! | isolated, exec, idle | time of a warp alone: together, and in phases in which it issues or waits |
//! | bound, premise, feature | a claim about makespans; what it needs to hold; something of a machine or kernel beyond the paper model |
//! | gates, standing | whether a bound decides the exit code; what a bound rests on: published, proved or conjectured |
//! | verdict, status | what became of a bound, with the reason; the same as one word |
//! | ipoint, transition | a point of the code whose passing is in a trace ([`hybrid`]); a way from one to the next |
//! | critical path, link | the chain of causes from the end of a run back to its beginning; one of them, with the cycles it took |
//! | witness | a schedule, block or run that shows something |
//! | transaction | one access of a bank or cache that an instruction's lanes share |
//! | plan, point, job | what `sweep` runs; one combination of it; points that share a functional run |
//! | stopped, complete | why a command ended early; whether everything was taken to its end |

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
