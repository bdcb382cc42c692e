//! The load/store unit.
//!
//! It serves one instruction at a time. Shared-memory accesses take a cycle per bank transaction
//! and loads then pass a pipeline; accesses to global and local memory take a cycle per memory
//! transaction, each of which is answered separately. Constants and parameters are there at once,
//! unless they are cached; then each line of the constant cache takes a cycle.
//! Of a warp's lines and sectors the highest goes first. With an L1 there is a transaction per cycle
//! and bank; what hits in a cache is complete without a turn at the write-back. Atomics go past the
//! L1. Loads hold their registers until the last answer is written back, stores leave when their last
//! transaction does. One result is written back per cycle, the sources taking turns.

mod serve;

use std::collections::VecDeque;

use super::Sm;
use super::first_level::FirstLevel;
use super::flight::FlightId;
use super::memory::{Cache, Port, Request, RequestKind};
use crate::isa::Space;
use crate::machine::MemorySystem;
use crate::machine::pipeline::LoadStore as Settings;
use crate::sim::result::MemoryStats;

use crate::program::Access;
use crate::trace::Counted;

/// Replies that wait between the memory and the unit.
const INBOX: usize = 32;
/// Sources of results, in the order of their turns: shared memory, constants that were fetched,
/// answers of memory, data that the L1 waited for.
const SHARED: u32 = 0;
const CONSTANTS: u32 = 1;
const ARRIVED: u32 = 2;
const FROM_L1: u32 = 3;
const SOURCES: u32 = 4;

/// What a transaction was for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Purpose {
    Load,
    /// Data for the L1, or for the constant cache; `flight` is the cache's own number.
    Fill,
    ConstantFill,
    Atomic,
    Store,
}

/// An answer of memory.
#[derive(Clone, Copy, Debug)]
struct Reply {
    flight: FlightId,
    slot: u8,
    purpose: Purpose,
}

/// The instruction that is served.
#[derive(Clone, Copy, Debug)]
struct Serving {
    flight: FlightId,
    access: Access,
    space: Space,
    slot: u8,
    /// The cycle in which its last bank transaction is served; it waits for nothing but that before.
    last_bank: u64,
    /// Place of the present line in the path's traffic.
    line: u32,
    /// Sectors of it to go, as a mask.
    sectors: u8,
    /// Memory transactions to go.
    left: u32,
}

#[derive(Clone, Debug)]
pub(super) struct LoadStore {
    settings: Settings,
    /// Issued accesses, if there is no collector.
    pub queue: VecDeque<FlightId>,
    serving: Option<Serving>,
    /// Shared-memory loads, with the cycle from which they can be written back.
    shared: VecDeque<(FlightId, u64)>,
    /// The result that is written back.
    writing: Option<FlightId>,
    arrived: Option<Reply>,
    replies: VecDeque<Reply>,
    inbox: VecDeque<Reply>,
    /// The source that has the first turn.
    turn: u32,
    l1: Option<Box<FirstLevel>>,
    /// The cache of constants and parameters.
    constants: Option<Box<Cache>>,
    /// What the caches refused in the last cycle: the L1, the other one.
    refused: (u64, u64),
    /// Before this cycle there is nothing for it to do, unless it gets something.
    rests_until: u64,
}

impl LoadStore {
    /// The unit of an SM whose blocks use so many bytes of shared memory.
    pub fn new(settings: Settings, memory: &MemorySystem, shared_bytes: u64, sm: usize) -> Self {
        let seed = memory.seed ^ sm as u64;
        Self {
            settings,
            l1: memory.l1.as_ref().map(|l1| Box::new(FirstLevel::new(l1, shared_bytes, seed))),
            constants: memory.constant.as_ref().map(|cache| Box::new(Cache::new(cache, !seed))),
            queue: VecDeque::new(),
            serving: None,
            shared: VecDeque::new(),
            writing: None,
            arrived: None,
            replies: VecDeque::new(),
            inbox: VecDeque::new(),
            turn: 0,
            refused: (0, 0),
            rests_until: 0,
        }
    }

    pub fn is_free(&self) -> bool {
        self.serving.is_none()
    }

    /// Whether a cycle, which begins now, has nothing for it to do.
    #[inline]
    pub fn rests(&mut self, now: u64) -> bool {
        now < self.rests_until || self.comes_to_rest(now)
    }

    fn comes_to_rest(&mut self, now: u64) -> bool {
        self.refused = (0, 0);
        let quiet = self.is_quiet(now);
        if quiet {
            self.rests_until = self.next_result(now);
        }
        quiet
    }

