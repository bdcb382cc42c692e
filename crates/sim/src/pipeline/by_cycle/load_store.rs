//! The load/store unit, one transaction at a time.

use std::collections::{HashMap, VecDeque};

use super::{Instr, Sm};
use crate::pipeline::load_store::Parts;
use crate::pipeline::memory::{Access as Lookup, Cache, Port, Request, RequestKind, Token};
use crate::result::MemoryStats;
use warpbound_core::isa::Space;
use warpbound_core::machine::MemorySystem;
use warpbound_core::machine::memory::L1;
use warpbound_core::machine::pipeline::LoadStore as Settings;
use warpbound_core::path::Step;
use warpbound_core::program::Access;

/// The number of replies in flight if memory is perfect.
const INBOX: usize = 32;

#[derive(Clone, Copy)]
enum Reply {
    Load(usize),
    Atomic(usize),
    Stored(usize),
    Fill(Token),
    ConstantFill(Token),
}

/// The instruction that is being served.
struct Serving {
    id: usize,
    slot: usize,
    access: Access,
    space: Space,
    last_bank: u64,
    /// The sectors of lines and the words that a store writes in them, in reverse order.
    lines: Vec<(u64, u8, u32)>,
}

/// The L1 with its banks.
struct FirstLevel {
    latency: u64,
    banks: Vec<VecDeque<(u64, Request)>>,
    /// The banks that accepted a transaction in this cycle.
    taken: Vec<usize>,
    cache: Cache,
}

/// An event of an instruction or a warp.
enum Happened {
    Left(usize),
    Complete(usize),
    Stored(usize),
    Atomic(usize),
}

pub(super) struct LoadStore {
    settings: Settings,
    pub queue: VecDeque<usize>,
    serving: Option<Serving>,
    unanswered: HashMap<usize, u32>,
    /// The shared-memory loads in their pipeline: the instruction, whether it is an atomic that
    /// holds its warp, and the cycle of its end.
    shared: VecDeque<(usize, bool, u64)>,
    writing: Option<usize>,
    arrived: Option<Reply>,
    replies: VecDeque<Reply>,
    inbox: VecDeque<Reply>,
    turn: usize,
    l1: Option<FirstLevel>,
    constants: Option<Cache>,
    happened: Vec<Happened>,
}

fn token(token: Token) -> usize {
    match token {
        Token::Flight(id) => u32::from(id) as usize,
        other => panic!("no access waits for {other:?}"),
    }
}

impl LoadStore {
    pub fn new(settings: Settings, memory: &MemorySystem, shared: u64, sm: usize) -> Self {
        let seed = memory.seed ^ sm as u64;
        let first_level = |l1: &L1| FirstLevel {
            latency: l1.latency.max(1),
            banks: vec![VecDeque::new(); l1.banks as usize],
            taken: Vec::new(),
            cache: Cache::new(&l1.with_shared(u32::try_from(shared).unwrap_or(u32::MAX)), seed),
        };
        Self {
            settings,
            queue: VecDeque::new(),
            serving: None,
            unanswered: HashMap::new(),
            shared: VecDeque::new(),
            writing: None,
            arrived: None,
            replies: VecDeque::new(),
            inbox: VecDeque::new(),
            turn: 0,
            l1: memory.l1.as_ref().map(first_level),
            constants: memory.constant.as_ref().map(|cache| Cache::new(cache, !seed)),
            happened: Vec::new(),
        }
    }

    pub fn add_stats(&self, stats: &mut MemoryStats) {
        self.l1.iter().for_each(|l1| stats.l1 += l1.cache.stats());
        self.constants.iter().for_each(|cache| stats.constant += cache.stats());
    }

    fn takes_replies(&self) -> bool {
        self.replies.len() < self.settings.replies as usize
    }

    pub fn receive(&mut self, port: &mut Port) -> bool {
        let reply = if self.takes_replies() { port.reply() } else { None };
        let Some(Request { kind, token: of, .. }) = reply else { return false };
        self.replies.push_back(match (kind, of) {
            (_, Token::Warp(slot)) => Reply::Stored(slot.into()),
            (RequestKind::Atomic, _) => Reply::Atomic(token(of)),
            (RequestKind::Constant, _) => Reply::ConstantFill(of),
            (_, Token::Flight(id)) => Reply::Load(u32::from(id) as usize),
            _ => Reply::Fill(of),
        });
        true
    }

