//! What the accesses of a warp are ordered after where barriers take some warps of a block only:
//! vector clocks (Flanagan and Freund, "FastTrack: efficient and precise dynamic race detection",
//! PLDI 2009), and for each place the epochs of all who accessed it.

use std::collections::HashMap;

use super::shadow::Cell;
use crate::base::WarpMask;

/// Warps of a block at most.
const WARPS: usize = 64;
/// Barriers of a block.
const BARRIERS: usize = 16;

/// An epoch of each warp.
type Clock = [u32; WARPS];

/// A place of memory: whether it is shared memory, and the address.
pub(super) type ClockKey = (bool, u64);

/// What an access does to a place, as far as the clocks distinguish it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Side {
    Reader,
    Writer,
}

/// The clocks of a block.
#[derive(Clone, Debug)]
pub(super) struct Clocks {
    /// Epoch of each warp, from 1; it grows whenever others may learn of the accesses before.
    own: Clock,
    /// By warp: up to which epoch of every other warp its accesses come later.
    known: Vec<Clock>,
    /// By barrier: what those who came to it knew.
    gathered: Vec<Clock>,
    /// By address of an mbarrier object: what those who arrived in the running phase knew, and what
    /// is known to who learns that an earlier one has completed.
    objects: HashMap<u64, [Box<Clock>; 2]>,
    /// The last epoch in which each warp accessed a place.
    last: HashMap<(ClockKey, Side), Box<Clock>>,
}

impl Clocks {
    /// The clocks at the beginning of a block.
    pub(super) fn new() -> Self {
        Self {
            own: [1; WARPS],
            known: vec![[0; WARPS]; WARPS],
            gathered: vec![[0; WARPS]; BARRIERS],
            objects: HashMap::new(),
            last: HashMap::new(),
        }
    }

    /// A warp comes to a barrier.
    pub(super) fn arrive(&mut self, warp: usize, barrier: usize) {
        let mut knows = self.known[warp];
        knows[warp] = self.own[warp];
        join(&mut self.gathered[barrier], &knows);
        self.own[warp] += 1;
    }

    /// A barrier opens for those who wait at it; `ended` warps have gone through it too.
    pub(super) fn release(&mut self, barrier: usize, waiting: WarpMask, ended: WarpMask) {
        let mut gathered = std::mem::replace(&mut self.gathered[barrier], [0; WARPS]);
        for warp in ended.slots() {
            let mut knows = self.known[warp];
            knows[warp] = self.own[warp];
            join(&mut gathered, &knows);
        }
        for warp in waiting.slots() {
            join(&mut self.known[warp], &gathered);
        }
    }

    /// A warp arrives at an mbarrier object; whether that completes the phase.
    pub(super) fn arrive_at_object(&mut self, warp: usize, address: u64, completes: bool) {
        let mut knows = self.known[warp];
        knows[warp] = self.own[warp];
        let fresh = || [Box::new([0; WARPS]), Box::new([0; WARPS])];
        let [running, completed] = self.objects.entry(address).or_insert_with(fresh);
        join(running, &knows);
        if completes {
            join(completed, running);
            **running = [0; WARPS];
        }
        self.own[warp] += 1;
    }

    /// A warp learns that a phase of an mbarrier object has completed.
    pub(super) fn learn_of_object(&mut self, warp: usize, address: u64) {
        if let Some([_, completed]) = self.objects.get(&address) {
            join(&mut self.known[warp], completed);
        }
    }

    /// Whether some other warp did what the cell tells of, with no order between that and what the
    /// warp does now.
    pub(super) fn is_foreign(&self, cell: Cell, warp: usize, place: ClockKey, side: Side) -> bool {
        let unordered =
            |last: &Clock| (0..WARPS).any(|other| other != warp && last[other] > self.known[warp][other]);
        cell.is_of_another_block() || self.last.get(&(place, side)).is_some_and(|last| unordered(last))
    }

    /// Whether the places remembered take no more than about so many bytes.
    pub(super) fn fits(&self, limit: usize) -> bool {
        self.last.len() <= limit / (2 * size_of::<Clock>())
    }

    /// Remembers an access; what is `ordered` before it need not be known any more.
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
