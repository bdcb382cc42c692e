//! The load/store unit as a stage of the SM: what it asks, what it is given, and what becomes of its answers.

use super::Sm;
use super::code::Code;
use super::collector::Collector;
use super::flight::{Flight, FlightId, Flights};
use super::load_store::{Answer, Beside, Start};
use super::memory::Port;
use super::per::PerSlot;
use super::place::Places;
use crate::base::WarpMask;
use crate::isa::Space;
use crate::path::{LineUse, Step, WarpPath};
use crate::program::Access;

/// What the load/store unit asks.
struct Asked<'s, 'a> {
    now: u64,
    code: &'s Code<'a>,
    flights: &'s mut Flights,
    collector: &'s mut Option<Box<Collector>>,
    paths: &'s PerSlot<WarpPath>,
}

impl Beside for Asked<'_, '_> {
    #[inline]
    fn line(&self, slot: u8, number: u32) -> LineUse {
        self.paths[slot.into()].traffic()[number as usize]
    }

    /// Allocates banks for the destinations that have none yet. Whether all have one.
    #[inline]
    fn write(&mut self, id: FlightId) -> bool {
        let Some(collector) = &mut *self.collector else { return true };
        let flight = self.flights.get_mut(id);
        let instr = self.code.of(flight.step);
        let homes = instr.written_homes();
        while flight.unwritten != 0 {
            let home = &homes[flight.unwritten.trailing_zeros() as usize..][..1];
            for bank in self.code.banks(home, flight.slot, flight.place.sub_core()) {
                if collector.is_written(bank) {
                    return false;
                }
                collector.write(bank, self.now);
            }
            flight.unwritten &= flight.unwritten - 1;
        }
        // the next transaction writes them again
        flight.unwritten = instr.all_writes;
        true
    }
}

impl Sm<'_> {
    /// A cycle of the load/store unit; then it takes the oldest access, if it is free.
    #[inline]
    pub fn load_and_store(&mut self, port: Option<&mut Port>) {
        let waits = !self.collected.full().among(Places::of_unit(self.code.load_store)).is_empty();
        let Self { now, code, flights, collector, paths, load_store: Some(unit), .. } = self else {
            return;
        };
        if unit.rests(*now) {
            if !waits && unit.queue.is_empty() {
                return;
            }
        } else {
            let mut asked = Asked { now: *now, code, flights, collector, paths };
            unit.cycle(*now, &mut asked, port);
            if !unit.answers.is_empty() {
                self.busy = true;
                self.take_answers();
            }
        }
        self.start_access(waits);
    }

    fn take_answers(&mut self) {
        let Some(unit) = &mut self.load_store else { return };
        let mut answers = std::mem::take(&mut unit.answers);
        for answer in answers.drain(..) {
            match answer {
                Answer::Left(id) => {
                    self.flights.get_mut(id).init_end = self.now;
                    self.sources_read(id, self.now);
                }
                Answer::Complete(id) => self.complete(id),
                Answer::Stored(slot) => {
                    let slot = usize::from(slot);
                    let warp = &mut self.warps[slot];
                    warp.stores -= 1;
                    warp.last_done = warp.last_done.max(self.now);
                    self.warp_may_be_over(slot);
                }
                Answer::Atomic(id) => self.atomic_answered(self.flights.get(id).slot.into(), 1),
            }
        }
        if let Some(unit) = &mut self.load_store {
            unit.answers = answers;
        }
    }

    /// The unit takes the oldest access, if it is free and there `is` one behind the collector, or one in its queue.
    #[inline]
    fn start_access(&mut self, is: bool) {
        let Some(unit) = self.load_store.as_mut().filter(|unit| unit.is_free()) else { return };
        let next = if self.collector.is_some() {
            let oldest = if is { self.collected.oldest(self.code.load_store) } else { None };
            oldest.map(|place| {
                self.leave_collector(place);
                self.collected.at(place)
            })
        } else {
            unit.queue.pop_front()
        };
        if let Some(id) = next {
            self.busy = true;
            self.start(id);
        }
    }

    fn start(&mut self, id: FlightId) {
        let Some(unit) = &mut self.load_store else { return };
        let flight = self.flights.get_mut(id);
        flight.start = self.now;
        let Flight { step, slot, line, transactions, .. } = *flight;
        let access = self.code.of(step).access.unwrap_or(Access::Fence);
        let space = if access == Access::Fence { Space::Param } else { self.code.table.space(step) };
        let banks = if space == Space::Shared { bank_transactions(step) } else { 0 };
        if access == Access::Store && matches!(space, Space::Global | Space::Local) {
            self.warps[usize::from(slot)].stores += transactions;
        }
        unit.start(Start { flight: id, slot, access, space, banks, lines_end: line, transactions }, self.now);
    }

    /// What an access that is about to issue asks of memory: the end of its traffic, and its
    /// transactions.
    pub fn claim_traffic(&mut self, slot: usize, step: Step, access: Access) -> (u32, u32) {
        let Some(unit) = &self.load_store else { return (0, 0) };
        let space = self.code.table.space(step);
        let (parts, atomics_block) = (unit.parts(space), unit.atomics_block());
        let first = self.warps[slot].traffic;
        let mut transactions = 0;
        if self.code.table.moves_lines(step) {
            let mut lines = 0;
            for line in self.path(slot).traffic().get(first as usize..).unwrap_or(&[]) {
                lines += 1;
                transactions += parts.count(line.sectors());
                if line.is_last() {
                    break;
                }
            }
            self.warps[slot].traffic += lines;
        }
        if access == Access::Atomic && atomics_block {
            let answers = if space == Space::Shared { 1 } else { transactions };
            self.warps[slot].atomics += answers;
            if answers > 0 {
                self.held |= WarpMask::slot(slot);
            }
        }
        (self.warps[slot].traffic, transactions)
    }
}

/// Cycles for which a shared-memory access keeps the banks.
fn bank_transactions(step: Step) -> u64 {
    u64::from(step.memory().extra_transactions) + 1
}
