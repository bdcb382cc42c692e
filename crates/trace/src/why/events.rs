//! The events of an SM, each with the cause of its wait.

use std::collections::BTreeMap;

use super::Executed;
use super::arrivals::Arrivals;
use crate::trace::{BlockStart, Idle, Issue, Release, StallReason};
use warpbound_core::base::{BlockId, Cycle, RegId, UnitId, WarpId};
use warpbound_core::machine::{Hazards, Machine};
use warpbound_core::path::Step;
use warpbound_core::program::{BarrierId, Flow, TimingTable};

/// The record number that stands for no instruction.
pub(super) const NONE: u32 = u32::MAX;

/// The rules of waiting that follow from program and machine.
pub(super) struct Rules<'a> {
    pub table: &'a TimingTable,
    checks_dsts: bool,
    /// The number of cycles from the placement of a block to its start.
    pub start_cost: u64,
    /// Whether accesses use a load/store unit.
    load_store: bool,
    /// Whether an instruction passes another stage than its unit's queue between issue and start.
    collector: bool,
    pub front_end: bool,
}

impl<'a> Rules<'a> {
    pub fn new(table: &'a TimingTable, machine: &Machine) -> Self {
        let pipeline = machine.pipeline();
        Self {
            table,
            checks_dsts: table.hazards().contains(Hazards::WAW),
            start_cost: pipeline.map_or(0, |pipeline| pipeline.launch.start),
            load_store: pipeline.is_some_and(|pipeline| pipeline.load_store.is_some()),
            collector: pipeline.is_some_and(|pipeline| pipeline.collector.is_some()),
            front_end: pipeline.is_some_and(|pipeline| pipeline.front_end.is_some()),
        }
    }

    /// Returns the registers that must be available before a step issues.
    fn awaited(&self, step: Step) -> impl Iterator<Item = RegId> + '_ {
        let instr = self.table.instr(step.pc());
        let dsts = if self.checks_dsts { instr.dsts.as_slice() } else { &[] };
        let waits = instr.flow == Flow::AsyncWait || self.checks_dsts && instr.flow == Flow::AsyncCopy;
        let ring = self.table.async_reg(step).filter(|_| waits);
        instr.srcs.as_slice().iter().chain(dsts).copied().chain(ring)
    }

    /// Returns the registers that are not available until a step is done.
    fn written(&self, step: Step) -> impl Iterator<Item = RegId> + '_ {
        let instr = self.table.instr(step.pc());
        let dsts = if instr.unscored { &[] } else { instr.dsts.as_slice() };
        let ring = self.table.async_reg(step).filter(|_| instr.flow == Flow::AsyncCopy && !instr.unscored);
        dsts.iter().copied().chain(ring)
    }

    /// Returns whether a step waits only in the queue of its unit.
    pub fn queues(&self, step: Step) -> bool {
        !(self.collector || self.load_store && self.table.instr(step.pc()).access.is_some())
    }

    /// Returns whether memory answers a step.
    pub fn is_answered(&self, step: Step) -> bool {
        self.load_store && self.table.instr(step.pc()).access.is_some() && self.table.moves_lines(step)
    }

    pub fn is_barrier(&self, step: Step) -> bool {
        matches!(self.table.instr(step.pc()).flow, Flow::Barrier | Flow::Arrive)
    }
}

/// The cause of the time at which an instruction was ready.
#[derive(Clone, Copy, Debug)]
pub(super) enum Cause {
    /// Its block started.
    Start,
    /// Its warp issued this instruction in the cycle before, or as many cycles ago as its stall
    /// count states, or in the same cycle with dual issue.
    Before(u32),
    /// This release released its warp.
    Release(u32),
    /// The result of this instruction became available.
    Result(u32),
    /// This instruction had read its sources, an event for which control codes wait.
    Read(u32),
}

/// An issued instruction. Times are in cycles of the SM.
#[derive(Clone, Copy, Debug)]
pub(super) struct Record {
    pub issue: u64,
    pub start: u64,
    pub init_end: u64,
    pub done: u64,
    /// The first cycle in which no dependence delayed it, and the cause.
    pub ready: u64,
    pub cause: Cause,
    /// The previous instruction in its unit.
    pub ahead: u32,
    /// The index of its block among those kept.
    pub block: u32,
    index: u32,
    pub step: Step,
    warp: WarpId,
    pub slot: u8,
    pub sub_core: u8,
}

