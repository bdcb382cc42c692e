//! The crossbar and the partitions behind it.

use super::super::choose::Deciders;
use super::Request;
use super::clock::Clock;
use super::crossbar::Crossbar;
use super::jitter::Draws;
use super::mapping::Mapping;
use super::partition::Partition;
use crate::key::Key;
use crate::result::LowerStats;
use warpbound_core::machine::memory::{Partitions as Settings, SECTOR_BYTES};

#[derive(Clone, Debug)]
pub(super) struct Partitions {
    mapping: Mapping,
    slices: usize,
    /// The clock of the crossbar and the L2 beside that of the SMs, as it was when the launch
    /// began, and as it is.
    first_clock: Clock,
    clock: Clock,
    /// The number of ticks so far.
    tick: u64,
    requests: Crossbar,
    replies: Crossbar,
    partitions: Vec<Partition>,
}

impl Partitions {
    pub fn new(settings: &Settings, sms: usize, seed: u64, draws: impl Fn(u64) -> Draws) -> Self {
        let slices = (settings.channels * settings.slices) as usize;
        let partition = |number: u32| Partition::new(settings, number, seed, draws(number.into()));
        let clock = Clock::new(settings.clock);
        Self {
            mapping: Mapping::new(settings),
            slices: settings.slices as usize,
            first_clock: clock.clone(),
            clock,
            tick: 0,
            requests: Crossbar::new(sms, slices, settings.crossbar_queue),
            replies: Crossbar::new(slices, sms, settings.crossbar_queue),
            partitions: (0..settings.channels).map(partition).collect(),
        }
    }

    pub fn accepts(&self, sm: usize) -> bool {
        self.requests.accepts(sm)
    }

    pub fn send(&mut self, request: Request) {
        let slice = self.mapping.slice(request.address());
        self.requests.push(request.sm, slice, request);
    }

    /// Removes the next reply at an SM's end of the crossbar.
    pub fn reply(&mut self, sm: usize) -> Option<Request> {
        self.replies.pop(sm)
    }

    /// Simulates a core cycle.
    pub fn cycle(&mut self, deciders: &mut Deciders) {
        for _ in 0..self.clock.cycle() {
            self.tick += 1;
            self.tick(deciders);
        }
    }

    fn tick(&mut self, deciders: &mut Deciders) {
        for (number, partition) in self.partitions.iter_mut().enumerate() {
            for (of, slice) in partition.slices.iter_mut().enumerate() {
                let end = number * self.slices + of;
                if slice.accepts()
                    && let Some(request) = self.requests.pop(end)
                {
                    slice.push(request, self.tick);
                }
            }
        }
        for (number, partition) in self.partitions.iter_mut().enumerate() {
            for (of, slice) in partition.slices.iter_mut().enumerate() {
                let end = number * self.slices + of;
                if self.replies.accepts(end)
                    && let Some(reply) = slice.output.pop_front()
                {
                    self.replies.push(end, reply.sm, reply);
                }
            }
            partition.tick(self.tick, deciders);
        }
        self.requests.tick(deciders);
        self.replies.tick(deciders);
    }

    /// Simulates that the host copies a sector to memory.
    pub fn copy(&mut self, sector: u64) {
        let address = sector * SECTOR_BYTES;
        let slice = self.mapping.slice(address);
        let slice = &mut self.partitions[slice / self.slices].slices[slice % self.slices];
        if let Some(cache) = &mut slice.cache {
            cache.copy(sector, self.mapping.in_slice(address));
        }
    }

    pub fn stats(&self) -> LowerStats {
        let mut stats = LowerStats::default();
        for partition in &self.partitions {
            let caches = partition.slices.iter().filter_map(|slice| slice.cache.as_ref());
            caches.for_each(|cache| stats.l2 += cache.stats);
            stats.dram += partition.dram.stats;
        }
        stats
    }

    pub fn is_idle(&self) -> bool {
        self.requests.is_empty() && self.replies.is_empty() && self.partitions.iter().all(Partition::is_idle)
    }

    /// Prepares for the next launch, after one of this many cycles. The clocks have the phase that
    /// they had at the end of it.
    pub fn rest(&mut self, cycles: u64) {
        let ticks = (0..cycles).map(|_| self.first_clock.cycle()).sum();
        self.clock = self.first_clock.clone();
        self.tick = 0;
        self.partitions.iter_mut().for_each(|partition| partition.rest(ticks));
    }

    /// Adds everything behind the SMs to the key of a state.
    pub fn key(&self, key: &mut Key) {
        self.clock.key(key);
        // DRAM does not tick in the first tick
        key.put(self.tick.min(1));
        self.requests.key(key);
        self.replies.key(key);
        self.partitions.iter().for_each(|partition| partition.key(self.tick, key));
    }
}
