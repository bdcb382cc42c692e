//! The data cache of an SM behind its banks.
//!
//! A transaction enters the bank of its first sector, one per cycle and bank, and reaches the tags
//! when the cache's latency is over. One that the tags stall stays at the end of its bank.

use std::collections::VecDeque;

use super::memory::{Access, Cache, Request};
use crate::machine::memory::L1;

#[derive(Clone, Debug)]
pub(super) struct FirstLevel {
    latency: u64,
    /// Per bank: transactions with the cycle in which they reach the tags.
    banks: Vec<VecDeque<(u64, Request)>>,
    /// Banks that took a transaction in a cycle, and which cycle.
    taken: u64,
    taken_at: u64,
    /// Transactions in the banks.
    waiting: usize,
    /// Nothing in the banks reaches the tags before.
    due_at: u64,
    pub cache: Cache,
}

impl FirstLevel {
    /// `shared_bytes` is the shared memory that the blocks on the SM use.
    pub fn new(settings: &L1, shared_bytes: u64, seed: u64) -> Self {
        let shared_bytes = u32::try_from(shared_bytes).unwrap_or(u32::MAX);
        Self {
            latency: settings.latency.max(1),
            banks: vec![VecDeque::new(); settings.banks as usize],
            taken: 0,
            taken_at: 0,
            waiting: 0,
            due_at: u64::MAX,
            cache: Cache::new(&settings.with_shared(shared_bytes), seed),
        }
    }

    /// Whether a cycle without replies and new transactions changes nothing: nothing is to be
    /// looked up, sent or handed back.
    pub fn is_quiet(&self) -> bool {
        self.waiting == 0 && self.cache.is_quiet()
    }

    /// How many transactions may enter per cycle.
    pub fn width(&self) -> usize {
        self.banks.len()
    }

    fn bank(&self, request: &Request) -> usize {
        let sector = request.line * 4 + u64::from(request.sectors.trailing_zeros());
        (sector % self.banks.len() as u64) as usize
    }

    pub fn accepts(&self, request: &Request, now: u64) -> bool {
        let bank = self.bank(request);
        let taken = if self.taken_at == now { self.taken } else { 0 };
        taken >> bank & 1 == 0 && self.banks[bank].len() < self.latency as usize
    }

    pub fn push(&mut self, request: Request, now: u64) {
        let bank = self.bank(&request);
        if self.taken_at != now {
            (self.taken_at, self.taken) = (now, 0);
        }
        self.taken |= 1 << bank;
        self.banks[bank].push_back((now + self.latency, request));
        self.due_at = self.due_at.min(now + self.latency);
        self.waiting += 1;
    }

    /// The banks at whose end a transaction reaches the tags in this cycle, as a mask.
    #[inline]
    pub fn due(&mut self, now: u64) -> u64 {
        if now < self.due_at {
            return 0;
        }
        let mut due = 0;
        self.due_at = u64::MAX;
        for (bank, waiting) in self.banks.iter().enumerate() {
            if let Some(&(at, _)) = waiting.front() {
                due |= u64::from(at <= now) << bank;
                self.due_at = self.due_at.min(at);
            }
        }
        due
    }

    /// What is at the end of a bank that is due reaches the tags, if they take it; of a hit they have no more to do.
    pub fn look_up(&mut self, bank: usize, now: u64) -> Option<Option<Request>> {
        let &(_, request) = self.banks[bank].front()?;
        let access = self.cache.access(request);
        if access == Access::Stall {
            return None;
        }
        self.banks[bank].pop_front();
        self.waiting -= 1;
        // those behind it have moved up to it at most
        if let Some(next) = self.banks[bank].front_mut() {
            next.0 = next.0.max(now + 1);
            self.due_at = self.due_at.min(next.0);
        }
        Some((access == Access::Hit).then_some(request))
    }

    /// The next cycle after this one in which a transaction reaches the tags.
    pub fn next_due(&self, now: u64) -> u64 {
        let next =
            self.banks.iter().filter_map(|bank| bank.front()).map(|&(at, _)| at).filter(|&at| at > now);
        next.min().unwrap_or(u64::MAX)
    }

    /// The next cycle in which something can happen without a reply.
    pub fn next_event(&self, now: u64) -> u64 {
        if !self.cache.is_quiet() {
            return now + 1;
        }
        let next = self.banks.iter().filter_map(|bank| bank.front()).map(|&(at, _)| at).min();
        next.map_or(u64::MAX, |at| at.max(now + 1))
    }
}
