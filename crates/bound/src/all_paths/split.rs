//! The paths of a warp, cut at the barriers that all of them have.

use super::lone::Barriers;
use super::measure::{Measure, over_part};
use warpbound_core::path::{PathPart, PathSet, Step};
use warpbound_core::program::{Flow, TimingTable};

/// A piece of a warp's paths between two barriers.
#[derive(Clone, Copy)]
pub(super) enum Piece<'p> {
    Steps(&'p [Step]),
    /// A part, and whether nothing follows it.
    Part(&'p PathPart, bool),
}

/// The sections of a block.
pub(super) struct Sections<'p> {
    warps: Vec<Split<'p>>,
    /// The number of sections that all paths of all warps have.
    regular: usize,
    /// The remainder of the paths, if the number of barriers depends on the path.
    pub rest: Option<Rest<'p>>,
}

/// The remainder of the paths after the first barrier that only some of them have.
pub(super) struct Rest<'p> {
    /// The pieces, by warp.
    pub warps: Vec<Vec<Piece<'p>>>,
    /// The largest number of sections of the remainder.
    pub sections: u64,
}

impl<'p> Sections<'p> {
    pub(super) fn new(table: &TimingTable, warps: &'p [PathSet]) -> Self {
        let warps: Vec<Split<'_>> = warps.iter().map(|set| Split::new(table, set)).collect();
        // from the first barrier that only some paths of a warp have, sections are no longer common
        // to all warps
        let cut = warps.iter().filter(|warp| warp.irregular).map(|warp| warp.sections.len() - 1).min();
        let most = warps.iter().map(|warp| warp.sections.len()).max().unwrap_or(0);
        let rest = cut.map(|cut| {
            let rests = warps.iter().map(|warp| warp.sections.iter().skip(cut).flatten().copied().collect());
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

    /// Returns the sections that all paths have: for each section, the pieces of each warp.
    pub(super) fn regular(&self) -> impl Iterator<Item = Vec<&[Piece<'p>]>> {
        (0..self.regular).map(|index| {
            self.warps.iter().map(|warp| warp.sections.get(index).map_or(&[][..], Vec::as_slice)).collect()
        })
    }
}

impl<'p> Rest<'p> {
    /// Returns the pieces, by warp.
    pub(super) fn pieces(&self) -> Vec<&[Piece<'p>]> {
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

pub(super) fn measured<M: Measure>(measure: &M, pieces: &[Piece<'_>], state: &mut M::State) {
    for piece in pieces {
        match piece {
            Piece::Steps(steps) => steps.iter().for_each(|&step| measure.step(state, step)),
            Piece::Part(part, last) => over_part(measure, part, state, *last),
        }
    }
}

/// Returns whether some path uses the unit, by unit.
pub(super) fn units(table: &TimingTable, pieces: &[Piece<'_>]) -> Vec<bool> {
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

/// Calls `see` for every step of a part, in no particular order. An end counts as followed by
/// another step, unless nothing follows.
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
