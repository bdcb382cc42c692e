//! The data cache of an SM behind its banks.
//!
//! A transaction enters the bank of its first sector, one per cycle and bank, and reaches the tags
//! when the cache's latency is over. One that the tags stall stays at the end of its bank.

use std::collections::VecDeque;

use super::memory::{Access, Cache, Request, Token};
use crate::machine::memory::L1;

/// What became of a transaction at the end of a bank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LookedUp {
    /// It is as it was.
    Refused,
    /// The tags have no more to do with this one.
    Hit(Token),
    /// It waits in the cache, or goes on.
    Taken,
}

#[derive(Clone, Debug)]
pub(super) struct FirstLevel {
    latency: u64,
    /// Per bank: transactions with the cycle in which they reach the tags.
    banks: Vec<VecDeque<(u64, Request)>>,
    /// Banks that took a transaction in a cycle, and which cycle.
    taken: u64,
    taken_at: u64,
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
            due_at: u64::MAX,
            cache: Cache::new(&settings.with_shared(shared_bytes), seed),
        }
    }

    /// Whether a cycle without replies and new transactions changes nothing: nothing is to be
    /// looked up, sent or handed back.
    #[inline]
    pub fn is_quiet(&self, now: u64) -> bool {
        now < self.due_at && self.cache.is_quiet()
    }

    /// How many transactions may enter per cycle.
    #[inline]
    pub fn width(&self) -> usize {
        self.banks.len()
    }

    #[inline]
    fn bank(&self, request: &Request) -> usize {
        let sector = request.line * 4 + u64::from(request.sectors.trailing_zeros());
        let banks = self.banks.len() as u64;
        let bank = if banks.is_power_of_two() { sector & (banks - 1) } else { sector % banks };
        bank as usize
    }

    /// Takes a transaction into its bank, if that can take one in this cycle.
    #[inline]
    pub fn take(&mut self, request: Request, now: u64) -> bool {
        let number = self.bank(&request);
        if self.taken_at != now {
            (self.taken_at, self.taken) = (now, 0);
        }
        let bank = &mut self.banks[number];
        if self.taken >> number & 1 == 1 || bank.len() >= self.latency as usize {
            return false;
        }
        self.taken |= 1 << number;
        bank.push_back((now + self.latency, request));
        self.due_at = self.due_at.min(now + self.latency);
        true
    }

    /// Whether a transaction reaches the tags in this cycle.
    #[inline]
    pub fn is_due(&self, now: u64) -> bool {
        self.due_at <= now
    }

    /// The banks at whose end a transaction does, as a mask.
    #[inline]
    pub fn due(&mut self, now: u64) -> u64 {
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

    /// What is at the end of a bank that is due reaches the tags, if they take it.
    #[inline]
    pub fn look_up(&mut self, bank: usize, now: u64) -> LookedUp {
        let bank = &mut self.banks[bank];
        let Some(&(_, request)) = bank.front() else { return LookedUp::Refused };
        let access = self.cache.access(request);
        if access == Access::Stall {
            return LookedUp::Refused;
        }
        bank.pop_front();
        // those behind it have moved up to it at most
        if let Some(next) = bank.front_mut() {
            next.0 = next.0.max(now + 1);
            self.due_at = self.due_at.min(next.0);
        }
        if access == Access::Hit { LookedUp::Hit(request.token) } else { LookedUp::Taken }
    }

    /// The next cycle after this one in which a transaction reaches the tags.
    #[inline]
    pub fn next_due(&self, now: u64) -> u64 {
        if self.due_at > now {
            return self.due_at;
        }
        let next =
            self.banks.iter().filter_map(|bank| bank.front()).map(|&(at, _)| at).filter(|&at| at > now);
        next.min().unwrap_or(u64::MAX)
    }

    /// The next cycle in which something can happen without a reply.
    #[inline]
    pub fn next_event(&self, now: u64) -> u64 {
        if self.cache.is_quiet() { self.due_at.max(now + 1) } else { now + 1 }
    }
}
