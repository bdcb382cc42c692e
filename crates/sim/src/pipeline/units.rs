//! The functional units: the cycles in which instructions start and in which their results leave.

use std::collections::VecDeque;

use super::code::{Times, Timing};
use super::completions::Completions;
use super::flight::{FlightId, Flights};

/// The distance, in cycles, beyond which results are not checked for conflicts on a bus or at the
/// end of a unit.
const HORIZON: usize = 1024;
const LEAVING: u64 = 1 << 16;

/// One instance of a unit.
#[derive(Clone, Debug)]
struct Unit {
    /// The cycle from which on it can start the next initiation.
    free: u64,
    /// The start cycles of the instructions in its queue, ascending (without a collector).
    starts: VecDeque<u64>,
    /// The last cycle in which a result leaves the unit, indexed by cycle modulo the length, a
    /// power of two (with a collector). It is empty if all operations of the unit take the same
    /// time, because then results leave in the order of the starts, without conflicts.
    leaving: Vec<u64>,
}

impl Unit {
    /// Creates a unit behind a collector whose operations take these times, or one that has a queue.
    fn new(times: Option<Times>) -> Self {
        let length = match times {
            Some(Times { shortest, longest }) if shortest < longest => {
                longest.saturating_add(1).min(LEAVING).next_power_of_two() as usize
            }
            _ => 0,
        };
        Self { free: 0, starts: VecDeque::new(), leaving: vec![u64::MAX; length] }
    }

    /// Inserts an instruction into the queue in this cycle, and returns the cycle of its start.
    fn enqueue(&mut self, now: u64, init: u64, bounded: bool) -> u64 {
        let start = now.max(self.free);
        self.free = start + init;
        if bounded && start > now {
            self.starts.push_back(start);
        }
        start
    }

    /// Returns the number of instructions that wait in the queue.
    fn waiting(&mut self, now: u64) -> usize {
        while self.starts.front().is_some_and(|&start| start <= now) {
            self.starts.pop_front();
        }
        self.starts.len()
    }

    /// Returns the cycle in which the queue has room again, because its next instruction leaves it
    /// or the unit becomes free.
    fn next_room(&self, now: u64) -> u64 {
        let free = if self.free > now { self.free } else { u64::MAX };
        self.starts.iter().copied().find(|&start| start > now).unwrap_or(free)
    }

    /// Returns whether an initiation is in progress.
    #[inline(always)]
    fn is_taken(&self, now: u64) -> bool {
        self.free > now
    }

    /// Returns whether a result leaves the unit in this cycle.
    #[inline(always)]
    fn emits_at(&self, at: u64) -> bool {
        self.leaving.get(at as usize & self.leaving.len().wrapping_sub(1)) == Some(&at)
    }

    /// Starts an instruction whose result leaves the unit in the cycle `leaves`.
    #[inline(always)]
    fn start(&mut self, now: u64, init: u64, leaves: u64) {
        self.free = now.wrapping_add(init);
        let place = leaves as usize & self.leaving.len().wrapping_sub(1);
        if let Some(leaving) = self.leaving.get_mut(place) {
            *leaving = leaves;
        }
    }
}

/// The buses that carry results to write-back.
#[derive(Clone, Debug)]
struct ResultBuses {
    buses: u64,
    /// For each cycle, indexed modulo the length, the cycle and, in the lowest byte, the number of
    /// buses that are taken in it.
    used: Box<[u64; HORIZON]>,
}

impl ResultBuses {
    fn new(buses: u32) -> Self {
        Self { buses: buses.into(), used: Box::new([0; HORIZON]) }
    }

    /// Takes a bus in a cycle less than HORIZON ahead, and returns whether one was free.
    #[inline(always)]
    fn take(&mut self, at: u64) -> bool {
        let used = &mut self.used[at as usize % HORIZON];
        let none = at << 8;
        let taken = used.wrapping_sub(none);
        // an entry of another cycle is outdated
        let taken = if taken > u64::from(u8::MAX) { 0 } else { taken };
        let room = taken < self.buses;
        *used = none + taken + u64::from(room);
        room
    }
}

