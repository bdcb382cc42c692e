//! The load/store unit.
//!
//! It serves one instruction at a time. A shared-memory access takes one cycle per bank
//! transaction, and a load then passes a pipeline. An access to global or local memory takes one
//! cycle per memory transaction, each of which is answered separately. Constants and parameters are
//! available at once unless they are cached; then each line of the constant cache takes one cycle.
//! On some machines they pass a pipeline, too ([`constant_latency`](Settings::constant_latency)).
//! The lines and sectors of a warp are served from the highest to the lowest address. With an L1,
//! one transaction per cycle and bank is sent, and a cache hit completes without a turn at the
//! write-back. Atomics bypass the L1. A load holds its registers until the last answer is written
//! back, and a store leaves when its last transaction does. One result is written back per cycle;
//! the sources take turns.
//!
//! The unit is independent of the SM around it: the description of an instruction is passed to it
//! ([`Start`]), and it looks up further data by a trait ([`SmAccess`]). The effects of a cycle on
//! the SM are collected in [`LoadStore::answers`].

mod parts;
mod queues;
mod serve;
mod start;

pub(super) use parts::Parts;
pub(super) use start::Start;

use std::collections::VecDeque;

use super::first_level::{FirstLevel, LookedUp};
use super::flight::FlightId;
use super::memory::{Cache, Port, Request, RequestKind, Token};
use crate::result::MemoryStats;
use queues::Queues;
use serve::Serving;
use warpbound_core::isa::Space;
use warpbound_core::machine::MemorySystem;
use warpbound_core::machine::pipeline::{AccessQueues, LoadStore as Settings};
use warpbound_core::path::LineUse;
use warpbound_trace::trace::Counted;

/// The number of replies that can wait between the memory and the unit.
const INBOX: usize = 32;
/// The sources of results, in the order of their turns: shared memory, fetched constants, answers
/// of memory, and data that the L1 waited for.
const SHARED: u32 = 0;
const CONSTANTS: u32 = 1;
const ARRIVED: u32 = 2;
const FROM_L1: u32 = 3;
const SOURCES: u32 = 4;

/// The access of the unit to the rest of the SM.
pub(super) trait SmAccess {
    /// Returns a line of the memory traffic of a warp.
    fn line(&self, slot: u8, number: u32) -> LineUse;

    /// Writes the remaining destinations of an instruction. Returns whether all could be written.
    fn write(&mut self, flight: FlightId) -> bool;
}

/// An event in the unit that affects the SM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// An instruction has made room for the next one, and its sources are read.
    Left(FlightId),
    /// An instruction is complete.
    Complete(FlightId),
    /// Memory has acknowledged a store of the warp in this slot.
    Stored(u8),
    /// A transaction of an atomic has been answered.
    Atomic(FlightId),
}

/// An answer of memory.
#[derive(Clone, Copy, Debug)]
enum Reply {
    Load(FlightId),
    Atomic(FlightId),
    Stored(u8),
    /// Data for the L1, or for the constant cache.
    Fill(Token),
    ConstantFill(Token),
}

/// A shared-memory load in its pipeline.
#[derive(Clone, Copy, Debug)]
struct Shared {
    flight: FlightId,
    /// Whether it is an atomic that holds its warp.
    atomic: bool,
    /// The cycle from which on it can be written back.
    at: u64,
}

#[derive(Clone, Debug)]
pub(super) struct LoadStore {
    settings: Settings,
    /// The issued accesses, if there is no collector.
    pub queues: Queues,
    /// The events of the last cycle, in their order.
    pub answers: Vec<Answer>,
    serving: Option<Serving>,
    /// For each instruction, the number of its transactions that have not been answered.
    unanswered: Vec<u32>,
    shared: VecDeque<Shared>,
    /// The loads of constants that pass the pipeline after the constant cache, each with the cycle
    /// from which on it can be written back.
    passing: VecDeque<(FlightId, u64)>,
    /// The instruction whose result is being written back.
    writing: Option<FlightId>,
    /// A load or an atomic that has been answered and waits for the write-back.
    arrived: Option<Reply>,
    replies: VecDeque<Reply>,
    inbox: VecDeque<Reply>,
    /// The source that has the first turn.
    turn: u32,
    l1: Option<Box<FirstLevel>>,
    /// The cache of constants and parameters.
    constants: Option<Box<Cache>>,
    /// The division of lines into memory transactions.
    parts: Parts,
    /// The number of transactions refused in the last cycle by the L1 and by the constant cache.
    refused: (u64, u64),
    /// The unit has nothing to do before this cycle, unless it gets an instruction or a reply.
    rests_until: u64,
    /// Whether anything happened in the unit in the last cycle.
    pub acted: bool,
}