    /// So many cycles like the last one went by.
    pub fn refused_for(&mut self, cycles: u64) {
        if let Some(l1) = &mut self.l1 {
            l1.cache.add_stalls(cycles * self.refused.0);
        }
        if let Some(cache) = &mut self.constants {
            cache.add_stalls(cycles * self.refused.1);
        }
    }

    /// Whether what is in it moves neither by itself nor by what it has.
    pub fn is_stuck(&self) -> bool {
        self.writing.is_none()
            && self.arrived.is_none()
            && self.replies.is_empty()
            && self.inbox.is_empty()
            && (self.serving.is_some() || self.queue.is_empty())
            && self.l1.as_ref().is_none_or(|l1| !l1.cache.any_ready())
            && self.constants.as_ref().is_none_or(|cache| !cache.any_ready())
    }

    /// The next cycle in which something in it is due, if it is stuck.
    pub fn next_by_time(&self, now: u64) -> u64 {
        let l1 = self.l1.as_ref().map_or(u64::MAX, |l1| l1.next_due(now));
        self.next_result(now).min(l1)
    }

    /// The next cycle in which banks of shared memory have served the instruction, or one has passed its pipeline.
    fn next_result(&self, now: u64) -> u64 {
        let served = self.serving.map_or(u64::MAX, |serving| serving.last_bank);
        let served = if served > now { served } else { u64::MAX };
        self.shared.front().map_or(u64::MAX, |&(_, at)| at).min(served)
    }

    /// A cycle in which it does not rest. Whether anything happened.
    pub fn cycle(&mut self, sm: &mut Sm<'_>, mut port: Option<&mut Port>) -> bool {
        let mut busy = false;
        if port.is_none()
            && self.replies.len() < self.settings.replies as usize
            && let Some(reply) = self.inbox.pop_front()
        {
            self.replies.push_back(reply);
            busy = true;
        }
        busy |= self.write_back(sm);
        if let Some(&reply) = self.replies.front() {
            if reply.purpose == Purpose::Store {
                self.replies.pop_front();
                sm.warps[reply.slot as usize].stores -= 1;
                sm.warp_acknowledged(reply.slot as usize);
                busy = true;
            } else if let (Some(l1), Purpose::Fill) = (&mut self.l1, reply.purpose) {
                l1.cache.fill(reply.flight);
                self.replies.pop_front();
                busy = true;
            } else if let (Some(cache), Purpose::ConstantFill) = (&mut self.constants, reply.purpose) {
                cache.fill(reply.flight);
                self.replies.pop_front();
                busy = true;
            } else if self.arrived.is_none() {
                self.arrived = self.replies.pop_front();
                busy = true;
            }
        }
        if let (Some(cache), Some(port)) = (&mut self.constants, &mut port) {
            busy |= port.take_from(cache);
        }
        if let Some(mut l1) = self.l1.take() {
            if let Some(port) = &mut port {
                busy |= port.take_from(&mut l1.cache);
            }
            let mut due = l1.due(sm.now);
            while due != 0 {
                let bank = due.trailing_zeros() as usize;
                due &= due - 1;
                let looked_up = l1.look_up(bank, sm.now);
                busy |= looked_up.is_some();
                self.refused.0 += u64::from(looked_up.is_none());
                if let Some(Some(request)) = looked_up {
                    self.hit(sm, request);
                }
            }
            self.l1 = Some(l1);
        }
        busy | self.serve(sm, port)
    }

    /// A reply of memory arrives, if there is room for it.
    pub fn receive(&mut self, port: &mut Port) -> bool {
        if self.replies.len() >= self.settings.replies as usize {
            return false;
        }
        let Some(request) = port.reply() else { return false };
        self.rests_until = 0;
        let (purpose, slot) = match request.kind {
            RequestKind::Write => (Purpose::Store, request.id as u8),
            RequestKind::Atomic => (Purpose::Atomic, 0),
            RequestKind::Constant => (Purpose::ConstantFill, 0),
            _ if self.l1.is_some() => (Purpose::Fill, 0),
            _ => (Purpose::Load, 0),
        };
        self.replies.push_back(Reply { flight: request.id, slot, purpose });
        true
    }

    /// A transaction finds its data in the L1: it needs no turn at the write-back. A store does so
    /// if the L1 keeps it.
    fn hit(&mut self, sm: &mut Sm<'_>, request: Request) {
        if request.kind == RequestKind::Write {
            sm.warps[request.id as usize].stores -= 1;
            sm.warp_acknowledged(request.id as usize);
            return;
        }
        let flight = sm.flights.get_mut(request.id);
        flight.unanswered -= 1;
        if flight.unanswered == 0 {
            sm.complete(request.id);
        }
    }

