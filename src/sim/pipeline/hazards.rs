//! What keeps warps from issuing: registers that are not there, fences and atomics under way.

use super::Sm;
use super::flight::FlightId;
use crate::base::{Cycle, RegId, WarpMask};
use crate::path::Step;
use crate::program::Flow;

/// Who will write a register.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Pending(u64);

impl Pending {
    /// Nobody: the value is there.
    pub const NONE: Self = Self(0);

    /// The instruction of this age, which may be a load from global memory.
    fn by(age: u64, loads_global: bool) -> Self {
        Self((age + 1) << 1 | u64::from(loads_global))
    }

    fn is_by(self, age: u64) -> bool {
        self.0 >> 1 == age + 1
    }

    fn is_global(self) -> bool {
        self.0 & 1 == 1
    }
}

/// A warp's next instruction waits for no register.
const NOTHING: u32 = u32::MAX;

impl Sm<'_> {
    /// An instruction is complete: its registers are there, and it leaves the SM.
    pub fn complete(&mut self, id: FlightId) {
        let flight = self.flights.get(id);
        let (slot, age, step) = (flight.slot as usize, flight.age, flight.step);
        if self.listening {
            self.log.completed(flight, self.now);
        }
        self.flights.remove(id);
        let warp = &mut self.warps[slot];
        warp.in_flight -= 1;
        warp.last_done = warp.last_done.max(self.now);
        let done = warp.in_flight == 0;
        if self.lift(slot, age, step) | self.end_codes(slot, age, step) {
            self.refresh(slot);
        }
        if done {
            self.warp_may_be_over(slot);
        }
    }

    /// Registers that an issued instruction will write.
    pub fn reserve(&mut self, slot: usize, age: u64, step: Step) {
        let instr = self.code.of(step);
        if !instr.scored {
            return;
        }
        let loads_global = self.tracks_global && instr.loads_global && self.code.table.loads_global(step);
        let pending = Pending::by(age, loads_global);
        let of_warp = &mut self.pending[slot * self.regs..][..self.regs];
        for &reg in instr.op.writes() {
            of_warp[reg as usize] = pending;
        }
        if let Some(ring) = self.written_ring(step) {
            self.pending[slot * self.regs + ring] = pending;
        }
    }

    /// The pseudo-register that an asynchronous copy writes.
    fn written_ring(&self, step: Step) -> Option<usize> {
        let copies = self.code.of(step).op.flow == Flow::AsyncCopy;
        if copies { self.code.table.async_reg(step).map(RegId::index) } else { None }
    }

    /// A complete instruction has written its registers, but for those that a later one is going
    /// to write too. Whether the warp waited for one of them.
    fn lift(&mut self, slot: usize, age: u64, step: Step) -> bool {
        let awaited = self.warps[slot].awaits;
        let of_warp = &mut self.pending[slot * self.regs..][..self.regs];
        let mut lifted = false;
        for &reg in self.code.of(step).op.writes() {
            let pending = &mut of_warp[reg as usize];
            if pending.is_by(age) {
                *pending = Pending::NONE;
                lifted |= awaited == u32::from(reg);
            }
        }
        if let Some(ring) = self.written_ring(step)
            && self.pending[slot * self.regs + ring].is_by(age)
        {
            self.pending[slot * self.regs + ring] = Pending::NONE;
            lifted |= awaited as usize == ring;
        }
        // where the policy asks who waits for global memory, any register counts
        lifted || self.tracks_global && !self.clear.has(slot)
    }

    /// Looks at the next step of a warp: which unit it wants, and whether a hazard holds it.
    pub fn look_at_next(&mut self, slot: usize) {
        let warp = &mut self.warps[slot];
        self.wants[warp.unit as usize] -= WarpMask::slot(slot);
        warp.step = None;
        if warp.next < warp.steps {
            let (place, of_block) = self.blocks.seat(slot);
            let step = self.rooms[place].warps[of_block.index()].steps()[warp.next as usize];
            warp.step = Some(step);
            let accesses = self.code.of(step).access.is_some();
            let unit = if accesses { self.code.load_store } else { self.code.timing(step).unit as usize };
            warp.unit = unit as u8;
            self.wants[unit] |= WarpMask::slot(slot);
            if let Some(front_end) = &mut self.front_end {
                front_end.goes_to(slot, step.pc().get());
            }
        }
        self.refresh(slot);
    }

    /// Whether a hazard holds a warp's next instruction.
    pub(super) fn refresh(&mut self, slot: usize) {
        self.wake(slot);
        let stalled = self.codes.as_ref().is_some_and(|held| held.is_stalled(slot, self.now));
        let awaits = self.warps[slot].step.and_then(|step| self.pending_of(slot, step));
        self.warps[slot].awaits = awaits.map_or(NOTHING, |reg| reg as u32);
        if awaits.is_none() && !stalled && self.warps[slot].step.is_some() {
            self.clear |= WarpMask::slot(slot);
        } else {
            self.clear -= WarpMask::slot(slot);
        }
        if self.tracks_global {
            let step = self.warps[slot].step;
            let waits = step.is_some_and(|step| self.waits_for_global(slot, step));
            // nobody knows until when
            let until = if waits { Cycle::NEVER } else { Cycle::ZERO };
            let sub_core = self.code.table.sub_cores().of_slot(slot);
            self.subs[sub_core].view.global_until[slot] = until;
        }
    }

    /// A register that an instruction needs and that is not there.
    #[inline]
    fn pending_of(&self, slot: usize, step: Step) -> Option<usize> {
        let pending = &self.pending[slot * self.regs..][..self.regs];
        let op = &self.code.of(step).op;
        if let Some(held) = &self.codes {
            let awaited = op.waits().iter().find(|&&reg| held.holds(slot, RegId::new(reg)));
            return awaited.map(|&reg| usize::from(reg));
        }
        for &reg in op.waits() {
            if pending[reg as usize] != Pending::NONE {
                return Some(reg as usize);
            }
        }
        let ring = if op.waits_ring { self.code.table.async_reg(step) } else { None };
        ring.map(RegId::index).filter(|&ring| pending[ring] != Pending::NONE)
    }

    /// Whether an instruction needs what a load from global memory will write.
    fn waits_for_global(&self, slot: usize, step: Step) -> bool {
        let pending = &self.pending[slot * self.regs..][..self.regs];
        let op = &self.code.of(step).op;
        if let Some(held) = &self.codes {
            return op.waits().iter().any(|&reg| held.waits_for_global(slot, RegId::new(reg)));
        }
        let ring = if op.waits_ring { self.code.table.async_reg(step) } else { None };
        let mut waits = op.waits().iter().map(|&reg| reg as usize).chain(ring.map(RegId::index));
        waits.any(|reg| pending[reg].is_global())
    }

    /// A fence holds its warp until none of its registers is pending.
    pub fn fence(&mut self, slot: usize) {
        self.fenced |= WarpMask::slot(slot);
        self.held |= WarpMask::slot(slot);
    }

    pub fn lift_fences(&mut self) {
        for slot in self.fenced.slots() {
            let pending = &self.pending[slot * self.regs..][..self.regs];
            if pending.iter().all(|&p| p == Pending::NONE) {
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
