//! A lower memory level of fixed latency and bandwidth, shared by all SMs.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use super::jitter::Draws;
use super::{Request, RequestKind};
use warpbound_core::machine::memory::Fixed as Settings;

/// A request in flight, ordered by the cycle of its answer, then by arrival.
#[derive(Clone, Copy, Debug)]
struct Pending {
    at: u64,
    ordinal: u64,
    request: Request,
}

impl PartialEq for Pending {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Pending {}

impl PartialOrd for Pending {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Pending {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.at, self.ordinal).cmp(&(other.at, other.ordinal))
    }
}

#[derive(Clone, Debug)]
pub(super) struct FixedLevel {
    settings: Settings,
    pub draws: Draws,
    /// The number of core cycles begun.
    now: u64,
    /// The number of requests accepted in this cycle.
    accepted: u32,
    /// Whether a request of an earlier cycle has not been answered yet.
    occupied: bool,
    ordinal: u64,
    /// The requests in flight, per SM.
    pending: Vec<BinaryHeap<Reverse<Pending>>>,
    /// The number of requests in flight.
    count: usize,
}

impl FixedLevel {
    pub fn new(settings: Settings, draws: Draws, sms: usize) -> Self {
        let pending = vec![BinaryHeap::new(); sms];
        Self { settings, draws, now: 0, accepted: 0, occupied: false, ordinal: 0, pending, count: 0 }
    }

    /// Returns the number of further requests that can be accepted in this cycle.
    pub fn room(&self) -> usize {
        let accepts = self.settings.pipelined || !self.occupied;
        if accepts { (self.settings.per_cycle - self.accepted) as usize } else { 0 }
    }

    pub fn push(&mut self, request: Request) {
        self.accepted += 1;
        let latency = (self.settings.latency + self.draws.next()).max(1);
        if request.kind == RequestKind::WriteBack {
            return;
        }
        self.ordinal += 1;
        self.count += 1;
        // the SMs push after the step of the cycle itself
        let at = self.now - 1 + latency;
        self.pending[usize::from(request.sm)].push(Reverse(Pending { at, ordinal: self.ordinal, request }));
    }

    pub fn cycle(&mut self) {
        self.now += 1;
        self.accepted = 0;
        self.occupied = self.count > 0;
    }

    pub fn reply(&mut self, sm: usize) -> Option<Request> {
        let due = self.pending[sm].peek().is_some_and(|Reverse(next)| next.at <= self.now);
        if !due {
            return None;
        }
        self.count -= 1;
        self.pending[sm].pop().map(|Reverse(next)| next.request)
    }

    pub fn is_idle(&self) -> bool {
        self.count == 0
    }

    pub fn quiet_for(&self) -> u64 {
        let next =
            self.pending.iter().filter_map(|pending| pending.peek().map(|Reverse(next)| next.at)).min();
        next.map_or(u64::MAX, |at| at.saturating_sub(self.now))
    }

    pub fn skip(&mut self, cycles: u64) {
        self.now += cycles;
        self.accepted = 0;
    }
}
