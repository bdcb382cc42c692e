//! The paths of a warp, cut at the barriers that all of them have.

use std::ops::Range;

use super::measure::{Measure, grown, over_part};
use warpbound_core::path::{Accessed, PathPart, PathSet, Step, Steps};
use warpbound_core::program::{Flow, TimingTable};

/// A piece of a warp's paths between two barriers.
#[derive(Clone)]
pub(crate) enum Piece<'p> {
    /// These of the steps.
    Steps(&'p Steps, Range<usize>),
    /// A part, and whether nothing follows it.
    Part(&'p PathPart, bool),
}

/// The sections of a block.
pub(crate) struct Sections<'p> {
    warps: Vec<Split<'p>>,
    /// The number of sections that all paths of all warps have.
    regular: usize,
    /// The remainder of the paths, if the number of barriers depends on the path.
    pub rest: Option<Rest<'p>>,
}

/// The remainder of the paths after the first barrier that only some of them have.
pub(crate) struct Rest<'p> {
    /// The pieces, by warp.
    pub warps: Vec<Vec<Piece<'p>>>,
    /// The largest number of sections of the remainder.
    pub sections: u64,
}

impl<'p> Sections<'p> {
    pub(crate) fn new(table: &TimingTable, warps: &'p [PathSet]) -> Self {
        let warps: Vec<Split<'_>> = warps.iter().map(|set| Split::new(table, set)).collect();
        // from the first barrier that only some paths of a warp have, sections are no longer common
        // to all warps
        let cut = warps.iter().filter(|warp| warp.irregular).map(|warp| warp.sections.len() - 1).min();
        let most = warps.iter().map(|warp| warp.sections.len()).max().unwrap_or(0);
        let rest = cut.map(|cut| {
            let rests = warps.iter().map(|warp| warp.sections.iter().skip(cut).flatten().cloned().collect());
            let rests: Vec<Vec<Piece<'_>>> = rests.collect();
            let barriers = rests.iter().map(|pieces| {
                let mut count = 0;
                measured(&Barriers(table), pieces, &mut count);
                count
            });
            let sections = barriers.max().unwrap_or(0).saturating_add(1);
            Rest { warps: rests, sections }
        });
        Self { warps, regular: cut.unwrap_or(most), rest }
    }

    /// Returns the number of sections that all paths of all warps have.
    pub(crate) fn regular_count(&self) -> usize {
        self.regular
    }

    /// Returns the pieces of a warp: those of each section that all paths have, and then those of the
    /// remainder, if there is one.
    pub(crate) fn of_warp(&self, warp: usize) -> impl Iterator<Item = &[Piece<'p>]> {
        let rest = self.rest.iter().map(move |rest| rest.warps[warp].as_slice());
        self.warps[warp].sections.iter().take(self.regular).map(Vec::as_slice).chain(rest)
    }

    /// Returns the sections that all paths have: for each section, the pieces of each warp.
    pub(crate) fn regular(&self) -> impl Iterator<Item = Vec<&[Piece<'p>]>> {
        (0..self.regular).map(|index| {
            self.warps.iter().map(|warp| warp.sections.get(index).map_or(&[][..], Vec::as_slice)).collect()
        })
    }
}

impl<'p> Rest<'p> {
    /// Returns the pieces, by warp.
    pub(crate) fn pieces(&self) -> Vec<&[Piece<'p>]> {
        self.warps.iter().map(Vec::as_slice).collect()
    }
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
                    let mut first = 0;
                    while let Some(at) = steps.steps()[first..].iter().position(is_barrier) {
                        let next = first + at + 1;
                        split.push(Piece::Steps(steps, first..next));
                        split.sections.push(Vec::new());
                        first = next;
                    }
                    split.push(Piece::Steps(steps, first..steps.len()));
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
}

fn has_barrier(part: &PathPart, is_barrier: &impl Fn(&Step) -> bool) -> bool {
    let in_set = |set: &PathSet| set.parts().iter().any(|part| has_barrier(part, is_barrier));
    match part {
        PathPart::Steps(steps) | PathPart::OneOf(steps) => steps.steps().iter().any(is_barrier),
        PathPart::End(step) => is_barrier(step),
        PathPart::Sides(sides) => in_set(&sides.first) || in_set(&sides.second),
        PathPart::Perhaps(rest) => in_set(rest),
        PathPart::Loop(rounds) => in_set(&rounds.round),
        PathPart::Leave(way) => in_set(&way.paths),
    }
}

pub(crate) fn measured<M: Measure>(measure: &M, pieces: &[Piece<'_>], state: &mut M::State) {
    for piece in pieces {
        match piece {
            Piece::Steps(steps, range) => {
                steps.range(range.clone()).for_each(|(step, accessed)| measure.step(state, step, accessed))
            }
            Piece::Part(part, last) => over_part(measure, part, state, *last),
        }
    }
}

/// Returns whether some path uses the unit, by unit.
pub(crate) fn units(table: &TimingTable, pieces: &[Piece<'_>]) -> Vec<bool> {
    let mut used = vec![false; table.units()];
    let mut see = |step: Step| {
        if table.issues(step) {
            used[table.op(step).unit.index()] = true;
        }
    };
    for piece in pieces {
        match piece {
            Piece::Steps(steps, range) => steps.steps()[range.clone()].iter().copied().for_each(&mut see),
            Piece::Part(part, last) => each_step(part, *last, &mut |step, _| see(step)),
        }
    }
    used
}

/// Calls `see` for every step of a part, in no particular order. An end counts as followed by
/// another step, unless nothing follows.
pub(crate) fn each_step(part: &PathPart, last: bool, see: &mut impl FnMut(Step, Accessed)) {
    let mut of_set = |set: &PathSet, last: bool| {
        for (index, part) in set.parts().iter().enumerate() {
            each_step(part, set.is_end(index, last), see);
        }
    };
    match part {
        PathPart::Steps(steps) | PathPart::OneOf(steps) => {
            steps.iter().for_each(|(step, accessed)| see(step, accessed));
        }
        PathPart::End(step) => see(if last { step.ending_warp() } else { *step }, Accessed::default()),
        PathPart::Sides(sides) => {
            of_set(&sides.first, last && !sides.both);
            of_set(&sides.second, last);
        }
        PathPart::Perhaps(rest) => of_set(rest, last),
        PathPart::Loop(rounds) => of_set(&rounds.round, false),
        PathPart::Leave(way) => of_set(&way.paths, false),
    }
}

/// Counts the barriers.
struct Barriers<'t>(&'t TimingTable);

impl Measure for Barriers<'_> {
    type State = u64;
    type Growth = u64;

    fn step(&self, state: &mut u64, step: Step, _: Accessed) {
        let is_barrier = self.0.instr(step.pc()).flow == Flow::Barrier;
        *state = state.saturating_add(is_barrier.into());
    }

    fn join(&self, state: &mut u64, other: &u64) {
        *state = (*state).max(*other);
    }

    fn growth(&self, before: &u64, after: &u64) -> Option<u64> {
        after.checked_sub(*before)
    }

    fn grow(&self, state: &mut u64, by: &u64, times: u64) {
        *state = grown(*state, *by, times);
    }
}
