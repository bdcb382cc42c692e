//! Functional units: when instructions start, and when their results may leave.

use std::collections::VecDeque;

/// Results further ahead than this are not checked against each other, on a bus and at the end of a
/// unit.
const HORIZON: usize = 1024;
const LEAVING: u64 = 1 << 16;

/// From a start in a unit to the result.
#[derive(Clone, Copy, Debug)]
pub(super) struct Times {
    pub shortest: u64,
    pub longest: u64,
}

/// One instance of a unit.
#[derive(Clone, Debug)]
pub(super) struct Unit {
    /// When it can start the next initiation.
    free: u64,
    /// Starts of the instructions in its queue, ascending (without a collector).
    starts: VecDeque<u64>,
    /// By cycle modulo its length, a power of two: the last cycle in which a result leaves it (with a
    /// collector). Empty if all its operations take the same time, so that results leave as operations start.
    leaving: Vec<u64>,
}

impl Unit {
    /// A unit whose operations take so long.
    pub fn new(times: Times) -> Self {
        let length = times.longest.saturating_add(1).min(LEAVING).next_power_of_two();
        let length = if times.shortest < times.longest { length as usize } else { 0 };
        Self { free: 0, starts: VecDeque::new(), leaving: vec![u64::MAX; length] }
    }

    /// Takes an instruction into the queue in this cycle: its start.
    pub fn enqueue(&mut self, now: u64, init: u64, bounded: bool) -> u64 {
        let start = now.max(self.free);
        self.free = start + init;
        if bounded && start > now {
            self.starts.push_back(start);
        }
        start
    }

    /// Instructions that wait in the queue.
    pub fn waiting(&mut self, now: u64) -> usize {
        while self.starts.front().is_some_and(|&start| start <= now) {
            self.starts.pop_front();
        }
        self.starts.len()
    }

    /// When the queue has room again: the next instruction leaves it, or the unit is free.
    pub fn next_room(&self, now: u64) -> u64 {
        let free = if self.free > now { self.free } else { u64::MAX };
        self.starts.iter().copied().find(|&start| start > now).unwrap_or(free)
    }

    /// When no initiation is under way any more.
    #[inline]
    pub fn free_from(&self) -> u64 {
        self.free
    }

    /// Whether an initiation is under way.
    #[inline]
    pub fn is_taken(&self, now: u64) -> bool {
        self.free > now
    }

    /// Whether a result leaves it in this cycle.
    #[inline]
    pub fn emits_at(&self, at: u64) -> bool {
        self.leaving.get(at as usize & self.leaving.len().wrapping_sub(1)) == Some(&at)
    }

    /// Starts an instruction.
    #[inline]
    pub fn start(&mut self, now: u64, init: u64, total: u64) {
        self.free = now + init;
        let at = now + total;
        let place = at as usize & self.leaving.len().wrapping_sub(1);
        if let Some(leaving) = self.leaving.get_mut(place) {
            *leaving = at;
        }
    }
}

/// The buses that carry results to write-back.
#[derive(Clone, Debug)]
pub(super) struct ResultBuses {
    buses: u8,
    /// By cycle mod HORIZON: which cycle, and the buses taken in it.
    used: Box<[(u64, u8); HORIZON]>,
}

impl ResultBuses {
    pub fn new(buses: u32) -> Self {
        Self { buses: buses as u8, used: Box::new([(0, 0); HORIZON]) }
    }

    /// Takes a bus in a cycle less than HORIZON ahead. Whether one was free.
    #[inline]
    pub fn take(&mut self, at: u64) -> bool {
        let (cycle, taken) = &mut self.used[at as usize % HORIZON];
        if *cycle != at {
            (*cycle, *taken) = (at, 0);
        }
        let room = *taken < self.buses;
        *taken += u8::from(room);
        room
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bounded_queue_holds_what_has_not_started() {
        let mut unit = Unit::new(Times { shortest: 1, longest: 6 });
        assert_eq!(unit.enqueue(0, 4, true), 0);
        assert_eq!(unit.enqueue(1, 4, true), 4);
        assert_eq!(unit.enqueue(2, 4, true), 8);
        assert_eq!((unit.waiting(2), unit.waiting(4), unit.waiting(8)), (2, 1, 0));
    }

    #[test]
    fn two_results_of_a_unit_do_not_leave_together() {
        let mut unit = Unit::new(Times { shortest: 4, longest: 6 });
        unit.start(0, 2, 4);
        assert!(unit.is_taken(1) && !unit.is_taken(2));
        assert!(unit.emits_at(4) && !unit.emits_at(6));
        unit.start(5, 2, 4);
        assert!(unit.emits_at(9) && !unit.emits_at(12));
    }

    #[test]
    fn buses_know_their_cycle() {
        let mut buses = ResultBuses::new(2);
        assert!(buses.take(7) && buses.take(7) && !buses.take(7));
        assert!(buses.take(8) && !buses.take(7) && buses.take(7 + HORIZON as u64));
    }
}