impl LoadStore {
    /// Creates the unit of an SM whose blocks use this many bytes of shared memory.
    pub fn new(
        settings: Settings,
        memory: &MemorySystem,
        shared_bytes: u64,
        (sm, sub_cores): (usize, usize),
    ) -> Self {
        let seed = memory.seed ^ sm as u64;
        Self {
            settings,
            l1: memory.l1.as_ref().map(|l1| Box::new(FirstLevel::new(l1, shared_bytes, seed))),
            constants: memory.constant.as_ref().map(|cache| Box::new(Cache::new(cache, !seed))),
            parts: Parts::of(settings.transaction),
            queues: Queues::new(settings, sub_cores),
            answers: Vec::new(),
            serving: None,
            unanswered: Vec::new(),
            shared: VecDeque::new(),
            passing: VecDeque::new(),
            writing: None,
            arrived: None,
            replies: VecDeque::new(),
            inbox: VecDeque::new(),
            turn: 0,
            refused: (0, 0),
            rests_until: 0,
            acted: false,
        }
    }

    /// Returns the number of cycles for which each transaction occupies the address unit of its sub-core.
    #[inline]
    pub fn address_interval(&self) -> u64 {
        if self.settings.queues == AccessQueues::BySubCore {
            self.settings.address_interval.into()
        } else {
            0
        }
    }

    #[inline]
    pub fn is_free(&self) -> bool {
        self.serving.is_none()
    }

    /// Returns whether atomics hold their warps.
    pub fn atomics_block(&self) -> bool {
        self.settings.atomics_block
    }

    /// Returns how the transactions of an access to a space divide lines.
    pub fn parts(&self, space: Space) -> Parts {
        match (&self.constants, space) {
            (Some(cache), Space::Const | Space::Param) => Parts::of(cache.line_bytes()),
            _ => self.parts,
        }
    }

    /// Returns whether the unit has nothing to do in the cycle that begins now.
    #[inline]
    pub fn rests(&mut self, now: u64) -> bool {
        self.acted = false;
        now < self.rests_until || self.comes_to_rest(now)
    }

    #[inline]
    fn comes_to_rest(&mut self, now: u64) -> bool {
        self.refused = (0, 0);
        let quiet = self.is_quiet(now);
        if quiet {
            self.rests_until = self.next_by_time(now);
        }
        quiet
    }

    /// Counts the refusals of this many cycles that were like the last one.
    pub fn refused_for(&mut self, cycles: u64) {
        if let Some(l1) = &mut self.l1 {
            l1.cache.add_stalls(cycles * self.refused.0);
        }
        if let Some(cache) = &mut self.constants {
            cache.add_stalls(cycles * self.refused.1);
        }
    }

    /// Returns whether nothing in the unit can move until time passes or an event comes from
    /// outside.
    pub fn is_stuck(&self) -> bool {
        self.writing.is_none()
            && self.arrived.is_none()
            && self.replies.is_empty()
            && self.inbox.is_empty()
            && (self.serving.is_some() || self.queues.is_empty())
            && self.l1.as_ref().is_none_or(|l1| !l1.cache.any_ready())
            && self.constants.as_ref().is_none_or(|cache| !cache.any_ready())
    }

    /// Returns the next cycle in which something in the unit is due, if it is stuck or rests.
    #[inline]
    pub fn next_by_time(&self, now: u64) -> u64 {
        let l1 = self.l1.as_ref().map_or(u64::MAX, |l1| l1.next_due(now));
        self.next_result(now).min(l1)
    }

    /// Returns the next cycle in which the banks of shared memory have served an instruction, or
    /// one has passed their pipeline.
    #[inline]
    fn next_result(&self, now: u64) -> u64 {
        let served = self.serving.as_ref().map_or(u64::MAX, |serving| serving.last_bank);
        let served = if served > now { served } else { u64::MAX };
        let passed = self.passing.front().map_or(u64::MAX, |&(_, at)| at);
        self.shared.front().map_or(u64::MAX, |shared| shared.at).min(served).min(passed)
    }

