//! A slice of a partition: four queues around a part of the L2.

use std::collections::VecDeque;

use super::cache::{Cache, Found};
use super::mapping::Mapping;
use super::{Kind, Request, Waits};
use crate::key::Key;
use warpbound_core::machine::memory::{LINE_BYTES, Partitions};

#[derive(Clone, Debug)]
pub(super) struct Slice {
    limit: usize,
    latency: u64,
    /// What atomics wait in addition.
    atomic_latency: u64,
    /// The latency of the first load of a line by the SMs of the other half, and the half of this
    /// slice; and the lines of which the other half has a copy, the oldest first, each with the
    /// tick in which the copy arrives.
    far: (u64, usize),
    copies: VecDeque<(u64, u64)>,
    lines: usize,
    /// The requests at the entrance, with the tick in which each may go on.
    entrance: VecDeque<(u64, Request)>,
    input: VecDeque<Request>,
    pub to_dram: VecDeque<Request>,
    pub from_dram: VecDeque<Request>,
    pub output: VecDeque<Request>,
    pub cache: Option<Cache>,
    port: u64,
    /// The number of ticks for which the two ports of the cache are occupied.
    data_port: u64,
    fill_port: u64,
}

impl Slice {
    pub fn new(settings: &Partitions, channel: u32, seed: u64) -> Self {
        let bytes = settings.l2.as_ref().map_or(0, |l2| l2.bytes());
        Self {
            limit: settings.queue as usize,
            latency: settings.latency,
            atomic_latency: settings.atomic_latency,
            far: (if bytes > 0 { settings.far_latency } else { 0 }, channel as usize % 2),
            copies: VecDeque::new(),
            lines: (bytes / LINE_BYTES).max(1) as usize,
            entrance: VecDeque::new(),
            input: VecDeque::new(),
            to_dram: VecDeque::new(),
            from_dram: VecDeque::new(),
            output: VecDeque::new(),
            cache: settings.l2.as_ref().map(|l2| Cache::new(l2, seed)),
            port: settings.l2.as_ref().map_or(1, |l2| u64::from(l2.port)),
            data_port: 0,
            fill_port: 0,
        }
    }

    /// Returns whether it accepts a request from the crossbar.
    pub fn accepts(&self) -> bool {
        self.input.len() < self.limit
    }

    pub fn push(&mut self, request: Request, tick: u64) {
        let atomic = if matches!(request.kind, Kind::Atomic) { self.atomic_latency } else { 0 };
        let at = self.after_the_halves(tick + self.latency + atomic, &request);
        // those that are ready earlier or were here before go first
        let place = self.entrance.iter().take_while(|(other, _)| *other <= at).count();
        self.entrance.insert(place, (at, request));
    }

    fn after_the_halves(&mut self, at: u64, request: &Request) -> u64 {
        let ((latency, half), line) = (self.far, request.sectors[0] / 4);
        let loads = matches!(request.kind, Kind::Load | Kind::Constant);
        if latency == 0 || !loads || request.sm % 2 == half {
            return at;
        }
        if let Some((_, arrives)) = self.copies.iter().find(|(other, _)| *other == line) {
            return at.max(*arrives);
        }
        self.copies.push_back((line, at + latency));
        if self.copies.len() > self.lines {
            self.copies.pop_front();
        }
        at + latency
    }

    /// Returns whether it accepts a request from DRAM.
    pub fn accepts_from_dram(&self) -> bool {
        self.from_dram.len() < self.limit
    }

    pub fn tick(&mut self, tick: u64, mapping: &Mapping) {
        self.return_one();
        self.take_from_dram();
        if let Some(cache) = &mut self.cache {
            if self.to_dram.len() < self.limit {
                self.to_dram.extend(cache.outgoing.pop_front());
            }
            self.data_port = self.data_port.saturating_sub(1);
            self.fill_port = self.fill_port.saturating_sub(1);
        }
        self.look_up(mapping);
        if self.input.len() < self.limit && self.entrance.front().is_some_and(|(at, _)| *at <= tick) {
            self.input.extend(self.entrance.pop_front().map(|(_, request)| request));
        }
    }

    /// Moves one request whose data has arrived in the cache to the output.
    fn return_one(&mut self) {
        if let Some(cache) = &mut self.cache
            && self.output.len() < self.limit
        {
            self.output.extend(cache.next_ready());
        }
    }

    /// Takes what has come from DRAM: data for the cache, or an answer that passes it.
    fn take_from_dram(&mut self) {
        let Some(request) = self.from_dram.front() else { return };
        let fetch = match request.waits {
            Waits::Fetch(fetch) if request.kind != Kind::Store => Some(fetch),
            _ => None,
        };
        if let (Some(cache), Some(fetch)) = (&mut self.cache, fetch) {
            if self.fill_port == 0 {
                self.fill_port = request.bytes().div_ceil(self.port);
                cache.fill(fetch);
                self.from_dram.pop_front();
            }
        } else if self.output.len() < self.limit {
            self.output.extend(self.from_dram.pop_front());
        }
    }

    /// Looks up the first request, or passes it on to DRAM if there is no L2.
    fn look_up(&mut self, mapping: &Mapping) {
        let Some(request) = self.input.front() else { return };
        if self.to_dram.len() >= self.limit {
            return;
        }
        let Some(cache) = &mut self.cache else {
            self.to_dram.extend(self.input.pop_front());
            return;
        };
        if self.output.len() >= self.limit || self.data_port > 0 {
            return;
        }
        match cache.look_up(request, mapping.in_slice(request.address())) {
            Found::Refused => return,
            Found::Hit => {
                self.data_port = request.bytes().div_ceil(self.port);
                if request.kind != Kind::WriteBack {
                    self.output.push_back(request.clone());
                }
            }
            Found::Waits | Found::Forwarded => {}
        }
        self.input.pop_front();
    }

    pub fn is_idle(&self) -> bool {
        self.entrance.is_empty()
            && self.input.is_empty()
            && self.to_dram.is_empty()
            && self.from_dram.is_empty()
            && self.output.is_empty()
            && self.cache.as_ref().is_none_or(Cache::is_idle)
    }

    /// Prepares for the next launch.
    pub fn rest(&mut self) {
        (self.data_port, self.fill_port) = (0, 0);
        self.copies.clear();
        if let Some(cache) = &mut self.cache {
            cache.stats = Default::default();
        }
    }

    /// Adds the slice to the key of a state.
    pub fn key(&self, tick: u64, key: &mut Key) {
        key.list(&self.entrance, |key, (at, request)| {
            key.until(*at, tick);
            request.key(key);
        });
        for queue in [&self.input, &self.to_dram, &self.from_dram, &self.output] {
            key.list(queue, |key, request| request.key(key));
        }
        if let Some(cache) = &self.cache {
            cache.key(key);
        }
        key.list(&self.copies, |key, &(line, arrives)| {
            key.put(line);
            key.until(arrives, tick);
        });
        key.put(self.data_port);
        key.put(self.fill_port);
    }
}
