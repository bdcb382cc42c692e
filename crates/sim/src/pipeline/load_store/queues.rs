//! The accesses that have issued and that the unit has not started, on a machine without a collector.

use std::collections::VecDeque;

use crate::pipeline::flight::FlightId;
use warpbound_core::machine::pipeline::{AccessQueues, LoadStore as Settings};

/// One queue, or one for each sub-core.
#[derive(Clone, Debug)]
pub(in crate::pipeline) struct Queues {
    queues: Vec<Queue>,
    /// The queue that has the first turn.
    turn: usize,
    /// The number of accesses in all queues.
    waiting: usize,
}

#[derive(Clone, Debug, Default)]
struct Queue {
    /// The accesses, each with the cycle from which on the unit can take it.
    accesses: VecDeque<(FlightId, u64)>,
    /// The cycle from which on the address unit of the sub-core is free.
    free_at: u64,
}

impl Queues {
    /// Creates the queues of an SM with this many sub-cores.
    pub fn new(settings: Settings, sub_cores: usize) -> Self {
        let count = if settings.queues == AccessQueues::BySubCore { sub_cores } else { 1 };
        Self { queues: vec![Queue::default(); count], turn: 0, waiting: 0 }
    }

    fn of(&self, sub_core: usize) -> usize {
        if self.queues.len() == 1 { 0 } else { sub_core }
    }

    /// Returns the number of accesses in the queue of a sub-core.
    #[inline]
    pub fn len(&self, sub_core: usize) -> usize {
        self.queues[self.of(sub_core)].accesses.len()
    }

    #[inline]
    pub fn is_empty(&self) -> bool {
        self.waiting == 0
    }

    /// Returns the first cycle in which the unit can take an access, or `u64::MAX`.
    #[inline]
    pub fn next_ready(&self) -> u64 {
        if self.waiting == 0 {
            return u64::MAX;
        }
        let first = |queue: &Queue| queue.accesses.front().map(|&(_, at)| at);
        self.queues.iter().filter_map(first).min().unwrap_or(u64::MAX)
    }

    /// Adds an access of a sub-core, which issues now. It occupies the address unit for this many cycles,
    /// and the load/store unit serves it for `served` cycles at least.
    #[inline]
    pub fn push(&mut self, sub_core: usize, access: FlightId, now: u64, (occupied, served): (u64, u64)) {
        let queue = self.of(sub_core);
        let Queue { accesses, free_at } = &mut self.queues[queue];
        let start = (now + 1).max(*free_at);
        accesses.push_back((access, start + occupied.saturating_sub(served)));
        *free_at = start + occupied;
        self.waiting += 1;
    }

    /// Takes the first access of the next queue in turn whose first access is ready.
    #[inline]
    pub fn take(&mut self, now: u64) -> Option<FlightId> {
        if self.waiting == 0 {
            return None;
        }
        let count = self.queues.len();
        let mut queue = self.turn;
        for _ in 0..count {
            let next = if queue + 1 == count { 0 } else { queue + 1 };
            let accesses = &mut self.queues[queue].accesses;
            if accesses.front().is_some_and(|&(_, at)| at <= now) {
                self.turn = next;
                self.waiting -= 1;
                return accesses.pop_front().map(|(access, _)| access);
            }
            queue = next;
        }
        None
    }
}
