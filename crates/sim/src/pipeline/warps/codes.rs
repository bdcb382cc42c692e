//! The hazards that the control codes of machine code express: stall counts and counting barriers.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::stalls::Stalls;
use super::{Instr, Warps};
use crate::pipeline::per::PerSlot;
use warpbound_core::base::WarpMask;
use warpbound_core::path::Step;
use warpbound_core::program::{BarrierId, Codes};

/// The two events that an instruction may signal: its sources are read, or it is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Signal {
    Read,
    Done,
}

/// A signal that is still to come: the age of the instruction, and the event.
type Coming = (u64, Signal);

/// A signal that a barrier of a warp waits for.
#[derive(Clone, Copy, Debug)]
struct Counted {
    barrier: BarrierId,
    coming: Coming,
    /// Whether it has arrived, but not all before it.
    through: bool,
    loads_global: bool,
    /// Whether it is the end of an asynchronous copy, which delays later signals and does not count
    /// itself.
    copy: bool,
}

/// The barriers of one warp.
#[derive(Clone, Debug, Default)]
struct OfWarp {
    /// The signals that its barriers wait for, oldest first. The first one of each barrier has not
    /// arrived.
    coming: Vec<Counted>,
    /// For each barrier, the number of them that count.
    counts: [u32; BarrierId::COUNT],
    /// The cycle until which a stall count holds the warp.
    until: u64,
}

/// The state of the control codes of the SM's warps.
#[derive(Clone, Debug)]
pub(super) struct Held {
    warps: Box<PerSlot<OfWarp>>,
    /// The known times at which sources are read: cycle, age, slot, barrier.
    reads: BinaryHeap<Reverse<(u64, u64, usize, BarrierId)>>,
    stalls: Stalls,
    /// The warps that issued last on their sub-core and whose control codes request a yield.
    pub yielding: WarpMask,
}

impl Held {
    pub fn new() -> Self {
        Self {
            warps: Box::new(PerSlot::new(|_| OfWarp::default())),
            reads: BinaryHeap::new(),
            stalls: Stalls::new(),
            yielding: WarpMask::empty(),
        }
    }

    /// Returns whether a stall count keeps the next instruction of a warp from issuing.
    #[inline(always)]
    pub fn stalls(&self, slot: usize, now: u64) -> bool {
        now < self.warps[slot].until
    }

    /// Returns whether a barrier keeps an instruction of a warp from issuing: more signals are missing
    /// than it allows.
    #[inline]
    pub fn awaits_barrier(&self, slot: usize, instr: &Instr) -> bool {
        let counts = &self.warps[slot].counts;
        instr.rare.barriers.iter().any(|&(barrier, left)| counts[barrier.index()] as usize > left)
    }

    /// Starts a warp in this slot. Results of the previous warp have arrived, as its block has ended,
    /// but sources may still have to be read.
    pub fn start(&mut self, slot: usize) {
        let OfWarp { coming, counts, until } = &mut self.warps[slot];
        coming.clear();
        (*counts, *until) = ([0; BarrierId::COUNT], 0);
        self.yielding -= WarpMask::slot(slot);
    }

    /// Returns whether a load from global memory is among the signals that an instruction of a warp
    /// waits for.
    pub fn waits_for_global(&self, slot: usize, instr: &Instr) -> bool {
        let OfWarp { coming, counts, .. } = &self.warps[slot];
        instr.rare.barriers.iter().any(|&(barrier, left)| {
            let Some(last) = (counts[barrier.index()] as usize).checked_sub(left + 1) else { return false };
            // the signals that have to arrive, and the copies before them
            let counting = coming.iter().filter(|counted| counted.barrier == barrier);
            let mut awaited = counting.scan(0, |before, counted| {
                let needed = *before <= last;
                *before += usize::from(!counted.copy);
                needed.then_some(counted)
            });
            awaited.any(|counted| counted.loads_global)
        })
    }

    /// Returns the next cycle in which something changes by time alone.
    #[inline]
    pub fn next(&self) -> u64 {
        self.reads.peek().map_or(u64::MAX, |Reverse((at, ..))| *at).min(self.stalls.next())
    }

    #[inline]
    fn begin(&mut self, slot: usize, codes: Codes, age: u64, loads_global: bool) {
        let OfWarp { coming, counts, .. } = &mut self.warps[slot];
        let mut add = |barrier: BarrierId, signal, copy| {
            let loads_global = loads_global && signal == Signal::Done;
            coming.push(Counted { barrier, coming: (age, signal), through: false, loads_global, copy });
            counts[barrier.index()] += u32::from(!copy);
        };
        if let Some(barrier) = codes.read {
            add(barrier, Signal::Read, false);
        }
        if let Some(barrier) = codes.done {
            add(barrier, Signal::Done, false);
        }
        if codes.copies {
            add(BarrierId::OF_COPIES, Signal::Done, true);
        }
    }