/// The units of an SM: they start instructions and determine when results reach the registers.
#[derive(Clone, Debug)]
pub(super) struct Units {
    /// The units, by instance number.
    units: Vec<Unit>,
    buses: Option<ResultBuses>,
    /// The number of cycles from the unit to the registers.
    write_back: u64,
    pub completions: Completions,
}

impl Units {
    /// Creates the instances of units whose operations take these times, if there is a collector
    /// before them.
    pub fn new(times: impl Iterator<Item = Option<Times>>, buses: Option<u32>, write_back: u64) -> Self {
        Self {
            units: times.map(Unit::new).collect(),
            buses: buses.map(ResultBuses::new),
            write_back,
            completions: Completions::default(),
        }
    }

    /// Starts an instruction in this cycle if the instance is free and the result will find a bus.
    /// Returns whether it did.
    #[inline(always)]
    pub fn start(&mut self, instance: usize, now: u64, id: FlightId, flights: &mut Flights) -> bool {
        let unit = &mut self.units[instance];
        if unit.is_taken(now) {
            return false;
        }
        let flight = flights.get(id);
        let (init, leaves) = (flight.init, now.wrapping_add(flight.total));
        if unit.emits_at(leaves) || !self.buses.as_mut().is_none_or(|buses| buses.take(leaves)) {
            return false;
        }
        unit.start(now, init, leaves);
        self.completions.file(leaves.wrapping_add(self.write_back), id, flights);
        true
    }

    /// Inserts an instruction with these times into the queue of an instance in this cycle, on a
    /// machine without a collector. Returns the cycle of its start and the cycle of its result.
    #[inline(always)]
    pub fn enqueue(&mut self, instance: usize, now: u64, timing: Timing, bounded: bool) -> (u64, u64) {
        let start = self.units[instance].enqueue(now, timing.init, bounded);
        (start, start + timing.total + self.write_back)
    }

    /// Returns whether the queue of an instance holds `limit` instructions or, if `limit` is 0,
    /// whether the instance cannot start another instruction.
    pub fn is_full(&mut self, instance: usize, limit: usize, now: u64) -> bool {
        let unit = &mut self.units[instance];
        if limit == 0 { unit.is_taken(now) } else { unit.waiting(now) >= limit }
    }

    /// Returns the cycle from which on an instance has no initiation in progress.
    pub fn free_from(&self, instance: usize) -> u64 {
        self.units[instance].free
    }

    /// Returns the next cycle in which a queue has room again, or `u64::MAX`.
    pub fn next_room(&self, now: u64) -> u64 {
        self.units.iter().map(|unit| unit.next_room(now)).min().unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bounded_queue_holds_what_has_not_started() {
        let mut unit = Unit::new(None);
        assert_eq!(unit.enqueue(0, 4, true), 0);
        assert_eq!(unit.enqueue(1, 4, true), 4);
        assert_eq!(unit.enqueue(2, 4, true), 8);
        assert_eq!((unit.waiting(2), unit.waiting(4), unit.waiting(8)), (2, 1, 0));
    }

    #[test]
    fn two_results_of_a_unit_do_not_leave_together() {
        let mut unit = Unit::new(Some(Times { shortest: 4, longest: 6 }));
        unit.start(0, 2, 4);
        assert!(unit.is_taken(1) && !unit.is_taken(2));
        assert!(unit.emits_at(4) && !unit.emits_at(6));
        unit.start(5, 2, 9);
        assert!(unit.emits_at(9) && !unit.emits_at(12));
    }

    #[test]
    fn buses_know_their_cycle() {
        let mut buses = ResultBuses::new(2);
        assert!(buses.take(7) && buses.take(7) && !buses.take(7));
        assert!(buses.take(8) && !buses.take(7) && buses.take(7 + HORIZON as u64));
    }
}
