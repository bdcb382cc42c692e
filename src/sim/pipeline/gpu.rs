//! A launch on one or more SMs.
//!
//! SMs share the blocks of the launch and the memory behind them, and nothing else. Both are
//! served between two parts of a cycle: first every SM in turn takes replies, sends requests and
//! gets blocks; then each goes through its own stages, for itself. The second part may run on
//! several threads, which therefore cannot change a cycle.

use super::memory::Lower;

use super::Sm;
use super::code::Code;
use super::cores::{Core, Worker};
use super::order::Order;
use super::samples::Told;
use crate::base::{Cycle, Cycles, WarpMask};
use crate::machine::Machine;
use crate::machine::Pipeline;
use crate::machine::memory::LowerLevel;
use crate::path::Footprint;
use crate::sim::SLOTS;
use crate::sim::error::{Deadlock, RunError, SimError};
use crate::sim::policy::Policy;
use crate::sim::result::{BlockResult, MemoryStats, SimSummary, SubCoreResult};
use crate::sim::supply::Supply;
use crate::sim::supply::{Kept, On, OnBlock};
use crate::trace::{Observer, Stalls};

/// Simulates a launch on a machine with this pipeline; see [`crate::sim::simulate`].
pub(in crate::sim) fn launch(
    supply: &mut Supply<'_, '_>,
    on: &On<'_>,
    pipeline: &Pipeline,
    observer: &mut dyn Observer,
    on_block: &mut OnBlock<'_>,
) -> Result<SimSummary, SimError<Kept>> {
    let threads = on.threads.clamp(1, on.machine.sms());
    let code = Code::new(on.table, on.machine, pipeline);
    std::thread::scope(|scope| {
        let workers = (1..threads).map(|_| Worker::spawn(scope)).collect();
        launch_with(supply, on, pipeline, &code, observer, on_block, workers)
    })
}

fn launch_with<'a>(
    supply: &mut Supply<'_, '_>,
    on: &On<'a>,
    pipeline: &'a Pipeline,
    code: &'a Code<'a>,
    observer: &mut dyn Observer,
    on_block: &mut OnBlock<'_>,
    workers: Vec<Worker<'a>>,
) -> Result<SimSummary, SimError<Kept>> {
    let On { machine, policy, .. } = *on;
    let layout = supply.layout();
    let slots = supply.slots().max(machine.limits().warps as usize).min(SLOTS);
    let sms = machine.sms();
    let footprint = supply.source().footprint();
    let shared_bytes = footprint.shared_bytes * layout.places() as u64;
    let mut lower = lower_level(machine, &footprint);
    let share = sms.div_ceil(workers.len() + 1);
    let core = |index| {
        let mut sm = Sm::new(code, machine, pipeline, layout, slots, (index, shared_bytes));
        let policies = policy.policies(machine);
        sm.tracks_global = policies.iter().any(Policy::tracks_global);
        Core { sm, policies, next: 0 }
    };
    let mut gpu = Gpu {
        shares: (0..sms)
            .step_by(share)
            .map(|from| (from..sms.min(from + share)).map(core).collect())
            .collect(),
        share,
        count: sms,
        now: 0,
        workers,
        may_place: true,
        last_served: sms - 1,
        order: Order::new(pipeline.launch.placement, sms),
    };
    let listening = observer.is_active();
    let sampling = listening && observer.wants_samples();
    let mut told = sampling.then(Told::default);
    gpu.each(|core| {
        core.sm.listening = listening;
        core.sm.told = sampling.then(Box::default);
    });
    let mut result = BlockResult::default();
    loop {
        let now = gpu.now;
        if supply.source().is_stopped() {
            // every cycle before this one is accounted for
            let summary = gpu.summary(supply, 0, observer);
            sample(&mut told, lower.as_ref(), now, observer);
            return Ok(SimSummary { memory: lower.map(|lower| gpu.memory_stats(&lower)), ..summary });
        }
        if let Some(lower) = &mut lower {
            if lower.has_replies() {
                gpu.each(|core| core.receive(lower, now));
            }
            lower.cycle();
        }
        let mut ended = false;
        gpu.each(|core| {
            if core.next <= now {
                core.sm.advance_to(now);
                core.sm.begin_cycle(lower.as_mut());
                ended |= core.sm.has_ended();
            }
        });
        // a block without instructions ends in the cycle in which it is placed
        while ended || gpu.may_place {
            for Core { sm, policies, .. } in gpu.cores() {
                while let Some(place) = sm.take_ended(&mut result) {
                    for policy in &mut *policies {
                        policy.ended(result.block).map_err(RunError::from)?;
                    }
                    on_block(&result, &sm.rooms[place]);
                }
            }
            gpu.may_place = gpu.place_blocks(supply)?;
            ended = gpu.cores().any(|core| core.sm.has_ended());
            if !ended {
                break;
            }
        }
        if supply.is_exhausted() && gpu.cores().all(|core| core.sm.blocks.is_empty()) {
            let summary = gpu.summary(supply, pipeline.launch.end, observer);
            sample(&mut told, lower.as_ref(), now, observer);
            return Ok(SimSummary { memory: lower.map(|lower| gpu.memory_stats(&lower)), ..summary });
        }
        let mut next = gpu.end_cycle()?;
        if listening {
            gpu.tell(observer);
            sample(&mut told, lower.as_ref(), now, observer);
        }
        if let Some(lower) = &mut lower
            && next > now + 1
        {
            next = next.min(lower.quiet_for().saturating_add(now + 1));
            if next < u64::MAX {
                lower.skip(next - now - 1);
            }
        }
        if next == u64::MAX {
            return Err(RunError::Deadlock(gpu.deadlock()).into());
        }
        gpu.now = next;
    }
}

