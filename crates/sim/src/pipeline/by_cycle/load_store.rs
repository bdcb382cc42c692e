//! The load/store unit, one transaction at a time.

use std::collections::{HashMap, VecDeque};

use super::Sm;
use super::choose::{Arbiter, Deciders};
use super::codes::Moment;
use super::memory::{Cache, FirstLevel, Found, Kind, Memory, Request, Waits};
use super::traffic::Transaction;
use crate::key::Key;
use crate::result::MemoryStats;
use warpbound_core::isa::Space;
use warpbound_core::machine::MemorySystem;
use warpbound_core::machine::memory::SECTOR_BYTES;
use warpbound_core::machine::pipeline::{AccessQueues, LoadStore as Settings};
use warpbound_core::program::Access;

/// The number of replies in flight if memory is perfect.
const INBOX: usize = 32;

#[derive(Clone, Copy)]
enum Reply {
    Load(usize),
    Atomic(usize),
    Stored(usize),
    /// The data of a fetch of the L1, or of the constant cache.
    Fill(u64),
    ConstantFill(u64),
}

/// The instruction that is being served.
#[derive(Clone)]
struct Serving {
    id: usize,
    slot: usize,
    access: Access,
    space: Space,
    last_bank: u64,
    /// The number of its transactions with shared memory beyond the first, or of the addresses of a load
    /// of constants.
    extra: u64,
    /// Its transactions in reverse order.
    transactions: Vec<Transaction>,
}

/// An event of an instruction or a warp.
#[derive(Clone)]
enum Happened {
    Left(usize),
    Complete(usize),
    Stored(usize),
    Atomic(usize),
}

#[derive(Clone)]
pub(super) struct LoadStore {
    settings: Settings,
    sm: usize,
    /// The accesses that have not started, without a collector: in one queue, or in one for each
    /// sub-core.
    queues: Vec<VecDeque<usize>>,
    /// For each queue, the cycles in which its accesses can start, and the cycle from which on its address
    /// unit is free.
    starts: Vec<(VecDeque<u64>, u64)>,
    /// The queue that has the first turn.
    next_queue: usize,
    serving: Option<Serving>,
    unanswered: HashMap<usize, u32>,
    /// The shared-memory loads in their pipeline: the instruction, whether it is an atomic that
    /// holds its warp, and the cycle of its end.
    shared: VecDeque<(usize, bool, u64)>,
    /// The loads of constants in the pipeline after the constant cache, with the cycle of its end.
    passing: VecDeque<(usize, u64)>,
    writing: Option<usize>,
    arrived: Option<Reply>,
    replies: VecDeque<Reply>,
    inbox: VecDeque<Reply>,
    turn: usize,
    l1: Option<FirstLevel>,
    constants: Option<Cache>,
    happened: Vec<Happened>,
}

/// Returns the instruction that waits for a load.
fn instr(waits: Waits) -> usize {
    match waits {
        Waits::Instr(id) => id,
        other => panic!("no load waits as {other:?}"),
    }
}

impl LoadStore {
    pub fn new(
        settings: Settings,
        memory: &MemorySystem,
        shared: u64,
        (sm, sub_cores): (usize, usize),
    ) -> Self {
        let seed = memory.seed ^ sm as u64;
        let queues = if settings.queues == AccessQueues::BySubCore { sub_cores } else { 1 };
        Self {
            settings,
            sm,
            queues: vec![VecDeque::new(); queues],
            starts: vec![Default::default(); queues],
            next_queue: 0,
            serving: None,
            unanswered: HashMap::new(),
            shared: VecDeque::new(),
            passing: VecDeque::new(),
            writing: None,
            arrived: None,
            replies: VecDeque::new(),
            inbox: VecDeque::new(),
            turn: 0,
            l1: memory.l1.as_ref().map(|l1| FirstLevel::new(l1, shared, seed)),
            constants: memory.constant.as_ref().map(|cache| Cache::new(cache, !seed)),
            happened: Vec::new(),
        }
    }

    pub fn add_stats(&self, stats: &mut MemoryStats) {
        self.l1.iter().for_each(|l1| stats.l1 += l1.cache.stats);
        self.constants.iter().for_each(|cache| stats.constant += cache.stats);
    }

    /// Returns whether it takes a reply of memory.
    pub fn takes_replies(&self) -> bool {
        self.replies.len() < self.settings.replies as usize
    }

