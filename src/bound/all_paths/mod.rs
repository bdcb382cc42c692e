//! A bound over all paths: IWB, of whatever path each warp takes.
#![doc = include_str!("proof.md")]

mod lone;
mod measure;

use std::collections::BTreeMap;

use super::claim::Claim;
use super::context::{Context, NotApplicable};
use crate::base::Cycles;
use crate::machine::SubCores;
use crate::path::{PathPart, PathSet, Step};
use crate::program::{Flow, TimingTable};
use lone::{Barriers, Sum, Time, Weight};
use measure::over_part;

/// The bound over all paths of a block.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StaticBound {
    /// Its value: the sum of the sections' and of what [`Self::beyond`] says.
    pub value: Cycles,
    /// The sections that every path has, one after the other.
    pub sections: Vec<Cycles>,
    /// What comes after the first barrier that only some paths have.
    pub beyond: Option<Beyond>,
}

/// Sections whose number depends on the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Beyond {
    /// The most there can be.
    pub sections: u64,
    /// What each takes at most.
    pub longest: Cycles,
}

/// Whether there is a bound over all paths, where IWB is one over the paths of a run.
///
/// # Errors
/// The first premise that does not hold.
pub fn static_premises(context: &Context) -> Result<(), NotApplicable> {
    context.paper_premises(Claim::Iwb)
}

