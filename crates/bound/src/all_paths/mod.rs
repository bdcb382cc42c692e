//! A bound over all paths: IWB, RBB if blocks are resident together, or PLB on machines with a
//! pipeline, for whatever path each warp takes.
#![doc = include_str!("proof.md")]

mod lone;
mod resident;
mod surplus;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use super::claim::Claim;
use super::context::{Applicable, Context, NotApplicable};
use super::contract::Bound;
use super::over_paths::{Piece, Sections, measured, units};
use super::plb::Plb;
use lone::{Sum, Time, Weight};
use warpbound_core::base::Cycles;
use warpbound_core::machine::SubCores;
use warpbound_core::path::PathSet;
use warpbound_core::program::TimingTable;

pub use resident::{StaticShare, static_share};

/// The bound over all paths of a block.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StaticBound {
    /// The value: the sum of the sections and of the cycles that [`Self::beyond`] accounts for, or the
    /// largest number of cycles if the sum does not fit.
    pub value: Cycles,
    /// The bounds of the sections that every path has, in order.
    pub sections: Vec<Cycles>,
    /// The bound of everything after the first barrier that only some paths have; `None` if every
    /// path has the same barriers.
    pub beyond: Option<Beyond>,
}

/// Sections whose number depends on the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Beyond {
    /// The largest number of such sections.
    pub sections: u64,
    /// The largest number of cycles that each takes.
    pub longest: Cycles,
}

/// A bound that exists in two forms: for the paths of one run, and over all paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StaticKind {
    /// [`Iwb`](super::Iwb), by [`static_bound`] of each block.
    Iwb,
    /// [`Rbb`](super::Rbb), for blocks that are resident together, by [`static_share`] of each
    /// block.
    Rbb,
    /// [`Plb`], on machines with a pipeline that neither covers, by
    /// [`PipelineAnalyser::share_of_any`](super::PipelineAnalyser::share_of_any) of each block.
    Plb,
}

impl StaticKind {
    /// Returns the name of the bound.
    pub fn name(self) -> &'static str {
        match self {
            Self::Iwb => "iwb",
            Self::Rbb => "rbb",
            Self::Plb => "plb",
        }
    }
}

/// Returns the bound over all paths that is available for this context.
///
/// # Errors
/// Returns the first premise that does not hold.
pub fn static_premises(context: &Context) -> Result<(StaticKind, Applicable), NotApplicable> {
    let of_units = if context.judged_as_a_whole() {
        context.resident_premises(Claim::Rbb).map(|applicable| (StaticKind::Rbb, applicable))
    } else {
        context.paper_premises(Claim::Iwb).map(|applicable| (StaticKind::Iwb, applicable))
    };
    if of_units.is_err() && Plb.concerns(context) {
        return context.launch_premises(Claim::Plb).map(|applicable| (StaticKind::Plb, applicable));
    }
    of_units
}

/// Returns the bound of a block whose warps take any of these paths, if blocks run one after the
/// other.
pub fn static_bound(table: &TimingTable, warps: &[PathSet]) -> StaticBound {
    let sections = Sections::new(table, warps);
    let mut bound = StaticBound::default();
    for pieces in sections.regular() {
        let value = section_bound(table, &pieces);
        bound.value = bound.value.saturating_add(value);
        bound.sections.push(value);
    }
    // empty sections after the last barrier, or after a warp has finished
    while bound.sections.last() == Some(&Cycles::ZERO) {
        bound.sections.pop();
    }
    if let Some(rest) = &sections.rest {
        let longest = section_bound(table, &rest.pieces());
        let all = Cycles::new(longest.get().saturating_mul(rest.sections));
        bound.value = bound.value.saturating_add(all);
        bound.beyond = Some(Beyond { sections: rest.sections, longest });
    }
    bound
}

/// Returns IWB of a section whose warps take any of these paths, or of the longest one if some
/// paths have several sections.
fn section_bound(table: &TimingTable, warps: &[&[Piece<'_>]]) -> Cycles {
    let cores = table.sub_cores();
    let time = Time::new(table);
    let used: Vec<Vec<bool>> = warps.iter().map(|pieces| units(table, pieces)).collect();
    // the weight of a warp's instructions for another warp depends on the units that the other one
    // may use, and on the sub-cores of both
    let mut sums: BTreeMap<(usize, Vec<Weight>), Cycles> = BTreeMap::new();
    let mut of_other = |other: usize, weights: Vec<Weight>| {
        *sums.entry((other, weights)).or_insert_with_key(|(_, weights)| {
            let mut state = lone::Weighed::default();
            measured(&Sum::new(table, weights), warps[other], &mut state);
            state.largest()
        })
    };
    let mut value = |own: usize, used: &Vec<bool>| {
        let mut alone = time.begin();
        measured(&time, warps[own], &mut alone);
        let others = (0..warps.len()).filter(|&other| other != own);
        let interference = others.map(|other| of_other(other, weights(cores, used, own, other)));
        interference.fold(alone.longest(), Cycles::saturating_add)
    };
    used.iter().enumerate().map(|(own, used)| value(own, used)).max().unwrap_or(Cycles::ZERO)
}

/// Returns the weights of the instructions of another warp, by unit.
fn weights(cores: SubCores, used: &[bool], own: usize, other: usize) -> Vec<Weight> {
    let same_core = cores.of_slot(own) == cores.of_slot(other);
    let weight = |(unit, &used): (usize, &bool)| match (same_core, used) {
        (true, true) => Weight::Init,
        (true, false) => Weight::Slot,
        (false, true) if cores.is_shared(warpbound_core::base::UnitId::from_index(unit)) => Weight::Init,
        (false, _) => Weight::Nothing,
    };
    used.iter().enumerate().map(weight).collect()
}