    /// Takes a reply of memory.
    pub fn receive(&mut self, reply: &Request) {
        self.replies.push_back(match (reply.kind, reply.waits) {
            (_, Waits::Warp(slot)) => Reply::Stored(slot),
            (Kind::Atomic, Waits::Instr(id)) => Reply::Atomic(id),
            (Kind::Constant, Waits::Fetch(fetch)) => Reply::ConstantFill(fetch),
            (_, Waits::Fetch(fetch)) => Reply::Fill(fetch),
            (_, waits) => Reply::Load(instr(waits)),
        });
    }

    /// Adds an access of a sub-core with this many transactions to global or local memory, or with none.
    pub fn enqueue(&mut self, sub_core: usize, id: usize, (access, transactions): (Access, u32), now: u64) {
        let queue = sub_core.min(self.queues.len() - 1);
        let times = self.settings.queues == AccessQueues::BySubCore && access != Access::Atomic;
        let (starts, free) = &mut self.starts[queue];
        let (transactions, mut at) = (u64::from(transactions), (now + 1).max(*free));
        let interval = if times { u64::from(self.settings.address_interval) } else { 0 };
        *free = at + interval * transactions;
        if interval > 1 {
            // the last transaction is served when its addresses are there
            at += (interval - 1) * transactions;
        }
        starts.push_back(at);
        self.queues[queue].push_back(id);
    }

    /// Returns whether the queue of a sub-core has room, if each holds no more than this many.
    pub fn has_room(&self, sub_core: usize, limit: usize) -> bool {
        self.queues[sub_core.min(self.queues.len() - 1)].len() < limit
    }

    /// Returns whether atomics hold their warps.
    pub fn atomics_block(&self) -> bool {
        self.settings.atomics_block
    }

    /// Returns the number of bytes of the transactions to a space.
    pub fn transaction_bytes(&self, space: Space) -> u64 {
        match (&self.constants, space) {
            (Some(cache), Space::Const | Space::Param) => cache.line_bytes().into(),
            _ => self.settings.transaction.into(),
        }
    }

    fn answered(&mut self, id: usize) {
        let unanswered = self.unanswered.get_mut(&id).expect("it was served");
        *unanswered = unanswered.saturating_sub(1);
        if *unanswered == 0 {
            self.happened.push(Happened::Complete(id));
        }
    }

    /// Returns whether a source has a result to write back: shared memory, the constant cache, the
    /// replies of memory, or the L1.
    fn has_result(&self, source: usize, now: u64) -> bool {
        match source {
            0 => self.shared.front().is_some_and(|&(.., at)| at <= now),
            1 => {
                self.passing.front().is_some_and(|&(_, at)| at <= now)
                    || self.constants.as_ref().is_some_and(Cache::has_ready)
            }
            2 => self.arrived.is_some(),
            _ => self.l1.as_ref().is_some_and(|l1| l1.cache.has_ready()),
        }
    }

    /// Starts to write back a result; the sources take turns.
    fn write_next(&mut self, now: u64, deciders: &mut Deciders) {
        let sources: Vec<usize> = (0..4).filter(|&source| self.has_result(source, now)).collect();
        let turn = self.turn;
        let chosen = deciders.choose(Arbiter::WriteBack, &sources, |source| (source + 4 - turn) % 4);
        let Some(source) = chosen else { return };
        let fetched = |request: Request| (instr(request.waits), false);
        let result = match source {
            0 => self.shared.pop_front().map(|(id, atomic, _)| (id, atomic)),
            1 if self.passing.front().is_some_and(|&(_, at)| at <= now) => {
                self.passing.pop_front().map(|(id, _)| (id, false))
            }
            1 => self.constants.as_mut().and_then(Cache::next_ready).map(fetched),
            2 => self.arrived.take().map(|reply| match reply {
                Reply::Atomic(id) => (id, self.settings.atomics_block),
                Reply::Load(id) => (id, false),
                _ => panic!("nothing else waits there"),
            }),
            _ => self.l1.as_mut().and_then(|l1| l1.cache.next_ready()).map(fetched),
        };
        let (id, atomic) = result.expect("the source has a result");
        self.turn = (source + 1) % 4;
        self.writing = Some(id);
        if atomic {
            self.happened.push(Happened::Atomic(id));
        }
    }

