//! A launch on all SMs, and the placement of its blocks.

use super::issue::SubCore;
use super::memory::{Carried, Memory};
use super::order::Order;
use super::{Given, Sm, kinds};
use crate::blocks::Layout;
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
    let settings = machine.pipeline().expect("a machine with a pipeline");
    let given = Given { table, machine, settings, kinds: kinds(machine, settings) };
    let layout = Layout::of(&blocks[0], resident);
    let (mut memory, last_served) = carried.found(machine, footprint);
    let shared = footprint.shared_bytes * layout.cta_slots() as u64;
    let slots = layout.cta_slots() * blocks[0].warps.len().max(1);
    let slots = slots.max(machine.limits().warps as usize).min(SLOTS);
    let sm = |index| Sm::new(&given, index, layout, slots, shared, setup.policies(machine));
    let mut gpu = Placing {
        sms: (0..machine.sms()).map(sm).collect(),
        waiting: blocks.into_iter(),
        order: Order::new(settings.launch.placement, machine.sms()),
        last_served,
        goes_on: true,
        given: 0,
        ended: Vec::new(),
    };
    let mut now = 0;
    loop {
        if let Some(memory) = &mut memory {
            gpu.sms.iter_mut().for_each(|sm| sm.receive(memory));
            memory.cycle();
        }
        gpu.sms.iter_mut().for_each(|sm| sm.begin(now, memory.as_mut()));
        gpu.change_blocks(layout);
        if gpu.waiting.len() == 0 && gpu.sms.iter().all(|sm| sm.blocks.is_empty()) {
            break;
        }
        gpu.sms.iter_mut().for_each(Sm::end);
        now += 1;
        assert!(now < 1 << 24, "it does not end");
    }
    let last_served = gpu.last_served;
    let ran = gpu.result(memory.as_ref(), layout, now);
    carried.leave(machine, memory, last_served, ran.summary.makespan.get());
    ran
}

/// The SMs, and the blocks that have not been placed.
struct Placing<'a> {
    sms: Vec<Sm<'a>>,
    waiting: std::vec::IntoIter<BlockPaths>,
    order: Order,
    last_served: usize,
    /// Whether rounds follow in the next cycle even if no block ends.
    goes_on: bool,
    given: u64,
    ended: Vec<BlockResult>,
}

impl Placing<'_> {
    /// Removes the blocks that have ended, and places others in rounds. There are rounds in a
    /// cycle if a block ends in it, and if those of the cycle before reached their limit.
    fn change_blocks(&mut self, layout: Layout) {
        loop {
            let ends = self.sms.iter().any(|sm| sm.blocks.has_ended(sm.now));
            if !ends && !self.goes_on {
                return;
            }
            for sm in &mut self.sms {
                sm.take_ended(&mut self.ended);
            }
            self.goes_on = self.place_blocks(layout);
            // a block without instructions ends in the cycle in which it is placed
            if !self.sms.iter().any(|sm| sm.blocks.has_ended(sm.now)) {
                return;
            }
        }
    }

    /// Places blocks, one on each SM with room in each round. Returns whether rounds follow in the
    /// next cycle.
    fn place_blocks(&mut self, layout: Layout) -> bool {
        let launch = self.sms[0].given.settings.launch;
        if self.sms[0].now < launch.first {
            return true;
        }
        for _ in 0..if launch.blocks_per_cycle == 0 { u32::MAX } else { launch.blocks_per_cycle } {
            let mut placed = false;
            for index in self.order.next_round(self.last_served) {
                let sm = &mut self.sms[index];
                if let Some(cta_slot) = sm.blocks.free_cta_slot()
                    && let Some(block) = self.waiting.next()
                {
                    sm.place(cta_slot, block, layout);
                    (self.last_served, placed) = (index, true);
                    self.given += 1;
                }
            }
            if !placed {
                return false;
            }
        }
        true
    }

    fn result(mut self, memory: Option<&Memory>, layout: Layout, now: u64) -> Ran {
        let end = self.sms[0].given.settings.launch.end;
        let (mut stalls, mut sub_cores) = (Stalls::default(), Vec::new());
        let mut memory = memory.map(|memory| MemoryStats { lower: memory.stats(), ..MemoryStats::default() });
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
            blocks: self.given,
            resident_blocks: layout.cta_slots() as u32,
            memory,
        };
        Ran { summary, blocks: self.ended, events: self.sms.into_iter().map(|sm| sm.events).collect() }
    }
}
