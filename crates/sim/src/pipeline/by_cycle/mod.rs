//! A second implementation of the SM, simple and slow, with which tests compare the engine.
//!
//! It simulates every cycle, and every stage in it, whether the stage is empty or not. It computes
//! nothing in advance: collectors read operand by operand, units are checked in each cycle, the
//! load/store unit moves one transaction at a time, caches and DRAM are searched line by line and
//! bank by bank, and the reason for an idle slot is determined anew each time. The two
//! implementations share only what is neither part of the SM nor of memory: paths and timing, the
//! life of blocks, policies, and the reasons of idle slots.

mod choose;
mod codes;
mod collector;
mod fetch;
mod given;
mod issue;
mod launch;
mod load_store;
mod memory;
mod order;
mod registers;
mod supply;
mod traffic;
mod warps;

use std::collections::{BTreeMap, HashMap};

use crate::blocks::{Blocks, Layout};
use crate::key::Key;
use crate::policy::{Placed, Policy, View};
use crate::result::BlockResult;
pub(in crate::pipeline) use choose::Deciders;
pub use choose::{Arbiter, Chooser, Rules};
use codes::Moment;
pub(super) use collector::Collector;
use fetch::Fetch;
pub use given::Given;
use issue::SubCore;
pub use launch::{Launch, Ran, run};
use load_store::LoadStore;
pub use memory::Carried;
use memory::Memory;
use supply::Supply;
use traffic::Transaction;
use warpbound_core::base::{Cycle, WarpMask};
use warpbound_core::path::{BlockPaths, Step};
use warpbound_trace::trace::Event;
use warps::Warp;

/// An instruction that has issued. Instructions are numbered in the order of issue.
#[derive(Clone)]
struct Instr {
    step: Step,
    /// The index of the step in the path of the warp.
    index: usize,
    slot: usize,
    sub_core: usize,
    /// The unit, or the number that stands for the load/store unit.
    unit: usize,
    init: u64,
    total: u64,
    start: u64,
    init_end: u64,
    /// The registers that it writes.
    writes: Vec<usize>,
    /// The banks of its results, and those of them that have not been written yet.
    banks: Vec<usize>,
    unwritten: Vec<usize>,
    /// Its memory traffic, in reverse order of sending.
    traffic: Vec<Transaction>,
    transactions: u32,
    /// The index of its event.
    event: usize,
}

/// An instance of a unit.
#[derive(Clone, Default)]
struct Unit {
    free: u64,
    /// The start cycles of the instructions in its queue, without a collector.
    starts: Vec<u64>,
    /// The cycles in which results leave it.
    leaving: Vec<u64>,
}

/// One SM.
#[derive(Clone)]
struct Sm<'a> {
    given: &'a Given<'a>,
    index: usize,
    now: u64,
    blocks: Blocks,
    rooms: Vec<Option<&'a BlockPaths>>,
    warps: Vec<Warp>,
    /// The warps whose instructions are all complete and that end when fetch passes them.
    complete: WarpMask,
    fetch: Fetch,
    supply: Option<Supply>,
    sub_cores: Vec<SubCore>,
    /// The sub-core that issues first; and whether a block was resident when the cycle began.
    first: usize,
    active: bool,
    instrs: Vec<Instr>,
    collector: Option<Collector>,
    units: Vec<Unit>,
    /// The number of results on buses, by cycle.
    buses: HashMap<u64, u32>,
    /// The instructions by the cycle of their write-back, in the order of insertion.
    done: BTreeMap<u64, Vec<usize>>,
    load_store: Option<LoadStore>,
    /// The banks that are written in this cycle.
    written: Vec<usize>,
    events: Vec<Event>,
}