/// The cause of the time at which a barrier released its warps.
#[derive(Clone, Copy, Debug)]
pub(super) enum Opened {
    /// This arrival was done.
    Done(u32),
    /// This arrival was issued.
    Issued(u32),
    /// A warp that had no instruction left issued its last instruction, this one, in the cycle
    /// before.
    LastIssue(u32),
    /// A warp that another release had released had no instruction left.
    Release(u32),
    /// No known event ended at that time; this arrival was the last.
    Late(u32),
}

/// The release of a barrier.
#[derive(Clone, Copy, Debug)]
pub(super) struct Opening {
    pub at: u64,
    pub why: Option<Opened>,
    /// The first arrival.
    pub first: Option<u32>,
    block: u32,
}

/// A block that was on the SM.
#[derive(Clone, Debug)]
pub(super) struct Placed {
    id: BlockId,
    pub at: u64,
    slots: (usize, usize),
    pub end: Option<u64>,
    /// The previous block in the same CTA slot.
    pub before: Option<u32>,
    /// Its last result.
    pub last: u32,
    /// Its last access without a result.
    pub last_store: u32,
    arrivals: Arrivals,
}

/// A warp slot.
#[derive(Clone, Debug)]
struct Slot {
    block: u32,
    last: u32,
    released: Option<u32>,
    /// The last writer of each register.
    writers: Vec<u32>,
    /// For each register that represents a barrier of control codes, the signal that makes it
    /// available. Empty if there are no such registers.
    signals: Vec<Signal>,
}

/// A signal of an instruction.
#[derive(Clone, Copy, Debug)]
struct Signal {
    by: u32,
    /// Whether the instruction signals that it has read its sources; otherwise it signals that its
    /// result is available.
    read: bool,
}

/// A period in which a sub-core issued nothing.
#[derive(Clone, Copy, Debug)]
pub(super) struct Gap {
    pub from: u64,
    pub to: u64,
    pub reason: StallReason,
    /// The warp slot to which the reason refers.
    pub slot: Option<usize>,
}

/// The events of an SM since it was last without a resident block.
#[derive(Clone, Debug)]
pub(super) struct Sm {
    /// The instructions in the order of issue.
    pub issued: Vec<Record>,
    pub openings: Vec<Opening>,
    pub blocks: Vec<Placed>,
    /// The gaps, by sub-core.
    pub gaps: Vec<Vec<Gap>>,
    /// The last block of each CTA slot, by its first warp slot.
    places: BTreeMap<usize, u32>,
    slots: Vec<Slot>,
    /// The last instruction initiated on each instance of a unit.
    units: Vec<u32>,
    resident: usize,
    /// The time at which it was last without a resident block.
    pub since: u64,
}

impl Sm {
    pub fn new() -> Self {
        Self {
            issued: Vec::new(),
            openings: Vec::new(),
            blocks: Vec::new(),
            gaps: Vec::new(),
            places: BTreeMap::new(),
            slots: Vec::new(),
            units: Vec::new(),
            resident: 0,
            since: 0,
        }
    }

    pub fn is_empty(&self) -> bool {
        self.resident == 0
    }

    /// Returns when it was last without a resident block.
    pub fn ended(&self) -> u64 {
        self.since
    }

    /// Returns the number of instructions kept.
    pub fn records(&self) -> usize {
        self.issued.len()
    }

    /// Releases all memory.
    pub fn forget(&mut self) {
        *self = Self::new();
    }

    /// Discards everything up to a time without a resident block.
    pub fn forget_until(&mut self, now: u64) {
        self.issued.clear();
        self.openings.clear();
        self.blocks.clear();
        self.gaps.iter_mut().for_each(Vec::clear);
        self.places.clear();
        self.units.fill(NONE);
        self.since = now;
    }

    /// Returns the identity of an instruction.
    pub fn executed(&self, record: u32) -> Executed {
        let Record { block, warp, index, step, .. } = self.issued[record as usize];
        Executed { block: self.blocks[block as usize].id, warp, index, pc: step.pc() }
    }

