//! The load/store unit as a stage of the SM: its inputs, its callbacks and the effects of its
//! answers.

use super::Sm;
use super::code::Code;
use super::collector::Collector;
use super::flight::{Flight, FlightDetails, FlightId, Flights};
use super::load_store::{Answer, SmAccess, Start};
use super::memory::Port;
use super::warps::Warps;
use warpbound_core::isa::Space;
use warpbound_core::path::{LineUse, Step};
use warpbound_core::program::Access;

/// The parts of the SM to which the load/store unit has access.
struct UnitContext<'s, 'a> {
    now: u64,
    code: &'s Code<'a>,
    flights: &'s mut Flights,
    collector: &'s mut Option<Box<Collector>>,
    warps: &'s Warps<'a>,
}

impl SmAccess for UnitContext<'_, '_> {
    #[inline]
    fn line(&self, slot: u8, number: u32) -> LineUse {
        self.warps.line(slot.into(), number)
    }

    /// Allocates banks for the destinations that have none yet. Returns whether all have one.
    #[inline]
    fn write(&mut self, id: FlightId) -> bool {
        let Some(collector) = &mut *self.collector else { return true };
        let flight = self.flights.get_mut(id);
        let instr = self.code.of(flight.step);
        while flight.unwritten != 0 {
            let number = flight.unwritten.trailing_zeros() as usize;
            let bank = 1 << self.code.result_bank(instr, number, flight.slot, flight.place.sub_core());
            if collector.writes(bank) {
                return false;
            }
            collector.write(bank, self.now);
            flight.unwritten &= flight.unwritten - 1;
        }
        // the write-back of the next transaction writes them again
        flight.unwritten = instr.all_writes;
        true
    }
}

impl Sm<'_> {
    /// Simulates a cycle of the load/store unit; then the unit takes the oldest access, if it is
    /// free.
    #[inline(always)]
    pub(super) fn load_and_store<const PLAIN: bool>(&mut self, port: Option<&mut Port>) {
        let Self { now, code, flights, collector, warps, load_store: Some(unit), .. } = self else { return };
        if !unit.rests(*now) {
            let mut context = UnitContext { now: *now, code, flights, collector, warps };
            unit.cycle(*now, &mut context, port);
            if !unit.answers.is_empty() {
                self.busy = true;
                self.take_answers::<PLAIN>();
            }
        }
        self.start_access();
    }

    fn take_answers<const PLAIN: bool>(&mut self) {
        for number in 0.. {
            let Some(&answer) = self.load_store.as_ref().and_then(|unit| unit.answers.get(number)) else {
                break;
            };
            match answer {
                Answer::Left(id) => {
                    if !PLAIN {
                        let &Flight { slot, age, step, .. } = self.flights.get(id);
                        self.flights.details_mut(id).init_end = self.now;
                        let after = self.settings.load_store.map_or(0, |unit| unit.read_latency);
                        self.sources_read((slot, age), step, self.now + u64::from(after));
                    }
                }
                Answer::Complete(id) => self.complete::<PLAIN>(id),
                Answer::Stored(slot) => {
                    self.warps.stored(slot.into(), self.now);
                    self.warp_may_be_over(slot.into());
                }
                Answer::Atomic(id) => {
                    let slot = self.flights.get(id).slot.into();
                    if self.warps.atomic_answered(slot) {
                        self.schedulers.wake(slot);
                    }
                }
            }
        }
        if let Some(unit) = &mut self.load_store {
            unit.answers.clear();
        }
    }

    /// Starts the oldest access that waits behind the collector, or the next one of the queues, if
    /// the unit is free.
    #[inline(always)]
    fn start_access(&mut self) {
        let Some(unit) = self.load_store.as_mut().filter(|unit| unit.is_free()) else { return };
        let next = if let Some(collector) = &mut self.collector {
            let Some(place) = collector.oldest(self.code.load_store) else { return };
            collector.take(place);
            Some(collector.at(place))
        } else {
            unit.queues.take(self.now)
        };
        if let Some(id) = next {
            self.busy = true;
            self.start(id);
        }
    }

    fn start(&mut self, id: FlightId) {
        let Some(unit) = &mut self.load_store else { return };
        let &Flight { step, slot, .. } = self.flights.get(id);
        let details = self.flights.details_mut(id);
        details.start = self.now;
        let FlightDetails { line, transactions, .. } = *details;
        let access = self.code.of(step).access.unwrap_or(Access::Fence);
        let space = if access == Access::Fence { Space::Param } else { self.code.table.space(step) };
        let extra = u64::from(step.memory().extra_transactions);
        if access == Access::Store && matches!(space, Space::Global | Space::Local) {
            self.warps.store(slot.into(), transactions);
        }
        unit.start(Start { flight: id, slot, access, space, extra, lines_end: line, transactions }, self.now);
    }

    /// Determines the memory traffic of an access that is about to issue: the end of its lines, and
    /// the number of its transactions.
    pub(super) fn claim_traffic(&mut self, id: FlightId, step: Step, access: Access) {
        let Some(unit) = &self.load_store else { return };
        let slot = usize::from(self.flights.get(id).slot);
        let space = self.code.table.space(step);
        let moves = self.code.table.moves_lines(step);
        let (line, transactions) = self.warps.claim_traffic(slot, unit.parts(space), moves);
        if access == Access::Atomic && unit.atomics_block() {
            self.warps.hold(slot, if space == Space::Shared { 1 } else { transactions });
        }
        let details = self.flights.details_mut(id);
        (details.line, details.transactions) = (line, transactions);
    }
}