impl<'a> Sm<'a> {
    fn new(
        given: &'a Given<'a>,
        index: usize,
        layout: Layout,
        (slots, warps): (usize, usize),
        shared: u64,
    ) -> Self {
        let (settings, table) = (given.settings, given.table);
        let sub_cores = table.sub_cores();
        let unit_instances = table.units() * sub_cores.count();
        let file = settings.register_file.filter(|_| table.has_port_reads());
        let sub_core = |index| SubCore::new(sub_cores.slots(index), View::new(), file);
        Self {
            given,
            index,
            now: 0,
            blocks: Blocks::with_refill(layout, given.settings.launch.refill),
            rooms: vec![None; layout.cta_slots()],
            warps: vec![Warp::new(table.regs()); warps],
            complete: WarpMask::empty(),
            fetch: Fetch::new(settings.front_end, slots, table.fetch_end()),
            supply: settings.instruction_caches.map(|caches| Supply::new(caches, sub_cores, table.places())),
            sub_cores: (0..sub_cores.count()).map(sub_core).collect(),
            first: 0,
            active: false,
            instrs: Vec::new(),
            collector: settings.collector.map(|c| Collector::new(c, sub_cores.count(), table.units() + 1)),
            units: vec![Unit::default(); unit_instances],
            buses: HashMap::new(),
            done: BTreeMap::new(),
            load_store: settings
                .load_store
                .map(|unit| LoadStore::new(unit, given.machine.memory(), shared, (index, sub_cores.count()))),
            written: Vec::new(),
            events: Vec::new(),
        }
    }

    /// Receives a reply of memory, if the load/store unit takes one.
    fn receive(&mut self, memory: &mut Memory) {
        let takes = self.load_store.as_ref().is_some_and(LoadStore::takes_replies);
        if let Some(reply) = memory.deliver(self.index, takes) {
            self.load_store.iter_mut().for_each(|unit| unit.receive(&reply));
        }
    }

    /// Simulates the first part of a cycle, up to the point at which blocks are placed.
    fn begin(&mut self, now: u64, memory: Option<&mut Memory>, deciders: &mut Deciders) {
        if now > 0 {
            if self.given.settings.issue.rotate && self.active {
                self.first = (self.first + 1) % self.sub_cores.len();
            }
            self.active = !self.blocks.is_empty();
        }
        self.now = now;
        self.written.clear();
        for id in self.done.remove(&now).unwrap_or_default() {
            self.written.extend_from_slice(&self.instrs[id].banks);
            self.complete(id);
        }
        self.load_and_store(memory, deciders);
        self.release_barriers();
    }

    /// Simulates the second part of the cycle.
    fn end(&mut self, deciders: &mut Deciders) {
        self.begin_blocks(deciders);
        self.collect(deciders);
        self.lift_fences();
        let count = self.sub_cores.len();
        let mut left: Vec<usize> = (0..count).collect();
        while let Some(sub_core) =
            deciders.choose(Arbiter::SubCore, &left, |sub_core| (sub_core + count - self.first) % count)
        {
            left.retain(|&other| other != sub_core);
            self.issue(sub_core, deciders);
        }
        let passed = self.fetch.cycle(self.now, self.blocks.live(), &mut self.complete, deciders);
        self.supply.iter_mut().for_each(|supply| supply.cycle(self.now));
        for slot in passed {
            self.blocks.over(slot, self.warps[slot].last_done, self.now + 1);
        }
    }

    /// Simulates the collector and the units behind it, which start with the next cycle.
    fn collect(&mut self, deciders: &mut Deciders) {
        let Some(collector) = &mut self.collector else { return };
        collector.cycle(&self.written, deciders);
        let at = self.now + 1;
        loop {
            let Some(collector) = &self.collector else { return };
            let waiting = collector.output.iter().filter(|((unit, _), _)| *unit != self.given.memory());
            let can: Vec<_> = waiting.filter(|&(_, &id)| self.can_start(id, at)).collect();
            let chosen = deciders.choose(Arbiter::Start, &can, |(&place, _)| place);
            let Some((place, id)) = chosen.map(|(&place, &id)| (place, id)) else { return };
            self.collector.iter_mut().for_each(|collector| {
                collector.output.remove(&place);
            });
            self.start(id, at);
        }
    }

