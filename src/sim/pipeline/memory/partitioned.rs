//! Memory partitions behind a crossbar: who does what in which tick.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use super::cache::Cache;
use super::crossbar::Crossbar;
use super::jitter::Draws;
use super::partition::{Channel, Mapping};
use super::slice::Slice;
use super::{Request, RequestKind};
use crate::machine::memory::{LINE_BYTES, Partitions};
use crate::sim::result::LowerStats;
use crate::trace::{Counted, DramSample};

/// Crossbar, slices and channels. Their time is counted in ticks of the crossbar's clock.
///
/// Slices and channels that have nothing to do until a known tick are not looked at; an alarm
/// wakes them.
#[derive(Clone, Debug)]
pub(super) struct Partitioned {
    clock: (u64, u64),
    dram_clock: (u64, u64),
    mapping: Mapping,
    per_channel: usize,
    /// Core cycles begun, ticks done.
    now: u64,
    tick: u64,
    requests: Crossbar,
    replies: Crossbar,
    slices: Vec<Slice>,
    channels: Vec<Channel>,
    active_slices: u64,
    active_channels: u64,
    /// Ticks at which a slice (its number) or a channel (its number + 64) has something to do.
    alarms: BinaryHeap<Reverse<(u64, u8)>>,
    /// Per SM: replies that wait there.
    ejected: Vec<VecDeque<Request>>,
    ejected_count: usize,
    ejection_limit: usize,
    /// Whose requests are under way, and what they call them; requests carry the place here.
    senders: Vec<(u32, u32)>,
    free_senders: Vec<u32>,
}

const CHANNEL: u8 = 64;

impl Partitioned {
    pub fn new(settings: &Partitions, sms: usize, seed: u64, draws: impl Fn(u64) -> Draws) -> Self {
        let count = (settings.channels * settings.slices) as usize;
        let slice = |number: usize| {
            let cache = settings.l2.as_ref().map(|l2| Cache::new(l2, seed ^ number as u64));
            let port = settings.l2.as_ref().map_or(1, |l2| l2.port);
            Slice::new(settings.queue, settings.latency, cache, port)
        };
        let ratio = |(numerator, denominator): (u32, u32)| (numerator.into(), denominator.into());
        Self {
            clock: ratio(settings.clock),
            dram_clock: ratio(settings.dram.clock),
            mapping: Mapping::new(settings),
            per_channel: settings.slices as usize,
            now: 0,
            tick: 0,
            requests: Crossbar::new(sms, count, settings.crossbar_queue as usize),
            replies: Crossbar::new(count, sms, settings.crossbar_queue as usize),
            slices: (0..count).map(slice).collect(),
            channels: (0..u64::from(settings.channels)).map(|c| Channel::new(settings, draws(c))).collect(),
            active_slices: 0,
            active_channels: 0,
            alarms: BinaryHeap::new(),
            ejected: vec![VecDeque::new(); sms],
            ejected_count: 0,
            ejection_limit: settings.ejection_queue as usize,
            senders: Vec::new(),
            free_senders: Vec::new(),
        }
    }

    pub fn preload(&mut self, line: u64) {
        let address = line * LINE_BYTES;
        // bits below the line can choose the slice, too
        for sector in 0..4 {
            let address = address + sector * 32;
            let slice = self.mapping.slice(address);
            if let Some(cache) = &mut self.slices[slice].cache {
                cache.preload_at(line, 1 << sector, self.mapping.line(address));
            }
        }
    }

    pub fn accepts(&self, sm: usize) -> bool {
        self.requests.accepts(sm)
    }

    pub fn push(&mut self, sm: usize, request: Request) {
        let mut id = u32::MAX;
        if request.kind != RequestKind::WriteBack {
            let sender = (sm as u32, request.id);
            id = self.free_senders.pop().unwrap_or_else(|| {
                self.senders.push((0, 0));
                (self.senders.len() - 1) as u32
            });
            self.senders[id as usize] = sender;
        }
        let slice = self.mapping.slice(request.address());
        self.requests.push(sm, slice, Request { id, ..request });
    }

    #[inline]
    pub fn has_replies(&self) -> bool {
        self.ejected_count > 0
    }

    pub fn reply(&mut self, sm: usize) -> Option<Request> {
        let request = self.ejected[sm].pop_front()?;
        self.ejected_count -= 1;
        Some(request)
    }

    fn ticks(&self, cycles: u64) -> u64 {
        // nearly always, and in every cycle: no division then
        if self.clock.0 == self.clock.1 { cycles } else { cycles * self.clock.0 / self.clock.1 }
    }

    pub fn cycle(&mut self) {
        self.now += 1;
        if self.replies.has_arrivals() {
            self.eject();
        }
        let until = self.ticks(self.now);
        while self.tick < until {
            let next = self.next_tick();
            if next > until {
                self.tick = until;
                return;
            }
            self.tick = next;
            self.step();
        }
    }

    /// An SM takes one reply per core cycle from the crossbar.
    fn eject(&mut self) {
        let mut next = self.replies.next_arrival(0);
        while let Some(sm) = next {
            next = self.replies.next_arrival(sm + 1);
            if self.ejected[sm].len() < self.ejection_limit
                && let Some(request) = self.replies.pop(sm)
            {
                self.free_senders.push(request.id);
                let id = self.senders[request.id as usize].1;
                self.ejected[sm].push_back(Request { id, ..request });
                self.ejected_count += 1;
            }
        }
    }

