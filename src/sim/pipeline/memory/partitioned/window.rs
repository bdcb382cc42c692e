//! Many core cycles at a time: what lies behind the requests' crossbar first, that crossbar when the SMs have sent.
//!
//! A request waits out the partition's latency before a slice does anything with it, so what slices and DRAM do within
//! that time does not depend on what is sent in it.

use super::{Partitioned, Window};
use crate::sim::pipeline::memory::Port;
use crate::sim::pipeline::memory::slice::Slice;
use crate::sim::result::LowerStats;

/// Requests that an SM can send in a cycle: of constants, of the L1, and past it.
const SENT_PER_CYCLE: usize = 3;

impl Partitioned {
    /// How many core cycles [`Self::run_ahead`] may be asked for.
    pub fn horizon(&self) -> u64 {
        // what enters a slice in a window must not come out in it, and no queue between SMs and slices may be full in it
        let ((inputs, _), (_, outputs)) = (self.requests.room(), self.replies.room());
        let latency = self.slices.iter().map(Slice::latency).min().unwrap_or(0);
        let ticks = latency.min(outputs as u64);
        let cycles = match self.clock {
            (ticks_per, cycles_per) if ticks_per == cycles_per => ticks,
            (ticks_per, cycles_per) => ticks.saturating_sub(1) * cycles_per / ticks_per,
        };
        cycles.min((inputs / SENT_PER_CYCLE) as u64)
    }

    /// Everything but the way of the requests to the slices, for a window of core cycles. `remembers` what has happened
    /// by when.
    pub fn run_ahead(&mut self, cycles: u64, remembers: bool) {
        let Window { now, tick, open, opened, stats, .. } = &mut self.window;
        (*now, *tick, *open) = (self.now, self.tick, self.open);
        opened.clear();
        stats.clear();
        if remembers {
            let before = (self.now.wrapping_sub(1), self.stats());
            self.window.stats.push(before);
        }
        self.now += cycles;
        let until = self.ticks(self.now);
        loop {
            let next = self.next_tick(false);
            if next > until {
                self.tick = until;
                return;
            }
            self.tick = next;
            let cycle = self.cycle_of(next);
            self.wake();
            self.send_replies();
            self.step_channels();
            let open = self.open;
            self.step_slices();
            if self.open != open {
                self.window.opened.push((next + 1, self.open));
            }
            self.replies.advance(cycle);
            if remembers {
                let now = (cycle, self.stats());
                self.window.stats.push(now);
            }
        }
    }

    /// What came to an SM's end of the crossbar within the window goes to the SM, or what is left of it back.
    pub fn exchange_arriving(&mut self, sm: usize, port: &mut Port) {
        self.replies.change_output(sm, |arriving| port.exchange_arriving(arriving));
    }

    /// What an SM sent within the window.
    pub fn collect(&mut self, port: &mut Port) {
        let Window { now, sent, .. } = &mut self.window;
        for (at, request) in port.sent() {
            let cycle = (at - *now) as usize;
            if cycle >= sent.len() {
                sent.resize_with(cycle + 1, Vec::new);
            }
            sent[cycle].push(request);
        }
    }

    /// The way of the requests to the slices, for the window of [`Self::run_ahead`].
    pub fn follow(&mut self) {
        let Window { now, mut tick, mut open, opened, stats, mut sent } = std::mem::take(&mut self.window);
        let mut opens = opened.iter().copied().peekable();
        for (cycle, n) in (now..self.now).zip(0..) {
            let until = self.ticks(cycle + 1);
            while tick < until {
                if self.requests.is_empty() {
                    tick = until;
                    break;
                }
                tick += 1;
                while let Some((_, others)) = opens.next_if(|&(at, _)| at <= tick) {
                    open = others;
                }
                if self.requests.has_arrivals() {
                    self.take_requests(tick, open);
                }
                self.requests.advance(cycle);
            }
            // a cycle's requests come after its ticks
            if let Some(sent) = sent.get_mut(n) {
                sent.drain(..).for_each(|request| self.push(request));
            }
        }
        self.window = Window { now, tick, open, opened, stats, sent };
    }

    /// What had happened by the end of a core cycle of the window.
    pub fn stats_at(&self, cycle: u64) -> Option<LowerStats> {
        let stats = &self.window.stats;
        // the first stands for what was before
        let later = stats.iter().skip(1).position(|&(at, _)| at > cycle).map_or(stats.len(), |n| n + 1);
        later.checked_sub(1).map(|last| stats[last].1)
    }
}
