//! Where the lanes of a warp are in a walk over all of its paths, and what is known there.

use super::values::Values;
use crate::base::{LaneMask, Pc};

/// Where the lanes of a warp are: all in one place, as far as they take part.
#[derive(Clone, Debug)]
pub(super) struct State {
    pub(super) values: Values,
    /// Lanes that may be here. If any path comes here, one of them is.
    pub(super) may: LaneMask,
    /// Lanes that are here if any path comes here.
    pub(super) must: LaneMask,
    /// The loops around this place, outer ones first.
    pub(super) loops: Vec<InLoop>,
}

/// A loop that lanes are in.
#[derive(Clone, Copy, Debug)]
pub(super) struct InLoop {
    pub(super) index: usize,
    /// The outermost loop around it.
    pub(super) outermost: usize,
    /// How often they went back to its beginning since they came to it from outside, at least; none if they are not in it.
    pub(super) rounds: Option<u64>,
    /// How often they came to its beginning since they came to the outermost loop from outside, at least.
    pub(super) arrivals: u64,
    /// Whether in this round a way out depended on nothing unknown.
    pub(super) known_exit: bool,
    /// A way out that depended on something unknown in this round: the branch, and what made it unknown.
    pub(super) unknown_exit: Option<(Pc, Option<Pc>)>,
}

impl InLoop {
    /// Lanes are no longer in it.
    pub(super) fn leave(&mut self) {
        self.rounds = None;
    }
}

impl State {
    /// A warp at its beginning.
    pub(super) fn new(values: Values) -> Self {
        let lanes = values.warp.stack.live();
        Self { values, may: lanes, must: lanes, loops: Vec::new() }
    }

    /// Becomes what is known where lanes of this state and of another one meet.
    pub(super) fn meet(&mut self, other: &Self) {
        self.values.join(self.may, &other.values, other.may);
        self.may |= other.may;
        // a bound is exceeded only where it is on every path that meets here
        self.loops.retain_mut(|known| {
            let inside = other.loops.iter().find(|inside| inside.index == known.index);
            inside.is_some_and(|inside| {
                known.rounds = known.rounds.min(inside.rounds);
                known.arrivals = known.arrivals.min(inside.arrivals);
                known.known_exit |= inside.known_exit;
                known.unknown_exit = known.unknown_exit.or(inside.unknown_exit);
                true
            })
        });
    }
}
