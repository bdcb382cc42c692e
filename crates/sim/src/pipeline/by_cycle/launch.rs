//! A launch on all SMs, and the placement of its blocks.

use super::choose::{Chooser, Deciders, Rules};
use super::given::Given;
use super::issue::SubCore;
use super::memory::{Carried, Memory};
use super::order::Order;
use super::{Instr, Sm};
use crate::blocks::Layout;
use crate::key::Key;
use crate::result::{BlockResult, MemoryStats, SimSummary, SubCoreResult};
use crate::{PolicySetup, SLOTS};
use warpbound_core::base::{Cycles, WarpMask};
use warpbound_core::machine::Machine;
use warpbound_core::path::{BlockPaths, Footprint};
use warpbound_core::program::TimingTable;
use warpbound_trace::trace::{Event, Stalls};

/// The outcome of a launch.
pub struct Ran {
    /// The totals.
    pub summary: SimSummary,
    /// The blocks, in the order of their ends.
    pub blocks: Vec<BlockResult>,
    /// The events, by SM.
    pub events: Vec<Vec<Event>>,
}

/// Simulates a launch of these blocks, which starts from what other launches have left.
pub fn run(
    machine: &Machine,
    table: &TimingTable,
    setup: &PolicySetup,
    resident: u32,
    footprint: &Footprint,
    blocks: Vec<BlockPaths>,
    carried: &mut Carried,
) -> Ran {
    let given = Given::new(machine, table).expect("a machine with a pipeline");
    let mut launch = Launch::new(&given, resident, footprint, &blocks, carried);
    let policies = (0..machine.sms()).map(|_| setup.policies(machine)).collect();
    let mut deciders = Deciders { policies, chooser: &mut Rules };
    while !launch.cycle(&mut deciders) {}
    let (last_served, layout) = (launch.last_served, launch.layout);
    let (ran, memory) = launch.result(layout);
    carried.leave(machine, memory, last_served, ran.summary.makespan.get());
    ran
}

/// A launch in some cycle: the SMs, memory, and the blocks that have not been placed.
#[derive(Clone)]
pub struct Launch<'a> {
    pub(super) given: &'a Given<'a>,
    pub(super) sms: Vec<Sm<'a>>,
    pub(super) memory: Option<Memory>,
    layout: Layout,
    /// The cycle that is simulated next.
    pub(super) now: u64,
    pub(super) waiting: std::slice::Iter<'a, BlockPaths>,
    order: Order,
    pub(super) last_served: usize,
    /// Whether rounds follow in the next cycle even if no block ends.
    pub(super) goes_on: bool,
    placed: u64,
    ended: Vec<BlockResult>,
}

impl<'a> Launch<'a> {
    /// Begins a launch of these blocks, which starts from what other launches have left.
    pub fn new(
        given: &'a Given<'a>,
        resident: u32,
        footprint: &Footprint,
        blocks: &'a [BlockPaths],
        carried: &mut Carried,
    ) -> Self {
        let machine = given.machine;
        let layout = Layout::of(&blocks[0], resident);
        let (memory, last_served) = carried.found(machine, footprint);
        let shared = footprint.shared_bytes * layout.cta_slots() as u64;
        let warps = blocks.iter().map(|block| block.warps.len()).max().unwrap_or(0).max(1);
        let slots = layout.cta_slots() * blocks[0].warps.len().max(1);
        let slots = slots.max(machine.limits().warps as usize).min(SLOTS);
        let warps = layout.first_slot(layout.cta_slots() - 1) + warps;
        let sm = |index| Sm::new(given, index, layout, (slots, warps), shared);
        Self {
            given,
            sms: (0..machine.sms()).map(sm).collect(),
            memory,
            layout,
            now: 0,
            waiting: blocks.iter(),
            order: Order::new(given.settings.launch.placement, machine.sms()),
            last_served,
            goes_on: true,
            placed: 0,
            ended: Vec::new(),
        }
    }

    /// Simulates a cycle in which the chooser decides in all arbiters, and which warps issue.
    /// Returns the makespan, if the launch is over.
    pub fn cycle_by(&mut self, chooser: &mut dyn Chooser) -> Option<u64> {
        let mut deciders = Deciders { policies: Vec::new(), chooser };
        self.cycle(&mut deciders).then(|| self.now + self.given.settings.launch.end)
    }

