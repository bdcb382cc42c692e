//! A second implementation of the SM, simple and slow, with which tests compare the engine.
//!
//! It simulates every cycle, and every stage in it, whether the stage is empty or not. It computes
//! nothing in advance: collectors read operand by operand, units are checked in each cycle, the
//! load/store unit moves one transaction at a time, caches and DRAM are searched line by line and
//! bank by bank, and the reason for an idle slot is determined anew each time. The two
//! implementations share only what is neither part of the SM nor of memory: paths and timing, the
//! life of blocks, policies, and the reasons of idle slots.

mod codes;
mod collector;
mod fetch;
mod issue;
mod launch;
mod load_store;
mod memory;
mod order;
mod traffic;
mod warps;

use std::collections::{BTreeMap, HashMap};

use crate::SLOTS;
use crate::blocks::{Blocks, Layout};
use crate::policy::{AnyPolicy, Placed, Policy, View};
use crate::result::BlockResult;
use codes::Moment;
pub(super) use collector::Collector;
use fetch::Fetch;
use issue::SubCore;
pub use launch::{Ran, run};
use load_store::LoadStore;
pub use memory::Carried;
use memory::Memory;
use traffic::Transaction;
use warpbound_core::base::{Cycle, UnitId, WarpMask};
use warpbound_core::machine::{Machine, Pipeline};
use warpbound_core::path::{BlockPaths, Step};
use warpbound_core::program::TimingTable;
use warpbound_trace::trace::Event;
use warps::Warp;

/// An instruction that has issued. Instructions are numbered in the order of issue.
struct Instr {
    step: Step,
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

/// The data that all SMs share.
struct Given<'a> {
    table: &'a TimingTable,
    machine: &'a Machine,
    settings: &'a Pipeline,
    /// For each unit, with the load/store unit last, its rank in the order of entry to the
    /// collector.
    kinds: Vec<usize>,
}

impl Given<'_> {
    /// Returns the number of the load/store unit.
    fn memory(&self) -> usize {
        self.table.units()
    }

    fn instance(&self, unit: usize, sub_core: usize) -> usize {
        self.table.sub_cores().instance(UnitId::from_index(unit), sub_core, self.table.units())
    }

    /// Returns the bank of a register of a warp.
    fn bank(&self, reg: warpbound_core::base::RegId, slot: usize, sub_core: usize) -> usize {
        let all = self.settings.collector.map_or(0, |collector| collector.banks as usize);
        let banks = (all / self.table.sub_cores().count()).max(1);
        sub_core * banks + (self.table.reg_number(reg) + slot) % banks
    }
}

/// One SM.
struct Sm<'a> {
    given: &'a Given<'a>,
    index: usize,
    now: u64,
    blocks: Blocks,
    rooms: Vec<BlockPaths>,
    warps: Vec<Warp>,
    /// The warps whose instructions are all complete and that end when fetch passes them.
    complete: WarpMask,
    fetch: Fetch,
    sub_cores: Vec<SubCore>,
    policies: Vec<AnyPolicy<'a>>,
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

/// Returns the order of the units at the collector; the last element is the load/store unit.
fn kinds(machine: &Machine, settings: &Pipeline) -> Vec<usize> {
    let named = |name: &str| settings.collect.iter().position(|other| other == name);
    let units = machine.units().iter().map(|unit| unit.name.as_str());
    let mut ranks: Vec<(usize, usize)> =
        units.enumerate().map(|(unit, name)| named(name).map_or((2, unit), |place| (1, place))).collect();
    // units without a configured position follow the others, except for the load/store unit, which
    // comes first
    ranks.push(named("memory").map_or((0, 0), |place| (1, place)));
    let mut order: Vec<usize> = (0..ranks.len()).collect();
    order.sort_by_key(|&unit| ranks[unit]);
    (0..ranks.len()).map(|unit| order.iter().position(|&other| other == unit).unwrap()).collect()
}

