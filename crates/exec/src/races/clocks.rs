//! The order of accesses where barriers involve some warps of a block only: vector clocks (Flanagan
//! and Freund, "FastTrack: efficient and precise dynamic race detection", PLDI 2009), and for each
//! location the epochs of all warps that accessed it.

use std::collections::HashMap;

use super::shadow::Cell;
use warpbound_core::base::WarpMask;

/// The largest number of warps of a block.
const WARPS: usize = 64;
/// The number of barriers of a block.
const BARRIERS: usize = 16;

/// A vector clock: an epoch of each warp.
type Clock = [u32; WARPS];

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
    /// The epoch of each warp, from 1. It is incremented whenever other warps may become ordered
    /// after the accesses that this warp has made so far.
    own: Clock,
    /// For each warp and every other one, the last epoch of the other warp whose accesses are
    /// ordered before those of the warp.
    known: Vec<Clock>,
    /// For each barrier, the joined clocks of the warps that arrived at it.
    gathered: Vec<Clock>,
    /// For each address of an mbarrier object, the joined clocks of the warps that arrived in the
    /// current phase, and those of the warps that arrived in earlier phases. A warp that observes
    /// the completion of a phase joins the latter.
    objects: HashMap<u64, [Box<Clock>; 2]>,
    /// The last epoch in which each warp accessed a location.
    last: HashMap<(ClockKey, Side), Box<Clock>>,
}

impl Clocks {
    /// Creates the clocks at the beginning of a block.
    pub(super) fn new() -> Self {
        Self {
            own: [1; WARPS],
            known: vec![[0; WARPS]; WARPS],
            gathered: vec![[0; WARPS]; BARRIERS],
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
        let mut gathered = std::mem::replace(&mut self.gathered[barrier], [0; WARPS]);
        for warp in ended.slots() {
            let mut clock = self.known[warp];
            clock[warp] = self.own[warp];
            join(&mut gathered, &clock);
        }
        for warp in waiting.slots() {
            join(&mut self.known[warp], &gathered);
        }
    }

    /// Records that a warp arrives at an mbarrier object; `completes` says whether this completes
    /// the phase.
    pub(super) fn arrive_at_object(&mut self, warp: usize, address: u64, completes: bool) {
        let mut clock = self.known[warp];
        clock[warp] = self.own[warp];
        let fresh = || [Box::new([0; WARPS]), Box::new([0; WARPS])];
        let [running, completed] = self.objects.entry(address).or_insert_with(fresh);
        join(running, &clock);
        if completes {
            join(completed, running);
            **running = [0; WARPS];
        }
        self.own[warp] += 1;
    }

    /// Records that a warp observes the completion of a phase of an mbarrier object.
    pub(super) fn learn_of_object(&mut self, warp: usize, address: u64) {
        if let Some([_, completed]) = self.objects.get(&address) {
            join(&mut self.known[warp], completed);
        }
    }

    /// Returns whether some other warp did the access that the cell describes without being ordered
    /// before the present access of `warp`.
    pub(super) fn is_foreign(&self, cell: Cell, warp: usize, place: ClockKey, side: Side) -> bool {
        let unordered =
            |last: &Clock| (0..WARPS).any(|other| other != warp && last[other] > self.known[warp][other]);
        cell.is_of_another_block() || self.last.get(&(place, side)).is_some_and(|last| unordered(last))
    }

    /// Returns whether the recorded locations take at most about `limit` bytes.
    pub(super) fn fits(&self, limit: usize) -> bool {
        self.last.len() <= limit / (2 * size_of::<Clock>())
    }

    /// Records an access. If it is `ordered` after all earlier ones, these need not be kept.
    pub(super) fn remember(&mut self, warp: usize, place: ClockKey, side: Side, ordered: bool) {
        let last = self.last.entry((place, side)).or_insert_with(|| Box::new([0; WARPS]));
        if ordered {
            **last = [0; WARPS];
        }
        last[warp] = self.own[warp];
    }
}

fn join(clock: &mut Clock, other: &Clock) {
    clock.iter_mut().zip(other).for_each(|(one, other)| *one = (*one).max(*other));
}
