//! The simulation of many core cycles at a time: first everything behind the crossbar of the
//! requests, then, after the SMs have sent, this crossbar.
//!
//! A request waits for the latency of the partition before a slice serves it. Therefore the actions
//! of slices and DRAM within that time do not depend on the requests that are sent in it.
//! Partitions do not depend on each other either, as long as all their replies find room.

use super::{Partitioned, sum};
use crate::pipeline::memory::{Port, Share};
use crate::result::LowerStats;

/// The number of requests that an SM can send in a cycle: one for constants, one of the L1, and one
/// that bypasses it.
const SENT_PER_CYCLE: usize = 3;

impl Partitioned {
    /// Returns the largest number of core cycles for which [`Self::run_ahead`] may be called.
    pub fn horizon(&self) -> u64 {
        // a request that enters a slice in a window must not leave it in the same window, and no
        // queue that leads to or from SMs may become full in it
        let ((inputs, _), (leaving, outputs)) = (self.requests.room(), self.replies.room());
        let ticks = self.latency.min(leaving.min(outputs) as u64);
        let cycles = self.clock.cycles_within(ticks);
        cycles.min((inputs / SENT_PER_CYCLE) as u64)
    }

    /// Simulates everything but the path of the requests to the slices, for a window of core
    /// cycles. If `remembers` is set, the counters are recorded by cycle. `run` runs all shares, in
    /// any order.
    pub fn run_ahead(&mut self, cycles: u64, remembers: bool, run: impl FnOnce(&mut [Share])) {
        self.before = (self.now, self.tick);
        self.now += cycles;
        let (clock, until) = (self.clock, self.clock.ticks(self.now));
        // skipped cycles are not part of the window, because nothing happens in their ticks
        let from = self.tick.max(self.next_tick().saturating_sub(1).min(until));
        self.exchange_replies();
        self.shares.iter_mut().for_each(|share| share.begin(until, remembers.then_some(clock)));
        run(&mut self.shares);
        self.exchange_replies();
        self.replies.begin_window(from, until - from);
        for tick in from + 1..=until {
            if self.replies.pass(tick) {
                self.replies.advance(tick, clock.cycle_of(tick) - 1, |_, _| false);
            }
        }
        self.tick = until;
    }

    /// Exchanges the replies between the partitions and the crossbar.
    fn exchange_replies(&mut self) {
        let partitions = self.shares.iter_mut().flat_map(|share| &mut share.partitions);
        let queues = partitions.flat_map(|partition| &mut partition.replies);
        queues.enumerate().for_each(|(slice, replies)| self.replies.exchange_input(slice, replies));
    }

    /// Exchanges the packets at an SM's end of the crossbar between the port of the SM and the
    /// crossbar.
    pub fn exchange(&mut self, sm: usize, port: &mut Port) {
        self.replies.exchange_output(sm, port.arriving());
        self.requests.exchange_input(sm, port.sent());
    }

    /// Simulates the path of the requests to the slices, for the window of [`Self::run_ahead`].
    pub fn follow(&mut self) {
        let (now, mut tick) = self.before;
        self.requests.begin_window(now, self.now - now);
        for cycle in now..self.now {
            let until = self.clock.ticks(cycle + 1);
            let mut wanted = self.requests.pass(cycle);
            while tick < until && (wanted || self.requests.has_arrivals()) {
                tick += 1;
                self.take_requests_in(tick);
                let Self { requests, shares, slices, .. } = self;
                requests.advance(cycle, cycle, |slice, &request| {
                    // a packet that would be alone at an output enters the slice in the next tick
                    // directly
                    let (partition, index) = slices.at(shares, slice);
                    let takes = partition.slices[index].accepted_in(tick + 1);
                    if takes {
                        partition.push(index, request, tick + 1);
                    }
                    takes
                });
                wanted = self.requests.is_wanted();
            }
            tick = until;
        }
        // the requests of a cycle follow its ticks
        self.requests.pass(self.now);
        self.next = self.next_of_partitions();
    }

    /// Moves requests to the slices that accepted them in this tick of the window.
    fn take_requests_in(&mut self, tick: u64) {
        let mut next = self.requests.next_arrival(0);
        while let Some(number) = next {
            next = self.requests.next_arrival(number + 1);
            let (partition, index) = self.slices.at(&mut self.shares, number);
            if partition.slices[index].accepted_in(tick)
                && let Some(&request) = self.requests.front(number)
            {
                self.requests.pop(number);
                partition.push(index, request, tick);
            }
        }
    }

    /// Returns the statistics at the end of a core cycle of a recorded window.
    pub fn stats_at(&self, cycle: u64) -> LowerStats {
        sum(self.partitions().map(|partition| partition.stats_at(cycle)))
    }
}
