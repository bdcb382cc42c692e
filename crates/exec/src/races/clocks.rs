//! The order of accesses where barriers involve some warps of a block only: vector clocks (Flanagan
//! and Freund, "FastTrack: efficient and precise dynamic race detection", PLDI 2009), and for each
//! location the epochs of all warps that accessed it.

use std::collections::HashMap;

use super::shadow::{Cell, WARPS, copier};
use warpbound_core::base::WarpMask;

/// The number of barriers of a block.
const BARRIERS: usize = 16;
/// What has epochs of its own: each warp, and the bulk copies of each warp that signal their
/// completion.
const ACTORS: usize = 2 * WARPS;

/// A vector clock: an epoch of each actor.
type Clock = [u32; ACTORS];

/// A location in memory: whether it is in shared memory, and the address.
pub(super) type ClockKey = (bool, u64);

/// The effect of an access on a location, as far as the clocks distinguish it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Side {
    Reader,
    Writer,
}

/// The clocks of a block.
#[derive(Clone, Debug)]
pub(super) struct Clocks {
    /// The number of actors: those of copies come last, and are left out in programs without them.
    actors: usize,
    /// The epoch of each actor, from 1. It is incremented whenever other actors may become ordered
    /// after the accesses that this actor has made so far.
    own: Clock,
    /// For each actor and every other one, the last epoch of the other actor whose accesses are
    /// ordered before those of the actor.
    known: Vec<Clock>,
    /// For each barrier, the joined clocks of the warps that arrived at it.
    gathered: Vec<Clock>,
    /// For each address of an mbarrier object, the joined clocks of the warps that arrived in the
    /// current phase, and those of the warps that arrived in earlier phases. A warp that observes
    /// the completion of a phase joins the latter.
    objects: HashMap<u64, [Box<Clock>; 2]>,
    /// The last epoch in which each actor accessed a location.
    last: HashMap<(ClockKey, Side), Box<Clock>>,
}

impl Clocks {
    /// Creates the clocks at the beginning of a block, for a program that may have bulk copies which
    /// signal their completion.
    pub(super) fn new(copies: bool) -> Self {
        let actors = if copies { ACTORS } else { WARPS };
        Self {
            actors,
            own: [1; ACTORS],
            known: vec![[0; ACTORS]; actors],
            gathered: vec![[0; ACTORS]; BARRIERS],
            objects: HashMap::new(),
            last: HashMap::new(),
        }
    }

    /// Records that a warp arrives at a barrier.
    pub(super) fn arrive(&mut self, warp: usize, barrier: usize) {
        let mut clock = self.known[warp];
        clock[warp] = self.own[warp];
        join(&mut self.gathered[barrier], &clock);
        self.own[warp] += 1;
    }

    /// Records that a barrier releases the `waiting` warps; the `ended` warps count as having
    /// passed it too.
    pub(super) fn release(&mut self, barrier: usize, waiting: WarpMask, ended: WarpMask) {
        let mut gathered = std::mem::replace(&mut self.gathered[barrier], [0; ACTORS]);
        for warp in ended.slots() {
            let mut clock = self.known[warp];
            clock[warp] = self.own[warp];
            join(&mut gathered, &clock);
        }
        for warp in waiting.slots() {
            join(&mut self.known[warp], &gathered);
        }
    }

    /// Records that a warp starts a bulk copy, which happens after what the warp has done.
    pub(super) fn start_copy(&mut self, warp: usize) {
        let mut clock = self.known[warp];
        clock[warp] = self.own[warp];
        join(&mut self.known[copier(warp)], &clock);
        self.own[warp] += 1;
    }

    /// Records that an actor arrives at an mbarrier object; `completes` says whether this completes
    /// the phase.
    pub(super) fn arrive_at_object(&mut self, actor: usize, address: u64, completes: bool) {
        let mut clock = self.known[actor];
        clock[actor] = self.own[actor];
        let fresh = || [Box::new([0; ACTORS]), Box::new([0; ACTORS])];
        let [running, completed] = self.objects.entry(address).or_insert_with(fresh);
        join(running, &clock);
        if completes {
            join(completed, running);
            **running = [0; ACTORS];
        }
        self.own[actor] += 1;
    }

    /// Records that a warp observes the completion of a phase of an mbarrier object.
    pub(super) fn learn_of_object(&mut self, warp: usize, address: u64) {
        if let Some([_, completed]) = self.objects.get(&address) {
            join(&mut self.known[warp], completed);
        }
    }

    /// Resets the clocks for the next block.
    pub(super) fn start_block(&mut self) {
        *self = Self::new(self.actors == ACTORS);
    }

    /// Returns whether some other actor did the access that the cell describes without being ordered
    /// before the present access of `actor`.
    pub(super) fn is_foreign(&self, cell: Cell, actor: usize, place: ClockKey, side: Side) -> bool {
        let known = &self.known[actor];
        let unordered =
            |last: &Clock| (0..self.actors).any(|other| other != actor && last[other] > known[other]);
        cell.is_of_another_block() || self.last.get(&(place, side)).is_some_and(|last| unordered(last))
    }

    /// Returns whether the recorded locations take at most about `limit` bytes.
    pub(super) fn fits(&self, limit: usize) -> bool {
        self.last.len() <= limit / (2 * size_of::<Clock>())
    }

    /// Records an access. If it is `ordered` after all earlier ones, these need not be kept.
    pub(super) fn remember(&mut self, actor: usize, place: ClockKey, side: Side, ordered: bool) {
        let last = self.last.entry((place, side)).or_insert_with(|| Box::new([0; ACTORS]));
        if ordered {
            **last = [0; ACTORS];
        }
        last[actor] = self.own[actor];
    }
}

fn join(clock: &mut Clock, other: &Clock) {
    clock.iter_mut().zip(other).for_each(|(one, other)| *one = (*one).max(*other));
}
