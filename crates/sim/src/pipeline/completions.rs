//! A queue of instructions by the cycle of their write-back.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::flight::{FlightId, Flights, NONE};

/// The number of cycles that have their own bucket.
const NEAR: usize = 256;
const WORDS: usize = NEAR / 64;

/// The instructions by the cycle of their write-back. Within a cycle, they are in the order of
/// their insertion.
#[derive(Clone, Debug)]
pub(super) struct Completions {
    /// For each of the cycles from `now` on, indexed modulo NEAR: the first and the last remaining
    /// instruction. The instructions in between are linked by [`super::flight::Flight::next`].
    buckets: Box<[(FlightId, FlightId); NEAR]>,
    /// The buckets that are not empty, as a bit mask.
    filled: [u64; WORDS],
    now: u64,
    /// The instructions of cycles beyond the buckets, with their cycle and insertion number. They
    /// precede those in the bucket of the same cycle, which were inserted later.
    far: BinaryHeap<Reverse<(u64, u64, FlightId)>>,
    filed: u64,
}

impl Default for Completions {
    fn default() -> Self {
        Self {
            buckets: Box::new([(NONE, NONE); NEAR]),
            filled: [0; WORDS],
            now: 0,
            far: BinaryHeap::new(),
            filed: 0,
        }
    }
}

impl Completions {
    /// Inserts an instruction. `at` must be after the cycle of the last call of [`Self::is_due`].
    #[inline]
    pub fn file(&mut self, at: u64, flight: FlightId, flights: &mut Flights) {
        debug_assert!(at > self.now, "a write-back in the past");
        if at.wrapping_sub(self.now) >= NEAR as u64 {
            return self.file_far(at, flight);
        }
        flights.get_mut(flight).next = NONE;
        let place = at as usize % NEAR;
        let (first, last) = &mut self.buckets[place];
        if *first == NONE {
            *first = flight;
            self.filled[place / 64] |= 1 << (place % 64);
        } else {
            flights.get_mut(*last).next = flight;
        }
        *last = flight;
    }

    #[cold]
    fn file_far(&mut self, at: u64, flight: FlightId) {
        self.filed += 1;
        self.far.push(Reverse((at, self.filed, flight)));
    }

    /// Returns whether an instruction may be due. `now` never decreases, and skips no cycle in
    /// which one is due.
    #[inline]
    pub fn is_due(&mut self, now: u64) -> bool {
        self.now = now;
        self.buckets[now as usize % NEAR].0 != NONE || !self.far.is_empty()
    }

    /// Removes and returns the next instruction that is due in the cycle of the last call of
    /// [`Self::is_due`].
    #[inline]
    pub fn due(&mut self, flights: &Flights) -> Option<FlightId> {
        if !self.far.is_empty()
            && let Some(flight) = self.due_far(self.now)
        {
            return Some(flight);
        }
        let place = self.now as usize % NEAR;
        let first = &mut self.buckets[place].0;
        if *first == NONE {
            return None;
        }
        let flight = *first;
        *first = flights.get(flight).next;
        if *first == NONE {
            self.filled[place / 64] &= !(1 << (place % 64));
        }
        Some(flight)
    }

    fn due_far(&mut self, now: u64) -> Option<FlightId> {
        let &Reverse((at, _, flight)) = self.far.peek()?;
        (at <= now).then(|| {
            self.far.pop();
            flight
        })
    }

    /// Returns the cycle of the next instruction after the present cycle, or `u64::MAX`.
    pub fn next(&self) -> u64 {
        let far = self.far.peek().map_or(u64::MAX, |Reverse((at, ..))| *at);
        let start = (self.now + 1) as usize % NEAR;
        // the first word is searched twice: first its part from `start` on, and at the end the part
        // before
        for n in 0..=WORDS {
            let index = (start / 64 + n) % WORDS;
            let mut word = self.filled[index];
            if n == 0 {
                word &= u64::MAX << (start % 64);
            }
            if word != 0 {
                let place = index * 64 + word.trailing_zeros() as usize;
                let ahead = (place + NEAR - start) % NEAR;
                return far.min(self.now + 1 + ahead as u64);
            }
        }
        far
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flights(count: u32) -> Flights {
        let mut flights = Flights::default();
        (0..count).for_each(|_| {
            flights.add();
        });
        flights
    }

    fn all(completions: &mut Completions, now: u64, flights: &Flights) -> Vec<FlightId> {
        completions.is_due(now);
        std::iter::from_fn(|| completions.due(flights)).collect()
    }

    #[test]
    fn near_and_far_come_in_the_order_of_filing() {
        let flights = &mut flights(6);
        let mut completions = Completions::default();
        completions.file(400, 1, flights);
        completions.file(5, 2, flights);
        completions.file(5, 3, flights);
        assert_eq!(completions.next(), 5);
        assert_eq!(all(&mut completions, 5, flights), [2, 3]);
        assert_eq!(completions.next(), 400);
        assert!(all(&mut completions, 300, flights).is_empty());
        completions.file(400, 4, flights);
        completions.file(302, 5, flights);
        assert_eq!(completions.next(), 302);
        assert_eq!(all(&mut completions, 302, flights), [5]);
        assert_eq!(all(&mut completions, 400, flights), [1, 4]);
        assert_eq!(completions.next(), u64::MAX);
    }

    /// Compares the queue with a plain list.
    #[test]
    fn the_wheel_turns() {
        let flights = &mut flights(3000);
        let mut completions = Completions::default();
        let mut list: Vec<(u64, FlightId)> = Vec::new();
        let mut now = 0;
        for id in 0..3000 {
            assert_eq!(all(&mut completions, now, flights), due(&mut list, now));
            let at = now + 1 + u64::from(id * id) % 300;
            completions.file(at, id, flights);
            list.push((at, id));
            let next = list.iter().map(|&(at, _)| at).min().unwrap();
            assert_eq!(completions.next(), next);
            now = if id % 3 == 0 { now } else { next };
        }
    }

    fn due(list: &mut Vec<(u64, FlightId)>, now: u64) -> Vec<FlightId> {
        let due = list.iter().filter(|&&(at, _)| at <= now).map(|&(_, id)| id).collect();
        list.retain(|&(at, _)| at > now);
        due
    }
}
