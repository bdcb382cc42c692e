//! What keeps warps from issuing: registers that are not there, fences and atomics under way.

use super::{Completed, Instr, Warps};
use crate::base::{RegId, WarpMask};
use crate::path::Step;
use crate::program::Flow;
use crate::sim::pipeline::regs::{RegSet, Regs, SlotRegs};

impl Warps<'_> {
    /// Registers that an issued instruction will write.
    #[inline]
    pub fn reserve(&mut self, slot: usize, age: u64, instr: &Instr, step: Step) {
        if !instr.scored {
            return;
        }
        let loads_global =
            self.tracks_global && instr.rare.loads_global && self.code.table.loads_global(step);
        self.scoreboard.reserve(slot, &instr.rare.writes, age, loads_global);
        if let Some(ring) = self.written_ring(instr, step) {
            self.scoreboard.reserve(slot, &ring, age, loads_global);
        }
    }

    /// As [`Self::reserve`], of one that [writes simply](Instr::writes_simply), if warps [are plain](Self::are_plain): what it
    /// writes.
    #[inline(always)]
    pub fn reserve_simply(&mut self, slot: usize, instr: &Instr) -> SlotRegs {
        let writes = self.scoreboard.of_slot(slot, instr.writes);
        self.scoreboard.reserve_plainly(writes);
        writes
    }

    /// An instruction is complete: its registers are there.
    #[inline(never)]
    pub fn complete(&mut self, slot: usize, age: u64, step: Step, now: u64) -> Completed {
        let instr = self.code.of(step);
        if instr.scored {
            self.scoreboard.release(slot, &instr.rare.writes, age);
            if let Some(ring) = self.written_ring(instr, step) {
                self.scoreboard.release(slot, &ring, age);
            }
        }
        let signals = self.end_codes(slot, age, step);
        let mut completed = self.one_less(slot, now);
        if signals && self.clear.has(slot) && !completed.wakes {
            self.follow(slot, now);
            completed.wakes = true;
        }
        completed
    }

    /// As [`Self::complete`], of one for which registers were [reserved simply](Self::reserve_simply).
    #[inline(always)]
    pub fn complete_simply(&mut self, slot: usize, writes: SlotRegs, now: u64) -> Completed {
        self.scoreboard.release_plainly(writes);
        self.one_less(slot, now)
    }

    /// A warp has one instruction less under way, for which its next one may have waited.
    #[inline(always)]
    fn one_less(&mut self, slot: usize, now: u64) -> Completed {
        let warp = &mut self.warps[slot];
        warp.in_flight = warp.in_flight.wrapping_sub(1);
        warp.last_done = now;
        let over = warp.in_flight == 0;
        let mut wakes = false;
        if !self.clear.has(slot) {
            if !self.only_registers {
                self.follow(slot, now);
                wakes = true;
            } else if self.is_there(slot, now) {
                self.clear |= WarpMask::slot(slot);
                wakes = true;
            }
        }
        Completed { wakes, over }
    }

    /// Whether a hazard holds a warp's next instruction.
    #[inline(always)]
    pub(super) fn follow(&mut self, slot: usize, now: u64) {
        let bit = WarpMask::slot(slot);
        if self.is_there(slot, now) {
            self.clear |= bit;
        } else {
            self.clear -= bit;
        }
        if self.tracks_global {
            self.follow_global(slot);
        }
    }

    /// Whether everything is there that the next instruction of a warp needs, if it has one.
    #[inline(always)]
    fn is_there(&self, slot: usize, now: u64) -> bool {
        let warp = &self.warps[slot];
        if warp.waits_simply { !self.scoreboard.lacks(&warp.waits) } else { self.all_is_there(slot, now) }
    }

    #[inline(never)]
    fn all_is_there(&self, slot: usize, now: u64) -> bool {
        let Some(step) = self.next_step(slot) else { return false };
        let instr = self.code.of(step);
        if let Some(held) = &self.codes {
            return !held.holds_back(slot, instr, now);
        }
        !self.scoreboard.misses(slot, &instr.rare.waits)
            && self.awaited_ring(instr, step).is_none_or(|ring| !self.scoreboard.misses(slot, &ring))
    }

    /// Whether a warp waits for global memory, for the policy, which asks for it.
    fn follow_global(&mut self, slot: usize) {
        if self.next_step(slot).is_some_and(|step| self.waits_for_global(slot, step)) {
            self.global |= WarpMask::slot(slot);
        } else {
            self.global -= WarpMask::slot(slot);
        }
    }

    /// Whether an instruction needs what a load from global memory will write.
    fn waits_for_global(&self, slot: usize, step: Step) -> bool {
        let instr = self.code.of(step);
        if let Some(held) = &self.codes {
            return instr.rare.op.waits().iter().any(|&reg| held.waits_for_global(slot, RegId::new(reg)));
        }
        self.scoreboard.misses_global(slot, &instr.rare.waits)
            || self.awaited_ring(instr, step).is_some_and(|ring| self.scoreboard.misses_global(slot, &ring))
    }

    /// The pseudo-register that an asynchronous copy writes.
    #[inline]
    fn written_ring(&self, instr: &Instr, step: Step) -> Option<RegSet> {
        let copies = instr.flow == Flow::AsyncCopy;
        if copies { self.code.table.async_reg(step).map(|ring| Regs::one(ring).into()) } else { None }
    }

    /// The pseudo-register that an asynchronous copy or a wait needs.
    #[inline]
    fn awaited_ring(&self, instr: &Instr, step: Step) -> Option<RegSet> {
        let waits = instr.rare.op.waits_ring;
        if waits { self.code.table.async_reg(step).map(|ring| Regs::one(ring).into()) } else { None }
    }

    /// A fence holds its warp until none of its registers is pending.
    pub fn fence(&mut self, slot: usize) {
        self.fenced |= WarpMask::slot(slot);
        self.held |= WarpMask::slot(slot);
    }

    /// Whether fences hold warps.
    #[inline(always)]
    pub fn have_fences(&self) -> bool {
        !self.fenced.is_empty()
    }

    /// Lets warps go whose fences are over, and says which.
    pub fn lift_fences(&mut self) -> WarpMask {
        let mut lifted = WarpMask::empty();
        for slot in self.fenced.slots().filter(|&slot| self.scoreboard.is_clear(slot)) {
            lifted |= WarpMask::slot(slot);
            if self.warps[slot].atomics == 0 {
                self.held -= WarpMask::slot(slot);
            }
        }
        self.fenced -= lifted;
        lifted
    }

    /// A transaction of an atomic of this warp came back. Whether it may go on.
    pub fn atomic_answered(&mut self, slot: usize) -> bool {
        let warp = &mut self.warps[slot];
        warp.atomics -= 1;
        let goes_on = warp.atomics == 0 && !self.fenced.has(slot);
        if goes_on {
            self.held -= WarpMask::slot(slot);
        }
        goes_on
    }
}