    /// The next tick in which something happens.
    fn next_tick(&self) -> u64 {
        let active = self.active_slices | self.active_channels != 0;
        if active || !self.requests.is_empty() || self.replies.has_waiting() {
            return self.tick + 1;
        }
        self.alarms.peek().map_or(u64::MAX, |&Reverse((at, _))| at.max(self.tick + 1))
    }

    fn step(&mut self) {
        while let Some(&Reverse((at, who))) = self.alarms.peek()
            && at <= self.tick
        {
            self.alarms.pop();
            if who < CHANNEL {
                self.active_slices |= 1 << who;
            } else {
                self.active_channels |= 1 << (who - CHANNEL);
            }
        }
        self.send_replies();
        self.step_channels();
        if self.requests.has_arrivals() {
            self.take_requests();
        }
        self.step_slices();
        self.requests.advance();
        self.replies.advance();
    }

    fn send_replies(&mut self) {
        for number in members(self.active_slices) {
            let slice = &mut self.slices[number];
            if let Some(&request) = slice.output.front()
                && self.replies.accepts(number)
            {
                slice.output.pop_front();
                let sm = self.senders[request.id as usize].0;
                self.replies.push(number, sm as usize, request);
            }
        }
    }

    fn step_channels(&mut self) {
        if self.active_channels == 0 {
            return;
        }
        // both clocks begin together, and DRAM comes first where they meet: before the n-th tick, counted from 0, lie its
        // ticks up to n times the ratio
        let dram_ticks = |tick: u64| tick * self.dram_clock.0 / self.dram_clock.1;
        let (from, to) = (dram_ticks(self.tick.saturating_sub(2)), dram_ticks(self.tick - 1));
        for number in members(self.active_channels) {
            let first = number * self.per_channel;
            let slices = &mut self.slices[first..first + self.per_channel];
            let channel = &mut self.channels[number];
            for now in from + 1..=to {
                let mapping = &self.mapping;
                let (woken, alarm) = channel.cycle(now, self.tick, slices, |address| mapping.inner(address));
                if let Some(slice) = woken {
                    self.active_slices |= 1 << (first + slice);
                }
                if let Some(at) = alarm {
                    self.alarms.push(Reverse((at, number as u8 + CHANNEL)));
                }
            }
            if !channel.is_active(self.tick, slices) {
                self.active_channels &= !(1 << number);
            }
        }
    }

    fn take_requests(&mut self) {
        let mut next = self.requests.next_arrival(0);
        while let Some(number) = next {
            next = self.requests.next_arrival(number + 1);
            if self.slices[number].accepts()
                && let Some(request) = self.requests.pop(number)
            {
                let at = self.slices[number].push(request, self.tick);
                if at <= self.tick {
                    self.active_slices |= 1 << number;
                } else {
                    self.alarms.push(Reverse((at, number as u8)));
                }
            }
        }
    }

    fn step_slices(&mut self) {
        let mapping = &self.mapping;
        for number in members(self.active_slices) {
            let slice = &mut self.slices[number];
            slice.cycle(self.tick, |request| mapping.line(request.address()));
            if !slice.to_dram.is_empty() {
                self.active_channels |= 1 << (number / self.per_channel);
            }
            if !slice.is_active(self.tick) {
                self.active_slices &= !(1 << number);
            }
        }
    }

    #[cfg(test)]
    pub fn is_idle(&self) -> bool {
        self.ejected_count == 0
            && self.requests.is_empty()
            && self.replies.is_empty()
            && self.active_slices | self.active_channels == 0
            && self.alarms.is_empty()
    }

    pub fn quiet_for(&self) -> u64 {
        if self.ejected_count > 0 || self.replies.has_arrivals() {
            return 0;
        }
        let tick = self.next_tick();
        if tick == u64::MAX {
            return u64::MAX;
        }
        // the first count of core cycles whose ticks include it
        let cycles = (tick * self.clock.1).div_ceil(self.clock.0);
        (cycles - 1).saturating_sub(self.now)
    }

    pub fn skip(&mut self, cycles: u64) {
        self.now += cycles;
    }

    /// The counters of the L2, if there is one, and of DRAM.
    pub fn samples(&self) -> impl Iterator<Item = Counted> {
        let caches = self.slices.iter().filter_map(|slice| slice.cache.as_ref());
        let l2 = caches.map(Cache::sample).reduce(|mut sum, slice| {
            sum += slice;
            sum
        });
        let mut dram = DramSample::default();
        self.channels.iter().for_each(|channel| dram += channel.dram.sample());
        l2.map(Counted::L2).into_iter().chain([Counted::Dram(dram)])
    }

    pub fn stats(&self) -> LowerStats {
        let mut stats = LowerStats::default();
        for cache in self.slices.iter().filter_map(|slice| slice.cache.as_ref()) {
            stats.l2 += cache.stats();
        }
        for channel in &self.channels {
            stats.dram += channel.dram.stats();
        }
        stats
    }
}

/// The members of a set.
fn members(mut set: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let member = (set != 0).then(|| set.trailing_zeros() as usize)?;
        set &= set - 1;
        Some(member)
    })
}
