//! Memory partitions behind a crossbar, and the order of their actions in a tick. `window`
//! simulates many core cycles at a time.

mod window;

use super::cache::Cache;
use super::carried::CarriedPartitions;
use super::clock::Clock;
use super::crossbar::{Crossbar, Outputs};
use super::jitter::Draws;
use super::partition::Partition;
use super::share::Share;
use super::{Port, Request, sectors};
use crate::result::LowerStats;
use warpbound_core::machine::Mapping;
use warpbound_core::machine::memory::{LINE_BYTES, Partitions};
use warpbound_trace::trace::{Counted, DramSample};

/// The crossbar and the partitions. Their time is counted in ticks of the crossbar's clock.
#[derive(Clone, Debug)]
pub(super) struct Partitioned {
    clock: Clock,
    mapping: Mapping,
    slices: Numbers,
    latency: u64,
    /// The number of core cycles begun, and the number of ticks done.
    now: u64,
    tick: u64,
    requests: Crossbar,
    replies: Crossbar,
    shares: Vec<Share>,
    /// The next tick in which a partition has something to do.
    next: u64,
    /// The values of `now` and `tick` before the present window.
    before: (u64, u64),
    ejection_limit: usize,
}

/// The share of each slice, the number of its partition in the share, and its own number in the
/// partition, by the number of the slice.
#[derive(Clone, Debug)]
struct Numbers(Vec<(u8, u8, u8)>);

impl Numbers {
    /// Creates the numbers for this many partitions with this many slices each.
    fn new(partitions: u32, slices: u32) -> Self {
        let numbers = |slice: u32| {
            let partition = (slice / slices) as usize;
            let (share, in_share) = (partition / Share::PARTITIONS, partition % Share::PARTITIONS);
            (share as u8, in_share as u8, (slice % slices) as u8)
        };
        Self((0..partitions * slices).map(numbers).collect())
    }

    /// Returns the partition of a slice, and the number of the slice in it.
    #[inline]
    fn at<'s>(&self, shares: &'s mut [Share], slice: usize) -> (&'s mut Partition, usize) {
        let (share, partition, number) = self.0[slice];
        (&mut shares[usize::from(share)].partitions[usize::from(partition)], number.into())
    }
}

impl Partitioned {
    pub fn new(settings: &Partitions, sms: usize, seed: u64, draws: impl Fn(u64) -> Draws) -> Self {
        let Partitions { channels, slices, .. } = *settings;
        let count = (channels * slices) as usize;
        let limit = settings.crossbar_queue as usize;
        let partitions =
            (0..channels).map(|number| Partition::new(settings, number, seed, draws(number.into())));
        Self {
            clock: Clock::new(settings.clock),
            mapping: Mapping::new(settings),
            slices: Numbers::new(channels, slices),
            latency: settings.latency,
            now: 0,
            tick: 0,
            requests: Crossbar::new(sms, (Outputs::Slices, count), limit),
            replies: Crossbar::new(count, (Outputs::Sms, sms), limit),
            shares: Share::of(partitions),
            next: u64::MAX,
            before: (0, 0),
            ejection_limit: settings.ejection_queue as usize,
        }
    }

    pub fn preload(&mut self, line: u64) {
        // address bits within the line may select the slice or the line of the L2, too
        for &sectors in sectors(self.mapping.keeps_lines()) {
            let address = line * LINE_BYTES + u64::from(sectors.trailing_zeros()) * 32;
            let (partition, index) = self.slices.at(&mut self.shares, self.mapping.slice(address));
            if let Some(cache) = &mut partition.slices[index].cache {
                cache.preload_at(line, sectors, self.mapping.line(address));
            }
        }
    }

    /// Takes out the state at rest that a launch of this number of core cycles leaves.
    pub fn leave(&mut self, cycles: u64) -> CarriedPartitions {
        let ticks = self.clock.ticks(cycles);
        let mut clock = self.clock;
        clock.go_on_after(cycles);
        CarriedPartitions {
            clock,
            requests: self.requests.left(),
            replies: self.replies.left(),
            partitions: self.partitions_mut().map(|partition| partition.leave(ticks)).collect(),
        }
    }

    /// Restores, before the first cycle, the state that another launch has left, and returns
    /// whether it fits.
    #[must_use]
    pub fn go_on_after(&mut self, left: CarriedPartitions) -> bool {
        let CarriedPartitions { clock, requests, replies, partitions } = left;
        if !clock.is_like(&self.clock) || partitions.len() != self.partitions().count() {
            return false;
        }
        self.clock = clock;
        self.partitions_mut().zip(partitions).all(|(partition, left)| partition.go_on_after(left))
            && self.requests.go_on_after(&requests)
            && self.replies.go_on_after(&replies)
    }

    /// Creates the port of an SM.
    pub fn port(&self, sm: usize) -> Port {
        Port::new(sm, self.ejection_limit, Some(self.mapping))
    }

