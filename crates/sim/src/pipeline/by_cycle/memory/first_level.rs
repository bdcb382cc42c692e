//! The data cache of an SM: banks of fixed length, at whose ends the tags are looked up.

use std::collections::VecDeque;

use super::super::choose::{Arbiter, Deciders};
use super::cache::{Cache, Found};
use super::{Request, Waits};
use crate::key::Key;
use warpbound_core::machine::memory::L1;

#[derive(Clone)]
pub(in super::super) struct FirstLevel {
    latency: u64,
    /// The requests in each bank, with the cycle in which each reaches the tags.
    banks: Vec<VecDeque<(u64, Request)>>,
    /// The number of cycles for which a request occupies its bank, and for each bank the cycles for
    /// which it is still occupied.
    interval: u64,
    occupied: Vec<u64>,
    pub cache: Cache,
}

impl FirstLevel {
    /// `shared_bytes` is the shared memory that the resident blocks use.
    pub fn new(settings: &L1, shared_bytes: u64, seed: u64) -> Self {
        let shared_bytes = u32::try_from(shared_bytes).unwrap_or(u32::MAX);
        Self {
            latency: settings.latency.max(1),
            banks: vec![VecDeque::new(); settings.banks as usize],
            interval: settings.interval,
            occupied: vec![0; settings.banks as usize],
            cache: Cache::new(&settings.with_shared(shared_bytes), seed),
        }
    }

    pub fn begin_cycle(&mut self) {
        self.occupied.iter_mut().for_each(|cycles| *cycles = cycles.saturating_sub(1));
    }

    /// Returns the largest number of requests that can enter in a cycle.
    pub fn width(&self) -> usize {
        self.banks.len()
    }

    /// Puts a request into its bank, and returns whether the bank could accept it.
    pub fn take(&mut self, request: &Request, now: u64) -> bool {
        let bank = (request.sectors[0] % self.banks.len() as u64) as usize;
        if self.occupied[bank] > 0 || self.banks[bank].len() as u64 >= self.latency {
            return false;
        }
        self.occupied[bank] = self.interval;
        self.banks[bank].push_back((now + self.latency, request.clone()));
        true
    }

    /// Looks up the request at the end of each bank. Returns what waits for each request that hit.
    pub fn look_up(&mut self, now: u64, deciders: &mut Deciders) -> Vec<Waits> {
        let mut hits = Vec::new();
        let is_due = |bank: &usize| self.banks[*bank].front().is_some_and(|(at, _)| *at <= now);
        let mut due: Vec<usize> = (0..self.banks.len()).filter(is_due).collect();
        while let Some(number) = deciders.choose(Arbiter::Tags, &due, |bank| bank) {
            due.retain(|&other| other != number);
            let bank = &mut self.banks[number];
            let Some((_, request)) = bank.front() else { continue };
            let found = self.cache.look_up(request, request.address());
            if found == Found::Refused {
                continue;
            }
            if found == Found::Hit {
                hits.push(request.waits);
            }
            bank.pop_front();
            // the one behind it reaches the end in the next cycle at the earliest
            bank.iter_mut().take(1).for_each(|(at, _)| *at = (*at).max(now + 1));
        }
        hits
    }

    /// Adds the banks and the cache to the key of a state.
    pub fn key(&self, now: u64, key: &mut Key) {
        for (bank, occupied) in self.banks.iter().zip(&self.occupied) {
            // what is left of it at the start of the next cycle
            key.put(occupied.saturating_sub(1));
            key.list(bank, |key, (at, request)| {
                key.until(*at, now);
                request.key(key);
            });
        }
        self.cache.key(key);
    }
}
