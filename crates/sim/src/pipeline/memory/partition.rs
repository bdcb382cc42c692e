//! A memory partition: some slices and the DRAM channel behind them.
//!
//! A partition is connected to others only at the ends of its slices. It can therefore simulate
//! many ticks independently, as long as each request that arrives at a slice waits for a latency
//! first, and each reply finds room.

use std::collections::VecDeque;

use super::Request;
use super::cache::Cache;
use super::carried::CarriedPartition;
use super::channel::Channel;
use super::clock::Clock;
use super::jitter::Draws;
use super::slice::Slice;
use crate::result::LowerStats;
use warpbound_core::machine::Mapping;
use warpbound_core::machine::memory::Partitions;
use warpbound_trace::trace::{CacheStats, DramStats};

/// The work of a window of a busy DRAM channel, in units of requests at the L2.
const DRAM_LOAD: usize = 100;

/// The replies, with the tick in which they are sent.
pub(super) type Replies = VecDeque<(u64, Request)>;

#[derive(Clone, Debug)]
pub(super) struct Partition {
    mapping: Mapping,
    /// The clock of DRAM relative to that of the L2.
    clock: Clock,
    pub slices: Vec<Slice>,
    pub channel: Channel,
    /// The next tick in which the channel has something to do.
    channel_next: u64,
    /// The next tick in which any part of the partition has something to do.
    pub next: u64,
    /// For each slice, in a window, the replies that leave.
    pub replies: Vec<Replies>,
    /// In a window, if requested: the counters of a part before a core cycle in which they may have
    /// changed.
    before: Vec<(u64, Before)>,
}

/// The counters of a slice, given by its number, or of DRAM.
#[derive(Clone, Copy, Debug)]
enum Before {
    Slice(u8, CacheStats),
    Dram(DramStats),
}

impl Partition {
    /// Creates the partition with this number.
    pub fn new(settings: &Partitions, number: u32, seed: u64, draws: Draws) -> Self {
        let slice = |of: u32| Slice::new(settings, number, seed ^ u64::from(number * settings.slices + of));
        Self {
            mapping: Mapping::new(settings),
            clock: Clock::new(settings.dram.clock),
            slices: (0..settings.slices).map(slice).collect(),
            channel: Channel::new(settings, draws),
            channel_next: u64::MAX,
            next: u64::MAX,
            replies: vec![VecDeque::new(); settings.slices as usize],
            before: Vec::new(),
        }
    }

    /// Takes out the state at rest after this number of ticks.
    pub fn leave(&mut self, ticks: u64) -> CarriedPartition {
        let mut clock = self.clock;
        clock.go_on_after(ticks);
        let (rows, turn) = self.channel.dram.left();
        CarriedPartition {
            clock,
            caches: self.caches().map(Cache::leave).collect(),
            served: self.channel.served,
            drawn: self.channel.draws.drawn(),
            rows,
            turn,
        }
    }

    /// Restores the state that another launch has left, and returns whether it fits.
    #[must_use]
    pub fn go_on_after(&mut self, left: CarriedPartition) -> bool {
        let CarriedPartition { clock, caches, served, drawn, rows, turn } = left;
        if !clock.is_like(&self.clock)
            || caches.len() != self.caches().count()
            || served >= self.replies.len()
        {
            return false;
        }
        (self.clock, self.channel.served) = (clock, served);
        self.channel.draws.go_on_after(drawn);
        self.caches().zip(caches).all(|(cache, left)| cache.go_on_after(left))
            && self.channel.dram.go_on_after(&rows, turn)
    }

    /// Returns the caches of the slices that have one.
    fn caches(&mut self) -> impl Iterator<Item = &mut Cache> {
        self.slices.iter_mut().filter_map(|slice| slice.cache.as_mut())
    }

    /// Adds a request to a slice.
    #[inline]
    pub fn push(&mut self, slice: usize, request: Request, tick: u64) {
        self.next = self.next.min(self.slices[slice].push(request, tick));
    }