/// Tells of the memory behind the SMs, if somebody wants to hear of it.
fn sample(told: &mut Option<Told>, lower: Option<&Lower>, now: u64, observer: &mut dyn Observer) {
    if let (Some(told), Some(lower)) = (told, lower) {
        lower
            .samples()
            .filter_map(|counted| told.news(counted, now))
            .for_each(|news| observer.sampled(&news));
    }
}

/// What is behind the SMs, if it has to be simulated: a load/store unit without an L1 has perfect
/// memory for itself.
fn lower_level(machine: &Machine, footprint: &Footprint) -> Option<Lower> {
    let memory = machine.memory();
    machine.pipeline()?.load_store?;
    if memory.lower == LowerLevel::Perfect && memory.l1.is_none() && memory.constant.is_none() {
        return None;
    }
    let mut lower = Lower::new(memory, machine.sms());
    footprint.buffers.iter().for_each(|&(address, bytes)| lower.preload(address, bytes));
    Some(lower)
}

struct Gpu<'a> {
    /// The SMs, by thread.
    shares: Vec<Vec<Core<'a>>>,
    /// SMs of a thread, but for the last.
    share: usize,
    count: usize,
    now: u64,
    /// The threads of the shares after the first.
    workers: Vec<Worker<'a>>,
    /// Whether there may be a block and room for it; there is none until a block ends.
    may_place: bool,
    /// The SM that got a block last.
    last_served: usize,
    /// In which order they get blocks.
    order: Order,
}