    /// Whether an instruction or a reply is somewhere in the unit, but for what waits for the L1 or for banks of shared
    /// memory, or passes the pipeline of that.
    fn has_work(&self, now: u64) -> bool {
        self.serving.is_some_and(|serving| serving.last_bank <= now)
            || self.writing.is_some()
            || self.arrived.is_some()
            || !self.replies.is_empty()
            || !self.inbox.is_empty()
            || self.constants.as_ref().is_some_and(|cache| !cache.is_quiet())
    }

    /// Adds what happened in the caches.
    pub fn add_stats(&self, stats: &mut MemoryStats) {
        if let Some(l1) = &self.l1 {
            stats.l1 += l1.cache.stats();
        }
        if let Some(cache) = &self.constants {
            stats.constant += cache.stats();
        }
    }

    /// The counters of the caches.
    pub fn samples(&self) -> impl Iterator<Item = Counted> {
        let l1 = self.l1.as_ref().map(|l1| Counted::L1(l1.cache.sample()));
        l1.into_iter().chain(self.constants.as_ref().map(|cache| Counted::Constant(cache.sample())))
    }

    /// Whether nothing happens in this cycle.
    fn is_quiet(&self, now: u64) -> bool {
        !self.has_work(now)
            && self.shared.front().is_none_or(|&(_, at)| at > now)
            && self.l1.as_ref().is_none_or(|l1| l1.is_quiet())
    }

    /// The next cycle in which something can happen by itself.
    pub fn next_event(&self, now: u64) -> u64 {
        if self.has_work(now + 1) || self.serving.is_none() && !self.queue.is_empty() {
            return now + 1;
        }
        let l1 = self.l1.as_ref().map_or(u64::MAX, |l1| l1.next_event(now));
        self.next_result(now).min(l1)
    }

    fn write_back(&mut self, sm: &mut Sm<'_>) -> bool {
        let mut busy = false;
        if let Some(id) = self.writing {
            busy = true;
            if sm.write_banks(id) {
                self.writing = None;
                let flight = sm.flights.get_mut(id);
                flight.unwritten = sm.code.of(flight.step).all_writes;
                flight.unanswered = flight.unanswered.saturating_sub(1);
                if flight.unanswered == 0 {
                    sm.complete(id);
                }
            }
        }
        if self.writing.is_some() {
            return busy;
        }
        let ready = self.ready_sources(sm.now);
        if ready == 0 {
            return busy;
        }
        let after = ready & u32::MAX << self.turn;
        let source = if after != 0 { after } else { ready }.trailing_zeros();
        self.turn = (source + 1) % SOURCES;
        self.writing = match source {
            SHARED => self.shared.pop_front().map(|(id, _)| id).inspect(|&id| self.answered(sm, id)),
            CONSTANTS => self.constants.as_mut().and_then(|cache| cache.ready()).map(|request| request.id),
            ARRIVED => self.arrived.take().map(|reply| {
                if reply.purpose == Purpose::Atomic {
                    self.answered(sm, reply.flight);
                }
                reply.flight
            }),
            _ => self.l1.as_mut().and_then(|l1| l1.cache.ready()).map(|request| request.id),
        };
        true
    }

    /// The sources that have a result, as a mask.
    #[inline]
    fn ready_sources(&self, now: u64) -> u32 {
        u32::from(self.shared.front().is_some_and(|&(_, at)| at <= now)) << SHARED
            | u32::from(self.constants.as_ref().is_some_and(|cache| cache.any_ready())) << CONSTANTS
            | u32::from(self.arrived.is_some()) << ARRIVED
            | u32::from(self.l1.as_ref().is_some_and(|l1| l1.cache.any_ready())) << FROM_L1
    }

    /// A transaction of an atomic is back.
    fn answered(&self, sm: &mut Sm<'_>, id: FlightId) {
        let flight = *sm.flights.get(id);
        if self.settings.atomics_block && sm.code.of(flight.step).access == Some(Access::Atomic) {
            sm.atomic_answered(flight.slot as usize, 1);
        }
    }
}

impl Sm<'_> {
    /// Memory acknowledged a store of this warp.
    fn warp_acknowledged(&mut self, slot: usize) {
        self.warps[slot].last_done = self.warps[slot].last_done.max(self.now);
        self.warp_may_be_over(slot);
    }
}