    pub fn block_started(&mut self, start: &BlockStart, rules: &Rules<'_>) {
        let number = self.blocks.len() as u32;
        let before = self.places.insert(start.first_slot, number);
        let slots = (start.first_slot, start.first_slot + start.warps);
        self.blocks.push(Placed {
            id: start.block,
            at: start.at.get(),
            slots,
            end: None,
            before,
            last: NONE,
            last_store: NONE,
            arrivals: Arrivals::default(),
        });
        if self.slots.len() < slots.1 {
            let empty =
                Slot { block: 0, last: NONE, released: None, writers: Vec::new(), signals: Vec::new() };
            self.slots.resize(slots.1, empty);
        }
        for slot in &mut self.slots[slots.0..slots.1] {
            slot.block = number;
            slot.last = NONE;
            slot.released = None;
            slot.writers.clear();
            slot.writers.resize(rules.table.regs(), NONE);
            slot.signals.clear();
            if rules.table.barriers().is_some() {
                slot.signals.resize(rules.table.regs(), Signal { by: NONE, read: false });
            }
        }
        self.resident += 1;
    }

    pub fn issued(&mut self, issue: &Issue, rules: &Rules<'_>) {
        let number = self.issued.len() as u32;
        let at = issue.issue.get();
        let (ready, cause) = self.ready(issue, rules);
        let sub_cores = rules.table.sub_cores();
        let instance = sub_cores.instance(
            UnitId::new(issue.unit.get()),
            usize::from(issue.sub_core),
            rules.table.units(),
        );
        if self.units.len() <= instance {
            self.units.resize(instance + 1, NONE);
        }
        let slot = &mut self.slots[issue.slot];
        let record = Record {
            issue: at,
            start: issue.start.get(),
            init_end: issue.init_end.get(),
            done: issue.done.get(),
            ready,
            cause,
            ahead: std::mem::replace(&mut self.units[instance], number),
            block: slot.block,
            index: issue.index,
            step: issue.step,
            warp: issue.warp,
            slot: issue.slot as u8,
            sub_core: issue.sub_core,
        };
        slot.last = number;
        slot.released = None;
        for reg in rules.written(issue.step) {
            slot.writers[reg.index()] = number;
        }
        let block = &mut self.blocks[slot.block as usize];
        if block.last == NONE || self.issued[block.last as usize].done <= record.done {
            block.last = number;
        }
        let instr = rules.table.instr(issue.step.pc());
        if rules.is_answered(issue.step) && instr.dsts.as_slice().is_empty() {
            block.last_store = number;
        }
        if rules.is_barrier(issue.step) {
            let waits = instr.flow == Flow::Barrier;
            block.arrivals.arrived(number, issue.slot, issue.step.barrier(), waits);
        }
        self.issued.push(record);
        self.signal(issue.slot, number, issue.step, rules);
    }

    /// Returns when an instruction was ready, and the cause. Results that became available after
    /// its issue did not delay it.
    fn ready(&self, issue: &Issue, rules: &Rules<'_>) -> (u64, Cause) {
        let at = issue.issue.get();
        let slot = &self.slots[issue.slot];
        let (free, cause) = match (slot.released, slot.last) {
            (Some(release), _) => (self.openings[release as usize].at, Cause::Release(release)),
            (None, NONE) => (self.blocks[slot.block as usize].at + rules.start_cost, Cause::Start),
            (None, last) => (self.after(last, rules), Cause::Before(last)),
        };
        // the stall count of a barrier may extend beyond its release
        let (free, cause) = match slot.last {
            NONE => (free, cause),
            last => {
                if self.after(last, rules) > free {
                    (self.after(last, rules), Cause::Before(last))
                } else {
                    (free, cause)
                }
            }
        };
        // the second of two instructions issued in a cycle does not wait for the first one
        let free = free.min(at);
        let writers = rules.awaited(issue.step).filter_map(|reg| slot.writers.get(reg.index()).copied());
        let results = writers
            .filter(|&writer| writer != NONE)
            .map(|writer| (self.issued[writer as usize].done, writer, false));
        let signals = rules.awaited(issue.step).filter_map(|reg| slot.signals.get(reg.index()).copied());
        let signals = signals
            .filter(|signal| signal.by != NONE)
            .map(|signal| (self.at(signal), signal.by, signal.read));
        match results.chain(signals).filter(|&(done, ..)| done <= at).max() {
            Some((done, writer, false)) if done > free => (done, Cause::Result(writer)),
            Some((read, reader, true)) if read > free => (read, Cause::Read(reader)),
            _ => (free, cause),
        }
    }

