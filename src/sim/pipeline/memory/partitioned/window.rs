//! Many core cycles at a time: what lies behind the requests' crossbar first, that crossbar when the SMs have sent.
//!
//! A request waits out the partition's latency before a slice does anything with it, so what slices and DRAM do within
//! that time does not depend on what is sent in it. Nor do partitions depend on each other, as long as all they send
//! finds room.

use super::{Partitioned, sum};
use crate::sim::pipeline::memory::{Port, Share};
use crate::sim::result::LowerStats;

/// Requests that an SM can send in a cycle: of constants, of the L1, and past it.
const SENT_PER_CYCLE: usize = 3;

impl Partitioned {
    /// How many core cycles [`Self::run_ahead`] may be asked for.
    pub fn horizon(&self) -> u64 {
        // what enters a slice in a window must not come out in it, and no queue that leads to or from SMs may be full
        // in it
        let ((inputs, _), (leaving, outputs)) = (self.requests.room(), self.replies.room());
        let ticks = self.latency.min(leaving.min(outputs) as u64);
        let cycles = self.clock.cycles_within(ticks);
        cycles.min((inputs / SENT_PER_CYCLE) as u64)
    }

    /// Everything but the way of the requests to the slices, for a window of core cycles. `remembers` what has happened
    /// by when. Somebody `runs` all shares, in any order.
    pub fn run_ahead(&mut self, cycles: u64, remembers: bool, run: impl FnOnce(&mut [Share])) {
        self.before = (self.now, self.tick);
        self.now += cycles;
        let (clock, until) = (self.clock, self.clock.ticks(self.now));
        // cycles that were skipped are not part of the window: nothing happens in their ticks
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

    /// What partitions send to the crossbar is theirs, or the crossbar's again.
    fn exchange_replies(&mut self) {
        let partitions = self.shares.iter_mut().flat_map(|share| &mut share.partitions);
        let queues = partitions.flat_map(|partition| &mut partition.replies);
        queues.enumerate().for_each(|(slice, replies)| self.replies.exchange_input(slice, replies));
    }

    /// Who stands at an SM's end of the crossbar within the window: the SM, or the crossbar again.
    pub fn exchange(&mut self, sm: usize, port: &mut Port) {
        self.replies.exchange_output(sm, port.arriving());
        self.requests.exchange_input(sm, port.sent());
    }

    /// The way of the requests to the slices, for the window of [`Self::run_ahead`].
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
                    // what would be alone at an output goes on with the next tick
                    let (partition, of) = slices.at(shares, slice);
                    let takes = partition.slices[of].accepted_in(tick + 1);
                    if takes {
                        partition.push(of, request, tick + 1);
                    }
                    takes
                });
                wanted = self.requests.is_wanted();
            }
            tick = until;
        }
        // a cycle's requests come after its ticks
        self.requests.pass(self.now);
        self.next = self.next_of_partitions();
    }

    /// In a tick of the window, slices take what has come for them, if they were open then.
    fn take_requests_in(&mut self, tick: u64) {
        let mut next = self.requests.next_arrival(0);
        while let Some(number) = next {
            next = self.requests.next_arrival(number + 1);
            let (partition, of) = self.slices.at(&mut self.shares, number);
            if partition.slices[of].accepted_in(tick)
                && let Some(request) = self.requests.pop(number)
            {
                partition.push(of, request, tick);
            }
        }
    }

    /// What had happened by the end of a core cycle of a window that remembers.
    pub fn stats_at(&self, cycle: u64) -> LowerStats {
        sum(self.partitions().map(|partition| partition.stats_at(cycle)))
    }
}
