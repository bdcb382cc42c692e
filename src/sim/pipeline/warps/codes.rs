//! What control codes of machine code hold back: stall counts, and barriers that count.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use super::{Instr, Warps};
use crate::base::{RegId, WarpMask};
use crate::path::Step;
use crate::program::{BarrierId, Barriers, Codes};
use crate::sim::SLOTS;

/// Which of the two things an instruction may signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Signal {
    Read,
    Done,
}

/// One that is to come: which instruction, by its age, and what of it.
type Coming = (u64, Signal);

/// What a barrier counts.
#[derive(Clone, Copy, Debug)]
struct Counted {
    coming: Coming,
    through: bool,
    loads_global: bool,
}

/// The state of the SM's warps, by slot.
#[derive(Clone, Debug)]
pub(super) struct Held {
    barriers: Barriers,
    /// By slot and barrier: what signalled it, oldest first. The first is not through.
    counts: Vec<[VecDeque<Counted>; BarrierId::COUNT]>,
    /// When sources are read, of those of which that is known: cycle, age, slot, barrier.
    reads: BinaryHeap<Reverse<(u64, u64, usize, BarrierId)>>,
    /// By slot: until when a stall count holds the warp.
    until: [u64; SLOTS],
    /// When a stall count is over: cycle, slot.
    stalls: BinaryHeap<Reverse<(u64, usize)>>,
    /// Warps that issued last on their sub-core and would rather have another one issue.
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

    /// Whether a stall count or a barrier keeps an instruction of a warp from issuing.
    pub fn holds_back(&self, slot: usize, instr: &Instr, now: u64) -> bool {
        now < self.until[slot] || instr.rare.op.waits().iter().any(|&reg| self.holds(slot, RegId::new(reg)))
    }

    /// A warp comes to this slot. What was signalled there before is through, as its block has ended.
    pub fn start(&mut self, slot: usize) {
        self.until[slot] = 0;
        self.yielding -= WarpMask::slot(slot);
    }

    /// Whether what stands for a barrier, or for all but some of those that signalled it, is not there.
    fn holds(&self, slot: usize, reg: RegId) -> bool {
        let (barrier, left) = self.barriers.barrier(reg);
        self.counts[slot][barrier.index()].len() > left
    }

    /// Whether a load from global memory is among what that waits for.
    pub fn waits_for_global(&self, slot: usize, reg: RegId) -> bool {
        let (barrier, left) = self.barriers.barrier(reg);
        let counting = &self.counts[slot][barrier.index()];
        counting.iter().take(counting.len().saturating_sub(left)).any(|counted| counted.loads_global)
    }

    /// When something changes by itself.
    pub fn next(&self) -> u64 {
        let read = self.reads.peek().map_or(u64::MAX, |Reverse((at, ..))| *at);
        let stall = self.stalls.peek().map_or(u64::MAX, |Reverse((at, _))| *at);
        read.min(stall)
    }

    fn begin(&mut self, slot: usize, codes: Codes, age: u64, loads_global: bool) {
        for (barrier, signal) in [(codes.read, Signal::Read), (codes.done, Signal::Done)] {
            if let Some(barrier) = barrier {
                let loads_global = loads_global && signal == Signal::Done;
                let counted = Counted { coming: (age, signal), through: false, loads_global };
                self.counts[slot][barrier.index()].push_back(counted);
            }
        }
    }

    /// One that signalled a barrier is through. It counts until all before it are.
    fn through(&mut self, slot: usize, barrier: BarrierId, coming: Coming) {
        let counting = &mut self.counts[slot][barrier.index()];
        if let Some(counted) = counting.iter_mut().find(|counted| counted.coming == coming) {
            counted.through = true;
        }
        while counting.front().is_some_and(|counted| counted.through) {
            counting.pop_front();
        }
    }
}

impl Warps<'_> {
    /// Those that issued last on their sub-core and would rather have another one issue.
    pub fn yielding(&self) -> Option<WarpMask> {
        self.codes.as_ref().map(|held| held.yielding)
    }

    /// An instruction issues on a sub-core, that of these slots: what its control codes say of its warp and of what comes
    /// after it.
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

    /// Whether the warp may issue another instruction in the cycle in which it issued this one.
    pub fn may_issue_with(&self, step: Step) -> bool {
        self.codes.is_none() || self.code.table.instr(step.pc()).codes.stall == 0
    }

    /// The sources of an instruction are read in this cycle, or will be. Whether something may follow from it now.
    #[inline]
    pub fn sources_read(&mut self, slot: usize, age: u64, step: Step, at: u64, now: u64) -> bool {
        let Some(held) = &mut self.codes else { return false };
        let Some(barrier) = self.code.table.instr(step.pc()).codes.read else { return false };
        if at > now {
            held.reads.push(Reverse((at, age, slot, barrier)));
            return false;
        }
        held.through(slot, barrier, (age, Signal::Read));
        self.follow(slot, now);
        true
    }

    /// An instruction is done. Whether the control codes of others may have waited for it.
    #[inline]
    pub(super) fn end_codes(&mut self, slot: usize, age: u64, step: Step) -> bool {
        let Some(held) = &mut self.codes else { return false };
        let Some(barrier) = self.code.table.instr(step.pc()).codes.done else { return false };
        held.through(slot, barrier, (age, Signal::Done));
        true
    }

    /// Follows what is over in this cycle, reading sources and stall counts, and says which warps that may concern.
    pub fn follow_codes(&mut self, now: u64) -> WarpMask {
        let mut concerned = WarpMask::empty();
        while let Some(held) = &mut self.codes {
            let slot = if let Some(&Reverse((at, age, slot, barrier))) = held.reads.peek()
                && at <= now
            {
                held.reads.pop();
                held.through(slot, barrier, (age, Signal::Read));
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

    /// When something of control codes changes by itself.
    pub fn next_of_codes(&self) -> u64 {
        self.codes.as_ref().map_or(u64::MAX, |held| held.next())
    }
}
