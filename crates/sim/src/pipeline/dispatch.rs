//! Dispatch: the way of an instruction from issue through the units to write-back.

use super::code::Timing;
use super::flight::{Flight, FlightId};
use super::latch_entry::{LatchEntries, LatchEntry};
use super::{InFlight, Sm};
use warpbound_core::base::WarpMask;
use warpbound_core::isa::Space;
use warpbound_core::path::Step;
use warpbound_core::program::Access;

impl Sm<'_> {
    /// Dispatches an issued instruction on a machine without a collector. Returns the cycle in
    /// which it will complete, if that is known.
    pub(super) fn dispatch_at_once(&mut self, id: FlightId) -> Option<u64> {
        let &Flight { place, step, .. } = self.flights.get(id);
        if place.unit() == self.code.load_store {
            let addresses = self.addresses(id);
            if let Some(load_store) = &mut self.load_store {
                load_store.queues.push(place.sub_core(), id, self.now, addresses);
            }
            return None;
        }
        let (start, done) = self.enqueue(place, self.code.timing(step));
        self.units.completions.file(done, id, &mut self.flights);
        self.note_start(id, start);
        Some(done)
    }

    /// Inserts an instruction with these times into the queue of its unit. Returns the cycle of its
    /// start and the cycle of its result.
    #[inline(always)]
    fn enqueue(&mut self, place: LatchEntry, timing: Timing) -> (u64, u64) {
        self.units.enqueue(self.code.instance(place), self.now, timing, self.settings.queue.is_some())
    }

    /// Dispatches an issued instruction for whose completion nothing waits, on a machine without a
    /// collector. The unit needs no event for it.
    #[inline(always)]
    pub(super) fn dispatch_quietly(&mut self, (slot, age): (usize, u64), step: Step, place: LatchEntry) {
        let timing = self.code.timing(step);
        let (start, done) = self.enqueue(place, timing);
        self.warps.will_complete(slot, done);
        if self.code.of(step).codes.read.is_some() {
            self.sources_read((slot as u8, age), step, start + timing.init);
        }
    }

    /// Returns the number of cycles for which an access occupies the address unit of its sub-core, and for
    /// which the load/store unit sends what it finds.
    #[inline]
    fn addresses(&mut self, id: FlightId) -> (u64, u64) {
        let interval = self.load_store.as_ref().map_or(0, |unit| unit.address_interval());
        if interval == 0 {
            return (0, 0);
        }
        let &Flight { step, .. } = self.flights.get(id);
        let to_memory = matches!(self.code.table.space(step), Space::Global | Space::Local);
        if !to_memory || self.code.of(step).access == Some(Access::Atomic) {
            return (0, 0);
        }
        let transactions = u64::from(self.flights.details_mut(id).transactions);
        (transactions * interval, transactions)
    }

    /// Records that a unit starts an instruction.
    fn note_start(&mut self, id: FlightId, start: u64) {
        let &Flight { init, slot, age, step, .. } = self.flights.get(id);
        let read = start + init;
        let details = self.flights.details_mut(id);
        (details.start, details.init_end) = (start, read);
        self.sources_read((slot, age), step, read);
    }

    /// Returns the `ready` warps whose next instruction goes to a unit that accepts no more
    /// instructions from this sub-core.
    #[inline(always)]
    pub(super) fn without_room_for(&mut self, ready: WarpMask, sub_core: usize) -> WarpMask {
        let mut out = WarpMask::empty();
        if let Some(collector) = &self.collector {
            for place in collector.waiting().among(LatchEntries::of_sub_core(sub_core)) {
                out |= self.warps.wanting(place.unit()) & ready;
            }
        } else if let Some(limit) = self.settings.queue {
            let mut left = ready;
            while let Some(slot) = left.lowest() {
                let kind = self.warps.next(slot).kind;
                let wants = self.warps.wanting(kind.into()) & left;
                if self.is_full(self.code.place(kind, sub_core), limit as usize) {
                    out |= wants;
                }
                left -= wants;
            }
        }
        out
    }

    /// Returns whether the queue of a unit holds `limit` instructions or, if the unit has no queue,
    /// whether the unit cannot start another instruction.
    fn is_full(&mut self, place: LatchEntry, limit: usize) -> bool {
        if place.unit() == self.code.load_store {
            // the unit takes its instructions from its queue, so the queue has at least one entry
            return self
                .load_store
                .as_ref()
                .is_some_and(|unit| unit.queues.len(place.sub_core()) >= limit.max(1));
        }
        self.units.is_full(self.code.instance(place), limit, self.now)
    }

    /// Simulates a cycle of the collector; then the units start the instructions that are
    /// collected.
    #[inline(always)]
    pub(super) fn collect<const PLAIN: bool>(&mut self) {
        let Some(collector) = &mut self.collector else { return };
        if collector.is_stuck() {
            collector.rest();
        } else {
            self.goes_on = true;
            collector.cycle(self.now, &InFlight { code: self.code, flights: &self.flights });
            self.schedulers.wake_for_room(collector.entered());
        }
        let waiting = collector.collected().without(LatchEntries::of_unit(self.code.load_store));
        if !waiting.is_empty() {
            // they start when the next cycle begins, but nothing before that changes the outcome
            self.start_collected::<PLAIN>(waiting, self.now + 1);
        }
    }

    fn start_collected<const PLAIN: bool>(&mut self, waiting: LatchEntries, now: u64) {
        for place in waiting {
            let Self { collector: Some(collector), units, flights, code, .. } = self else { return };
            let id = collector.at(place);
            if units.start(code.instance(place), now, id, flights) {
                collector.take(place);
                self.goes_on = true;
                if !PLAIN {
                    self.note_start(id, now);
                }
            }
        }
    }

    /// Returns the next cycle at whose end a unit may start a collected instruction.
    pub(super) fn next_start(&self) -> u64 {
        let Some(collector) = &self.collector else { return u64::MAX };
        let (next, load_store) = (self.now + 1, LatchEntries::of_unit(self.code.load_store));
        let units = collector.collected().without(load_store).map(|place| {
            // if the unit is already free, the instruction waits for a result bus
            self.units.free_from(self.code.instance(place)).saturating_sub(1).max(next)
        });
        let access = !collector.collected().among(load_store).is_empty()
            && self.load_store.as_ref().is_some_and(|unit| unit.is_free());
        units.min().unwrap_or(u64::MAX).min(if access { next } else { u64::MAX })
    }

    /// Writes the results that are due in this cycle to the registers.
    #[inline(always)]
    pub(super) fn write_back<const PLAIN: bool>(&mut self) {
        while let Some(id) = self.units.completions.due(&self.flights) {
            self.busy = true;
            if let Some(collector) = &mut self.collector {
                collector.write(self.flights.get(id).banks, self.now);
            }
            self.complete::<PLAIN>(id);
        }
    }

    /// Completes an instruction: its registers become available, and it leaves the SM.
    #[inline(always)]
    pub(super) fn complete<const PLAIN: bool>(&mut self, id: FlightId) {
        let &Flight { writes, slot, age, step, simple, .. } = self.flights.get(id);
        let slot = usize::from(slot);
        if !PLAIN && self.listening {
            self.log.completed(self.flights.details(id), self.now);
        }
        self.flights.remove(id);
        let completed = if simple {
            self.warps.complete_simply(slot, writes, self.now)
        } else {
            self.warps.complete(slot, age, step, self.now)
        };
        if completed.wakes {
            self.schedulers.wake(slot);
        }
        if completed.over {
            self.warp_may_be_over(slot);
        }
    }

    /// Records that the sources of the instruction with this slot and age are read in cycle `at`,
    /// which is the present or a later one.
    #[inline(always)]
    pub(super) fn sources_read(&mut self, (slot, age): (u8, u64), step: Step, at: u64) {
        let slot = usize::from(slot);
        if self.warps.sources_read(slot, age, step, at, self.now) {
            self.schedulers.wake(slot);
        }
    }

    /// Lets warps issue whose control codes waited for an event of this cycle.
    pub(super) fn follow_codes(&mut self) {
        if let Some(freed) = self.warps.follow_codes(self.now) {
            self.busy = true;
            self.schedulers.wake_slots(freed);
        }
    }
}
