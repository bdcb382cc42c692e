//! The hazards that keep warps from issuing: unavailable registers, fences and atomics in flight.

use super::{Completed, Instr, Warps};
use crate::pipeline::regs::{RegSet, Regs, SlotRegs};
use warpbound_core::base::WarpMask;
use warpbound_core::path::Step;
use warpbound_core::program::Flow;

impl Warps<'_> {
    /// Reserves the registers that an issued instruction will write.
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

    /// Reserves the registers that an instruction writes, like [`Self::reserve`], and returns them.
    /// The instruction must [write simply](Instr::writes_simply), and warps must [be
    /// plain](Self::are_plain).
    #[inline(always)]
    pub fn reserve_simply(&mut self, slot: usize, instr: &Instr) -> SlotRegs {
        let writes = self.scoreboard.of_slot(slot, instr.writes);
        self.scoreboard.reserve_plainly(writes);
        writes
    }

    /// Completes an instruction, whose registers become available. Returns the effect on its warp.
    #[inline(never)]
    pub fn complete(&mut self, slot: usize, age: u64, step: Step, now: u64) -> Completed {
        let instr = self.code.of(step);
        if instr.scored {
            self.scoreboard.release(slot, &instr.rare.writes, age);
            if let Some(ring) = self.written_ring(instr, step) {
                self.scoreboard.release(slot, &ring, age);
            }
        }
        if self.codes.is_none() {
            return self.count_completion(slot, now);
        }
        // nothing but a signal can free a warp with control codes
        let wakes = self.end_codes(slot, age, instr.codes) && self.is_freed(slot, now);
        Completed { wakes, over: self.has_completed_one(slot, now) }
    }

    /// Completes an instruction like [`Self::complete`], for one whose registers were [reserved
    /// simply](Self::reserve_simply).
    #[inline(always)]
    pub fn complete_simply(&mut self, slot: usize, writes: SlotRegs, now: u64) -> Completed {
        self.scoreboard.release_plainly(writes);
        self.count_completion(slot, now)
    }

    /// Reduces the number of instructions in flight of a warp, whose next instruction may have
    /// waited for the completed one.
    #[inline(always)]
    fn count_completion(&mut self, slot: usize, now: u64) -> Completed {
        let over = self.has_completed_one(slot, now);
        let mut wakes = false;
        if !self.clear.has(slot) {
            if !self.only_registers {
                self.follow(slot, now);
                wakes = true;
            } else if self.is_unhindered(slot, now) {
                self.clear |= WarpMask::slot(slot);
                wakes = true;
            }
        }
        Completed { wakes, over }
    }

    /// Reduces the number of instructions in flight of a warp, and returns whether none is left.
    #[inline(always)]
    fn has_completed_one(&mut self, slot: usize, now: u64) -> bool {
        let warp = &mut self.warps[slot];
        warp.in_flight = warp.in_flight.wrapping_sub(1);
        warp.last_done = warp.last_done.max(now);
        warp.in_flight == 0
    }

    /// Updates whether a hazard holds a warp's next instruction.
    #[inline(always)]
    pub(super) fn follow(&mut self, slot: usize, now: u64) {
        let bit = WarpMask::slot(slot);
        if self.is_unhindered(slot, now) {
            self.clear |= bit;
        } else {
            self.clear -= bit;
        }
        if self.tracks_global {
            self.follow_global(slot);
        }
    }

    /// Returns whether a warp has a next instruction and everything that it needs is available.
    #[inline(always)]
    fn is_unhindered(&self, slot: usize, now: u64) -> bool {
        let warp = &self.warps[slot];
        if warp.waits_simply {
            return !self.scoreboard.pair_is_pending(&warp.waits);
        }
        let stalls = self.codes.as_ref().is_some_and(|held| held.stalls(slot, now));
        !stalls && self.passes_all_checks(slot)
    }

    #[inline(never)]
    fn passes_all_checks(&self, slot: usize) -> bool {
        let Some(step) = self.next_step(slot) else { return false };
        let instr = self.code.of(step);
        if let Some(held) = &self.codes {
            return !held.awaits_barrier(slot, instr);
        }
        !self.scoreboard.any_pending(slot, &instr.rare.waits)
            && self.awaited_ring(instr, step).is_none_or(|ring| !self.scoreboard.any_pending(slot, &ring))
    }

    /// Updates whether a warp waits for global memory, for policies that use this.
    fn follow_global(&mut self, slot: usize) {
        if self.next_step(slot).is_some_and(|step| self.waits_for_global(slot, step)) {
            self.global |= WarpMask::slot(slot);
        } else {
            self.global -= WarpMask::slot(slot);
        }
    }

    /// Returns whether an instruction needs a result of a load from global memory.
    fn waits_for_global(&self, slot: usize, step: Step) -> bool {
        let instr = self.code.of(step);
        if let Some(held) = &self.codes {
            return held.waits_for_global(slot, instr);
        }
        self.scoreboard.any_global_pending(slot, &instr.rare.waits)
            || self
                .awaited_ring(instr, step)
                .is_some_and(|ring| self.scoreboard.any_global_pending(slot, &ring))
    }

    /// Returns the pseudo-register that an asynchronous copy writes.
    #[inline]
    fn written_ring(&self, instr: &Instr, step: Step) -> Option<RegSet> {
        let copies = instr.flow == Flow::AsyncCopy;
        if copies { self.code.table.async_reg(step).map(|ring| Regs::one(ring).into()) } else { None }
    }

    /// Returns the pseudo-register that an asynchronous copy or a wait needs.
    #[inline]
    fn awaited_ring(&self, instr: &Instr, step: Step) -> Option<RegSet> {
        let waits = instr.rare.op.waits_ring;
        if waits { self.code.table.async_reg(step).map(|ring| Regs::one(ring).into()) } else { None }
    }

    /// Holds a warp at a fence until none of its registers is pending.
    pub fn fence(&mut self, slot: usize) {
        self.fenced |= WarpMask::slot(slot);
        self.held |= WarpMask::slot(slot);
    }

    /// Returns whether fences hold any warps.
    #[inline(always)]
    pub fn have_fences(&self) -> bool {
        !self.fenced.is_empty()
    }

    /// Releases the warps whose fences have completed, and returns them.
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

    /// Records the answer to a transaction of an atomic of this warp. Returns whether the warp may
    /// continue.
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
