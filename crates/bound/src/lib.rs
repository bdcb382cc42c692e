//! The analyser and the bounds (`warpbound::model`, sections 11 to 13;
//! Jeanmougin et al., ECRTS 2025, section 3).
//!
//! This crate reads only the instruction sequences of a block's warps and the machine description.
//! It never simulates several warps together. It computes
//!
//! * the exec and idle phases of a warp that runs alone ([`analyse_alone`]), by Algorithm 1 of
//!   Jeanmougin et al., ECRTS 2025, with its countdowns of functional units and registers
//!   (`algorithm.rs`);
//! * the quantities of each section and warp that the bounds need ([`Analyser`],
//!   [`analyse_block`]);
//! * bounds on the execution time of the block under any policy that keeps their premises
//!   ([`Bound`], [`all`]): [`Gub`], as published; [`Iwb`], [`Swb`] and [`Lwb`], which are proved in
//!   [`proofs`]; [`Srr`] and [`Gsrr`] for the policies that are not work conserving;
//! * a bound on the launch when several of its blocks are resident at the same time ([`Rbb`]), from
//!   the share that each block adds to it ([`LaunchShares`]);
//! * a bound on the launch for machines with stages in front of the units or a memory system
//!   ([`Plb`]), from shares that [`PipelineAnalyser`] computes.
//!
//! # Invariants
//! * This crate depends neither on the simulator nor on its traces, and they do not depend on it.
//!   Both use the machine description, durations
//!   ([`TimingTable`](warpbound_core::program::TimingTable)) and instruction sequences
//!   ([`WarpPath`](warpbound_core::path::WarpPath)), but no common code that computes an instant.
//!   That independence is what makes `check` a check.
//! * A bound never sees a makespan. [`BoundValue`] and makespans meet in `check`.
//! * A bound whose premises do not hold returns [`NotApplicable`] with the reason; it never yields
//!   a number silently. A bound that is printed as applicable is a [`Guarantee`]. Only
//!   [`Applicable`] makes one, and an [`Applicable`] comes only from a [`Context`] of which every
//!   premise was tested.
//!
//! # Sections
//! A barrier ends a section and belongs to the section that it ends. A warp with `b` barriers has
//! `b + 1` sections, the last one possibly empty; a warp that has finished takes part in later
//! sections with empty ones. The bounds analyse each section as if it started on an empty machine
//! and add up the sections' bounds. [`proofs`] (Lemma B) shows why that is sound although
//! instructions may be in flight across a release. [`Lwb`] counts a section from the time at which
//! the sections before it have settled, which is earlier than their last `done` if no instruction
//! waits for that result (Lemma C).
//!
//! # Several sub-cores
//! Warp w of a block is on sub-core `w mod n`, which has its own issue slot, policy and units,
//! except for shared units ([`warpbound_core::machine::SubCores`]). A barrier spans the whole
//! block, so a section ends when the slowest sub-core ends, and the section's value is the maximum
//! over all warps, as with one sub-core. Each bound counts the other warps *of the same sub-core*
//! as it would with one sub-core, and adds the initiations of other sub-cores on shared units that
//! the warp uses. [`proofs::iwb`] and [`proofs::swb`] show why that is sound; for [`Gub`] it is our
//! reading of what the paper leaves as future work.
//!
//! Bounds that were tried and do not hold are in [`failed`], with counterexamples.

mod algorithm;
pub mod all_paths;
mod alone;
mod claim;
mod context;
mod contract;
#[doc = include_str!("failed.md")]
pub mod failed {}
#[cfg(test)]
mod for_tests;
mod gub;
mod iwb;
mod kept;
mod long_waits;
mod lwb;
mod operands;
mod over_paths;
mod parts;
mod phase;
mod pipelined;
mod plb;
pub mod proofs {
    #![doc = include_str!("proofs/common.md")]

    #[doc = include_str!("proofs/iwb.md")]
    pub mod iwb {}
    #[doc = include_str!("proofs/lwb.md")]
    pub mod lwb {}
    #[doc = include_str!("proofs/memory.md")]
    pub mod memory {}
    #[doc = include_str!("proofs/plb.md")]
    pub mod plb {}
    #[doc = include_str!("proofs/rbb.md")]
    pub mod rbb {}
    #[doc = include_str!("proofs/swb.md")]
    pub mod swb {}
    #[doc = include_str!("proofs/turns.md")]
    pub mod turns {}
}
mod rbb;
mod resident;
mod runs;
mod section;
mod serial;
mod settled;
mod sharing;
mod swb;
mod turn;
mod turns;
mod value;

pub use all_paths::{StaticBound, StaticKind, StaticShare, static_bound, static_premises, static_share};
pub use alone::analyse_alone;
pub use context::{Applicable, Context, Guarantee, NotApplicable, Order, Schedules};
pub use contract::{Bound, BoundReport, LaunchFigures, ReportParts, Scope, SectionBound, Standing};
pub use gub::Gub;
pub use iwb::Iwb;
pub use long_waits::{LongWait, LongWaits};
pub use lwb::Lwb;
pub use parts::{Beside, BlockParts, BoundPart, Part, Services};
pub use phase::{Event, Phase, PhaseKind, WarpPhases};
pub use pipelined::{AtStart, MemoryLeft, PipelineAnalyser, PipelineShare, PipelineShares};
pub use plb::Plb;
pub use rbb::Rbb;
pub use resident::{BlockShare, ByUnit, LaunchShares, Residency};
pub use runs::{RunShape, SureRuns};
pub use section::{
    Analyser, BlockAnalysis, SectionAnalysis, UnitUse, WarpSection, WarpTotals, analyse_block,
};
pub use serial::LoneTimes;
pub use swb::Swb;
pub use turn::{Gsrr, Srr};
pub use value::BoundValue;

use warpbound_core::diag::closest;
use warpbound_core::machine::PolicyKind;

/// Returns an error message and a hint if no bound in `bounds` has this name, and `None` if one
/// has.
pub fn unknown(name: &str, bounds: &[Box<dyn Bound>]) -> Option<(String, String)> {
    let known: Vec<&str> = bounds.iter().map(|bound| bound.name()).collect();
    if known.contains(&name) {
        return None;
    }
    let near = closest(name, known.iter().copied());
    let near = near.map_or(String::new(), |near| format!("did you mean `{near}`? "));
    Some((format!("unknown bound `{name}`"), format!("{near}bounds: {}", known.join(", "))))
}

/// Returns the only policy that the bound of this name applies to. Returns `None` if the bound
/// applies to several policies or if no bound has this name.
pub fn policy_of(name: &str) -> Option<PolicyKind> {
    all().iter().find(|bound| bound.name() == name)?.policy()
}

/// Every bound, in the order in which reports list them.
pub fn all() -> Vec<Box<dyn Bound>> {
    vec![
        Box::new(Gub),
        Box::new(Iwb),
        Box::new(Swb),
        Box::new(Lwb),
        Box::new(Rbb),
        Box::new(Plb),
        Box::new(Srr),
        Box::new(Gsrr),
    ]
}
