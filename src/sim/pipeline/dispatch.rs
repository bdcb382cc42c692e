//! From issue through the units to the registers.

use super::flight::{Flight, FlightId};
use super::place::{KINDS, Place, Places};
use super::{InFlight, Sm};
use crate::base::WarpMask;

impl Sm<'_> {
    /// Sends an issued instruction on its way, if there is no collector. When it will be done, if that is known.
    pub(super) fn dispatch_at_once(&mut self, id: FlightId) -> Option<u64> {
        let place = self.flights.get(id).place;
        if place.unit() == self.code.load_store {
            if let Some(load_store) = &mut self.load_store {
                load_store.queue.push_back(id);
            }
            return None;
        }
        let (instance, bounded) = (self.code.instance(place), self.settings.queue.is_some());
        let (start, done) = self.units.enqueue(instance, self.now, id, &mut self.flights, bounded);
        self.note_start(id, start);
        Some(done)
    }

    /// A unit starts an instruction.
    fn note_start(&mut self, id: FlightId, start: u64) {
        let &Flight { init, slot, age, step, .. } = self.flights.get(id);
        let read = start + init;
        let aside = self.flights.aside_mut(id);
        (aside.start, aside.init_end) = (start, read);
        self.sources_read((slot, age), step, read);
    }

    /// Of warps that could issue now, those whose next instruction's unit takes no more from this sub-core.
    #[inline(always)]
    pub(super) fn without_room_for(&mut self, ready: WarpMask, sub_core: usize) -> WarpMask {
        let mut out = WarpMask::empty();
        if let Some(collector) = &self.collector {
            for place in collector.waiting().among(Places::of_sub_core(sub_core)) {
                out |= self.warps.wanting(place.unit()) & ready;
            }
        } else if let Some(limit) = self.settings.queue {
            for kind in 0..KINDS {
                let wants = self.warps.wanting(kind) & ready;
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
        self.units.is_full(self.code.instance(place), limit, self.now)
    }

    /// A cycle of the collector; and units take what it has ready.
    #[inline(always)]
    pub(super) fn collect<const PLAIN: bool>(&mut self) {
        let Some(collector) = &mut self.collector else { return };
        if collector.is_stuck() {
            collector.rest();
        } else {
            self.busy = true;
            collector.cycle(self.now, &InFlight { code: self.code, flights: &self.flights });
            self.schedulers.wake_for_room(collector.entered());
        }
        let waiting = collector.collected().without(Places::of_unit(self.code.load_store));
        if !waiting.is_empty() {
            // they do so when the next cycle begins, but nothing before that changes what they do
            self.start_collected::<PLAIN>(waiting, self.now + 1);
        }
    }

    fn start_collected<const PLAIN: bool>(&mut self, waiting: Places, now: u64) {
        for place in waiting {
            let Self { collector: Some(collector), units, flights, code, .. } = self else { return };
            let id = collector.at(place);
            if units.start(code.instance(place), now, id, flights) {
                collector.take(place);
                self.busy = true;
                if !PLAIN {
                    self.note_start(id, now);
                }
            }
        }
    }

    /// The next cycle at whose end a unit may take something that the collector has ready.
    pub(super) fn next_start(&self) -> u64 {
        let Some(collector) = &self.collector else { return u64::MAX };
        let (next, load_store) = (self.now + 1, Places::of_unit(self.code.load_store));
        let units = collector.collected().without(load_store).map(|place| {
            // a unit that is free lacks a bus
            self.units.free_from(self.code.instance(place)).saturating_sub(1).max(next)
        });
        let access = !collector.collected().among(load_store).is_empty()
            && self.load_store.as_ref().is_some_and(|unit| unit.is_free());
        units.min().unwrap_or(u64::MAX).min(if access { next } else { u64::MAX })
    }

    /// Results that are due reach the registers.
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

    /// An instruction is complete: its registers are there, and it leaves the SM.
    #[inline(always)]
    pub(super) fn complete<const PLAIN: bool>(&mut self, id: FlightId) {
        let &Flight { writes, slot, age, step, simple, .. } = self.flights.get(id);
        let slot = usize::from(slot);
        if !PLAIN && self.listening {
            self.log.completed(self.flights.aside(id), self.now);
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

    /// The sources of an instruction, of this slot and age, are read in this cycle, or will be.
    #[inline(always)]
    pub(super) fn sources_read(&mut self, (slot, age): (u8, u64), step: crate::path::Step, at: u64) {
        let slot = usize::from(slot);
        if self.warps.sources_read(slot, age, step, at, self.now) {
            self.schedulers.wake(slot);
        }
    }

    /// Follows what control codes wait for that is over in this cycle.
    pub(super) fn follow_codes(&mut self) {
        let concerned = self.warps.follow_codes(self.now);
        self.schedulers.wake_slots(concerned);
        self.busy |= !concerned.is_empty();
    }
}
