//! Hybrid WCET analysis: times from traces, combined along the control flow graph.
//!
//! Adam Betts and Alastair Donaldson, "Estimating the WCET of GPU-Accelerated Applications using
//! Hybrid Analysis", ECRTS 2013. Warps are timed between instrumentation points. The longest time
//! of each transition is the weight of an edge in the instrumentation point graph, and the longest
//! path through that graph is the estimate of one warp alone. The start times of warps give two
//! estimates for a whole kernel.
//!
//! ```text
//!  FlowGraph, ipoints ──> Ipg ─────────────────┬──> tree_value ──┐
//!                          │                   ├──> Program ─────┼──> Estimates
//!  text ──Reader──> Event ─┼─Observer──> Observed ──> waves ─────┤
//!                          └─Sections──> SectionTiming ──────────┘
//! ```
//!
//! [`Instrumented`] is the graph of a kernel; a [`Run`] observes the kernel's simulation directly,
//! without a trace as text.
//!
//! The whole analysis depends on what was observed: an estimate that exceeds every run proves
//! nothing, and one that does not exceed every run is reported as such
//! ([`Estimate::below_high_water`]). This is the measurement-based counterpart of the bounds in
//! `bound`, with which it shares no code.

pub mod estimates;
mod graph_text;
pub mod ilp;
mod instrumented;
pub mod ipg;
mod layout;
mod numbered;
pub mod observed;
mod reading;
mod run;
pub mod sections;
pub mod timing;
pub mod trace;
pub mod tree;
pub mod waves;

pub use estimates::{BySections, Estimate, Estimates, NoEstimate, default_limits, estimate};
pub use graph_text::WrittenGraph;
pub use ilp::{IlpError, IntegerProgram, Limits, Worst};
pub use instrumented::{Density, Instrumented, NoGraph};
pub use ipg::{Ipg, IpgError, with_end};
pub use layout::Layout;
pub use observed::{Fault, FaultKind, Observed, Observer};
pub use reading::read_traces;
pub use run::Run;
pub use sections::{NoSections, SectionTiming, Sections};
pub use timing::Timing;
pub use trace::{Event, Reader, Record};
pub use tree::{NoTree, tree_value};
pub use waves::{BlockWaves, WaveParameters};

#[cfg(test)]
mod tests;