    /// Returns whether the unit of an instruction and the result buses let it start in a cycle.
    fn can_start(&self, id: usize, at: u64) -> bool {
        let instr = &self.instrs[id];
        let unit = &self.units[self.given.instance(instr.unit, instr.sub_core)];
        let leaves = at + instr.total;
        let taken = self.buses.get(&leaves).copied().unwrap_or(0);
        let has_bus = self.given.settings.result_buses.is_none_or(|buses| taken < buses);
        unit.free <= at && !unit.leaving.contains(&leaves) && has_bus
    }

    /// Starts an instruction in a cycle in which it can start.
    fn start(&mut self, id: usize, at: u64) {
        let instr = &mut self.instrs[id];
        let unit = &mut self.units[self.given.instance(instr.unit, instr.sub_core)];
        let leaves = at + instr.total;
        *self.buses.entry(leaves).or_default() += 1;
        unit.free = at + instr.init;
        unit.leaving.retain(|&other| other > self.now);
        unit.leaving.push(leaves);
        (instr.start, instr.init_end) = (at, at + instr.init);
        self.done.entry(leaves + self.given.settings.write_back).or_default().push(id);
        let read = instr.init_end;
        self.signal(id, Moment::SourcesRead, read);
    }

    /// Completes an instruction.
    fn complete(&mut self, id: usize) {
        let instr = &self.instrs[id];
        if let Event::Issued(issue) = &mut self.events[instr.event] {
            issue.start = Cycle::new(instr.start);
            issue.init_end = Cycle::new(instr.init_end);
            issue.done = Cycle::new(self.now);
        }
        let (slot, warp) = (instr.slot, &mut self.warps[instr.slot]);
        for &reg in &instr.writes {
            if warp.pending[reg].is_some_and(|(writer, _)| writer == id) {
                warp.pending[reg] = None;
            }
        }
        warp.in_flight -= 1;
        warp.last_done = self.now;
        self.signal(id, Moment::Done, self.now);
        self.warp_may_be_over(slot);
    }

    fn place(&mut self, place: usize, block: &'a BlockPaths, layout: Layout, deciders: &mut Deciders) {
        if layout.is_one() {
            deciders.policies_of(self.index).iter_mut().for_each(Policy::restart);
        }
        self.rooms[place] = Some(block);
        let begins = self.now + self.given.settings.launch.start;
        let start = self.blocks.place(place, block, self.now, begins);
        self.events.push(Event::BlockStarted(start));
        if begins == self.now {
            self.begin_block(place, deciders);
        }
        self.active |= self.fetch.ends_warps();
    }

    fn begin_blocks(&mut self, deciders: &mut Deciders) {
        while let Some(place) = self.blocks.to_begin(self.now) {
            self.begin_block(place, deciders);
        }
    }

    fn begin_block(&mut self, place: usize, deciders: &mut Deciders) {
        let placed = self.blocks.begin(place);
        for sub_core in &mut self.sub_cores {
            sub_core.view.by_age.push(placed.slots & sub_core.slots);
        }
        for (sub_core, policy) in self.sub_cores.iter().zip(deciders.policies_of(self.index)) {
            policy.placed(&Placed { slots: placed.slots & sub_core.slots, ..placed });
        }
        let paths = self.rooms[place].into_iter().flat_map(|block| &block.warps);
        for (slot, path) in placed.slots.slots().zip(paths) {
            self.warps[slot].begin(path, self.given, self.now);
            self.fetch.flush(slot, 0);
            self.supply.iter_mut().for_each(|supply| supply.start(slot));
            self.go_on(slot);
        }
        for slot in placed.slots.slots() {
            self.forget_codes(slot);
            self.sub_cores.iter_mut().filter_map(|sub| sub.registers.as_mut()).for_each(|r| r.forget(slot));
        }
        self.finish_without_step(placed.slots);
    }