    fn take_reply(&mut self) {
        let Some(&reply) = self.replies.front() else { return };
        match (reply, &mut self.l1, &mut self.constants) {
            (Reply::Stored(slot), ..) => self.happened.push(Happened::Stored(slot)),
            (Reply::Fill(fetch), Some(l1), _) => l1.cache.fill(fetch),
            (Reply::ConstantFill(fetch), _, Some(cache)) => cache.fill(fetch),
            _ if self.arrived.is_some() => return,
            _ => self.arrived = Some(reply),
        }
        self.replies.pop_front();
    }

    fn look_up(&mut self, now: u64, deciders: &mut Deciders) {
        let Some(l1) = &mut self.l1 else { return };
        for waits in l1.look_up(now, deciders) {
            match waits {
                Waits::Warp(slot) => self.happened.push(Happened::Stored(slot)),
                waits => self.answered(instr(waits)),
            }
        }
    }

    fn leave(&mut self, complete: bool) {
        let serving = self.serving.take().expect("it is served");
        self.happened.push(Happened::Left(serving.id));
        if complete {
            self.happened.push(Happened::Complete(serving.id));
        }
    }

    fn serve(&mut self, now: u64, memory: Option<&mut Memory>) {
        let Some(Serving { id, access, space, last_bank, extra, .. }) = &self.serving else { return };
        let (id, access, extra) = (*id, *access, *extra);
        match space {
            _ if now < *last_bank => {}
            Space::Shared if access == Access::Store => self.leave(true),
            Space::Shared if self.shared.len() < self.settings.shared_latency as usize => {
                let atomic = self.settings.atomics_block && access == Access::Atomic;
                let Settings { shared_latency, conflict_latency, shared_atomic_latency, .. } = self.settings;
                let longer = if access == Access::Atomic { shared_atomic_latency } else { 0 };
                let at = now + u64::from(shared_latency + longer) + extra * u64::from(conflict_latency);
                self.shared.push_back((id, atomic, at));
                self.leave(false);
            }
            Space::Shared => {}
            Space::Global | Space::Local => self.send(now, memory),
            Space::Param if access == Access::Load && self.settings.parameters_ready => {
                self.unanswered.insert(id, 0);
                self.leave_constants(id, now);
            }
            Space::Const | Space::Param if access == Access::Load && self.constants.is_some() => {
                self.look_up_constant(now);
            }
            Space::Const | Space::Param if access == Access::Load => self.leave_constants(id, now),
            _ => self.leave(true),
        }
    }

    fn look_up_constant(&mut self, now: u64) {
        let (Some(serving), Some(cache)) = (&mut self.serving, &mut self.constants) else { return };
        let id = serving.id;
        if let Some((sectors, words)) = serving.transactions.last().cloned() {
            let (kind, waits, sm) = (Kind::Constant, Waits::Instr(id), self.sm);
            let request = Request { sectors, words, kind, waits, sm };
            match cache.look_up(&request, request.sectors[0] * SECTOR_BYTES) {
                Found::Refused => return,
                Found::Hit => *self.unanswered.get_mut(&id).expect("it is served") -= 1,
                Found::Waits | Found::Forwarded => {}
            }
            serving.transactions.pop();
        }
        if serving.transactions.is_empty() {
            if self.unanswered[&id] == 0 {
                self.leave_constants(id, now);
            } else {
                self.leave(false);
            }
        }
    }

    /// Ends the service of a load of constants that are all there.
    fn leave_constants(&mut self, id: usize, now: u64) {
        let stages = u64::from(self.settings.constant_latency);
        if stages > 0 {
            self.unanswered.insert(id, 1);
            self.passing.push_back((id, now + stages));
        }
        self.leave(stages == 0);
    }

