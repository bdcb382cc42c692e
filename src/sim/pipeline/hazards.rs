//! What keeps warps from issuing: registers that are not there, fences and atomics under way.

use super::flight::{Flight, FlightId};
use super::sm::Sm;
use crate::base::{Cycle, RegId, WarpMask};
use crate::program::Flow;

/// Who will write a register.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Pending(u64);

impl Pending {
    /// Nobody: the value is there.
    pub const NONE: Self = Self(0);

    /// This instruction, which may be a load from global memory.
    fn by(flight: &Flight, loads_global: bool) -> Self {
        Self((flight.age + 1) << 1 | u64::from(loads_global))
    }

    fn is_by(self, flight: &Flight) -> bool {
        self.0 >> 1 == flight.age + 1
    }

    fn is_global(self) -> bool {
        self.0 & 1 == 1
    }
}

impl Sm<'_> {
    /// An instruction is complete: its registers are there, and it leaves the SM.
    pub fn complete(&mut self, id: FlightId) {
        let now = self.now;
        let flight = *self.flights.get(id);
        let slot = flight.slot as usize;
        let warp = &mut self.warps[slot];
        warp.in_flight -= 1;
        warp.last_done = warp.last_done.max(now);
        if self.listening {
            self.log.completed(&flight, now);
        }
        self.flights.remove(id);
        if self.lift(&flight) && !self.clear.has(slot) {
            self.refresh(slot);
        }
        self.warp_may_be_over(slot);
    }

    /// Registers that an issued instruction will write.
    pub fn reserve(&mut self, id: FlightId) {
        let flight = *self.flights.get(id);
        let instr = self.code.of(flight.step);
        if !instr.scored {
            return;
        }
        let op = &instr.op;
        let pending = Pending::by(&flight, instr.loads_global && self.code.table.loads_global(flight.step));
        let base = flight.slot as usize * self.regs;
        for &reg in op.writes() {
            self.pending[base + reg as usize] = pending;
        }
        if op.flow == Flow::AsyncCopy
            && let Some(ring) = self.code.table.async_reg(flight.step)
        {
            self.pending[base + ring.index()] = pending;
        }
    }

    /// A complete instruction has written its registers. Whether a hazard was lifted: a later
    /// instruction may be going to write them too.
    fn lift(&mut self, flight: &Flight) -> bool {
        let base = flight.slot as usize * self.regs;
        let op = &self.code.of(flight.step).op;
        let ring = if op.flow == Flow::AsyncCopy { self.code.table.async_reg(flight.step) } else { None };
        let mut lifted = false;
        for reg in op.writes().iter().map(|&reg| reg as usize).chain(ring.map(RegId::index)) {
            let pending = &mut self.pending[base + reg];
            if pending.is_by(flight) {
                *pending = Pending::NONE;
                lifted = true;
            }
        }
        lifted
    }

    /// Looks at the next step of a warp: which unit it wants, and whether a hazard holds it.
    pub fn look_at_next(&mut self, slot: usize) {
        let warp = &mut self.warps[slot];
        self.wants[warp.unit as usize] -= WarpMask::slot(slot);
        warp.step = None;
        if warp.next < warp.steps {
            let place = warp.place as usize;
            let path = &self.rooms[place].warps[slot - self.residents[place].first_slot];
            let step = path.steps()[warp.next as usize];
            warp.step = Some(step);
            let accesses = self.code.of(step).access.is_some();
            let unit = if accesses { self.wants.len() - 1 } else { self.code.timing(step).unit as usize };
            warp.unit = unit as u8;
            self.wants[unit] |= WarpMask::slot(slot);
            if let Some(front_end) = &mut self.front_end {
                front_end.goes_to(slot, step.pc().get());
            }
        }
        self.refresh(slot);
    }

    fn refresh(&mut self, slot: usize) {
        let bit = WarpMask::slot(slot);
        self.clear -= bit;
        let mut until = Cycle::ZERO;
        if let Some(step) = self.warps[slot].step {
            let op = &self.code.of(step).op;
            let pending = &self.pending[slot * self.regs..][..self.regs];
            let ring = if op.waits_ring { self.code.table.async_reg(step) } else { None };
            let mut clear = true;
            for reg in op.waits().iter().map(|&reg| reg as usize).chain(ring.map(RegId::index)) {
                clear &= pending[reg] == Pending::NONE;
                if pending[reg].is_global() {
                    // nobody knows until when
                    until = Cycle::NEVER;
                }
            }
            if clear {
                self.clear |= bit;
            }
        }
        let sub_core = slot % self.subs.len();
        self.subs[sub_core].view.global_until[slot] = until;
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
        }
    }
}