    /// Tells the instruction caches the next instruction of a warp that starts or has issued one.
    fn go_on(&mut self, slot: usize) {
        if let (Some(supply), Some(step)) = (&mut self.supply, self.warps[slot].next_step()) {
            supply.goes_to(slot, self.given.table.place(step.pc()), self.now);
        }
    }

    fn take_ended(&mut self, ended: &mut Vec<BlockResult>, deciders: &mut Deciders) {
        let mut result = BlockResult::default();
        while let Some(gone) = self.blocks.take_ended(self.now, &mut result) {
            for sub_core in &mut self.sub_cores {
                sub_core.view.by_age.remove(gone.older);
            }
            if self.fetch.ends_warps() {
                self.active = !self.blocks.is_empty();
            }
            self.events.push(Event::BlockEnded { block: result.block, end: Cycle::new(self.now) });
            for policy in deciders.policies_of(self.index) {
                policy.ended(result.block).expect("no policy here fails");
            }
            ended.push(result.clone());
        }
    }

    fn release_barriers(&mut self) {
        while let Some(release) = self.blocks.release(self.now) {
            self.events.push(Event::BarrierReleased(release));
            self.finish_without_step(release.slots);
        }
    }

    fn finish_without_step(&mut self, slots: WarpMask) {
        for slot in slots.slots() {
            if !self.warps[slot].has_next {
                self.finish(slot);
            }
        }
    }

    /// Records that a warp has no instruction left to issue.
    fn finish(&mut self, slot: usize) {
        let warp = &self.warps[slot];
        self.blocks.left(slot, warp.next as u32, warp.last_issue, self.now);
        self.warp_may_be_over(slot);
    }

    fn warp_may_be_over(&mut self, slot: usize) {
        let warp = &self.warps[slot];
        let rests = warp.in_flight == 0 && warp.stores == 0;
        if self.blocks.live().has(slot) || !rests || self.blocks.is_over(slot) || self.complete.has(slot) {
            return;
        }
        let done = warp.last_done;
        if self.fetch.ends_warps() {
            self.complete |= WarpMask::slot(slot);
        } else {
            self.blocks.over(slot, done, self.now);
        }
        self.events.push(Event::WarpFinished(self.blocks.finish(slot, done)));
    }

    fn lift_fences(&mut self) {
        for warp in self.warps.iter_mut().filter(|warp| warp.fenced) {
            warp.fenced = warp.pending.iter().any(Option::is_some);
        }
    }

    /// Adds the SM to the key of a state at the beginning of cycle `now`.
    fn key(&self, now: u64, key: &mut Key) {
        let sm = self.index;
        self.blocks.key(now, key);
        for (_, slots) in self.blocks.residents() {
            slots.slots().for_each(|slot| self.warps[slot].key(sm, now, key));
        }
        key.put(self.complete.bits());
        self.fetch.key(now, self.blocks.live(), key);
        if let Some(supply) = &self.supply {
            supply.key(now, self.blocks.live(), key);
        }
        if let Some(collector) = &self.collector {
            collector.key(sm, key);
        }
        for registers in self.sub_cores.iter().filter_map(|sub_core| sub_core.registers.as_ref()) {
            registers.key(now, key);
        }
        for Unit { free, starts, leaving } in &self.units {
            key.until(*free, now);
            let later = |times: &[u64]| -> Vec<u64> {
                times.iter().filter(|&&at| at > now).map(|at| at - now).collect()
            };
            key.sorted(later(starts));
            key.sorted(later(leaving));
        }
        let buses = self.buses.iter().filter(|&(&at, _)| at > now);
        key.sorted(buses.map(|(at, &taken)| (at - now) << 32 | u64::from(taken)));
        key.list(&self.done, |key, (at, ids)| {
            key.until(*at, now);
            let names: Vec<u64> = ids.iter().map(|&id| key.name(sm, id)).collect();
            key.sorted(names);
        });
        if let Some(unit) = &self.load_store {
            unit.key(now, key);
            let unwritten = |id: usize| self.instrs[id].unwritten.len();
            key.put(unit.writing().map_or(0, unwritten) as u64);
        }
    }
}
