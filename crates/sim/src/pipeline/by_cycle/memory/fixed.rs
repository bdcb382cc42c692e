//! A memory of fixed latency that all SMs share.

use super::jitter::Draws;
use super::{Kind, Request};
use crate::key::Key;
use warpbound_core::machine::memory::Fixed as Settings;

#[derive(Clone, Debug)]
pub(super) struct Fixed {
    settings: Settings,
    draws: Draws,
    now: u64,
    /// The number of requests accepted in this cycle.
    accepted: u32,
    /// Whether a request of an earlier cycle has not been answered.
    occupied: bool,
    /// The requests in the order of acceptance, with the cycle of the answer.
    waiting: Vec<(u64, Request)>,
}

impl Fixed {
    pub fn new(settings: Settings, draws: Draws) -> Self {
        Self { settings, draws, now: 0, accepted: 0, occupied: false, waiting: Vec::new() }
    }

    pub fn cycle(&mut self) {
        self.now += 1;
        self.accepted = 0;
        self.occupied = !self.waiting.is_empty();
    }

    pub fn accepts(&self) -> bool {
        self.accepted < self.settings.per_cycle && (self.settings.pipelined || !self.occupied)
    }

    pub fn send(&mut self, request: Request) {
        self.accepted += 1;
        let latency = self.settings.latency + self.draws.next();
        if request.kind != Kind::WriteBack {
            // the present cycle is the one before `now`
            self.waiting.push((self.now - 1 + latency.max(1), request));
        }
    }

    /// Removes the next reply to an SM that is due: the one with the earliest cycle, among equal
    /// ones the one accepted first.
    pub fn reply(&mut self, sm: usize) -> Option<Request> {
        let due = |(_, (at, request)): &(usize, &(u64, Request))| request.sm == sm && *at <= self.now;
        let (place, _) = self.waiting.iter().enumerate().filter(due).min_by_key(|(_, (at, _))| *at)?;
        Some(self.waiting.remove(place).1)
    }

    pub fn is_idle(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Prepares for the next launch: keeps the position in the random numbers, and nothing else.
    pub fn rest(&mut self) {
        self.waiting.clear();
        (self.now, self.accepted, self.occupied) = (0, 0, false);
    }

    /// Adds the requests to the key of a state, in the order in which they are answered.
    pub fn key(&self, key: &mut Key) {
        let mut waiting: Vec<&(u64, Request)> = self.waiting.iter().collect();
        waiting.sort_by_key(|(at, _)| *at);
        key.list(waiting, |key, (at, request)| {
            key.until(*at, self.now);
            request.key(key);
        });
        self.draws.key(key);
    }
}
