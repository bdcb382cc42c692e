//! From issue through the units to the registers.

use super::Sm;
use super::flight::{Flight, FlightId};
use super::place::{KINDS, Place, Places};
use crate::base::WarpMask;

impl Sm<'_> {
    /// Sends an issued instruction on its way.
    #[inline(always)]
    pub fn dispatch(&mut self, id: FlightId, kind: u8, sub_core: usize) {
        if self.collector.is_some() {
            self.issued.put(Place::new(kind.into(), sub_core), id, self.issues);
        } else {
            self.dispatch_at_once(id);
        }
    }

    /// Without a collector.
    fn dispatch_at_once(&mut self, id: FlightId) {
        let Flight { place, init, total, .. } = *self.flights.get(id);
        if place.unit() == self.code.load_store {
            if let Some(load_store) = &mut self.load_store {
                load_store.queue.push_back(id);
            }
            return;
        }
        let instance = self.code.instance(place);
        let start = self.units[instance].enqueue(self.now, init, self.settings.queue.is_some());
        let flight = self.flights.get_mut(id);
        flight.start = start;
        flight.init_end = start + init;
        self.sources_read(id, start + init);
        self.completions.file(start + total + self.settings.write_back, id);
    }

    /// When an instruction that was dispatched without a collector to a unit will be done.
    pub fn done_of(&self, id: FlightId) -> Option<u64> {
        let flight = self.flights.get(id);
        let known = self.collector.is_none() && flight.place.unit() != self.code.load_store;
        known.then(|| flight.start + flight.total + self.settings.write_back)
    }

    /// Of warps that could issue now, those whose next instruction's unit takes no more from this
    /// sub-core.
    #[inline(always)]
    pub fn without_room_for(&mut self, ready: WarpMask, sub_core: usize) -> WarpMask {
        let mut out = WarpMask::empty();
        if self.collector.is_some() {
            for place in self.issued.full().among(Places::of_sub_core(sub_core)) {
                out |= self.wants[place.unit()] & ready;
            }
        } else if let Some(limit) = self.settings.queue {
            for kind in 0..KINDS {
                let wants = self.wants[kind] & ready;
                if !wants.is_empty() && self.is_full(self.code.place(kind as u8, sub_core), limit as usize) {
                    out |= wants;
                }
            }
        }
        out
    }

    /// Whether a unit has so many instructions in its queue; if it has none, whether it could not start another one.
    fn is_full(&mut self, place: Place, limit: usize) -> bool {
        if place.unit() == self.code.load_store {
            // it takes what it does from its queue
            return self.load_store.as_ref().is_some_and(|unit| unit.queue.len() >= limit.max(1));
        }
        let unit = &mut self.units[self.code.instance(place)];
        if limit == 0 { unit.is_taken(self.now) } else { unit.waiting(self.now) >= limit }
    }

    /// Units take in this cycle what the collector has ready.
    #[inline]
    pub fn start_collected<const PLAIN: bool>(&mut self, now: u64) {
        for place in self.collected.full().without(Places::of_unit(self.code.load_store)) {
            self.start_in::<PLAIN>(self.code.instance(place), self.collected.at(place), place, now);
        }
    }

    /// The unit starts an instruction from a place behind the collector, if it can and the result
    /// will find a bus.
    #[inline]
    fn start_in<const PLAIN: bool>(&mut self, instance: usize, id: FlightId, place: Place, now: u64) {
        let unit = &mut self.units[instance];
        if unit.is_taken(now) {
            return;
        }
        let flight = self.flights.get_mut(id);
        let leaves = now + flight.total;
        if unit.emits_at(leaves) || !self.buses.as_mut().is_none_or(|buses| buses.take(leaves)) {
            return;
        }
        let read = now + flight.init;
        if !PLAIN {
            (flight.start, flight.init_end) = (now, read);
        }
        unit.start(now, flight.init, flight.total);
        if !PLAIN {
            self.sources_read(id, read);
        }
        self.completions.file(leaves + self.settings.write_back, id);
        self.leave_collector(place);
        self.busy = true;
    }

    /// The next cycle at whose end a unit may take something that the collector has ready.
    pub fn next_start(&self) -> u64 {
        let next = self.now + 1;
        let load_store = Places::of_unit(self.code.load_store);
        let units = self.collected.full().without(load_store).map(|place| {
            // a unit that is free lacks a bus
            let unit = &self.units[self.code.instance(place)];
            unit.free_from().saturating_sub(1).max(next)
        });
        let access = !self.collected.full().among(load_store).is_empty()
            && self.load_store.as_ref().is_some_and(|unit| unit.is_free());
        units.min().unwrap_or(u64::MAX).min(if access { next } else { u64::MAX })
    }

    pub(super) fn leave_collector(&mut self, place: Place) {
        self.collected.take(place);
        if let Some(collector) = &mut self.collector {
            collector.freed(place);
        }
    }

    /// A result reaches the registers.
    #[inline(always)]
    pub fn write_back<const PLAIN: bool>(&mut self, id: FlightId) {
        let flight = *self.flights.get(id);
        let instr = self.code.of(flight.step);
        if let Some(collector) = &mut self.collector {
            for bank in self.code.banks(instr.written_homes(), flight.slot, flight.place.sub_core()) {
                collector.write(bank, self.now);
            }
        }
        self.complete_as::<PLAIN>(id, &flight, instr);
    }
}
