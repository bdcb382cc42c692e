//! A slice of a memory partition: the queues around its part of the L2.
//!
//! A request comes from the crossbar, waits for the latency of the partition, reaches the L2 (or
//! passes if there is none), and continues to DRAM or back to the crossbar. All four queues are
//! bounded, so that a slow DRAM causes backpressure on the SMs.

use std::collections::VecDeque;

use super::cache::{Access, Cache};
use super::far_half::FarHalf;
use super::{Request, RequestKind};
use warpbound_core::machine::memory::Partitions;

#[derive(Clone, Debug)]
pub(super) struct Slice {
    limit: usize,
    latency: u64,
    /// The further latency of atomics.
    atomic_latency: u64,
    far_half: Option<Box<FarHalf>>,
    /// The requests that wait, with the tick at which they continue.
    delay: VecDeque<(u64, Request)>,
    /// The number of requests in `delay` whose latency has passed, and that wait for the L2.
    input: usize,
    pub to_dram: VecDeque<Request>,
    from_dram: VecDeque<Request>,
    pub output: VecDeque<Request>,
    pub cache: Option<Cache>,
    /// The bytes per tick of the cache's ports, and the number of ticks for which they are
    /// occupied.
    port: u64,
    data_taken: u64,
    fill_taken: u64,
    /// The next tick in which something can happen without a push.
    pub next: u64,
    /// In a window, the ticks from which on the slice starts or stops, alternately, to accept
    /// requests from the crossbar; and the number of these ticks that have been passed.
    turns: Vec<u64>,
    passed: usize,
}

impl Slice {
    /// Creates a slice of this channel. The victims of its cache are drawn with the seed.
    pub fn new(settings: &Partitions, channel: u32, seed: u64) -> Self {
        Self {
            limit: settings.queue as usize,
            latency: settings.latency,
            atomic_latency: settings.atomic_latency,
            far_half: FarHalf::new(settings, channel).map(Box::new),
            delay: VecDeque::new(),
            input: 0,
            to_dram: VecDeque::new(),
            from_dram: VecDeque::new(),
            output: VecDeque::new(),
            cache: settings.l2.as_ref().map(|l2| Cache::new(l2, seed)),
            port: settings.l2.as_ref().map_or(1, |l2| l2.port.into()),
            data_taken: 0,
            fill_taken: 0,
            next: u64::MAX,
            turns: Vec::new(),
            passed: 0,
        }
    }

    /// Returns whether the slice accepts requests from the crossbar.
    #[inline]
    pub fn accepts(&self) -> bool {
        self.input < self.limit
    }

    /// Returns the number of requests that wait for the latency or for the cache.
    pub fn waiting(&self) -> usize {
        self.delay.len()
    }

    /// Starts a window.
    pub fn begin_window(&mut self) {
        self.turns.clear();
        self.passed = 0;
    }

    /// Records, in a window, that the slice starts or stops accepting requests from the crossbar.
    pub fn note_turn(&mut self, tick: u64) {
        self.turns.push(tick + 1);
    }

    /// Returns whether the slice accepted requests from the crossbar in a tick of a window that has
    /// been simulated. Ticks must ascend from call to call.
    #[inline]
    pub fn accepted_in(&mut self, tick: u64) -> bool {
        while self.turns.get(self.passed).is_some_and(|&at| at <= tick) {
            self.passed += 1;
        }
        self.accepts() ^ ((self.turns.len() - self.passed) % 2 == 1)
    }

    /// Adds a request, and returns the tick at which it continues.
    #[inline]
    pub fn push(&mut self, request: Request, tick: u64) -> u64 {
        let mut at = tick + self.latency;
        if request.kind == RequestKind::Atomic {
            at += self.atomic_latency;
        } else if let Some(far_half) = &mut self.far_half {
            at = far_half.continues_at(at, &request);
        }
        if self.delay.back().is_none_or(|&(last, _)| last <= at) {
            self.delay.push_back((at, request));
        } else {
            let behind = self.delay.partition_point(|&(other, _)| other <= at);
            self.delay.insert(behind, (at, request));
        }
        self.next = self.next.min(at);
        at
    }

    /// Returns whether the slice accepts a request that DRAM has completed.
    pub fn accepts_done(&self) -> bool {
        self.from_dram.len() < self.limit
    }

    /// Adds a request that DRAM has completed in this tick.
    pub fn push_done(&mut self, request: Request, tick: u64) {
        self.from_dram.push_back(request);
        self.next = tick;
    }

