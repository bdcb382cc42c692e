//! Many core cycles at a time: what lies behind the requests' crossbar first, that crossbar when the SMs have sent.
//!
//! A request waits out the partition's latency before a slice does anything with it, so what slices and DRAM do within
//! that time does not depend on what is sent in it.

use super::{Before, Partitioned, Window, members};
use crate::sim::pipeline::memory::Port;
use crate::sim::pipeline::memory::cache::Cache;
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
        let Window { now, tick, open, opened, before, .. } = &mut self.window;
        (*now, *tick, *open) = (self.now, self.tick, self.open);
        opened.clear();
        before.clear();
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
            if remembers {
                self.note_channels(cycle);
            }
            self.step_channels();
            if remembers {
                self.note_slices(cycle);
            }
            let open = self.open;
            self.step_slices();
            if self.open != open {
                self.window.opened.push((next + 1, self.open));
            }
            self.replies.advance(cycle);
        }
    }

    fn note_channels(&mut self, cycle: u64) {
        for number in members(self.active_channels) {
            let before = Before::Channel(number as u8, self.channels[number].dram.stats());
            self.window.before.push((cycle, before));
        }
    }

    fn note_slices(&mut self, cycle: u64) {
        for number in members(self.active_slices) {
            if let Some(cache) = &self.slices[number].cache {
                self.window.before.push((cycle, Before::Slice(number as u8, cache.stats())));
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
        let Window { now, mut tick, mut open, opened, before, mut sent } = std::mem::take(&mut self.window);
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
        self.window = Window { now, tick, open, opened, before, sent };
    }

    /// What had happened by the end of a core cycle of a window that remembers.
    pub fn stats_at(&self, cycle: u64) -> LowerStats {
        let mut slices: Vec<_> = self
            .slices
            .iter()
            .map(|slice| slice.cache.as_ref().map(Cache::stats).unwrap_or_default())
            .collect();
        let mut channels: Vec<_> = self.channels.iter().map(|channel| channel.dram.stats()).collect();
        for (_, before) in self.window.before.iter().rev().take_while(|&&(at, _)| at > cycle) {
            match *before {
                Before::Slice(number, stats) => slices[usize::from(number)] = stats,
                Before::Channel(number, stats) => channels[usize::from(number)] = stats,
            }
        }
        let mut stats = LowerStats::default();
        slices.into_iter().for_each(|slice| stats.l2 += slice);
        channels.into_iter().for_each(|channel| stats.dram += channel);
        stats
    }
}
