//! The path from a memory partition to its DRAM.

use std::collections::VecDeque;

use super::Request;
use super::clock::Clock;
use super::dram::Dram;
use super::jitter::Draws;
use super::slice::Slice;
use warpbound_core::machine::memory::Partitions;

/// A channel: a request that a slice sends to DRAM waits for a latency; one request is sent per
/// DRAM tick.
#[derive(Clone, Debug)]
pub(super) struct Channel {
    slices: usize,
    latency: u64,
    pub draws: Draws,
    /// The requests that wait for the latency, with the L2 tick at which they continue.
    delay: VecDeque<(u64, u8, Request)>,
    pub dram: Dram,
    /// For each slice, whether its own reservation is in use. A request needs a reservation from
    /// the slice until it returns from DRAM.
    own: Vec<bool>,
    /// The number of reservations in use that all slices share.
    common: usize,
    /// The largest value of `common`.
    common_limit: usize,
    pub served: usize,
}

impl Channel {
    pub fn new(settings: &Partitions, draws: Draws) -> Self {
        let slices = settings.slices as usize;
        let room = (settings.dram.queue + settings.dram.returns) as usize;
        Self {
            slices,
            latency: settings.dram.latency,
            draws,
            delay: VecDeque::new(),
            dram: Dram::new(&settings.dram),
            own: vec![false; slices],
            common: 0,
            common_limit: room.saturating_sub(slices - 1),
            served: slices - 1,
        }
    }

    /// Returns the next tick after this one in which something can happen without a push, as far as
    /// the channel alone determines it. `clock` is that of DRAM.
    pub fn next(&self, tick: u64, clock: &Clock) -> u64 {
        let delayed = self.delay.front().map_or(u64::MAX, |&(at, ..)| at);
        let of_dram = match self.dram.next() {
            Some(u64::MAX) => u64::MAX,
            // an L2 tick simulates the ticks of DRAM that came with the one before it
            Some(at) => clock.cycle_of(at) + 1,
            None => 0,
        };
        delayed.min(of_dram).max(tick + 1)
    }

    /// Simulates one DRAM tick, `now`, within the L2 tick `tick`. `slices` are the slices of this
    /// channel.
    pub fn cycle(&mut self, now: u64, tick: u64, slices: &mut [Slice], inner: impl Fn(u64) -> u64) {
        if let Some(done) = self.dram.done() {
            let (slice, request) = (usize::from(done.slice), done.request);
            if slices[slice].accepts_done() {
                slices[slice].push_done(request, tick);
                self.dram.take_done();
                self.release(slice);
            }
        }
        if let Some(written_back) = self.dram.tick(now) {
            self.release(usize::from(written_back.slice));
        }
        for n in 1..=self.slices {
            // no request is sent while the queue of DRAM is full
            if !self.dram.accepts() {
                break;
            }
            let slice = (self.served + n) % self.slices;
            if slices[slice].to_dram.is_empty() || !slices[slice].accepts_done() || !self.reserve(slice) {
                continue;
            }
            if let Some(&request) = slices[slice].to_dram.front() {
                slices[slice].to_dram.pop_front();
                self.served = slice;
                // a jitter also delays the requests behind this one
                let behind = self.delay.back().map_or(0, |&(at, ..)| at);
                let at = (tick + self.latency + self.draws.next()).max(behind);
                self.delay.push_back((at, slice as u8, request));
            }
            break;
        }
        if let Some(&(at, slice, request)) = self.delay.front()
            && at <= tick
            && self.dram.accepts()
        {
            self.delay.pop_front();
            self.dram.push(request, slice, inner(request.address()));
        }
    }

    fn reserve(&mut self, slice: usize) -> bool {
        if !self.own[slice] {
            self.own[slice] = true;
        } else if self.common < self.common_limit {
            self.common += 1;
        } else {
            return false;
        }
        true
    }

    fn release(&mut self, slice: usize) {
        if self.own[slice] {
            self.own[slice] = false;
        } else {
            self.common -= 1;
        }
    }
}
