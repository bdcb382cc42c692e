//! A memory partition: some slices, and the channel of DRAM behind them.

use std::collections::VecDeque;

use super::super::choose::{Arbiter, Deciders};
use super::Request;
use super::clock::Clock;
use super::dram::Dram;
use super::jitter::Draws;
use super::mapping::Mapping;
use super::slice::Slice;
use crate::key::Key;
use warpbound_core::machine::memory::Partitions;

#[derive(Clone, Debug)]
pub(super) struct Partition {
    mapping: Mapping,
    pub slices: Vec<Slice>,
    pub dram: Dram,
    /// The clock of DRAM beside that of the L2, as it was when the launch began, and as it is.
    first_clock: Clock,
    clock: Clock,
    /// The number of ticks of DRAM so far.
    now: u64,
    latency: u64,
    draws: Draws,
    /// The requests on their way to DRAM, with the tick of the L2 in which each arrives.
    way: VecDeque<(u64, usize, Request)>,
    /// The places in use: whether each slice uses its own place, and the number of common places in
    /// use. A request occupies a place from when it leaves its slice until it returns from DRAM.
    own: Vec<bool>,
    common: usize,
    common_limit: usize,
    /// The slice that was served last.
    served: usize,
}

impl Partition {
    /// Creates the partition with this number.
    pub fn new(settings: &Partitions, number: u32, seed: u64, draws: Draws) -> Self {
        let slice = |of: u32| Slice::new(settings, number, seed ^ u64::from(number * settings.slices + of));
        let count = settings.slices as usize;
        let places = (settings.dram.queue + settings.dram.returns) as usize;
        let clock = Clock::new(settings.dram.clock);
        Self {
            mapping: Mapping::new(settings),
            slices: (0..settings.slices).map(slice).collect(),
            dram: Dram::new(&settings.dram),
            first_clock: clock.clone(),
            clock,
            now: 0,
            latency: settings.dram.latency,
            draws,
            way: VecDeque::new(),
            own: vec![false; count],
            common: 0,
            common_limit: (places + 1).saturating_sub(count),
            served: count - 1,
        }
    }

    /// Simulates a tick of the L2, after the outputs of the slices.
    pub fn tick(&mut self, tick: u64, deciders: &mut Deciders) {
        // both clocks begin together: DRAM does not tick in the first tick
        if tick > 1 {
            for _ in 0..self.clock.cycle() {
                self.now += 1;
                self.tick_of_dram(tick, deciders);
            }
        }
        for slice in &mut self.slices {
            slice.tick(tick, &self.mapping);
        }
    }

    fn tick_of_dram(&mut self, tick: u64, deciders: &mut Deciders) {
        if let Some(done) = self.dram.returns.front()
            && self.slices[done.slice].accepts_from_dram()
            && let Some(done) = self.dram.take_done()
        {
            self.slices[done.slice].from_dram.push_back(done.request);
            self.free(done.slice);
        }
        if !self.dram.is_idle()
            && let Some(written_back) = self.dram.tick(self.now, deciders)
        {
            self.free(written_back.slice);
        }
        self.take_from_slice(tick, deciders);
        if self.way.front().is_some_and(|(at, ..)| *at <= tick)
            && self.dram.accepts()
            && let Some((_, slice, request)) = self.way.pop_front()
        {
            let address = self.mapping.in_channel(request.address());
            self.dram.push(request, slice, address);
        }
    }

    /// Takes a request from the next slice that has one and for which there is a place.
    fn take_from_slice(&mut self, tick: u64, deciders: &mut Deciders) {
        if !self.dram.accepts() {
            return;
        }
        let count = self.slices.len();
        let goes = |number: &usize| {
            let slice = &self.slices[*number];
            let has_place = !self.own[*number] || self.common < self.common_limit;
            !slice.to_dram.is_empty() && slice.accepts_from_dram() && has_place
        };
        let slices: Vec<usize> = (0..count).filter(goes).collect();
        let last = self.served;
        let chosen = deciders.choose(Arbiter::ToDram, &slices, |slice| (slice + count - last - 1) % count);
        let Some(number) = chosen else { return };
        if self.own[number] {
            self.common += 1;
        }
        self.own[number] = true;
        let arrives = tick + self.latency + self.draws.next();
        // no request overtakes another one
        let behind = self.way.back().map_or(0, |(at, ..)| *at);
        let request = self.slices[number].to_dram.pop_front();
        self.way.extend(request.map(|request| (arrives.max(behind), number, request)));
        self.served = number;
    }

    /// Frees the place of a request of a slice.
    fn free(&mut self, slice: usize) {
        if self.own[slice] {
            self.own[slice] = false;
        } else {
            self.common -= 1;
        }
    }

    pub fn is_idle(&self) -> bool {
        self.way.is_empty() && self.dram.is_idle() && self.slices.iter().all(Slice::is_idle)
    }

    /// Prepares for the next launch, after one of this many ticks of the L2.
    pub fn rest(&mut self, ticks: u64) {
        for _ in 0..ticks {
            self.first_clock.cycle();
        }
        self.clock = self.first_clock.clone();
        self.now = 0;
        self.slices.iter_mut().for_each(Slice::rest);
        self.dram.rest();
    }

    /// Adds the partition to the key of a state.
    pub fn key(&self, tick: u64, key: &mut Key) {
        self.slices.iter().for_each(|slice| slice.key(tick, key));
        self.dram.key(self.now, key);
        self.clock.key(key);
        self.draws.key(key);
        key.list(&self.way, |key, (at, slice, request)| {
            key.until(*at, tick);
            key.put(*slice as u64);
            request.key(key);
        });
        self.own.iter().for_each(|&own| key.put(own.into()));
        key.put(self.common as u64);
    }
}