    /// Simulates one tick in which something happens. `send` takes the next reply of a slice, if it
    /// can. Returns, as a mask, the slices that start or stop accepting requests.
    pub fn step(&mut self, tick: u64, mut send: impl FnMut(usize, &mut VecDeque<Request>)) -> u64 {
        let Self { mapping, slices, channel, .. } = self;
        for (number, slice) in slices.iter_mut().enumerate() {
            // a slice may have been simulated ahead
            if slice.next <= tick && !slice.output.is_empty() {
                send(number, &mut slice.output);
            }
        }
        if self.channel_next <= tick {
            // both clocks start together, and DRAM comes first where their ticks coincide: the DRAM
            // ticks up to n times the ratio come before tick n + 1, where the first tick is tick 1
            for now in self.clock.ticks(tick.saturating_sub(2)) + 1..=self.clock.ticks(tick - 1) {
                channel.cycle(now, tick, slices, |address| mapping.inner(address));
            }
            self.channel_next = channel.next(tick, &self.clock);
        }
        let (mut next, mut to_dram, mut turned) = (u64::MAX, false, 0);
        for (number, slice) in slices.iter_mut().enumerate() {
            if slice.next <= tick {
                let accepted = slice.accepts();
                slice.cycle(tick, |request| mapping.line(request.address()));
                turned |= u64::from(accepted != slice.accepts()) << number;
            }
            next = next.min(slice.next);
            to_dram |= !slice.to_dram.is_empty();
        }
        if to_dram {
            self.channel_next = tick + 1;
        }
        self.next = next.min(self.channel_next);
        turned
    }

    /// Simulates all ticks up to `until` within a window. If `remembers` is given, it maps ticks to
    /// core cycles, and the counters are recorded for [`Self::stats_at`].
    pub fn run(&mut self, until: u64, remembers: Option<impl Fn(u64) -> u64>) {
        self.before.clear();
        self.slices.iter_mut().for_each(Slice::begin_window);
        let mut replies = std::mem::take(&mut self.replies);
        while self.next <= until {
            if self.channel_next == u64::MAX {
                self.answer_hits(until, &mut replies, &remembers);
                if self.next > until {
                    break;
                }
            }
            let tick = self.next;
            if let Some(cycle_of) = &remembers {
                self.note(tick, cycle_of(tick));
            }
            let turned = self.step(tick, |slice, output| {
                if let Some(reply) = output.pop_front() {
                    replies[slice].push_back((tick, reply));
                }
            });
            if turned != 0 {
                let turned =
                    self.slices.iter_mut().enumerate().filter(|(number, _)| turned >> number & 1 == 1);
                turned.for_each(|(_, slice)| slice.note_turn(tick));
            }
        }
        self.replies = replies;
    }

    /// Lets slices serve requests that need no DRAM, while DRAM is idle.
    fn answer_hits(&mut self, until: u64, replies: &mut [Replies], remembers: &Option<impl Fn(u64) -> u64>) {
        let Self { mapping, slices, before, .. } = self;
        self.next = u64::MAX;
        for ((number, slice), replies) in slices.iter_mut().enumerate().zip(replies) {
            let note = |tick: u64, cache: &Cache| {
                if let Some(cycle_of) = remembers {
                    before.push((cycle_of(tick), Before::Slice(number as u8, cache.stats())));
                }
            };
            slice.answer_hits(until, replies, |request| mapping.line(request.address()), note);
            self.next = self.next.min(slice.next);
        }
    }

    fn note(&mut self, tick: u64, cycle: u64) {
        for (number, slice) in self.slices.iter().enumerate() {
            if slice.next <= tick
                && let Some(cache) = &slice.cache
            {
                self.before.push((cycle, Before::Slice(number as u8, cache.stats())));
            }
        }
        if self.channel_next <= tick {
            self.before.push((cycle, Before::Dram(self.channel.dram.stats())));
        }
    }

    /// Returns a rough measure of the work: the number of waiting requests, plus a constant if the
    /// channel is busy.
    pub fn load(&self) -> usize {
        let waiting: usize = self.slices.iter().map(Slice::waiting).sum();
        waiting + if self.channel_next < u64::MAX { DRAM_LOAD } else { 0 }
    }

    /// Returns the statistics so far.
    pub fn stats(&self) -> LowerStats {
        self.stats_at(u64::MAX)
    }

    /// Returns the statistics at the end of a core cycle of a recorded window.
    pub fn stats_at(&self, cycle: u64) -> LowerStats {
        let mut slices: Vec<_> = self
            .slices
            .iter()
            .map(|slice| slice.cache.as_ref().map(Cache::stats).unwrap_or_default())
            .collect();
        let mut stats = LowerStats { dram: self.channel.dram.stats(), ..LowerStats::default() };
        // the entries of each part are in order
        for (_, before) in self.before.iter().rev().filter(|&&(at, _)| at > cycle) {
            match *before {
                Before::Slice(number, of_slice) => slices[usize::from(number)] = of_slice,
                Before::Dram(dram) => stats.dram = dram,
            }
        }
        slices.into_iter().for_each(|slice| stats.l2 += slice);
        stats
    }
}