impl<'a> Sm<'a> {
    fn new(
        given: &'a Given<'a>,
        index: usize,
        layout: Layout,
        slots: usize,
        shared: u64,
        policies: Vec<AnyPolicy<'a>>,
    ) -> Self {
        let (settings, table) = (given.settings, given.table);
        let sub_cores = table.sub_cores();
        let unit_instances = table.units() * sub_cores.count();
        let sub_core = |index| SubCore::new(sub_cores.slots(index), View::new());
        Self {
            given,
            index,
            now: 0,
            blocks: Blocks::new(layout),
            rooms: vec![BlockPaths::default(); layout.cta_slots()],
            warps: (0..SLOTS).map(|_| Warp::new(table.regs())).collect(),
            complete: WarpMask::empty(),
            fetch: Fetch::new(settings.front_end, slots, table.fetch_end()),
            sub_cores: (0..sub_cores.count()).map(sub_core).collect(),
            policies,
            first: 0,
            active: false,
            instrs: Vec::new(),
            collector: settings.collector.map(|c| Collector::new(c, sub_cores.count(), table.units() + 1)),
            units: vec![Unit::default(); unit_instances],
            buses: HashMap::new(),
            done: BTreeMap::new(),
            load_store: settings
                .load_store
                .map(|unit| LoadStore::new(unit, given.machine.memory(), shared, index)),
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
    fn begin(&mut self, now: u64, memory: Option<&mut Memory>) {
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
        self.load_and_store(memory);
        self.release_barriers();
    }

    /// Simulates the second part of the cycle.
    fn end(&mut self) {
        self.begin_blocks();
        self.collect();
        self.lift_fences();
        for n in 0..self.sub_cores.len() {
            self.issue((self.first + n) % self.sub_cores.len());
        }
        let passed = self.fetch.cycle(self.now, self.blocks.live(), &mut self.complete);
        for slot in passed {
            self.blocks.over(slot, self.warps[slot].last_done, self.now + 1);
        }
    }

    /// Simulates the collector and the units behind it, which start with the next cycle.
    fn collect(&mut self) {
        let Some(collector) = &mut self.collector else { return };
        collector.cycle(&self.written);
        let at = self.now + 1;
        for unit in 0..self.given.memory() {
            for sub_core in 0..self.sub_cores.len() {
                let place = (unit, sub_core);
                if let Some(&id) = self.collector.as_ref().and_then(|collector| collector.output.get(&place))
                    && self.starts(id, at)
                {
                    self.collector.iter_mut().for_each(|collector| {
                        collector.output.remove(&place);
                    });
                }
            }
        }
    }

    /// Starts an instruction in a cycle, and returns whether its unit could.
    fn starts(&mut self, id: usize, at: u64) -> bool {
        let instr = &mut self.instrs[id];
        let unit = &mut self.units[self.given.instance(instr.unit, instr.sub_core)];
        let leaves = at + instr.total;
        if unit.free > at || unit.leaving.contains(&leaves) {
            return false;
        }
        if let Some(buses) = self.given.settings.result_buses {
            let taken = self.buses.entry(leaves).or_default();
            if *taken >= buses {
                return false;
            }
            *taken += 1;
        }
        unit.free = at + instr.init;
        unit.leaving.retain(|&other| other > self.now);
        unit.leaving.push(leaves);
        (instr.start, instr.init_end) = (at, at + instr.init);
        self.done.entry(leaves + self.given.settings.write_back).or_default().push(id);
        let read = instr.init_end;
        self.signal(id, Moment::SourcesRead, read);
        true
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

    fn place(&mut self, place: usize, block: BlockPaths, layout: Layout) {
        if layout.is_one() {
            self.policies.iter_mut().for_each(Policy::restart);
        }
        self.rooms[place] = block;
        let begins = self.now + self.given.settings.launch.start;
        let start = self.blocks.place(place, &self.rooms[place], self.now, begins);
        self.events.push(Event::BlockStarted(start));
        if begins == self.now {
            self.begin_block(place);
        }
        self.active |= self.fetch.ends_warps();
    }

    fn begin_blocks(&mut self) {
        while let Some(place) = self.blocks.to_begin(self.now) {
            self.begin_block(place);
        }
    }

    fn begin_block(&mut self, place: usize) {
        let placed = self.blocks.begin(place);
        for (sub_core, policy) in self.sub_cores.iter_mut().zip(&mut self.policies) {
            let slots = placed.slots & sub_core.slots;
            sub_core.view.by_age.push(slots);
            policy.placed(&Placed { slots, ..placed });
        }
        for (slot, path) in placed.slots.slots().zip(&self.rooms[place].warps) {
            self.warps[slot].begin(path, self.given, self.now);
            self.fetch.flush(slot, 0);
        }
        placed.slots.slots().for_each(|slot| self.forget_codes(slot));
        self.finish_without_step(placed.slots);
    }

    fn take_ended(&mut self, ended: &mut Vec<BlockResult>) {
        let mut result = BlockResult::default();
        while let Some(gone) = self.blocks.take_ended(self.now, &mut result) {
            for sub_core in &mut self.sub_cores {
                sub_core.view.by_age.remove(gone.older);
            }
            if self.fetch.ends_warps() {
                self.active = !self.blocks.is_empty();
            }
            self.events.push(Event::BlockEnded { block: result.block, end: Cycle::new(self.now) });
            for policy in &mut self.policies {
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
}