/// The bound of a block whose warps take any of these paths.
pub fn static_bound(table: &TimingTable, warps: &[PathSet]) -> StaticBound {
    let split: Vec<Split<'_>> = warps.iter().map(|set| Split::new(table, set)).collect();
    // where a warp has a barrier that only some of its paths have, sections are no longer those of all
    let cut = split.iter().filter(|warp| warp.irregular).map(|warp| warp.sections.len() - 1).min();
    let most = split.iter().map(|warp| warp.sections.len()).max().unwrap_or(0);
    let regular = cut.unwrap_or(most);
    let mut bound = StaticBound::default();
    for index in 0..regular {
        let pieces: Vec<&[Piece<'_>]> = split.iter().map(|warp| warp.section(index)).collect();
        let value = section_bound(table, &pieces);
        bound.value += value;
        bound.sections.push(value);
    }
    // nothing after the last barrier, or after what a warp is finished with
    while bound.sections.last() == Some(&Cycles::ZERO) {
        bound.sections.pop();
    }
    if let Some(cut) = cut {
        let rests: Vec<Vec<Piece<'_>>> =
            split.iter().map(|warp| warp.sections.iter().skip(cut).flatten().copied().collect()).collect();
        let pieces: Vec<&[Piece<'_>]> = rests.iter().map(Vec::as_slice).collect();
        let barriers = pieces.iter().map(|pieces| {
            let mut count = 0;
            measured(&Barriers(table), pieces, &mut count);
            count
        });
        let sections = barriers.max().unwrap_or(0).saturating_add(1);
        let longest = section_bound(table, &pieces);
        bound.value += Cycles::new(longest.get().saturating_mul(sections));
        bound.beyond = Some(Beyond { sections, longest });
    }
    bound
}

/// A part of a warp's paths between two barriers.
#[derive(Clone, Copy)]
enum Piece<'p> {
    Steps(&'p [Step]),
    /// The part, and whether nothing follows.
    Part(&'p PathPart, bool),
}

/// The paths of a warp, by section.
struct Split<'p> {
    sections: Vec<Vec<Piece<'p>>>,
    /// Whether the last of these sections has barriers that only some paths have.
    irregular: bool,
}

impl<'p> Split<'p> {
    fn new(table: &TimingTable, set: &'p PathSet) -> Self {
        let is_barrier = |step: &Step| table.instr(step.pc()).flow == Flow::Barrier;
        let mut split = Self { sections: vec![Vec::new()], irregular: false };
        for (index, part) in set.parts().iter().enumerate() {
            match part {
                PathPart::Steps(steps) if !split.irregular => {
                    let mut rest = steps.as_slice();
                    while let Some(at) = rest.iter().position(is_barrier) {
                        split.push(Piece::Steps(&rest[..=at]));
                        split.sections.push(Vec::new());
                        rest = &rest[at + 1..];
                    }
                    split.push(Piece::Steps(rest));
                }
                part => {
                    split.irregular |= has_barrier(part, &is_barrier);
                    split.push(Piece::Part(part, set.is_end(index, true)));
                }
            }
        }
        split
    }

    fn push(&mut self, piece: Piece<'p>) {
        if let Some(section) = self.sections.last_mut() {
            section.push(piece);
        }
    }

    fn section(&self, index: usize) -> &[Piece<'p>] {
        self.sections.get(index).map_or(&[], Vec::as_slice)
    }
}

fn has_barrier(part: &PathPart, is_barrier: &impl Fn(&Step) -> bool) -> bool {
    let in_set = |set: &PathSet| set.parts().iter().any(|part| has_barrier(part, is_barrier));
    match part {
        PathPart::Steps(steps) | PathPart::OneOf(steps) => steps.iter().any(is_barrier),
        PathPart::End(step) => is_barrier(step),
        PathPart::Sides(sides) => in_set(&sides.first) || in_set(&sides.second),
        PathPart::Perhaps(rest) => in_set(rest),
        PathPart::Loop(rounds) => in_set(&rounds.round),
        PathPart::Leave(way) => in_set(&way.paths),
    }
}

fn measured<M: measure::Measure>(measure: &M, pieces: &[Piece<'_>], state: &mut M::State) {
    for piece in pieces {
        match piece {
            Piece::Steps(steps) => steps.iter().for_each(|&step| measure.step(state, step)),
            Piece::Part(part, last) => over_part(measure, part, state, *last),
        }
    }
}

/// IWB of a section whose warps take any of these paths; the longest, where some of the paths have several.
fn section_bound(table: &TimingTable, warps: &[&[Piece<'_>]]) -> Cycles {
    let cores = table.sub_cores();
    let time = Time::new(table);
    let used: Vec<Vec<bool>> = warps.iter().map(|pieces| units(table, pieces)).collect();
    // what the instructions of a warp weigh to others depends on which units those may use, and on where they are
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
        let interference: Cycles =
            others.map(|other| of_other(other, weights(cores, used, own, other))).sum();
        alone.longest() + interference
    };
    used.iter().enumerate().map(|(own, used)| value(own, used)).max().unwrap_or(Cycles::ZERO)
}

/// What the instructions of another warp weigh, by unit.
fn weights(cores: SubCores, used: &[bool], own: usize, other: usize) -> Vec<Weight> {
    let same_core = cores.of_slot(own) == cores.of_slot(other);
    let weight = |(unit, &used): (usize, &bool)| match (same_core, used) {
        (true, true) => Weight::Init,
        (true, false) => Weight::Slot,
        (false, true) if cores.is_shared(crate::base::UnitId::from_index(unit)) => Weight::Init,
        (false, _) => Weight::Nothing,
    };
    used.iter().enumerate().map(weight).collect()
}

/// By unit: whether some path uses it.
fn units(table: &TimingTable, pieces: &[Piece<'_>]) -> Vec<bool> {
    let mut used = vec![false; table.units()];
    let mut see = |step: Step| {
        if table.issues(step) {
            used[table.op(step).unit.index()] = true;
        }
    };
    for piece in pieces {
        match piece {
            Piece::Steps(steps) => steps.iter().copied().for_each(&mut see),
            Piece::Part(part, last) => each_step(part, *last, &mut see),
        }
    }
    used
}

/// Every step of a part, in no order; an end as one that is followed, unless nothing follows.
fn each_step(part: &PathPart, last: bool, see: &mut impl FnMut(Step)) {
    let mut of_set = |set: &PathSet, last: bool| {
        for (index, part) in set.parts().iter().enumerate() {
            each_step(part, set.is_end(index, last), see);
        }
    };
    match part {
        PathPart::Steps(steps) | PathPart::OneOf(steps) => steps.iter().copied().for_each(see),
        PathPart::End(step) => see(if last { step.ending_warp() } else { *step }),
        PathPart::Sides(sides) => {
            of_set(&sides.first, last && !sides.both);
            of_set(&sides.second, last);
        }
        PathPart::Perhaps(rest) => of_set(rest, last),
        PathPart::Loop(rounds) => of_set(&rounds.round, false),
        PathPart::Leave(way) => of_set(&way.paths, false),
    }
}