    /// Simulates a cycle in which the unit does not rest.
    #[inline]
    pub fn cycle(&mut self, now: u64, sm_access: &mut impl SmAccess, mut port: Option<&mut Port>) {
        let mut busy = false;
        if port.is_none()
            && self.replies.len() < self.settings.replies as usize
            && let Some(reply) = self.inbox.pop_front()
        {
            self.replies.push_back(reply);
            busy = true;
        }
        busy |= self.write_back(now, sm_access);
        if let Some(&reply) = self.replies.front() {
            busy |= self.take_reply(reply);
        }
        if let (Some(cache), Some(port)) = (&mut self.constants, &mut port) {
            busy |= port.take_from(cache);
        }
        if let Some(l1) = &mut self.l1 {
            if let Some(port) = &mut port {
                busy |= port.take_from(&mut l1.cache);
            }
            if l1.is_due(now) {
                busy |= self.look_up(now);
            }
        }
        if self.serving.is_some() {
            busy |= self.serve(now, sm_access, port);
        }
        self.acted = busy;
    }

    /// Processes the first reply, and returns whether that was possible.
    #[inline]
    fn take_reply(&mut self, reply: Reply) -> bool {
        match (reply, &mut self.l1, &mut self.constants) {
            (Reply::Stored(slot), ..) => self.answers.push(Answer::Stored(slot)),
            (Reply::Fill(fetch), Some(l1), _) => l1.cache.fill(fetch),
            (Reply::ConstantFill(fetch), _, Some(cache)) => cache.fill(fetch),
            _ if self.arrived.is_some() => return false,
            _ => self.arrived = Some(reply),
        }
        self.replies.pop_front();
        true
    }

    /// Looks up the transactions that have passed the banks of the L1. A hit needs no turn at the
    /// write-back, nor does a store that the L1 keeps. Returns whether anything happened.
    fn look_up(&mut self, now: u64) -> bool {
        let Self { l1: Some(l1), unanswered, answers, refused, .. } = self else { return false };
        let mut busy = false;
        let mut due = l1.due(now);
        while due != 0 {
            let bank = due.trailing_zeros() as usize;
            due &= due - 1;
            match l1.look_up(bank, now) {
                LookedUp::Refused => refused.0 += 1,
                LookedUp::Taken => busy = true,
                LookedUp::Hit(Token::Warp(slot)) => {
                    busy = true;
                    answers.push(Answer::Stored(slot));
                }
                LookedUp::Hit(token) => {
                    busy = true;
                    let flight = waiting(token);
                    let unanswered = &mut unanswered[flight as usize];
                    *unanswered -= 1;
                    if *unanswered == 0 {
                        answers.push(Answer::Complete(flight));
                    }
                }
            }
        }
        busy
    }

    /// Receives a reply of memory, and returns whether there was one and room for it.
    pub fn receive(&mut self, port: &mut Port) -> bool {
        if self.replies.len() >= self.settings.replies as usize {
            return false;
        }
        let Some(Request { kind, token, .. }) = port.reply() else { return false };
        self.rests_until = 0;
        self.replies.push_back(match (kind, token) {
            (_, Token::Warp(slot)) => Reply::Stored(slot),
            (RequestKind::Atomic, _) => Reply::Atomic(waiting(token)),
            (RequestKind::Constant, _) => Reply::ConstantFill(token),
            (_, Token::Flight(flight)) => Reply::Load(flight.into()),
            _ => Reply::Fill(token),
        });
        true
    }

    /// Returns whether an instruction or a reply is in the unit, apart from those that wait for the
    /// L1 or for banks of shared memory, or are in the shared-memory pipeline.
    #[inline]
    fn has_work(&self, now: u64) -> bool {
        self.serving.as_ref().is_some_and(|serving| serving.last_bank <= now)
            || self.writing.is_some()
            || self.arrived.is_some()
            || !self.replies.is_empty()
            || !self.inbox.is_empty()
            || self.constants.as_ref().is_some_and(|cache| !cache.is_quiet())
    }

