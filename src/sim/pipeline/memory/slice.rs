//! A slice of a memory partition: the queues around its share of the L2.
//!
//! Requests come from the crossbar, wait out the partition's latency, reach the L2 (or pass, if
//! there is none) and go on to DRAM or back to the crossbar. All four queues are bounded, so that
//! a slow DRAM is felt upstream.

use std::collections::VecDeque;

use super::cache::{Access, Cache};
use super::{Request, RequestKind};

#[derive(Clone, Debug)]
pub(super) struct Slice {
    limit: usize,
    latency: u64,
    /// With the tick at which they go on.
    delay: VecDeque<(u64, Request)>,
    /// How many of them have, and wait for the L2.
    input: usize,
    pub to_dram: VecDeque<Request>,
    from_dram: VecDeque<Request>,
    pub output: VecDeque<Request>,
    pub cache: Option<Cache>,
    /// Bytes per tick of the cache's ports, and for how many ticks they are taken.
    port: u64,
    data_taken: u64,
    fill_taken: u64,
    /// The next tick in which something can happen without a push.
    pub next: u64,
    /// In a window: the ticks from which on it takes requests from the crossbar, or no more, in turns; and how many of
    /// them have been passed.
    turns: Vec<u64>,
    passed: usize,
}

impl Slice {
    pub fn new(limit: u32, latency: u64, cache: Option<Cache>, port: u32) -> Self {
        Self {
            limit: limit as usize,
            latency,
            delay: VecDeque::new(),
            input: 0,
            to_dram: VecDeque::new(),
            from_dram: VecDeque::new(),
            output: VecDeque::new(),
            cache,
            port: u64::from(port),
            data_taken: 0,
            fill_taken: 0,
            next: u64::MAX,
            turns: Vec::new(),
            passed: 0,
        }
    }

    /// Whether it takes requests from the crossbar.
    #[inline]
    pub fn accepts(&self) -> bool {
        self.input < self.limit
    }

    /// How many requests wait for its cache, or for time to pass.
    pub fn waiting(&self) -> usize {
        self.delay.len()
    }

    /// A window begins.
    pub fn begin_window(&mut self) {
        self.turns.clear();
        self.passed = 0;
    }

    /// In a window: whether it takes requests from the crossbar has changed.
    pub fn note_turn(&mut self, tick: u64) {
        self.turns.push(tick + 1);
    }

    /// Whether it takes requests from the crossbar in a tick of a window that it has gone through. Ticks ascend.
    #[inline]
    pub fn accepted_in(&mut self, tick: u64) -> bool {
        while self.turns.get(self.passed).is_some_and(|&at| at <= tick) {
            self.passed += 1;
        }
        self.accepts() ^ ((self.turns.len() - self.passed) % 2 == 1)
    }

    /// A request comes; returns the tick at which it goes on.
    #[inline]
    pub fn push(&mut self, request: Request, tick: u64) -> u64 {
        let at = tick + self.latency;
        self.delay.push_back((at, request));
        self.next = self.next.min(at);
        at
    }

    /// Whether it takes what DRAM has done.
    pub fn accepts_done(&self) -> bool {
        self.from_dram.len() < self.limit
    }

    /// DRAM has done a request in this tick.
    pub fn push_done(&mut self, request: Request, tick: u64) {
        self.from_dram.push_back(request);
        self.next = tick;
    }

    #[inline]
    fn next_after(&self, tick: u64) -> u64 {
        let next = if self.has_work() { 0 } else { self.delay.front().map_or(u64::MAX, |&(at, _)| at) };
        next.max(tick + 1)
    }

    /// Whether there is something to do in every tick.
    #[inline]
    fn has_work(&self) -> bool {
        self.input > 0
            || !self.output.is_empty()
            || !self.from_dram.is_empty()
            || self.data_taken + self.fill_taken > 0
            || self.cache.as_ref().is_some_and(|cache| !cache.is_quiet())
    }

    /// As many ticks as it can do at once, up to this one. What is in the cache is answered in the tick after it has been
    /// looked up, so that, as long as at most one request waits and DRAM has none of this slice, nothing happens
    /// between two look-ups but that. `number` is the line's as the cache's sets see it; somebody wants to see the cache
    /// before a tick that changes it.
    pub fn answer_hits(
        &mut self,
        until: u64,
        replies: &mut VecDeque<(u64, Request)>,
        number: impl Fn(&Request) -> u64,
        mut before: impl FnMut(u64, &Cache),
    ) {
        // smaller queues close and open in turns
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
            replies.extend(self.output.pop_front().map(|reply| (tick + 1, reply)));
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

    /// One tick. `number` is the line's as the cache's sets see it.
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
        // a store that went past the cache only brings its acknowledgement
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

    /// Whether the L2, or the way past it, took the request.
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