    /// Returns the number of requests that an SM can send in this cycle.
    #[inline]
    pub fn room(&self, sm: usize) -> usize {
        self.requests.room_at(sm)
    }

    pub fn push(&mut self, request: Request) {
        self.requests.push(request.sm.into(), request);
    }

    /// Returns whether replies have reached the SMs' end of the crossbar.
    #[inline]
    pub fn has_arrivals(&self) -> bool {
        self.replies.has_arrivals()
    }

    /// Moves one reply out of the crossbar to the port of an SM, if it has room. Must be called
    /// once per core cycle. Returns whether a reply was moved.
    pub fn eject(&mut self, sm: usize, port: &mut Port) -> bool {
        match self.replies.front(sm) {
            Some(&reply) if port.has_room() => {
                self.replies.pop(sm);
                port.arrive(reply);
                true
            }
            _ => false,
        }
    }

    pub fn cycle(&mut self) {
        self.now += 1;
        let until = self.clock.ticks(self.now);
        while self.tick < until {
            let next = self.next_tick();
            if next > until {
                self.tick = until;
                return;
            }
            self.tick = next;
            if self.requests.has_arrivals() {
                self.take_requests();
            }
            if self.next <= self.tick {
                self.step_partitions();
            }
            self.requests.advance(self.now - 1, self.now - 1, |_, _| false);
            self.replies.advance(self.tick, self.now - 1, |_, _| false);
        }
    }

    /// Returns the next tick in which something happens.
    fn next_tick(&self) -> u64 {
        if !self.requests.is_empty() || self.replies.has_waiting() {
            return self.tick + 1;
        }
        self.next.max(self.tick + 1)
    }

    /// Moves requests from the crossbar to the slices that accept them.
    fn take_requests(&mut self) {
        let mut next = self.requests.next_arrival(0);
        while let Some(number) = next {
            next = self.requests.next_arrival(number + 1);
            let (partition, index) = self.slices.at(&mut self.shares, number);
            if partition.slices[index].accepts()
                && let Some(&request) = self.requests.front(number)
            {
                self.requests.pop(number);
                partition.push(index, request, self.tick);
                self.next = self.next.min(partition.next);
            }
        }
    }

    fn step_partitions(&mut self) {
        let Self { shares, replies, tick, .. } = self;
        self.next = u64::MAX;
        let mut first = 0;
        for partition in shares.iter_mut().flat_map(|share| &mut share.partitions) {
            if partition.next <= *tick {
                partition.step(*tick, |slice, output| {
                    if replies.accepts(first + slice)
                        && let Some(&reply) = output.front()
                    {
                        output.pop_front();
                        replies.push(first + slice, reply);
                    }
                });
            }
            self.next = self.next.min(partition.next);
            first += partition.slices.len();
        }
    }

    #[cfg(test)]
    pub fn is_idle(&self) -> bool {
        self.requests.is_empty() && self.replies.is_empty() && self.next == u64::MAX
    }

    pub fn quiet_for(&self) -> u64 {
        if self.replies.has_arrivals() {
            return 0;
        }
        let tick = self.next_tick();
        if tick == u64::MAX {
            return u64::MAX;
        }
        (self.clock.cycle_of(tick) - 1).saturating_sub(self.now)
    }

    pub fn skip(&mut self, cycles: u64) {
        self.now += cycles;
    }

    /// Returns the counters of the L2, if there is one, and of DRAM.
    pub fn samples(&self) -> impl Iterator<Item = Counted> {
        let slices = self.partitions().flat_map(|partition| &partition.slices);
        let caches = slices.filter_map(|slice| slice.cache.as_ref());
        let l2 = caches.map(Cache::sample).reduce(|mut sum, slice| {
            sum += slice;
            sum
        });
        let mut dram = DramSample::default();
        self.partitions().for_each(|partition| dram += partition.channel.dram.sample());
        l2.map(Counted::L2).into_iter().chain([Counted::Dram(dram)])
    }

    pub fn stats(&self) -> LowerStats {
        sum(self.partitions().map(Partition::stats))
    }

    fn partitions(&self) -> impl Iterator<Item = &Partition> {
        self.shares.iter().flat_map(|share| &share.partitions)
    }

    fn partitions_mut(&mut self) -> impl Iterator<Item = &mut Partition> {
        self.shares.iter_mut().flat_map(|share| &mut share.partitions)
    }

    /// Returns the next tick in which a partition has something to do.
    fn next_of_partitions(&self) -> u64 {
        self.partitions().map(|partition| partition.next).min().unwrap_or(u64::MAX)
    }
}

fn sum(parts: impl Iterator<Item = LowerStats>) -> LowerStats {
    let mut stats = LowerStats::default();
    for part in parts {
        stats.l2 += part.l2;
        stats.dram += part.dram;
    }
    stats
}
