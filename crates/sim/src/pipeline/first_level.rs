//! The data cache of an SM, with its banks.
//!
//! A transaction enters the bank of its first sector, whose entrance it occupies for a number of
//! cycles, and reaches the tags after the latency of the cache. A transaction that the tags refuse
//! stays at the end of its bank.

use std::collections::VecDeque;

use super::memory::{Access, Cache, Request, Token};
use warpbound_core::machine::memory::L1;

/// The outcome of a transaction that reached the end of a bank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LookedUp {
    /// The cache refused it, and nothing has changed.
    Refused,
    /// It hit, and is finished.
    Hit(Token),
    /// It waits in the cache, or is forwarded.
    Taken,
}

#[derive(Clone, Debug)]
pub(super) struct FirstLevel {
    latency: u64,
    /// For each bank, the transactions, each with the cycle in which it reaches the tags.
    banks: Vec<VecDeque<(u64, Request)>>,
    /// The number of cycles for which a transaction occupies the entrance of its bank.
    interval: u64,
    /// For each bank, the first cycle in which its entrance is free.
    free_at: Vec<u64>,
    /// No transaction in the banks reaches the tags before this cycle.
    due_at: u64,
    pub cache: Cache,
}

impl FirstLevel {
    /// Creates the cache. `shared_bytes` is the number of bytes of shared memory that the blocks on
    /// the SM use.
    pub fn new(settings: &L1, shared_bytes: u64, seed: u64) -> Self {
        let shared_bytes = u32::try_from(shared_bytes).unwrap_or(u32::MAX);
        Self {
            latency: settings.latency.max(1),
            banks: vec![VecDeque::new(); settings.banks as usize],
            interval: settings.interval,
            free_at: vec![0; settings.banks as usize],
            due_at: u64::MAX,
            cache: Cache::new(&settings.with_shared(shared_bytes), seed),
        }
    }

    /// Returns whether a cycle without replies and new transactions changes nothing: nothing is to
    /// be looked up, sent or returned.
    #[inline]
    pub fn is_quiet(&self, now: u64) -> bool {
        now < self.due_at && self.cache.is_quiet()
    }

    /// Returns the number of transactions that may enter per cycle.
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

    /// Puts a transaction into its bank, and returns whether the bank could accept one in this
    /// cycle.
    #[inline]
    pub fn take(&mut self, request: Request, now: u64) -> bool {
        let number = self.bank(&request);
        let bank = &mut self.banks[number];
        if now < self.free_at[number] || bank.len() >= self.latency as usize {
            return false;
        }
        self.free_at[number] = now + self.interval;
        bank.push_back((now + self.latency, request));
        self.due_at = self.due_at.min(now + self.latency);
        true
    }

    /// Returns whether a transaction reaches the tags in this cycle.
    #[inline]
    pub fn is_due(&self, now: u64) -> bool {
        self.due_at <= now
    }

    /// Returns the banks at whose end a transaction reaches the tags, as a mask.
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

    /// Looks up the transaction at the end of a bank that is due.
    #[inline]
    pub fn look_up(&mut self, bank: usize, now: u64) -> LookedUp {
        let bank = &mut self.banks[bank];
        let Some(&(_, request)) = bank.front() else { return LookedUp::Refused };
        let access = self.cache.access(request);
        if access == Access::Stall {
            return LookedUp::Refused;
        }
        bank.pop_front();
        // the transaction behind it reaches the end of the bank in the next cycle at the earliest
        if let Some(next) = bank.front_mut() {
            next.0 = next.0.max(now + 1);
            self.due_at = self.due_at.min(next.0);
        }
        if access == Access::Hit { LookedUp::Hit(request.token) } else { LookedUp::Taken }
    }

    /// Returns the next cycle after this one in which a transaction reaches the tags, or a bank can
    /// accept one that it could not accept now.
    #[inline]
    pub fn next_due(&self, now: u64) -> u64 {
        // with an interval of one cycle, every bank is free in the next cycle
        let free = match self.interval {
            1 => u64::MAX,
            _ => self.free_at.iter().copied().filter(|&at| at > now).min().unwrap_or(u64::MAX),
        };
        if self.due_at > now {
            return self.due_at.min(free);
        }
        let due = self.banks.iter().filter_map(|bank| bank.front()).map(|&(at, _)| at);
        due.filter(|&at| at > now).min().unwrap_or(u64::MAX).min(free)
    }

    /// Returns the next cycle in which something can happen without a reply.
    #[inline]
    pub fn next_event(&self, now: u64) -> u64 {
        if self.cache.is_quiet() { self.due_at.max(now + 1) } else { now + 1 }
    }
}
