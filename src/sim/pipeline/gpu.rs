//! A launch on one or more SMs.

use super::memory::{Lower, MemoryStats};
use super::sm::Sm;
use crate::base::{Cycle, Cycles, WarpId};
use crate::machine::Machine;
use crate::machine::memory::LowerLevel;
use crate::machine::pipeline::Pipeline;
use crate::path::{BlockPaths, BlockSource, Footprint};
use crate::program::TimingTable;
use crate::sim::SLOTS;
use crate::sim::error::{Deadlock, RunError, SimError};
use crate::sim::launch::{BlockResult, SimSummary, SubCoreResult};
use crate::sim::policy::Policy;
use crate::trace::{Observer, StallReason, Stalls};

/// What a launch runs on.
pub(in crate::sim) struct Setup<'a> {
    pub table: &'a TimingTable,
    pub machine: &'a Machine,
    pub pipeline: &'a Pipeline,
    /// Blocks that an SM holds at a time.
    pub resident_blocks: u32,
}

/// Simulates a launch; see [`crate::sim::simulate`].
pub(in crate::sim) fn launch<S: BlockSource, P: Policy + Clone, O: Observer>(
    source: &mut S,
    setup: &Setup<'_>,
    policies: &[P],
    observer: &mut O,
    mut on_block: impl FnMut(&BlockResult, &BlockPaths),
) -> Result<SimSummary, SimError<S::Error>> {
    let mut first = BlockPaths::default();
    let there = source.next_block(&mut first).map_err(SimError::Source)?;
    let warps = first.warps.len().max(1);
    if warps > SLOTS {
        return Err(RunError::TooManyWarps { block: first.block, warps, slots: SLOTS }.into());
    }
    let places = (setup.resident_blocks as usize).clamp(1, SLOTS / warps);
    let slots = (places * warps).max(setup.machine.limits().warps as usize).min(SLOTS);
    let Setup { table, machine, pipeline, .. } = setup;
    let sms = machine.sms();
    let footprint = source.footprint();
    let shared_bytes = footprint.shared_bytes * places as u64;
    let mut lower = lower_level(machine, &footprint);
    let mut gpu = Gpu {
        sms: (0..sms)
            .map(|sm| Sm::new(table, machine, pipeline, places, slots, (sm, shared_bytes)))
            .collect(),
        policies: vec![policies.to_vec(); sms],
        waiting: there.then_some(first),
        exhausted: !there,
        last_served: sms - 1,
        stride: warps,
        blocks: 0,
    };
    // only one SM can be watched: events of several would interleave
    gpu.sms[0].listening = observer.is_active();
    let mut result = BlockResult::default();
    loop {
        if let Some(lower) = &mut lower {
            gpu.sms.iter_mut().for_each(|sm| sm.receive(lower));
            lower.cycle();
        }
        gpu.sms.iter_mut().for_each(|sm| sm.begin_cycle(lower.as_mut()));
        // a block without instructions ends in the cycle in which it is placed
        loop {
            for (sm, policies) in gpu.sms.iter_mut().zip(&mut gpu.policies) {
                while let Some(place) = sm.take_ended(&mut result) {
                    for policy in &mut *policies {
                        policy.ended(result.block).map_err(RunError::from)?;
                    }
                    on_block(&result, &sm.rooms[place]);
                }
            }
            gpu.place_blocks(source, places == 1)?;
            if !gpu.sms.iter().any(Sm::has_ended) {
                break;
            }
        }
        if gpu.exhausted && gpu.sms.iter().all(Sm::is_empty) {
            let summary = gpu.summary(pipeline.launch.end, observer);
            return Ok(SimSummary { memory: lower.map(|lower| gpu.memory_stats(&lower)), ..summary });
        }
        for (index, (sm, policies)) in gpu.sms.iter_mut().zip(&mut gpu.policies).enumerate() {
            sm.bear_due(policies);
            if index == 0 {
                sm.end_cycle(policies, observer)?;
            } else {
                sm.end_cycle(policies, &mut ())?;
            }
        }
        let now = gpu.sms[0].now;
        let replies = lower.as_ref().map_or(u64::MAX, |lower| lower.quiet_for().saturating_add(now + 1));
        let next = gpu.sms.iter().map(Sm::next_event).min().unwrap_or(u64::MAX).min(replies);
        if next == u64::MAX {
            return Err(RunError::Deadlock(gpu.deadlock()).into());
        }
        if let Some(lower) = &mut lower {
            lower.skip(next - now - 1);
        }
        gpu.sms.iter_mut().for_each(|sm| sm.advance_to(next));
    }
}