    /// Adds the statistics of the caches.
    pub fn add_stats(&self, stats: &mut MemoryStats) {
        if let Some(l1) = &self.l1 {
            stats.l1 += l1.cache.stats();
        }
        if let Some(cache) = &self.constants {
            stats.constant += cache.stats();
        }
    }

    /// Returns the counters of the caches.
    pub fn samples(&self) -> impl Iterator<Item = Counted> {
        let l1 = self.l1.as_ref().map(|l1| Counted::L1(l1.cache.sample()));
        l1.into_iter().chain(self.constants.as_ref().map(|cache| Counted::Constant(cache.sample())))
    }

    /// Returns whether nothing happens in this cycle.
    #[inline]
    fn is_quiet(&self, now: u64) -> bool {
        !self.has_work(now)
            && self.shared.front().is_none_or(|shared| shared.at > now)
            && self.passing.front().is_none_or(|&(_, at)| at > now)
            && self.l1.as_ref().is_none_or(|l1| l1.is_quiet(now))
    }

    /// Returns the next cycle in which something can happen without an event from outside.
    #[inline]
    pub fn next_event(&self, now: u64) -> u64 {
        let ready = if self.serving.is_none() { self.queues.next_ready() } else { u64::MAX };
        if ready <= now + 1 || self.has_work(now + 1) {
            return now + 1;
        }
        let l1 = self.l1.as_ref().map_or(u64::MAX, |l1| l1.next_event(now));
        self.next_result(now).min(l1).min(ready)
    }

    #[inline]
    fn write_back(&mut self, now: u64, sm_access: &mut impl SmAccess) -> bool {
        let mut busy = false;
        if let Some(flight) = self.writing {
            busy = true;
            if !sm_access.write(flight) {
                return true;
            }
            self.writing = None;
            let unanswered = &mut self.unanswered[flight as usize];
            *unanswered = unanswered.saturating_sub(1);
            if *unanswered == 0 {
                self.answers.push(Answer::Complete(flight));
            }
        }
        let ready = self.ready_sources(now);
        if ready == 0 {
            return busy;
        }
        let after = ready & u32::MAX << self.turn;
        let source = if after != 0 { after } else { ready }.trailing_zeros();
        self.turn = (source + 1) % SOURCES;
        let result = match source {
            SHARED => self.shared.pop_front().map(|shared| (shared.flight, shared.atomic)),
            CONSTANTS => match self.passing.front() {
                Some(&(flight, at)) if at <= now => {
                    self.passing.pop_front();
                    Some((flight, false))
                }
                _ => self.constants.as_mut().and_then(|cache| cache.ready()).map(waits),
            },
            ARRIVED => self.arrived.take().map(|reply| match reply {
                Reply::Atomic(flight) => (flight, self.settings.atomics_block),
                Reply::Load(flight) => (flight, false),
                _ => unreachable!("nothing else waits there"),
            }),
            _ => self.l1.as_mut().and_then(|l1| l1.cache.ready()).map(waits),
        };
        if let Some((flight, atomic)) = result {
            self.writing = Some(flight);
            if atomic {
                self.answers.push(Answer::Atomic(flight));
            }
        }
        true
    }

    /// Returns whether a constant can be written back.
    #[inline]
    fn has_constants(&self, now: u64) -> bool {
        self.passing.front().is_some_and(|&(_, at)| at <= now)
            || self.constants.as_ref().is_some_and(|cache| cache.any_ready())
    }

    /// Returns the sources that have a result, as a mask.
    #[inline]
    fn ready_sources(&self, now: u64) -> u32 {
        u32::from(self.shared.front().is_some_and(|shared| shared.at <= now)) << SHARED
            | u32::from(self.has_constants(now)) << CONSTANTS
            | u32::from(self.arrived.is_some()) << ARRIVED
            | u32::from(self.l1.as_ref().is_some_and(|l1| l1.cache.any_ready())) << FROM_L1
    }
}

/// Returns the instruction to which a transaction belongs.
#[inline]
fn waiting(token: Token) -> FlightId {
    let Token::Flight(flight) = token else { panic!("no instruction waits for {token:?}") };
    flight.into()
}

/// Returns the instruction of a load transaction whose data has arrived in a cache, and `false`,
/// because the instruction is not an atomic.
fn waits(request: Request) -> (FlightId, bool) {
    (waiting(request.token), false)
}
