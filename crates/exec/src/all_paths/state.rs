//! The state of a walk over all paths of a warp: the position of its lanes, and the known values.

use super::values::Values;
use warpbound_core::base::{LaneMask, Pc};

/// The state of the lanes of a warp that are at one point.
#[derive(Clone, Debug)]
pub(super) struct State {
    pub(super) values: Values,
    /// The lanes that may be here. If any path comes here, at least one of them is here.
    pub(super) may: LaneMask,
    /// The lanes that are here if any path comes here.
    pub(super) must: LaneMask,
    /// The loops around this point, outer ones first.
    pub(super) loops: Vec<InLoop>,
}

/// A loop that contains the present point.
#[derive(Clone, Copy, Debug)]
pub(super) struct InLoop {
    pub(super) index: usize,
    /// The outermost loop around it.
    pub(super) outermost: usize,
    /// The least number of back edges taken since the loop was entered; `None` if the lanes are not
    /// in it.
    pub(super) rounds: Option<u64>,
    /// The least number of times that the header was reached since the outermost loop was entered.
    pub(super) arrivals: u64,
    /// Whether in this iteration an exit depended on nothing unknown.
    pub(super) known_exit: bool,
    /// An exit that depended on an unknown value in this iteration: the branch, and the instruction
    /// that made the value unknown.
    pub(super) unknown_exit: Option<(Pc, Option<Pc>)>,
}

impl InLoop {
    /// Records that lanes are no longer in the loop.
    pub(super) fn leave(&mut self) {
        self.rounds = None;
    }
}

impl State {
    /// Creates the state of a warp at its beginning.
    pub(super) fn new(values: Values) -> Self {
        let lanes = values.warp.stack.live();
        Self { values, may: lanes, must: lanes, loops: Vec::new() }
    }

    /// Merges this state with another one at a reconvergence point.
    pub(super) fn meet(&mut self, other: &Self) {
        self.values.join(self.may, &other.values, other.may);
        self.may |= other.may;
        // a bound is exceeded only if it is exceeded on every path that reconverges here
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