    /// Simulates a cycle. Returns whether the launch is over.
    pub(super) fn cycle(&mut self, deciders: &mut Deciders) -> bool {
        let now = self.now;
        if let Some(memory) = &mut self.memory {
            self.sms.iter_mut().for_each(|sm| sm.receive(memory));
            memory.cycle(deciders);
        }
        for sm in &mut self.sms {
            sm.begin(now, self.memory.as_mut(), deciders);
        }
        self.change_blocks(deciders);
        if self.waiting.len() == 0 && self.sms.iter().all(|sm| sm.blocks.is_empty()) {
            return true;
        }
        self.sms.iter_mut().for_each(|sm| sm.end(deciders));
        self.now += 1;
        assert!(self.now < 1 << 24, "it does not end");
        false
    }

    /// Removes the blocks that have ended, and places others in rounds. There are rounds in a
    /// cycle if a block ends in it, and if those of the cycle before reached their limit.
    fn change_blocks(&mut self, deciders: &mut Deciders) {
        loop {
            let ends = self.sms.iter().any(|sm| sm.blocks.has_ended(sm.now));
            if !ends && !self.goes_on {
                return;
            }
            for sm in &mut self.sms {
                sm.take_ended(&mut self.ended, deciders);
            }
            self.goes_on = self.place_blocks(deciders);
            // a block without instructions ends in the cycle in which it is placed
            if !self.sms.iter().any(|sm| sm.blocks.has_ended(sm.now)) {
                return;
            }
        }
    }

    /// Places blocks, one on each SM with room in each round, until the numbers of a cycle are
    /// reached. Returns whether rounds follow in the next cycle.
    fn place_blocks(&mut self, deciders: &mut Deciders) -> bool {
        let launch = self.given.settings.launch;
        if self.now < launch.first {
            return true;
        }
        let limit = |number: u32| if number == 0 { u32::MAX } else { number };
        let mut left = limit(launch.total_blocks_per_cycle);
        for _ in 0..limit(launch.blocks_per_cycle) {
            let mut placed = false;
            for index in self.order.next_round(self.last_served) {
                if left == 0 {
                    return true;
                }
                let sm = &mut self.sms[index];
                if let Some(cta_slot) = sm.blocks.free_cta_slot()
                    && let Some(block) = self.waiting.next()
                {
                    sm.place(cta_slot, block, self.layout, deciders);
                    (self.last_served, placed) = (index, true);
                    left -= 1;
                    self.placed += 1;
                }
            }
            if !placed {
                return false;
            }
        }
        true
    }

    /// Returns the results, and memory.
    fn result(mut self, layout: Layout) -> (Ran, Option<Memory>) {
        let (now, end) = (self.now, self.given.settings.launch.end);
        let (mut stalls, mut sub_cores) = (Stalls::default(), Vec::new());
        let stats = |memory: &Memory| MemoryStats { lower: memory.stats(), ..MemoryStats::default() };
        let mut memory = self.memory.as_ref().map(stats);
        for sm in &mut self.sms {
            for sub_core in 0..sm.sub_cores.len() {
                if end > 0 {
                    sm.idle(sub_core, WarpMask::empty(), WarpMask::empty());
                }
                sm.now = now + end;
                sm.end_idle(sub_core);
                sm.now = now;
                let SubCore { issues, stalls: of_sub_core, .. } = sm.sub_cores[sub_core];
                sub_cores.push(SubCoreResult { issues, stalls: of_sub_core });
                stalls += of_sub_core;
            }
            if let (Some(memory), Some(unit)) = (&mut memory, &sm.load_store) {
                unit.add_stats(memory);
            }
        }
        let summary = SimSummary {
            makespan: Cycles::new(now + end),
            issues: sub_cores.iter().map(|used| used.issues).sum(),
            stalls,
            sub_cores,
            blocks: self.placed,
            resident_blocks: layout.cta_slots() as u32,
            memory,
        };
        let events = self.sms.into_iter().map(|sm| sm.events).collect();
        (Ran { summary, blocks: self.ended, events }, self.memory)
    }

    /// Returns the key of the state. Launches of the same blocks on the same machine with equal keys
    /// have equal futures under equal choices.
    pub fn key(&self) -> Box<[u8]> {
        let name = |instr: &Instr| (instr.index * SLOTS + instr.slot) as u64;
        let mut key = Key::new(self.sms.iter().map(|sm| sm.instrs.iter().map(name).collect()).collect());
        key.put(self.waiting.len() as u64);
        key.put(self.last_served as u64);
        key.put(self.goes_on.into());
        key.until(self.given.settings.launch.first, self.now);
        self.sms.iter().for_each(|sm| sm.key(self.now, &mut key));
        if let Some(memory) = &self.memory {
            memory.key(&mut key);
        }
        key.into_bytes()
    }

    /// Returns the cycle that is simulated next.
    pub fn now(&self) -> u64 {
        self.now
    }
}
