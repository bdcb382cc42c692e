//! Memory partitions behind a crossbar: who does what in which tick. `window` does it for many core cycles at a time.

mod window;

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use super::cache::Cache;
use super::crossbar::Crossbar;
use super::jitter::Draws;
use super::partition::{Channel, Mapping};
use super::slice::Slice;
use super::{Port, Request};
use crate::machine::memory::{LINE_BYTES, Partitions};
use crate::sim::result::LowerStats;
use crate::trace::{CacheStats, Counted, DramSample, DramStats};

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
    /// Ticks at which slices have something to do, ascending, with these as a mask.
    slice_alarms: VecDeque<(u64, u64)>,
    /// Ticks at which a channel has something to do, with its number.
    channel_alarms: BinaryHeap<Reverse<(u64, u8)>>,
    /// Slices that take requests, as a mask.
    open: u64,
    window: Window,
    ejection_limit: usize,
}

/// The window in which what lies behind the requests' crossbar is ahead of it.
#[derive(Clone, Debug, Default)]
struct Window {
    /// Before it: core cycles begun, ticks done, slices that took requests.
    now: u64,
    tick: u64,
    open: u64,
    /// When others took requests: from this tick on, these.
    opened: Vec<(u64, u64)>,
    /// What had happened in a part before a core cycle in which it may have done something; where asked for.
    before: Vec<(u64, Before)>,
    /// By core cycle of the window: what SMs sent.
    sent: Vec<Vec<Request>>,
}

/// Counters of a slice, or of a channel, by its number.
#[derive(Clone, Copy, Debug)]
enum Before {
    Slice(u8, CacheStats),
    Channel(u8, DramStats),
}

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
            slice_alarms: VecDeque::new(),
            channel_alarms: BinaryHeap::new(),
            open: u64::MAX,
            window: Window::default(),
            ejection_limit: settings.ejection_queue as usize,
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

    /// The end of the way for an SM.
    pub fn port(&self, sm: usize) -> Port {
        Port::new(sm, self.ejection_limit, true)
    }

    /// How many requests an SM can send in this cycle.
    pub fn room(&self, sm: usize) -> usize {
        self.requests.room_at(sm)
    }

    pub fn push(&mut self, request: Request) {
        let slice = self.mapping.slice(request.address());
        self.requests.push(usize::from(request.sm), slice, request);
    }

    /// Whether replies are at the SMs' end of the crossbar.
    #[inline]
    pub fn has_arrivals(&self) -> bool {
        self.replies.has_arrivals()
    }

    /// An SM takes one reply per core cycle out of the crossbar, if it has room.
    pub fn eject(&mut self, sm: usize, port: &mut Port) -> bool {
        let reply = if port.has_room() { self.replies.pop(sm) } else { None };
        reply.inspect(|&reply| port.arrive(reply)).is_some()
    }

    fn ticks(&self, cycles: u64) -> u64 {
        // nearly always, and in every cycle: no division then
        if self.clock.0 == self.clock.1 { cycles } else { cycles * self.clock.0 / self.clock.1 }
    }

    /// The core cycle in which a tick lies.
    fn cycle_of(&self, tick: u64) -> u64 {
        let begun =
            if self.clock.0 == self.clock.1 { tick } else { (tick * self.clock.1).div_ceil(self.clock.0) };
        begun - 1
    }

    pub fn cycle(&mut self) {
        self.now += 1;
        let until = self.ticks(self.now);
        while self.tick < until {
            let next = self.next_tick(!self.requests.is_empty());
            if next > until {
                self.tick = until;
                return;
            }
            self.tick = next;
            self.wake();
            self.send_replies();
            self.step_channels();
            if self.requests.has_arrivals() {
                self.take_requests(self.tick, self.open);
            }
            self.step_slices();
            self.requests.advance(self.now - 1);
            self.replies.advance(self.now - 1);
        }
    }

    /// The next tick in which something happens; `sure` that it does in the next one.
    fn next_tick(&self, sure: bool) -> u64 {
        let active = self.active_slices | self.active_channels != 0;
        if active || sure || self.replies.has_waiting() {
            return self.tick + 1;
        }
        let slices = self.slice_alarms.front().map_or(u64::MAX, |&(at, _)| at);
        let channels = self.channel_alarms.peek().map_or(u64::MAX, |&Reverse((at, _))| at);
        slices.min(channels).max(self.tick + 1)
    }

    /// Slices and channels whose alarms are due have something to do.
    fn wake(&mut self) {
        while let Some(&(at, slices)) = self.slice_alarms.front()
            && at <= self.tick
        {
            self.slice_alarms.pop_front();
            self.active_slices |= slices;
        }
        while let Some(&Reverse((at, channel))) = self.channel_alarms.peek()
            && at <= self.tick
        {
            self.channel_alarms.pop();
            self.active_channels |= 1 << channel;
        }
    }

    fn send_replies(&mut self) {
        for number in members(self.active_slices) {
            let slice = &mut self.slices[number];
            if let Some(&request) = slice.output.front()
                && self.replies.accepts(number)
            {
                slice.output.pop_front();
                self.replies.push(number, usize::from(request.sm), request);
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
                    self.channel_alarms.push(Reverse((at, number as u8)));
                }
            }
            if !channel.is_active(self.tick, slices) {
                self.active_channels &= !(1 << number);
            }
        }
    }

    /// The slices that are open take what has come for them by this tick.
    fn take_requests(&mut self, tick: u64, open: u64) {
        let mut next = self.requests.next_arrival(0);
        while let Some(number) = next {
            next = self.requests.next_arrival(number + 1);
            if open >> number & 1 == 1
                && let Some(request) = self.requests.pop(number)
            {
                let at = self.slices[number].push(request, tick);
                if at <= self.tick {
                    self.active_slices |= 1 << number;
                    continue;
                }
                // all slices have the same latency, so nothing earlier follows
                match self.slice_alarms.back_mut() {
                    Some((last, slices)) if *last == at => *slices |= 1 << number,
                    _ => self.slice_alarms.push_back((at, 1 << number)),
                }
            }
        }
    }

    fn step_slices(&mut self) {
        let mapping = &self.mapping;
        for number in members(self.active_slices) {
            let slice = &mut self.slices[number];
            slice.cycle(self.tick, |request| mapping.line(request.address()));
            if slice.accepts() {
                self.open |= 1 << number;
            } else {
                self.open &= !(1 << number);
            }
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
        self.requests.is_empty()
            && self.replies.is_empty()
            && self.active_slices | self.active_channels == 0
            && self.slice_alarms.is_empty()
            && self.channel_alarms.is_empty()
    }

    pub fn quiet_for(&self) -> u64 {
        if self.replies.has_arrivals() {
            return 0;
        }
        let tick = self.next_tick(!self.requests.is_empty());
        if tick == u64::MAX {
            return u64::MAX;
        }
        self.cycle_of(tick).saturating_sub(self.now)
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