    fn send(&mut self, now: u64, mut memory: Option<&mut Memory>) {
        let Some(serving) = &mut self.serving else { return };
        let (id, slot, access, sm) = (serving.id, serving.slot, serving.access, self.sm);
        let (kind, waits) = match access {
            Access::Store => (Kind::Store, Waits::Warp(slot)),
            Access::Atomic => (Kind::Atomic, Waits::Instr(id)),
            _ => (Kind::Load, Waits::Instr(id)),
        };
        let bypasses = matches!(access, Access::Atomic | Access::LoadUncached);
        let mut l1 = self.l1.as_mut().filter(|_| !bypasses);
        let of_data = data_cycles(&self.settings, access);
        let width = if of_data > 0 { 1 } else { l1.as_ref().map_or(1, |l1| l1.width()) };
        for _ in 0..width {
            let Some((sectors, words)) = serving.transactions.last().cloned() else { break };
            let request = Request { sectors, words, kind, waits, sm };
            let goes = if let Some(l1) = &mut l1 {
                l1.take(&request, now)
            } else if let Some(memory) = &mut memory {
                let accepts = memory.accepts(sm);
                if accepts {
                    memory.send(request);
                }
                accepts
            } else {
                let accepts = self.inbox.len() < INBOX;
                if accepts {
                    self.inbox.push_back(match kind {
                        Kind::Store => Reply::Stored(slot),
                        Kind::Atomic => Reply::Atomic(id),
                        _ => Reply::Load(id),
                    });
                }
                accepts
            };
            if !goes {
                break;
            }
            serving.transactions.pop();
            serving.last_bank = now + of_data;
        }
        if serving.transactions.is_empty() {
            let waits = access != Access::Store && self.unanswered[&id] > 0;
            self.leave(!waits);
        }
    }

    /// Sends the first request that waits in each cache, if memory accepts it.
    fn send_of_caches(&mut self, memory: &mut Memory) {
        let l1 = self.l1.as_mut().map(|l1| &mut l1.cache);
        for cache in self.constants.iter_mut().chain(l1) {
            if memory.accepts(self.sm)
                && let Some(request) = cache.outgoing.pop_front()
            {
                memory.send(Request { sm: self.sm, ..request });
            }
        }
    }

    /// Returns the instruction whose result is being written back.
    pub fn writing(&self) -> Option<usize> {
        self.writing
    }

    /// Adds the unit to the key of a state.
    pub fn key(&self, now: u64, key: &mut Key) {
        let sm = self.sm;
        for queue in &self.queues {
            key.list(queue, |key, &id| key.instr(sm, id));
        }
        for (starts, free) in &self.starts {
            key.list(starts, |key, &at| key.until(at, now));
            key.until(*free, now);
        }
        key.put(self.next_queue as u64);
        key.list(&self.serving, |key, serving| {
            key.instr(sm, serving.id);
            key.until(serving.last_bank, now);
            key.put(serving.transactions.len() as u64);
        });
        let unanswered = self.unanswered.iter().filter(|&(_, &count)| count > 0);
        let mut unanswered: Vec<(u64, u32)> =
            unanswered.map(|(&id, &count)| (key.name(sm, id), count)).collect();
        unanswered.sort_unstable();
        key.list(unanswered, |key, (name, count)| {
            key.put(name);
            key.put(count.into());
        });
        key.list(&self.shared, |key, &(id, _, at)| {
            key.instr(sm, id);
            key.until(at, now);
        });
        key.list(&self.passing, |key, &(id, at)| {
            key.instr(sm, id);
            key.until(at, now);
        });
        key.list(&self.writing, |key, &id| key.instr(sm, id));
        let reply = |key: &mut Key, reply: &Reply| match *reply {
            Reply::Load(id) | Reply::Atomic(id) => {
                key.put(0);
                key.instr(sm, id);
            }
            Reply::Stored(slot) => {
                key.put(1);
                key.put(slot as u64);
            }
            Reply::Fill(fetch) => {
                key.put(2);
                key.put(fetch);
            }
            Reply::ConstantFill(fetch) => {
                key.put(3);
                key.put(fetch);
            }
        };
        key.list(&self.arrived, reply);
        key.list(&self.replies, reply);
        key.list(&self.inbox, reply);
        if let Some(l1) = &self.l1 {
            l1.key(now, key);
        }
        if let Some(constants) = &self.constants {
            constants.key(key);
        }
    }
}

