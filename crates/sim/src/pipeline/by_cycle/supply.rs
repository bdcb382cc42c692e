//! The instruction caches, request by request and cycle by cycle.

use std::collections::VecDeque;

use crate::key::Key;
use warpbound_core::base::WarpMask;
use warpbound_core::machine::SubCores;
use warpbound_core::machine::pipeline::InstructionCaches as Settings;

/// A request of a sub-core for a line.
#[derive(Clone, Copy)]
struct Request {
    line: u32,
    /// The fetch of the L1 that brings the line, and the cycle of the look-up there; `None` as long
    /// as the request waits for the L1.
    looked_up: Option<(usize, u64)>,
}

/// A line in an L0.
#[derive(Clone, Copy)]
struct Held {
    line: u32,
    request: usize,
    ahead: bool,
}

/// What a warp waits for.
#[derive(Clone, Copy, Default)]
struct Place {
    last: Option<u32>,
    earliest: u64,
    request: Option<usize>,
}

#[derive(Clone)]
pub(super) struct Supply {
    settings: Settings,
    sub_cores: SubCores,
    lines: u32,
    warps: Vec<Place>,
    requests: Vec<Request>,
    /// For each fetch of the L1, the cycle in which its line arrives there, once it is known.
    fetches: Vec<Option<u64>>,
    /// The L0 of each sub-core and the L1, by set, most recently used first.
    l0: Vec<Vec<Vec<Held>>>,
    l1: Vec<Vec<(u32, usize)>>,
    to_l1: VecDeque<usize>,
    to_lower: VecDeque<usize>,
    l1_free: u64,
    lower_free: u64,
}

impl Supply {
    pub fn new(settings: Settings, sub_cores: SubCores, instructions: u32) -> Self {
        let bytes = u64::from(instructions) * u64::from(settings.instruction);
        let lines = bytes.div_ceil(settings.line.into()) as u32;
        let mut l1 = vec![Vec::new(); settings.l1.sets as usize];
        let mut fetches = Vec::new();
        for line in (0..lines).filter(|_| settings.warm) {
            let set: &mut Vec<(u32, usize)> = &mut l1[(line % settings.l1.sets) as usize];
            set.insert(0, (line, fetches.len()));
            set.truncate(settings.l1.ways as usize);
            fetches.push(Some(0));
        }
        Self {
            settings,
            sub_cores,
            lines,
            warps: vec![Place::default(); 64],
            requests: Vec::new(),
            fetches,
            l0: vec![vec![Vec::new(); settings.l0.sets as usize]; sub_cores.count()],
            l1,
            to_l1: VecDeque::new(),
            to_lower: VecDeque::new(),
            l1_free: 0,
            lower_free: 0,
        }
    }

    pub fn start(&mut self, slot: usize) {
        self.warps[slot] = Place::default();
    }

    /// Records the next instruction of a warp that starts or has just issued one.
    pub fn goes_to(&mut self, slot: usize, place: u32, now: u64) {
        let last = self.warps[slot].last;
        let line = self.line(place);
        let earliest = match last {
            None => now,
            Some(last) if place == last + 1 => now,
            Some(_) => now + self.settings.jump,
        };
        let stays = last.is_some_and(|last| self.line(last) == line);
        let request = if stays { None } else { Some(self.enter(self.sub_cores.of_slot(slot), line)) };
        self.warps[slot] = Place { last: Some(place), earliest, request };
    }

    /// Returns whether the next instruction of a warp is available in this cycle.
    pub fn has(&self, slot: usize, now: u64) -> bool {
        let Place { earliest, request, .. } = self.warps[slot];
        earliest <= now && request.is_none_or(|request| self.arrival(request).is_some_and(|at| at <= now))
    }