    /// Returns the cycle from which the instruction's own stall count allows its warp to issue the
    /// next one.
    fn after(&self, record: u32, rules: &Rules<'_>) -> u64 {
        let before = &self.issued[record as usize];
        before.issue + u64::from(rules.table.instr(before.step.pc()).codes.stall.max(1))
    }

    /// Returns when a barrier was signalled.
    fn at(&self, signal: Signal) -> u64 {
        let by = &self.issued[signal.by as usize];
        if signal.read { by.init_end } else { by.done }
    }

    /// Records which barriers the last issued instruction signals.
    fn signal(&mut self, slot: usize, number: u32, step: Step, rules: &Rules<'_>) {
        let Some(barriers) = rules.table.barriers() else { return };
        let codes = rules.table.instr(step.pc()).codes;
        let of_copies = barriers.of_copies();
        for (barrier, read) in [(codes.read, true), (codes.done, false)] {
            let Some(barrier) = barrier else { continue };
            let of_barrier = barriers.of_barrier(barrier);
            let (first, end) = (of_barrier.start, of_barrier.end);
            let signals = &self.slots[slot].signals;
            let mut last = self.later(signals[first], Signal { by: number, read });
            if barrier == BarrierId::OF_COPIES {
                last = self.later(signals[of_copies], last);
            }
            let signals = &mut self.slots[slot].signals;
            signals.copy_within(first..end - 1, first + 1);
            signals[first] = last;
        }
        if codes.copies {
            let signals = &self.slots[slot].signals;
            self.slots[slot].signals[of_copies] =
                self.later(signals[of_copies], Signal { by: number, read: false });
        }
    }

    /// Returns the later one of two signals; the second one if both come at the same time.
    fn later(&self, before: Signal, signal: Signal) -> Signal {
        if before.by != NONE && self.at(before) > self.at(signal) { before } else { signal }
    }

    pub fn idled(&mut self, idle: &Idle) {
        let sub_core = usize::from(idle.sub_core);
        if self.gaps.len() <= sub_core {
            self.gaps.resize_with(sub_core + 1, Vec::new);
        }
        self.gaps[sub_core].push(Gap {
            from: idle.from.get(),
            to: idle.to.get(),
            reason: idle.reason,
            slot: idle.waiting.map(|waiting| waiting.slot),
        });
    }

    pub fn barrier_released(&mut self, release: &Release) {
        let Some(first) = release.slots.lowest() else { return };
        let number = self.openings.len() as u32;
        let block = self.slots[first].block;
        let at = release.at.get();
        let arrivals = self.blocks[block as usize].arrivals.released(release.barrier, release.slots);
        let last = |matches: &dyn Fn(&Record) -> bool| {
            arrivals.iter().rev().copied().find(|&arrival| matches(&self.issued[arrival as usize]))
        };
        let (from, to) = self.blocks[block as usize].slots;
        let others = self.slots[from..to].iter().map(|slot| slot.last);
        let gone = others.filter(|&last| {
            last != NONE && !arrivals.contains(&last) && self.issued[last as usize].issue + 1 == at
        });
        let now = (0..number).rev().take_while(|&opening| self.openings[opening as usize].at == at);
        let earlier = { now }.find(|&opening| self.openings[opening as usize].block == block);
        let why = last(&|arrival| arrival.done == at)
            .map(Opened::Done)
            .or_else(|| last(&|arrival| arrival.issue == at).map(Opened::Issued))
            .or_else(|| gone.max().map(Opened::LastIssue))
            .or_else(|| earlier.map(Opened::Release))
            .or_else(|| arrivals.last().copied().map(Opened::Late));
        self.openings.push(Opening { at, why, first: arrivals.first().copied(), block });
        for slot in release.slots.slots() {
            self.slots[slot].released = Some(number);
        }
    }

    pub fn block_ended(&mut self, block: BlockId, end: Cycle) {
        if let Some(placed) = self.blocks.iter_mut().rev().find(|p| p.id == block && p.end.is_none()) {
            placed.end = Some(end.get());
            self.resident -= 1;
        }
    }
}