impl<'a> Gpu<'a> {
    fn cores(&mut self) -> impl Iterator<Item = &mut Core<'a>> {
        self.shares.iter_mut().flatten()
    }

    /// As [`Self::cores`], for what happens in every cycle.
    #[inline]
    fn each(&mut self, mut what: impl FnMut(&mut Core<'a>)) {
        for share in &mut self.shares {
            share.iter_mut().for_each(&mut what);
        }
    }

    fn first(&mut self) -> &mut Sm<'a> {
        &mut self.shares[0][0].sm
    }

    /// What SMs do for themselves in a cycle, and when something happens next on one.
    fn end_cycle(&mut self) -> Result<u64, RunError> {
        let now = self.now;
        let (first, others) = self.shares.split_at_mut(1);
        if self.workers.is_empty() {
            return Core::end_cycles(&mut first[0], now);
        }
        let lost = "a thread of the simulator is gone";
        // a share in which nothing happens stays here
        let is_due = |share: &Vec<Core<'a>>| share.iter().any(|core| core.next <= now);
        for (worker, share) in self.workers.iter().zip(&mut *others) {
            if is_due(share) {
                worker.there.send((std::mem::take(share), now)).expect(lost);
            }
        }
        let mut result = Core::end_cycles(&mut first[0], now);
        for (worker, share) in self.workers.iter().zip(others) {
            let of_share = if share.is_empty() {
                let (cores, of_share) = worker.back.recv().expect(lost);
                *share = cores;
                of_share
            } else {
                Core::end_cycles(share, now)
            };
            result = result.and_then(|next| of_share.map(|of_share| next.min(of_share)));
        }
        result
    }

    /// Tells what happened, SM by SM.
    fn tell(&mut self, observer: &mut dyn Observer) {
        if self.count == 1 {
            return self.first().log.tell(observer);
        }
        for Core { sm, .. } in self.cores() {
            if !sm.log.is_empty() {
                observer.on_sm(sm.index);
                sm.log.tell(observer);
            }
        }
    }

    /// Every SM with room gets a block, in its turn, and again up to as many as it may in a cycle.
    /// Whether there may be blocks and room left.
    fn place_blocks(&mut self, supply: &mut Supply<'_, '_>) -> Result<bool, SimError<Kept>> {
        let limit = match self.first().settings.launch.blocks_per_cycle {
            0 => u32::MAX,
            limit => limit,
        };
        for _ in 0..limit {
            let after = self.last_served + 1;
            self.order.next_round(after);
            let mut placed = false;
            for n in 0..self.count {
                if supply.is_exhausted() {
                    return Ok(false);
                }
                placed |= self.place_block(self.order.at(n), supply)?;
            }
            if !placed {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The next block goes to an SM, if that has room. Whether it did.
    fn place_block(&mut self, index: usize, supply: &mut Supply<'_, '_>) -> Result<bool, SimError<Kept>> {
        let Core { sm, policies, next } = &mut self.shares[index / self.share][index % self.share];
        let Some(place) = sm.blocks.free_place() else { return Ok(false) };
        if !supply.next(&mut sm.rooms[place])? {
            return Ok(false);
        }
        if supply.layout().is_one() {
            policies.iter_mut().for_each(Policy::restart);
        }
        sm.advance_to(self.now);
        sm.place(place, policies);
        *next = self.now;
        self.last_served = index;
        Ok(true)
    }

    fn summary(&mut self, supply: &Supply<'_, '_>, end: u64, observer: &mut dyn Observer) -> SimSummary {
        let now = self.now;
        let mut stalls = Stalls::default();
        let mut sub_cores = Vec::new();
        let mut issues = 0;
        for Core { sm, .. } in self.cores() {
            issues += sm.issues;
            sm.now = now;
            sm.sample();
            for sub in 0..sm.subs.len() {
                sm.now = now;
                if end > 0 {
                    sm.idle(sub, WarpMask::empty(), WarpMask::empty(), false);
                }
                sm.now = now + end;
                sm.end_idle(sub);
                sm.now = now;
                stalls += sm.subs[sub].stalls;
                sub_cores.push(SubCoreResult { issues: sm.subs[sub].issues, stalls: sm.subs[sub].stalls });
            }
        }
        self.tell(observer);
        SimSummary {
            makespan: Cycles::new(now + end),
            issues,
            stalls,
            sub_cores,
            blocks: supply.given(),
            resident_blocks: supply.layout().places() as u32,
            memory: None,
        }
    }

    fn memory_stats(&mut self, lower: &Lower) -> MemoryStats {
        let mut stats = MemoryStats { lower: lower.stats(), ..MemoryStats::default() };
        for unit in self.cores().filter_map(|core| core.sm.load_store.as_ref()) {
            unit.add_stats(&mut stats);
        }
        stats
    }

    fn deadlock(&mut self) -> Deadlock {
        let of_sm = |sm: &Sm<'_>| {
            let warp = |slot: usize| {
                let (block, warp) = sm.blocks.warp(slot);
                let next = sm.warps[slot].next as usize;
                let last = next.checked_sub(1).map(|index| sm.path(slot).steps()[index].pc());
                (block, warp, last)
            };
            sm.blocks.live().slots().map(warp).collect::<Vec<_>>()
        };
        let cycle = Cycle::new(self.now);
        Deadlock { cycle, warps: self.cores().flat_map(|core| of_sm(&core.sm)).collect() }
    }
}