    #[inline]
    fn next_after(&self, tick: u64) -> u64 {
        let next = if self.has_work() { 0 } else { self.delay.front().map_or(u64::MAX, |&(at, _)| at) };
        next.max(tick + 1)
    }

    /// Returns whether there is something to do in every tick.
    #[inline]
    fn has_work(&self) -> bool {
        self.input > 0
            || !self.output.is_empty()
            || !self.from_dram.is_empty()
            || self.data_taken + self.fill_taken > 0
            || self.cache.as_ref().is_some_and(|cache| !cache.is_quiet())
    }

    /// Simulates as many ticks as possible at once, up to `until`. A hit is answered in the tick
    /// after its look-up. Therefore, as long as at most one request waits and DRAM has none of this
    /// slice, nothing else happens between two look-ups. `number` returns the number of a request's
    /// line for the selection of the cache's set; `before` is called with the cache before each
    /// tick that changes it.
    pub fn answer_hits(
        &mut self,
        until: u64,
        replies: &mut VecDeque<(u64, Request)>,
        number: impl Fn(&Request) -> u64,
        mut before: impl FnMut(u64, &Cache),
    ) {
        // a smaller queue may become full and free again in between
        if self.limit < 3 || self.next > until {
            return;
        }
        let mut tick = self.next - 1;
        while let (Some(cache), Some(&(at, request))) = (&self.cache, self.delay.front()) {
            let looked_up = if self.input > 0 { tick } else { at } + 1;
            let only_this = self.input <= 1
                && self.output.len() <= 1
                && tick + self.data_taken <= looked_up
                && self.fill_taken == 0
                && self.from_dram.is_empty()
                && cache.is_quiet();
            if looked_up > until || !only_this {
                break;
            }
            if let Some(&reply) = self.output.front() {
                self.output.pop_front();
                replies.push_back((tick + 1, reply));
            }
            self.data_taken = 0;
            before(looked_up, cache);
            let taken = self.look_up(request, number(&request));
            if taken {
                self.delay.pop_front();
            }
            tick = looked_up;
            self.input = usize::from(!taken);
            self.input += usize::from(self.delay.get(self.input).is_some_and(|&(at, _)| at <= tick));
        }
        self.next = self.next_after(tick);
    }

    /// Simulates one tick. `number` returns the number of a request's line for the selection of the
    /// cache's set.
    #[inline]
    pub fn cycle(&mut self, tick: u64, number: impl Fn(&Request) -> u64) {
        if let Some(cache) = &mut self.cache
            && self.output.len() < self.limit
            && let Some(ready) = cache.ready()
        {
            self.output.push_back(ready);
        }
        self.take_done();
        if let Some(cache) = &mut self.cache {
            if self.to_dram.len() < self.limit
                && let Some(&request) = cache.outgoing()
            {
                self.to_dram.push_back(request);
                cache.sent();
            }
            self.data_taken = self.data_taken.saturating_sub(1);
            self.fill_taken = self.fill_taken.saturating_sub(1);
        }
        if self.input > 0
            && self.to_dram.len() < self.limit
            && let Some(&(_, request)) = self.delay.front()
            && self.look_up(request, number(&request))
        {
            self.delay.pop_front();
            self.input -= 1;
        }
        if self.input < self.limit
            && let Some(&(at, _)) = self.delay.get(self.input)
            && at <= tick
        {
            self.input += 1;
        }
        self.next = self.next_after(tick);
    }

    #[inline]
    fn take_done(&mut self) {
        let Some(&request) = self.from_dram.front() else { return };
        // a store that bypassed the cache only returns its acknowledgement
        if let Some(cache) = &mut self.cache
            && request.kind != RequestKind::Write
        {
            if self.fill_taken == 0 {
                cache.fill(request.token);
                self.fill_taken += request.bytes().div_ceil(self.port);
                self.from_dram.pop_front();
            }
        } else if self.output.len() < self.limit {
            self.output.push_back(request);
            self.from_dram.pop_front();
        }
    }

    /// Looks up a request, or lets it pass if there is no L2. Returns whether it was accepted.
    #[inline(always)]
    fn look_up(&mut self, request: Request, number: u64) -> bool {
        let Some(cache) = &mut self.cache else {
            self.to_dram.push_back(request);
            return true;
        };
        if self.output.len() >= self.limit || self.data_taken > 0 {
            return false;
        }
        match cache.access_at(request, number) {
            Access::Stall => return false,
            Access::Hit => {
                self.data_taken += request.bytes().div_ceil(self.port);
                if request.kind != RequestKind::WriteBack {
                    self.output.push_back(request);
                }
            }
            Access::Miss | Access::Merged | Access::Forwarded => {}
        }
        true
    }
}
