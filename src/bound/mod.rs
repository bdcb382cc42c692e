//! The analyser and the bounds ([the model](crate::model#11-a-warp-alone), sections 11 to 13; Jeanmougin et al., ECRTS 2025, section 3).
//!
//! From the instruction sequences of a block's warps and the machine description alone, without
//! any simulation of several warps, this layer computes
//!
//! * the exec and idle phases of a warp that runs alone ([`analyse_alone`]), by Algorithm 1 of
//!   Jeanmougin et al., ECRTS 2025, with its countdowns of functional units and registers (`algorithm.rs`);
//! * per section and warp what the bounds need ([`Analyser`], [`analyse_block`]);
//! * bounds on the execution time of the block under any scheduler that keeps their premises
//!   ([`Bound`], [`all`]): [`Gub`], as published; [`Iwb`], [`Swb`] and [`Lwb`], which are proved
//!   in [`proofs`]; [`Srr`] and [`Gsrr`] for the policies that are not work conserving;
//! * from what the blocks of a launch add to it one by one ([`LaunchShares`]), a bound on the launch
//!   when several of them run at the same time ([`Rbb`]).
//!
//! # Invariants
//! * Nothing here imports the simulator or its traces, and nothing there imports this. Shared are
//!   the machine description, durations ([`TimingTable`](crate::program::TimingTable)) and
//!   instruction sequences ([`WarpPath`](crate::path::WarpPath)); never code that computes an
//!   instant. That independence is what makes `check` a check.
//! * A bound never sees a makespan. [`BoundValue`] and makespans meet in `check`.
//! * A bound whose premises do not hold says [`NotApplicable`] and why; it never yields a number
//!   silently. What is printed as a bound that applies is a [`Guarantee`], which only [`Applicable`] makes, and that
//!   only comes of a [`Context`] in which every premise was asked for.
//!
//! # Sections
//! A barrier ends a section and belongs to the section it ends. A warp with `b` barriers has
//! `b + 1` sections, the last one possibly empty; a warp that finished takes part in later
//! sections with empty ones. For the bounds each section is analysed as if it started on an empty
//! machine, and the sections' bounds are added up; why that is sound although instructions may be
//! in flight across a release is shown in [`proofs`] (Lemma B). [`Lwb`] counts a section from when those before
//! have settled, which is earlier than their last `done` if nobody waits for that (Lemma C).
//!
//! # Several sub-cores
//! Warp w of a block is on sub-core `w mod n`, which has an issue slot, a policy and units of its own,
//! but for shared units ([`crate::machine::SubCores`]). A barrier is the block's, so a section ends
//! when the slowest sub-core ends: its value is the maximum over all warps, as before. Each bound
//! counts the other warps *of the sub-core* as it would with one sub-core, and adds the initiations
//! of other sub-cores on shared units that the warp uses. Why that is sound is shown in [`proofs::iwb`] and
//! [`proofs::swb`]; for [`Gub`] it is our reading of what the paper leaves as future work.
//!
//! What was tried and does not hold is in [`failed`], with witnesses.

mod algorithm;
pub mod all_paths;
mod alone;
mod claim;
mod context;
mod contract;
#[doc = include_str!("failed.md")]
pub mod failed {}
mod gub;
mod iwb;
mod long_waits;
mod lwb;
mod operands;
mod phase;
pub mod proofs {
    #![doc = include_str!("proofs/common.md")]

    #[doc = include_str!("proofs/iwb.md")]
    pub mod iwb {}
    #[doc = include_str!("proofs/lwb.md")]
    pub mod lwb {}
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
pub use contract::{Bound, BoundReport, Scope, SectionBound, Standing};
pub use gub::Gub;
pub use iwb::Iwb;
pub use long_waits::{LongWait, LongWaits};
pub use lwb::Lwb;
pub use phase::{Event, Phase, PhaseKind, WarpPhases};
pub use rbb::Rbb;
pub use resident::{BlockShare, LaunchShares, Residency};
pub use runs::{RunShape, SureRuns};
pub use section::{
    Analyser, BlockAnalysis, SectionAnalysis, UnitUse, WarpSection, WarpTotals, analyse_block,
};
pub use swb::Swb;
pub use turn::{Gsrr, Srr};
pub use value::BoundValue;

use crate::diag::closest;
use crate::machine::SchedulerKind;

/// Why a name is that of none of these bounds, and what to do about it; nothing if it is that of one.
pub fn unknown(name: &str, bounds: &[Box<dyn Bound>]) -> Option<(String, String)> {
    let known: Vec<&str> = bounds.iter().map(|bound| bound.name()).collect();
    if known.contains(&name) {
        return None;
    }
    let near = closest(name, known.iter().copied());
    let near = near.map_or(String::new(), |near| format!("did you mean `{near}`? "));
    Some((format!("unknown bound `{name}`"), format!("{near}bounds: {}", known.join(", "))))
}

/// The one policy that a bound is for, by the bound's name; nothing if it is for several, or there is no such bound.
pub fn policy_of(name: &str) -> Option<SchedulerKind> {
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
        Box::new(Srr),
        Box::new(Gsrr),
    ]
}
