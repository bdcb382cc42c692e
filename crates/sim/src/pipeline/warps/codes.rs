//! The hazards that the control codes of machine code express: stall counts and counting barriers.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use super::{Instr, Warps};
use crate::SLOTS;
use warpbound_core::base::{RegId, WarpMask};
use warpbound_core::path::Step;
use warpbound_core::program::{BarrierId, Barriers, Codes};

/// The two events that an instruction may signal: its sources are read, or it is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Signal {
    Read,
    Done,
}

/// A signal that is still to come: the age of the instruction, and the event.
type Coming = (u64, Signal);

/// An entry of a barrier's count.
#[derive(Clone, Copy, Debug)]
struct Counted {
    coming: Coming,
    through: bool,
    loads_global: bool,
    /// Whether it is the end of an asynchronous copy, which delays later signals and does not count
    /// itself.
    copy: bool,
}

/// The state of the control codes of the SM's warps, by slot.
#[derive(Clone, Debug)]
pub(super) struct Held {
    barriers: Barriers,
    /// For each slot and barrier, the signals that it waits for, oldest first. The first one has
    /// not arrived.
    counts: Vec<[VecDeque<Counted>; BarrierId::COUNT]>,
    /// The known times at which sources are read: cycle, age, slot, barrier.
    reads: BinaryHeap<Reverse<(u64, u64, usize, BarrierId)>>,
    /// For each slot, the cycle until which a stall count holds the warp.
    until: [u64; SLOTS],
    /// The ends of stall counts: cycle, slot.
    stalls: BinaryHeap<Reverse<(u64, usize)>>,
    /// The warps that issued last on their sub-core and whose control codes request a yield.
    pub yielding: WarpMask,
}

impl Held {
    pub fn new(barriers: Barriers) -> Self {
        Self {
            barriers,
            counts: vec![std::array::from_fn(|_| VecDeque::new()); SLOTS],
            reads: BinaryHeap::new(),
            until: [0; SLOTS],
            stalls: BinaryHeap::new(),
            yielding: WarpMask::empty(),
        }
    }

    /// Returns whether a stall count or a barrier keeps an instruction of a warp from issuing.
    pub fn holds_back(&self, slot: usize, instr: &Instr, now: u64) -> bool {
        now < self.until[slot] || instr.rare.op.waits().iter().any(|&reg| self.holds(slot, RegId::new(reg)))
    }

    /// Starts a warp in this slot. Results of the previous warp have arrived, as its block has ended,
    /// but sources may still have to be read.
    pub fn start(&mut self, slot: usize) {
        self.counts[slot].iter_mut().for_each(VecDeque::clear);
        self.until[slot] = 0;
        self.yielding -= WarpMask::slot(slot);
    }

    /// Returns whether a barrier waits for more signals than the pseudo-register `reg` allows.
    fn holds(&self, slot: usize, reg: RegId) -> bool {
        let (barrier, left) = self.barriers.barrier(reg);
        let counting = &self.counts[slot][barrier.index()];
        counting.len() > left && counting.iter().filter(|counted| !counted.copy).count() > left
    }

    /// Returns whether a load from global memory is among the signals that `reg` waits for.
    pub fn waits_for_global(&self, slot: usize, reg: RegId) -> bool {
        let (barrier, left) = self.barriers.barrier(reg);
        let counting = &self.counts[slot][barrier.index()];
        let signals = counting.iter().filter(|counted| !counted.copy).count();
        let Some(last) = signals.checked_sub(left + 1) else { return false };
        // the signals that have to arrive, and the copies before them
        let awaited = counting.iter().scan(0, |before, counted| {
            let needed = *before <= last;
            *before += usize::from(!counted.copy);
            needed.then_some(counted)
        });
        { awaited }.any(|counted| counted.loads_global)
    }

    /// Returns the next cycle in which something changes by time alone.
    pub fn next(&self) -> u64 {
        let read = self.reads.peek().map_or(u64::MAX, |Reverse((at, ..))| *at);
        let stall = self.stalls.peek().map_or(u64::MAX, |Reverse((at, _))| *at);
        read.min(stall)
    }