    /// Simulates the end of a cycle: the L1 and the memory behind it each take a request.
    pub fn cycle(&mut self, now: u64) {
        if now >= self.l1_free
            && let Some(id) = self.to_l1.pop_front()
        {
            self.l1_free = now + self.settings.l1_interval;
            let line = self.requests[id].line;
            let set = &mut self.l1[(line % self.settings.l1.sets) as usize];
            let fetch = match set.iter().position(|&(other, _)| other == line) {
                Some(place) => set.remove(place).1,
                None => {
                    set.truncate(self.settings.l1.ways as usize - 1);
                    self.fetches.push(None);
                    self.to_lower.push_back(self.fetches.len() - 1);
                    self.fetches.len() - 1
                }
            };
            set.insert(0, (line, fetch));
            self.requests[id].looked_up = Some((fetch, now));
        }
        if now >= self.lower_free
            && let Some(fetch) = self.to_lower.pop_front()
        {
            self.lower_free = now + self.settings.lower_interval;
            self.fetches[fetch] = Some(now + self.settings.lower_latency);
        }
    }

    fn line(&self, place: u32) -> u32 {
        (u64::from(place) * u64::from(self.settings.instruction) / u64::from(self.settings.line)) as u32
    }

    /// Returns the cycle in which the line of a request arrives in the L0, once it is known.
    fn arrival(&self, request: usize) -> Option<u64> {
        let (fetch, looked_up) = self.requests[request].looked_up?;
        Some(self.fetches[fetch]?.max(looked_up) + self.settings.l1_latency)
    }

    /// Looks a line up in an L0; returns the request that brings or brought it.
    fn enter(&mut self, sub_core: usize, line: u32) -> usize {
        let set = &mut self.l0[sub_core][(line % self.settings.l0.sets) as usize];
        let (request, first_use) = match set.iter().position(|held| held.line == line) {
            Some(place) => {
                let held = set.remove(place);
                set.insert(0, Held { ahead: false, ..held });
                (held.request, held.ahead)
            }
            None => (self.request(sub_core, line, false), true),
        };
        if first_use {
            for next in (1..=self.settings.prefetch).map(|ahead| line + ahead) {
                let set = &self.l0[sub_core][(next % self.settings.l0.sets) as usize];
                if next < self.lines && set.iter().all(|held| held.line != next) {
                    self.request(sub_core, next, true);
                }
            }
        }
        request
    }

    fn request(&mut self, sub_core: usize, line: u32, ahead: bool) -> usize {
        let request = self.requests.len();
        self.requests.push(Request { line, looked_up: None });
        self.to_l1.push_back(request);
        let set = &mut self.l0[sub_core][(line % self.settings.l0.sets) as usize];
        set.truncate(self.settings.l0.ways as usize - 1);
        set.insert(0, Held { line, request, ahead });
        request
    }

    /// Adds the caches to the key of a state at the beginning of cycle `now`.
    pub fn key(&self, now: u64, live: WarpMask, key: &mut Key) {
        // a request is named by the lines that wait for the L1 and its place among them
        let request = |key: &mut Key, id: usize| match (self.arrival(id), self.requests[id].looked_up) {
            (Some(at), _) => {
                key.put(0);
                key.until(at, now);
            }
            (None, Some((fetch, _))) => {
                key.put(1);
                key.put(self.to_lower.iter().position(|&other| other == fetch).map_or(0, |at| at as u64 + 1));
            }
            (None, None) => {
                key.put(2);
                key.put(self.to_l1.iter().position(|&other| other == id).map_or(0, |at| at as u64 + 1));
            }
        };
        for slot in live.slots() {
            let Place { last, earliest, request: waits } = self.warps[slot];
            key.put(last.map_or(0, |last| u64::from(last) + 1));
            key.until(earliest, now);
            key.list(&waits, |key, &id| request(key, id));
        }
        for set in self.l0.iter().flatten() {
            key.list(set, |key, held| {
                key.put(held.line.into());
                key.put(held.ahead.into());
                request(key, held.request);
            });
        }
        for set in &self.l1 {
            key.list(set, |key, &(line, fetch)| {
                key.put(line.into());
                let waiting = self.to_lower.iter().position(|&other| other == fetch);
                key.put(waiting.map_or(0, |at| at as u64 + 1));
                key.until(self.fetches[fetch].unwrap_or(0), now);
            });
        }
        key.list(&self.to_l1, |key, &id| key.put(self.requests[id].line.into()));
        key.until(self.l1_free, now);
        key.until(self.lower_free, now);
    }
}