    /// Returns how transactions divide the lines of an access to a space.
    fn parts(&self, space: Space) -> Parts {
        match (&self.constants, space) {
            (Some(cache), Space::Const | Space::Param) => Parts::of(cache.line_bytes()),
            _ => Parts::of(self.settings.transaction),
        }
    }

    fn answered(&mut self, id: usize) {
        let unanswered = self.unanswered.get_mut(&id).expect("it was served");
        *unanswered = unanswered.saturating_sub(1);
        if *unanswered == 0 {
            self.happened.push(Happened::Complete(id));
        }
    }

    /// Starts to write back a result; the sources take turns.
    fn write_next(&mut self, now: u64) {
        for n in 0..4 {
            let source = (self.turn + n) % 4;
            let fetched = |request: Request| (token(request.token), false);
            let result = match source {
                0 => match self.shared.front() {
                    Some(&(id, atomic, at)) if at <= now => {
                        self.shared.pop_front();
                        Some((id, atomic))
                    }
                    _ => None,
                },
                1 => self.constants.as_mut().and_then(|cache| cache.ready()).map(fetched),
                2 => self.arrived.take().map(|reply| match reply {
                    Reply::Atomic(id) => (id, self.settings.atomics_block),
                    Reply::Load(id) => (id, false),
                    _ => panic!("nothing else waits there"),
                }),
                _ => self.l1.as_mut().and_then(|l1| l1.cache.ready()).map(fetched),
            };
            if let Some((id, atomic)) = result {
                self.turn = (source + 1) % 4;
                self.writing = Some(id);
                if atomic {
                    self.happened.push(Happened::Atomic(id));
                }
                return;
            }
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

    fn look_up(&mut self, now: u64) {
        for bank in 0..self.l1.as_ref().map_or(0, |l1| l1.banks.len()) {
            let Some(l1) = &mut self.l1 else { return };
            let Some(&(at, request)) = l1.banks[bank].front() else { continue };
            if at > now {
                continue;
            }
            let access = l1.cache.access(request);
            if access == Lookup::Stall {
                continue;
            }
            l1.banks[bank].pop_front();
            if let Some((at, _)) = l1.banks[bank].front_mut() {
                *at = (*at).max(now + 1);
            }
            match (access, request.token) {
                (Lookup::Hit, Token::Warp(slot)) => self.happened.push(Happened::Stored(slot.into())),
                (Lookup::Hit, of) => self.answered(token(of)),
                _ => {}
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

    fn serve(&mut self, now: u64, port: Option<&mut Port>) {
        let Some(Serving { id, access, space, last_bank, .. }) = &self.serving else { return };
        let (id, access) = (*id, *access);
        match space {
            Space::Shared if now < *last_bank => {}
            Space::Shared if access == Access::Store => self.leave(true),
            Space::Shared if self.shared.len() < self.settings.shared_latency as usize => {
                let atomic = self.settings.atomics_block && access == Access::Atomic;
                self.shared.push_back((id, atomic, now + u64::from(self.settings.shared_latency)));
                self.leave(false);
            }
            Space::Shared => {}
            Space::Global | Space::Local => self.send(now, port),
            Space::Const | Space::Param if access == Access::Load && self.constants.is_some() => {
                self.look_up_constant();
            }
            _ => self.leave(true),
        }
    }

    fn look_up_constant(&mut self) {
        let (Some(serving), Some(cache)) = (&mut self.serving, &mut self.constants) else { return };
        let id = serving.id;
        if let Some(&(line, sectors, _)) = serving.lines.last() {
            let token = Token::Flight((id as u32).into());
            match cache.access(Request::new(line, sectors, RequestKind::Constant, token)) {
                Lookup::Stall => return,
                Lookup::Hit => *self.unanswered.get_mut(&id).expect("it is served") -= 1,
                _ => {}
            }
            serving.lines.pop();
        }
        if serving.lines.is_empty() {
            self.leave(self.unanswered[&id] == 0);
        }
    }

    fn send(&mut self, now: u64, mut port: Option<&mut Port>) {
        let Some(serving) = &mut self.serving else { return };
        let (id, slot, access) = (serving.id, serving.slot, serving.access);
        let flight = Token::Flight((id as u32).into());
        let (kind, of) = match access {
            Access::Store => (RequestKind::Write, Token::Warp(slot as u8)),
            Access::Atomic => (RequestKind::Atomic, flight),
            _ => (RequestKind::Read, flight),
        };
        let mut l1 = self.l1.as_mut().filter(|_| access != Access::Atomic);
        for _ in 0..l1.as_ref().map_or(1, |l1| l1.banks.len()) {
            let Some(&(line, sectors, words)) = serving.lines.last() else { break };
            let request = Request::new(line, sectors, kind, of).writing(words);
            let goes = if let Some(l1) = &mut l1 {
                l1.take(request, now)
            } else if let Some(port) = &mut port {
                let accepts = port.accepts();
                if accepts {
                    port.push(request);
                }
                accepts
            } else {
                let accepts = self.inbox.len() < INBOX;
                if accepts {
                    self.inbox.push_back(match kind {
                        RequestKind::Write => Reply::Stored(slot),
                        RequestKind::Atomic => Reply::Atomic(id),
                        _ => Reply::Load(id),
                    });
                }
                accepts
            };
            if !goes {
                break;
            }
            serving.lines.pop();
        }
        if serving.lines.is_empty() {
            let waits = access != Access::Store && self.unanswered[&id] > 0;
            self.leave(!waits);
        }
    }
}

impl FirstLevel {
    fn take(&mut self, request: Request, now: u64) -> bool {
        let sector = request.line * 4 + u64::from(request.sectors.trailing_zeros());
        let bank = (sector % self.banks.len() as u64) as usize;
        if self.taken.contains(&bank) || self.banks[bank].len() >= self.latency as usize {
            return false;
        }
        self.taken.push(bank);
        self.banks[bank].push_back((now + self.latency, request));
        true
    }
}

impl Sm<'_> {
    /// Simulates a cycle of the unit; then the unit takes the oldest access, if it is free.
    pub(super) fn load_and_store(&mut self, mut port: Option<&mut Port>) {
        let now = self.now;
        let Some(unit) = &mut self.load_store else { return };
        unit.l1.iter_mut().for_each(|l1| l1.taken.clear());
        if port.is_none()
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
            unit.write_next(now);
        }
        unit.take_reply();
        if let Some(port) = &mut port {
            unit.constants.iter_mut().for_each(|cache| {
                port.take_from(cache);
            });
            unit.l1.iter_mut().for_each(|l1| {
                port.take_from(&mut l1.cache);
            });
        }
        unit.look_up(now);
        unit.serve(now, port);
        for what in std::mem::take(&mut unit.happened) {
            self.follow(what);
        }
        self.start_access();
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
            Happened::Left(id) => self.instrs[id].init_end = self.now,
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

    fn start_access(&mut self) {
        let memory = self.given.memory();
        let Some(unit) = self.load_store.as_mut().filter(|unit| unit.serving.is_none()) else { return };
        let id = if let Some(collector) = &mut self.collector {
            let waiting = collector.output.iter().filter(|((unit, _), _)| *unit == memory);
            let Some((&place, &id)) = waiting.min_by_key(|(_, id)| **id) else { return };
            collector.output.remove(&place);
            id
        } else {
            let Some(id) = unit.queue.pop_front() else { return };
            id
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
        let banks = if shared { u64::from(step.memory().extra_transactions) + 1 } else { 0 };
        let lines = std::mem::take(&mut instr.lines);
        unit.serving = Some(Serving { id, slot, access, space, last_bank: self.now + banks, lines });
    }

    /// Determines the memory traffic of an access that is about to issue.
    pub(super) fn claim(&mut self, instr: &mut Instr, access: Access) {
        let (table, step): (_, Step) = (self.given.table, instr.step);
        let Some(unit) = &self.load_store else { return };
        let space = table.space(step);
        let parts = unit.parts(space);
        if table.moves_lines(step) {
            let group = self.warps[instr.slot].group();
            for (number, line) in group.iter().enumerate() {
                let behind = group.get(number + 1).and_then(|next| next.written_before());
                let words = behind.unwrap_or(line.written());
                let mut sectors = line.sectors();
                while sectors != 0 {
                    let part = parts.around(sectors.trailing_zeros()) & sectors;
                    instr.lines.push((line.line(), part, words));
                    sectors &= !part;
                }
            }
        }
        instr.transactions = instr.lines.len() as u32;
        if access == Access::Atomic && unit.settings.atomics_block {
            self.warps[instr.slot].atomics += if space == Space::Shared { 1 } else { instr.transactions };
        }
    }
}