    fn begin(&mut self, slot: usize, codes: Codes, age: u64, loads_global: bool) {
        for (barrier, signal) in [(codes.read, Signal::Read), (codes.done, Signal::Done)] {
            if let Some(barrier) = barrier {
                let loads_global = loads_global && signal == Signal::Done;
                let counted = Counted { coming: (age, signal), through: false, loads_global, copy: false };
                self.counts[slot][barrier.index()].push_back(counted);
            }
        }
        if codes.copies {
            let counted = Counted { coming: (age, Signal::Done), through: false, loads_global, copy: true };
            self.counts[slot][BarrierId::OF_COPIES.index()].push_back(counted);
        }
    }

    /// Records the arrival of a signal. A signal remains in the count until all before it have
    /// arrived.
    fn signal_arrived(&mut self, slot: usize, barrier: BarrierId, coming: Coming) {
        let counting = &mut self.counts[slot][barrier.index()];
        for counted in counting.iter_mut().filter(|counted| counted.coming == coming) {
            counted.through = true;
        }
        while counting.front().is_some_and(|counted| counted.through) {
            counting.pop_front();
        }
    }
}

impl Warps<'_> {
    /// Returns the warps that issued last on their sub-core and whose control codes request a
    /// yield, if there are control codes.
    pub fn yielding(&self) -> Option<WarpMask> {
        self.codes.as_ref().map(|held| held.yielding)
    }

    /// Applies the control codes of an instruction that issues on the sub-core with these slots, to
    /// its warp and to later instructions.
    #[inline]
    pub fn begin_codes(&mut self, slot: usize, of_sub_core: WarpMask, age: u64, step: Step, now: u64) {
        let Some(held) = &mut self.codes else { return };
        let codes = self.code.table.instr(step.pc()).codes;
        held.begin(slot, codes, age, self.tracks_global && self.code.table.loads_global(step));
        if codes.stall > 0 {
            held.until[slot] = now + u64::from(codes.stall);
            held.stalls.push(Reverse((held.until[slot], slot)));
        }
        held.yielding -= of_sub_core;
        if codes.yields {
            held.yielding |= WarpMask::slot(slot);
        }
    }

    /// Returns whether the warp may issue another instruction in the cycle in which it issued this
    /// one.
    pub fn may_issue_with(&self, step: Step) -> bool {
        self.codes.is_none() || self.code.table.instr(step.pc()).codes.stall == 0
    }

    /// Records that the sources of an instruction are read in cycle `at`, which is the present or a
    /// later one. Returns whether another instruction may be able to issue now.
    #[inline]
    pub fn sources_read(&mut self, slot: usize, age: u64, step: Step, at: u64, now: u64) -> bool {
        let Some(held) = &mut self.codes else { return false };
        let Some(barrier) = self.code.table.instr(step.pc()).codes.read else { return false };
        if at > now {
            held.reads.push(Reverse((at, age, slot, barrier)));
            return false;
        }
        held.signal_arrived(slot, barrier, (age, Signal::Read));
        self.follow(slot, now);
        true
    }

    /// Records that an instruction is done. Returns whether other instructions may have waited for
    /// it by their control codes.
    #[inline]
    pub(super) fn end_codes(&mut self, slot: usize, age: u64, step: Step) -> bool {
        let Some(held) = &mut self.codes else { return false };
        let codes = self.code.table.instr(step.pc()).codes;
        let of_copies = codes.copies.then_some(BarrierId::OF_COPIES);
        for barrier in codes.done.into_iter().chain(of_copies) {
            held.signal_arrived(slot, barrier, (age, Signal::Done));
        }
        codes.done.is_some() || codes.copies
    }

    /// Applies the source reads and stall counts that end in this cycle, and returns the warps
    /// concerned.
    pub fn follow_codes(&mut self, now: u64) -> WarpMask {
        let mut concerned = WarpMask::empty();
        while let Some(held) = &mut self.codes {
            let slot = if let Some(&Reverse((at, age, slot, barrier))) = held.reads.peek()
                && at <= now
            {
                held.reads.pop();
                held.signal_arrived(slot, barrier, (age, Signal::Read));
                slot
            } else if let Some(&Reverse((at, slot))) = held.stalls.peek()
                && at <= now
            {
                held.stalls.pop();
                slot
            } else {
                break;
            };
            concerned |= WarpMask::slot(slot);
            self.follow(slot, now);
        }
        concerned
    }

    /// Returns the next cycle in which the state of control codes changes by time alone.
    pub fn next_of_codes(&self) -> u64 {
        self.codes.as_ref().map_or(u64::MAX, |held| held.next())
    }
}