/// What is behind the SMs, if it has to be simulated: a load/store unit without an L1 has perfect
/// memory for itself.
fn lower_level(machine: &Machine, footprint: &Footprint) -> Option<Lower> {
    let memory = machine.memory();
    machine.pipeline()?.load_store?;
    if memory.lower == LowerLevel::Perfect && memory.l1.is_none() {
        return None;
    }
    let mut lower = Lower::new(memory, machine.sms());
    footprint.buffers.iter().for_each(|&(address, bytes)| lower.preload(address, bytes));
    Some(lower)
}

struct Gpu<'a, P> {
    sms: Vec<Sm<'a>>,
    /// Per SM and sub-core.
    policies: Vec<Vec<P>>,
    /// The next block, if it has been fetched already.
    waiting: Option<BlockPaths>,
    exhausted: bool,
    /// The SM that got a block last.
    last_served: usize,
    /// Slots from one block of an SM to the next.
    stride: usize,
    blocks: u64,
}

impl<P: Policy> Gpu<'_, P> {
    /// Every SM with room gets a block, or as many as it may in a cycle, round robin.
    fn place_blocks<S: BlockSource>(
        &mut self,
        source: &mut S,
        restart: bool,
    ) -> Result<(), SimError<S::Error>> {
        let after = self.last_served + 1;
        for n in 0..self.sms.len() {
            let index = (after + n) % self.sms.len();
            let sm = &mut self.sms[index];
            let limit = match sm.settings.launch.blocks_per_cycle {
                0 => usize::MAX,
                limit => limit as usize,
            };
            for _ in 0..limit {
                if self.exhausted {
                    return Ok(());
                }
                let Some(place) = sm.free_place() else { break };
                match self.waiting.take() {
                    Some(block) => sm.rooms[place] = block,
                    None => {
                        if !source.next_block(&mut sm.rooms[place]).map_err(SimError::Source)? {
                            self.exhausted = true;
                            return Ok(());
                        }
                    }
                }
                let room = &sm.rooms[place];
                let (warps, slots) = (room.warps.len(), if restart { SLOTS } else { self.stride });
                if warps > slots {
                    return Err(RunError::TooManyWarps { block: room.block, warps, slots }.into());
                }
                if restart {
                    self.policies[index].iter_mut().for_each(Policy::restart);
                }
                sm.place(place, place * self.stride, &mut self.policies[index]);
                self.last_served = index;
                self.blocks += 1;
            }
        }
        Ok(())
    }

    fn summary<O: Observer>(&mut self, end: u64, observer: &mut O) -> SimSummary {
        let now = self.sms[0].now;
        let mut stalls = Stalls::default();
        let mut sub_cores = Vec::new();
        for sm in &mut self.sms {
            for sub in 0..sm.subs.len() {
                for _ in 0..end {
                    sm.idle(sub, StallReason::Drain, None);
                    sm.now += 1;
                }
                sm.now = now;
                sm.end_idle(sub);
                stalls += sm.subs[sub].stalls;
                sub_cores.push(SubCoreResult { issues: sm.subs[sub].issues, stalls: sm.subs[sub].stalls });
            }
        }
        self.sms[0].log.tell(observer);
        SimSummary {
            makespan: Cycles::new(now + end),
            issues: self.sms.iter().map(|sm| sm.issues).sum(),
            stalls,
            sub_cores,
            blocks: self.blocks,
            resident_blocks: self.sms[0].rooms.len() as u32,
            memory: None,
        }
    }

    fn memory_stats(&self, lower: &Lower) -> MemoryStats {
        let mut stats = MemoryStats { lower: lower.stats(), ..MemoryStats::default() };
        for l1 in self.sms.iter().filter_map(|sm| sm.load_store.as_ref()?.l1.as_ref()) {
            stats.l1.add(l1.cache.stats());
        }
        stats
    }

    fn deadlock(&self) -> Deadlock {
        let of_sm = |sm: &Sm<'_>| {
            let warp = |slot: usize| {
                let warp = sm.warps[slot];
                let resident = &sm.residents[warp.place as usize];
                let last = (warp.next as usize).checked_sub(1).map(|i| sm.path(slot).steps()[i].pc());
                (resident.block, WarpId::from_index(slot - resident.first_slot), last)
            };
            sm.live.slots().map(warp).collect::<Vec<_>>()
        };
        Deadlock { cycle: Cycle::new(self.sms[0].now), warps: self.sms.iter().flat_map(of_sm).collect() }
    }
}