impl Sm<'_> {
    /// Simulates a cycle of the unit; then the unit takes the oldest access, if it is free.
    pub(super) fn load_and_store(&mut self, mut memory: Option<&mut Memory>, deciders: &mut Deciders) {
        let now = self.now;
        let Some(unit) = &mut self.load_store else { return };
        unit.l1.iter_mut().for_each(FirstLevel::begin_cycle);
        if memory.is_none()
            && unit.takes_replies()
            && let Some(reply) = unit.inbox.pop_front()
        {
            unit.replies.push_back(reply);
        }
        let writing = unit.writing;
        let written = writing.is_none_or(|id| self.writes(id));
        let Some(unit) = &mut self.load_store else { return };
        if written {
            unit.writing = None;
            writing.into_iter().for_each(|id| unit.answered(id));
            unit.write_next(now, deciders);
        }
        unit.take_reply();
        if let Some(memory) = &mut memory {
            unit.send_of_caches(memory);
        }
        unit.look_up(now, deciders);
        unit.serve(now, memory);
        for what in std::mem::take(&mut unit.happened) {
            self.follow(what);
        }
        self.start_access(deciders);
    }

    /// Writes the remaining destinations of an instruction. Returns whether all could be written.
    fn writes(&mut self, id: usize) -> bool {
        if self.collector.is_none() {
            return true;
        }
        let instr = &mut self.instrs[id];
        while let Some(&bank) = instr.unwritten.first() {
            if self.written.contains(&bank) {
                return false;
            }
            self.written.push(bank);
            instr.unwritten.remove(0);
        }
        // the next transaction writes them again
        instr.unwritten = instr.banks.iter().copied().take(8).collect();
        true
    }

    fn follow(&mut self, what: Happened) {
        match what {
            Happened::Left(id) => {
                self.instrs[id].init_end = self.now;
                let after = self.given.settings.load_store.map_or(0, |unit| unit.read_latency);
                self.signal(id, Moment::SourcesRead, self.now + u64::from(after));
            }
            Happened::Complete(id) => self.complete(id),
            Happened::Stored(slot) => {
                let warp = &mut self.warps[slot];
                warp.stores -= 1;
                warp.last_done = warp.last_done.max(self.now);
                self.warp_may_be_over(slot);
            }
            Happened::Atomic(id) => self.warps[self.instrs[id].slot].atomics -= 1,
        }
    }

    fn start_access(&mut self, deciders: &mut Deciders) {
        let memory = self.given.memory();
        let Some(unit) = self.load_store.as_mut().filter(|unit| unit.serving.is_none()) else { return };
        let id = if let Some(collector) = &mut self.collector {
            let outputs = collector.output.iter().map(|(&place, &id)| (place, id));
            let waiting: Vec<_> = outputs.filter(|((unit, _), _)| *unit == memory).collect();
            let chosen = deciders.choose(Arbiter::Access, &waiting, |(_, id)| id);
            let Some((place, id)) = chosen else { return };
            collector.output.remove(&place);
            id
        } else {
            let count = unit.queues.len();
            let (now, starts) = (self.now, &unit.starts);
            let is_ready = |queue: &usize| starts[*queue].0.front().is_some_and(|&at| at <= now);
            let waiting: Vec<_> = (0..count).filter(is_ready).collect();
            let first = unit.next_queue;
            let chosen = deciders.choose(Arbiter::Access, &waiting, |queue| (queue + count - first) % count);
            let Some(queue) = chosen else { return };
            unit.next_queue = (queue + 1) % count;
            unit.starts[queue].0.pop_front();
            unit.queues[queue].pop_front().expect("it holds an access")
        };
        let instr = &mut self.instrs[id];
        instr.start = self.now;
        let (step, slot) = (instr.step, instr.slot);
        let access = self.given.table.instr(step.pc()).access.expect("it goes to memory");
        let space = if access == Access::Fence { Space::Param } else { self.given.table.space(step) };
        let shared = space == Space::Shared;
        if access == Access::Store && matches!(space, Space::Global | Space::Local) {
            self.warps[slot].stores += instr.transactions;
        }
        unit.unanswered.insert(id, if shared { 1 } else { instr.transactions });
        let extra = u64::from(step.memory().extra_transactions);
        let banks = match space {
            Space::Shared => (extra + 1) * u64::from(unit.settings.shared_interval),
            Space::Const | Space::Param => 1 + extra * u64::from(unit.settings.constant_interval),
            Space::Global | Space::Local if instr.transactions > 0 => data_cycles(&unit.settings, access),
            _ => 0,
        };
        let transactions = std::mem::take(&mut instr.traffic);
        unit.serving =
            Some(Serving { id, slot, access, space, last_bank: self.now + banks, extra, transactions });
    }
}

/// Returns the cycles that pass before each transaction of an access to memory; 0 if none have to.
fn data_cycles(settings: &Settings, access: Access) -> u64 {
    let has_data = matches!(access, Access::Store | Access::Atomic);
    if has_data && settings.data_interval > 1 { settings.data_interval.into() } else { 0 }
}