    /// Records the arrival of a signal. A signal remains in the count until all before it have
    /// arrived.
    fn signal_arrived(&mut self, slot: usize, barrier: BarrierId, arrived: Coming) {
        let OfWarp { coming, counts, .. } = &mut self.warps[slot];
        let mut open = false;
        coming.retain_mut(|counted| {
            if counted.barrier != barrier {
                return true;
            }
            counted.through |= counted.coming == arrived;
            open |= !counted.through;
            counts[barrier.index()] -= u32::from(!open && !counted.copy);
            open
        });
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
    #[inline(always)]
    pub fn begin_codes(&mut self, slot: usize, of_sub_core: WarpMask, age: u64, step: Step, now: u64) {
        if self.codes.is_some() {
            self.begin_existing_codes(slot, of_sub_core, age, step, now);
        }
    }

    #[inline(never)]
    fn begin_existing_codes(&mut self, slot: usize, of_sub_core: WarpMask, age: u64, step: Step, now: u64) {
        let Some(held) = &mut self.codes else { return };
        let codes = self.code.of(step).codes;
        held.begin(slot, codes, age, self.tracks_global && self.code.table.loads_global(step));
        if codes.stall > 0 {
            held.warps[slot].until = now + u64::from(codes.stall);
            held.stalls.insert(slot, now, codes.stall);
        }
        held.yielding -= of_sub_core;
        if codes.yields {
            held.yielding |= WarpMask::slot(slot);
        }
    }

    /// Returns whether the warp may issue another instruction in the cycle in which it issued this
    /// one.
    pub fn may_issue_with(&self, step: Step) -> bool {
        self.codes.is_none() || self.code.of(step).codes.stall == 0
    }

    /// Records that the sources of an instruction are read in cycle `at`, which is the present or a
    /// later one. Returns whether the warp has to be considered for issue again.
    #[inline]
    pub fn sources_read(&mut self, slot: usize, age: u64, step: Step, at: u64, now: u64) -> bool {
        let Some(held) = &mut self.codes else { return false };
        let Some(barrier) = self.code.of(step).codes.read else { return false };
        if at > now {
            held.reads.push(Reverse((at, age, slot, barrier)));
            return false;
        }
        held.signal_arrived(slot, barrier, (age, Signal::Read));
        self.is_freed(slot, now)
    }

    /// Updates whether a hazard holds a warp's next instruction, after an event that may have lifted
    /// one. Returns whether the warp has to be considered for issue again.
    #[inline]
    pub(super) fn is_freed(&mut self, slot: usize, now: u64) -> bool {
        let was_clear = self.clear.has(slot);
        self.follow(slot, now);
        self.tracks_global || !was_clear && self.clear.has(slot)
    }

    /// Records that an instruction is done. Returns whether other instructions may have waited for
    /// it by their control codes.
    #[inline]
    pub(super) fn end_codes(&mut self, slot: usize, age: u64, codes: Codes) -> bool {
        let Some(held) = &mut self.codes else { return false };
        let of_copies = codes.copies.then_some(BarrierId::OF_COPIES);
        for barrier in codes.done.into_iter().chain(of_copies) {
            held.signal_arrived(slot, barrier, (age, Signal::Done));
        }
        codes.done.is_some() || codes.copies
    }

    /// Applies the source reads and stall counts that end in this cycle, if there are any, and returns
    /// the warps that have to be considered for issue again.
    #[inline(always)]
    pub fn follow_codes(&mut self, now: u64) -> Option<WarpMask> {
        if self.next_of_codes() > now { None } else { self.follow_due_codes(now) }
    }

    #[inline(never)]
    fn follow_due_codes(&mut self, now: u64) -> Option<WarpMask> {
        let held = self.codes.as_mut()?;
        let mut concerned = held.stalls.take(now);
        while let Some(&Reverse((at, age, slot, barrier))) = held.reads.peek()
            && at <= now
        {
            held.reads.pop();
            held.signal_arrived(slot, barrier, (age, Signal::Read));
            concerned |= WarpMask::slot(slot);
        }
        let mut freed = WarpMask::empty();
        for slot in concerned.slots() {
            if self.is_freed(slot, now) {
                freed |= WarpMask::slot(slot);
            }
        }
        Some(freed)
    }

    /// Returns the next cycle in which the state of control codes changes by time alone.
    #[inline]
    pub fn next_of_codes(&self) -> u64 {
        self.codes.as_ref().map_or(u64::MAX, |held| held.next())
    }
}
