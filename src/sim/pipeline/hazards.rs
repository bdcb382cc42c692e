//! What keeps warps from issuing: registers that are not there, fences and atomics under way.

use super::Sm;
use super::code::Instr;
use super::flight::{Flight, FlightId};
use super::scoreboard::{RegSet, Regs};
use crate::base::{Cycle, RegId, WarpMask};
use crate::path::Step;
use crate::program::Flow;

impl Sm<'_> {
    /// An instruction is complete: its registers are there, and it leaves the SM.
    pub fn complete(&mut self, id: FlightId) {
        let flight = *self.flights.get(id);
        self.complete_as::<false>(id, &flight, self.code.of(flight.step));
    }

    #[inline(always)]
    pub fn complete_as<const PLAIN: bool>(&mut self, id: FlightId, flight: &Flight, instr: &Instr) {
        let (slot, age, step) = (usize::from(flight.slot), flight.age, flight.step);
        if !PLAIN && self.listening {
            self.log.completed(flight, self.now);
        }
        self.flights.remove(id);
        let warp = &mut self.warps[slot];
        warp.in_flight -= 1;
        warp.last_done = self.now;
        let (done, next) = (warp.in_flight == 0, warp.step);
        let code = self.code;
        if instr.scored {
            self.scoreboard.release(slot, &instr.writes, age);
            if !instr.ordinary
                && let Some(ring) = self.written_ring(instr, step)
            {
                self.scoreboard.release(slot, &ring, age);
            }
        }
        if PLAIN || self.only_registers {
            if !self.clear.has(slot)
                && let Some(next) = next
                && self.is_there(slot, code.of(next), next)
            {
                self.clear |= WarpMask::slot(slot);
                self.wake(slot);
            }
        } else if self.end_codes(slot, age, step) || !self.clear.has(slot) {
            self.refresh(slot);
        }
        if done {
            self.warp_may_be_over(slot);
        }
    }

    /// Registers that an issued instruction will write.
    #[inline]
    pub fn reserve(&mut self, slot: usize, age: u64, instr: &Instr, step: Step) {
        if !instr.scored {
            return;
        }
        let loads_global = self.tracks_global && instr.loads_global && self.code.table.loads_global(step);
        self.scoreboard.reserve(slot, &instr.writes, age, loads_global);
        if let Some(ring) = self.written_ring(instr, step) {
            self.scoreboard.reserve(slot, &ring, age, loads_global);
        }
    }

    /// The pseudo-register that an asynchronous copy writes.
    #[inline]
    fn written_ring(&self, instr: &Instr, step: Step) -> Option<RegSet> {
        let copies = instr.op.flow == Flow::AsyncCopy;
        if copies { self.code.table.async_reg(step).map(|ring| Regs::one(ring).into()) } else { None }
    }

    /// The pseudo-register that an asynchronous copy or a wait needs.
    #[inline]
    fn awaited_ring(&self, instr: &Instr, step: Step) -> Option<RegSet> {
        let waits = instr.op.waits_ring;
        if waits { self.code.table.async_reg(step).map(|ring| Regs::one(ring).into()) } else { None }
    }

    /// Looks at the next step of a warp: which unit it wants, and whether a hazard holds it.
    #[inline(always)]
    pub fn look_at_next<const PLAIN: bool>(&mut self, slot: usize) {
        let warp = &mut self.warps[slot];
        let (before, had) = (warp.kind, warp.step.is_some());
        warp.step = None;
        if warp.next < warp.steps {
            let step = self.paths[slot].steps()[warp.next as usize];
            warp.step = Some(step);
            warp.kind = self.code.kind(step);
            self.front_end.goes_to(slot, step.pc().get());
        }
        let (after, has) = (warp.kind, warp.step.is_some());
        if (before, had) != (after, has) {
            self.wants[usize::from(before)] -= WarpMask::slot(slot);
            if has {
                self.wants[usize::from(after)] |= WarpMask::slot(slot);
            }
        }
        self.refresh_as::<PLAIN>(slot);
    }

    /// Whether a hazard holds a warp's next instruction.
    pub(super) fn refresh(&mut self, slot: usize) {
        self.refresh_as::<false>(slot);
    }

    #[inline(always)]
    fn refresh_as<const PLAIN: bool>(&mut self, slot: usize) {
        let step = self.warps[slot].step;
        let code = self.code;
        let free = match step {
            Some(step) if !PLAIN && self.codes.is_some() => self.codes_let_issue(slot, code.of(step)),
            Some(step) => self.is_there(slot, code.of(step), step),
            None => false,
        };
        if !PLAIN {
            // or else it has just issued something
            self.wake(slot);
        }
        if free {
            self.clear |= WarpMask::slot(slot);
        } else {
            self.clear -= WarpMask::slot(slot);
        }
        if !PLAIN && self.tracks_global {
            let waits = step.is_some_and(|step| self.waits_for_global(slot, step));
            // nobody knows until when
            let until = if waits { Cycle::NEVER } else { Cycle::ZERO };
            let sub_core = usize::from(self.warps[slot].sub_core);
            self.subs[sub_core].view.global_until[slot] = until;
        }
    }

    /// Whether everything that an instruction needs is there.
    #[inline(always)]
    fn is_there(&self, slot: usize, instr: &Instr, step: Step) -> bool {
        !self.scoreboard.misses(slot, &instr.waits)
            && (instr.ordinary
                || self.awaited_ring(instr, step).is_none_or(|ring| !self.scoreboard.misses(slot, &ring)))
    }

    /// Whether neither a stall count nor a barrier of control codes holds an instruction.
    fn codes_let_issue(&self, slot: usize, instr: &Instr) -> bool {
        let held = |held: &super::codes::Held| {
            held.is_stalled(slot, self.now)
                || instr.op.waits().iter().any(|&reg| held.holds(slot, RegId::new(reg)))
        };
        !self.codes.as_ref().is_some_and(|codes| held(codes))
    }

    /// Whether an instruction needs what a load from global memory will write.
    fn waits_for_global(&self, slot: usize, step: Step) -> bool {
        let instr = self.code.of(step);
        if let Some(held) = &self.codes {
            return instr.op.waits().iter().any(|&reg| held.waits_for_global(slot, RegId::new(reg)));
        }
        self.scoreboard.misses_global(slot, &instr.waits)
            || self.awaited_ring(instr, step).is_some_and(|ring| self.scoreboard.misses_global(slot, &ring))
    }

    /// A fence holds its warp until none of its registers is pending.
    pub fn fence(&mut self, slot: usize) {
        self.fenced |= WarpMask::slot(slot);
        self.held |= WarpMask::slot(slot);
    }

    pub fn lift_fences(&mut self) {
        for slot in self.fenced.slots() {
            if self.scoreboard.is_clear(slot) {
                self.fenced -= WarpMask::slot(slot);
                if self.warps[slot].atomics == 0 {
                    self.held -= WarpMask::slot(slot);
                }
                self.wake(slot);
                self.busy = true;
            }
        }
    }

    /// Transactions of an atomic of this warp came back.
    pub fn atomic_answered(&mut self, slot: usize, transactions: u32) {
        let warp = &mut self.warps[slot];
        warp.atomics -= transactions;
        if warp.atomics == 0 && !self.fenced.has(slot) {
            self.held -= WarpMask::slot(slot);
            self.wake(slot);
        }
    }
}
