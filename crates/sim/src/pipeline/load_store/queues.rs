//! The accesses that have issued and that the unit has not started, on a machine without a collector.

use std::collections::VecDeque;

use crate::pipeline::flight::FlightId;
use warpbound_core::machine::pipeline::AccessQueues;

/// One queue, or one for each sub-core.
#[derive(Clone, Debug)]
pub(in crate::pipeline) struct Queues {
    queues: Vec<VecDeque<FlightId>>,
    /// The queue that has the first turn.
    turn: usize,
    /// The number of accesses in all queues.
    waiting: usize,
}

impl Queues {
    /// Creates the queues of an SM with this many sub-cores.
    pub fn new(kind: AccessQueues, sub_cores: usize) -> Self {
        let count = if kind == AccessQueues::BySubCore { sub_cores } else { 1 };
        Self { queues: vec![VecDeque::new(); count], turn: 0, waiting: 0 }
    }

    fn of(&self, sub_core: usize) -> usize {
        if self.queues.len() == 1 { 0 } else { sub_core }
    }

    /// Returns the number of accesses in the queue of a sub-core.
    #[inline]
    pub fn len(&self, sub_core: usize) -> usize {
        self.queues[self.of(sub_core)].len()
    }

    #[inline]
    pub fn is_empty(&self) -> bool {
        self.waiting == 0
    }

    /// Adds an access of a sub-core.
    #[inline]
    pub fn push(&mut self, sub_core: usize, access: FlightId) {
        let queue = self.of(sub_core);
        self.queues[queue].push_back(access);
        self.waiting += 1;
    }

    /// Takes the first access of the next queue in turn that has one.
    #[inline]
    pub fn take(&mut self) -> Option<FlightId> {
        if self.waiting == 0 {
            return None;
        }
        self.waiting -= 1;
        let count = self.queues.len();
        loop {
            let queue = self.turn;
            self.turn = if queue + 1 == count { 0 } else { queue + 1 };
            if let Some(access) = self.queues[queue].pop_front() {
                return Some(access);
            }
        }
    }
}
