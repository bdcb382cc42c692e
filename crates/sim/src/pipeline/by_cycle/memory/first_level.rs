//! The data cache of an SM: banks of fixed length, at whose ends the tags are looked up.

use std::collections::VecDeque;

use super::cache::{Cache, Found};
use super::{Request, Waits};
use warpbound_core::machine::memory::L1;

pub(in super::super) struct FirstLevel {
    latency: u64,
    /// The requests in each bank, with the cycle in which each reaches the tags.
    banks: Vec<VecDeque<(u64, Request)>>,
    /// The banks that accepted a request in this cycle.
    taken: Vec<usize>,
    pub cache: Cache,
}

impl FirstLevel {
    /// `shared_bytes` is the shared memory that the resident blocks use.
    pub fn new(settings: &L1, shared_bytes: u64, seed: u64) -> Self {
        let shared_bytes = u32::try_from(shared_bytes).unwrap_or(u32::MAX);
        Self {
            latency: settings.latency.max(1),
            banks: vec![VecDeque::new(); settings.banks as usize],
            taken: Vec::new(),
            cache: Cache::new(&settings.with_shared(shared_bytes), seed),
        }
    }

    pub fn begin_cycle(&mut self) {
        self.taken.clear();
    }

    /// Returns the largest number of requests that can enter in a cycle.
    pub fn width(&self) -> usize {
        self.banks.len()
    }

    /// Puts a request into its bank, and returns whether the bank could accept it.
    pub fn take(&mut self, request: &Request, now: u64) -> bool {
        let bank = (request.sectors[0] % self.banks.len() as u64) as usize;
        if self.taken.contains(&bank) || self.banks[bank].len() as u64 >= self.latency {
            return false;
        }
        self.taken.push(bank);
        self.banks[bank].push_back((now + self.latency, request.clone()));
        true
    }

    /// Looks up the request at the end of each bank. Returns what waits for each request that hit.
    pub fn look_up(&mut self, now: u64) -> Vec<Waits> {
        let mut hits = Vec::new();
        for bank in &mut self.banks {
            let Some((at, request)) = bank.front() else { continue };
            if *at > now {
                continue;
            }
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
}
