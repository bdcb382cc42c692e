//! The simulation of a launch on one or more SMs.
//!
//! SMs share the blocks of the launch and the memory behind them, and nothing else. The basic mode
//! simulates one cycle at a time: every SM in turn receives replies, sends requests and gets
//! blocks; then each SM simulates its own stages independently. Where the latency of memory is long
//! enough, the SMs simulate many cycles at a time, each independently of the others
//! ([`super::window`]). Windows may run on several threads; because the SMs are independent, the
//! threads cannot change a cycle.

use super::memory::{CarriedMemory, Lower};

use super::Sm;
use super::carried::{CarriedState, OnGpu};
use super::code::Code;
use super::cores::{Core, Crew};
use super::order::Order;
use super::pending::PendingEvents;
use super::samples::Told;
use crate::SLOTS;
use crate::blocks::Layout;
use crate::error::{RunError, SimError};
use crate::policy::{Policy, PolicySetup};
use crate::result::{BlockResult, SimSummary};
use crate::supply::Supply;
use crate::supply::{Kept, On, OnBlock};
use warpbound_core::base::{Cycle, Cycles};
use warpbound_core::machine::Machine;
use warpbound_core::machine::Pipeline;
use warpbound_core::machine::memory::LowerLevel;
use warpbound_core::path::Footprint;
use warpbound_trace::trace::{Event, Idle, Needs, Observer, StallReason};

/// The number of cycles of the first window.
const FIRST_WINDOW: u64 = 64;
/// The largest number of SMs that one thread takes at a time.
const SHARE: usize = 2;

/// Simulates a launch on a machine with this pipeline; see [`crate::simulate`].
pub(crate) fn launch(
    supply: &mut Supply<'_, '_>,
    on: &On<'_>,
    left: &mut CarriedState,
    pipeline: &Pipeline,
    observer: &mut dyn Observer,
    on_block: &mut OnBlock<'_>,
) -> Result<SimSummary, SimError<Kept>> {
    let threads = on.threads.clamp(1, on.machine.sms());
    let code = Code::new(on.table, on.machine, pipeline);
    std::thread::scope(|scope| {
        let crew = Crew::spawn(scope, threads - 1, supply.source().at_work());
        let mut gpu = Gpu::new(supply, on, left, pipeline, &code, observer.needs(), crew);
        gpu.run(supply, left, observer, on_block)
    })
}

/// Returns the state in which a launch starts: the memory behind the SMs, and the SM that got a
/// block last. It takes the state that other launches left out of `left`.
fn found(machine: &Machine, footprint: &Footprint, left: &mut CarriedState) -> (Option<Lower>, usize) {
    let left = left.0.take();
    let last_served = left.as_ref().map_or(machine.sms() - 1, |left| left.last_served);
    (lower_level(machine, footprint, left), last_served)
}

/// Returns the memory behind the SMs, or `None` if it need not be simulated, because a load/store
/// unit without an L1 models perfect memory by itself. Its state is the one that earlier launches
/// left, if there were any, plus the data that has been copied to it.
fn lower_level(machine: &Machine, footprint: &Footprint, left: Option<OnGpu>) -> Option<Lower> {
    let memory = machine.memory();
    let (mut lower, copied) = match left {
        None => (new_lower_level(machine)?, &footprint.buffers),
        Some(left) => {
            let lower = lower_level_after(machine, left.memory).expect("launches on it left this");
            (lower?, &footprint.copied)
        }
    };
    let kept = copied.iter().filter(|&&(_, bytes)| memory.keeps_copies_of(bytes));
    kept.for_each(|&(address, bytes)| lower.preload(address, bytes));
    Some(lower)
}

fn new_lower_level(machine: &Machine) -> Option<Lower> {
    let memory = machine.memory();
    machine.pipeline()?.load_store?;
    let perfect = memory.lower == LowerLevel::Perfect && memory.l1.is_none() && memory.constant.is_none();
    (!perfect).then(|| Lower::new(memory, machine.sms()))
}

/// Returns the memory behind the SMs in the state that earlier launches left; the outer `None`
/// means that the state is that of another machine.
fn lower_level_after(machine: &Machine, left: Option<CarriedMemory>) -> Option<Option<Lower>> {
    match (new_lower_level(machine), left) {
        (None, None) => Some(None),
        (Some(mut lower), Some(left)) => lower.go_on_after(left).then_some(Some(lower)),
        _ => None,
    }
}

impl CarriedState {
    /// Returns whether a launch on this machine can have left this state.
    pub fn fits(&self, machine: &Machine) -> bool {
        let Self(Some(left)) = self else { return true };
        machine.memory().start.is_left()
            && left.last_served < machine.sms()
            && lower_level_after(machine, left.memory.clone()).is_some()
    }
}

/// Stores the state that a launch leaves, on a machine where the next launch starts from it.
fn leave(
    machine: &Machine,
    lower: Option<Lower>,
    last_served: usize,
    makespan: Cycles,
    left: &mut CarriedState,
) {
    if machine.memory().start.is_left() {
        let memory = lower.map(|lower| lower.leave(makespan.get(), machine.sms()));
        left.0 = Some(OnGpu { last_served, memory });
    }
}

/// The parameters from which SMs are created.
#[derive(Clone, Copy)]
struct Maker<'a> {
    code: &'a Code<'a>,
    machine: &'a Machine,
    pipeline: &'a Pipeline,
    policy: &'a PolicySetup,
    layout: Layout,
    slots: usize,
    shared_bytes: u64,
    listening: bool,
    keeps_order: bool,
    sampling: bool,
}

impl<'a> Maker<'a> {
    /// Creates the SM with this number, connected to this memory.
    fn make(self, index: usize, lower: Option<&Lower>) -> Core<'a> {
        let policies = self.policy.policies(self.machine);
        let Self { code, machine, pipeline, layout, slots, shared_bytes, .. } = self;
        let mut sm = Sm::new(code, machine, pipeline, layout, slots, (index, shared_bytes), &policies);
        sm.listen(self.listening, self.keeps_order, self.sampling.then(Box::default));
        Core::new(sm, policies, lower.map(|lower| lower.port(index)))
    }
}

pub(super) struct Gpu<'a> {
    /// The SMs that have had a block, in shares of several SMs, in the order of their numbers.
    pub shares: Vec<Vec<Core<'a>>>,
    /// The number of SMs in each share but the last.
    share: usize,
    pub count: usize,
    maker: Maker<'a>,
    pub now: u64,
    /// The memory behind the SMs, if it is simulated.
    pub lower: Option<Lower>,
    pub crew: Crew<'a>,
    /// The events of the last window that have not been emitted yet.
    pub pending: PendingEvents,
    /// The largest number of cycles of the next window.
    pub length: u64,
    /// Whether an observer receives events.
    pub listening: bool,
    /// The counter values of memory in the last sample, if an observer requests samples.
    pub told: Option<Told>,
    /// Whether there may be both a block and room for it. If there are not, this does not change
    /// until a block ends.
    pub may_place: bool,
    /// The SM that got a block last.
    last_served: usize,
    /// The order in which SMs get blocks.
    order: Order,
    /// The result of the block that ended last.
    result: BlockResult,
}

impl<'a> Gpu<'a> {
    /// Creates the state at the beginning of a launch, for an observer with these needs. It takes
    /// the state that other launches left out of `left`.
    fn new(
        supply: &Supply<'_, '_>,
        on: &On<'a>,
        left: &mut CarriedState,
        pipeline: &'a Pipeline,
        code: &'a Code<'a>,
        needs: Needs,
        crew: Crew<'a>,
    ) -> Self {
        let On { machine, policy, threads, .. } = *on;
        let (layout, sms, footprint) = (supply.layout(), machine.sms(), supply.source().footprint());
        let listening = needs.events;
        let sampling = listening && needs.samples;
        let maker = Maker {
            code,
            machine,
            pipeline,
            policy,
            layout,
            slots: supply.slots().max(machine.limits().warps as usize).min(SLOTS),
            shared_bytes: footprint.shared_bytes * layout.cta_slots() as u64,
            listening,
            keeps_order: listening && needs.order,
            sampling,
        };
        let share = sms.div_ceil(threads.clamp(1, sms)).min(SHARE);
        let (lower, last_served) = found(machine, &footprint, left);
        let mut gpu = Self {
            shares: (0..sms.div_ceil(share)).map(|_| Vec::new()).collect(),
            share,
            count: sms,
            maker,
            now: 0,
            lower,
            crew,
            pending: PendingEvents::new(sms),
            length: FIRST_WINDOW,
            listening,
            told: sampling.then(Told::default),
            may_place: true,
            last_served,
            order: Order::new(pipeline.launch.placement, sms),
            result: BlockResult::default(),
        };
        if sampling {
            // create all SMs, so that the observer receives the first samples of each of them
            (0..sms).for_each(|index| {
                gpu.core(index);
            });
        }
        gpu
    }

    /// Simulates the launch to its end, or until it is stopped.
    fn run(
        &mut self,
        supply: &mut Supply<'_, '_>,
        left: &mut CarriedState,
        observer: &mut dyn Observer,
        on_block: &mut OnBlock<'_>,
    ) -> Result<SimSummary, SimError<Kept>> {
        loop {
            if supply.source().is_stopped() {
                // every cycle before this one is accounted for
                self.sample(observer);
                let stats = self.lower.as_ref().map(Lower::stats);
                return Ok(self.summary(supply, 0, stats, observer));
            }
            let cycles = self.window();
            let next = if cycles > 1 {
                self.run_window(cycles, supply, observer, on_block)?
            } else {
                self.run_cycle(supply, observer, on_block)?
            };
            let Some(next) = next else {
                let stats = self.lower.as_ref().map(|lower| match cycles {
                    0 | 1 => lower.stats(),
                    _ => lower.stats_at(self.now),
                });
                self.sample(observer);
                let summary = self.summary(supply, self.maker.pipeline.launch.end, stats, observer);
                if cycles > 1 {
                    self.close_window();
                }
                self.leave(left, &summary);
                return Ok(summary);
            };
            self.advance(next, observer)?;
        }
    }

    /// Simulates one cycle. Returns the cycle in which something happens next on an SM, or `None`
    /// if the launch is over.
    #[inline]
    fn run_cycle(
        &mut self,
        supply: &mut Supply<'_, '_>,
        observer: &mut dyn Observer,
        on_block: &mut OnBlock<'_>,
    ) -> Result<Option<u64>, SimError<Kept>> {
        if !self.step(supply, on_block)? {
            return Ok(None);
        }
        let next = self.end_cycle()?;
        if self.listening {
            self.tell(observer);
            self.sample(observer);
        }
        self.now += 1;
        Ok(Some(next))
    }

    /// Goes to the next cycle in which something happens; `next` is the next cycle in which
    /// something happens on an SM. When this is called, the present cycle is the one after the last
    /// simulated one.
    #[inline]
    fn advance(&mut self, next: u64, observer: &mut dyn Observer) -> Result<(), RunError> {
        let first = self.maker.pipeline.launch.first;
        let mut next = next.max(self.now);
        if self.now <= first {
            next = next.min(first);
        }
        if let Some(lower) = &mut self.lower
            && next > self.now
        {
            next = next.min(lower.quiet_for().saturating_add(self.now));
            if next < u64::MAX {
                lower.skip(next - self.now);
            }
        }
        if next == u64::MAX {
            self.pending.tell(observer);
            return Err(RunError::Deadlock(self.deadlock()));
        }
        self.now = next;
        Ok(())
    }

    pub fn cores(&mut self) -> impl Iterator<Item = &mut Core<'a>> {
        self.shares.iter_mut().flatten()
    }

    /// Calls a function for each SM, like [`Self::cores`], for the loops that run in every cycle.
    #[inline]
    pub fn each(&mut self, action: impl FnMut(&mut Core<'a>)) {
        each(&mut self.shares, action);
    }

    /// Returns the number of sub-cores of an SM.
    pub fn sub_cores(&self) -> usize {
        self.maker.machine.sub_cores().count()
    }

    /// Returns the SM with this number. It is created if it does not exist yet; until now it was
    /// idle.
    fn core(&mut self, index: usize) -> &mut Core<'a> {
        let share = &mut self.shares[index / self.share];
        let place = share.partition_point(|core| core.sm.index < index);
        if share.get(place).is_none_or(|core| core.sm.index != index) {
            let mut core = self.maker.make(index, self.lower.as_ref());
            core.sm.was_idle_until(self.now);
            core.at = self.now;
            share.reserve_exact(self.share - share.len());
            share.insert(place, core);
        }
        &mut share[place]
    }

    /// Simulates a cycle of all SMs, up to the end of the placement of blocks. Returns whether the
    /// launch continues.
    fn step(
        &mut self,
        supply: &mut Supply<'_, '_>,
        on_block: &mut OnBlock<'_>,
    ) -> Result<bool, SimError<Kept>> {
        let Self { shares, lower, now, .. } = self;
        let now = *now;
        if let Some(lower) = lower {
            if lower.has_replies() {
                each(shares, |core| core.receive(lower, now));
            }
            lower.cycle();
        }
        let mut ended = false;
        each(shares, |core| {
            core.at = now;
            if core.next > now {
                if !lower.as_ref().is_some_and(|lower| core.has_room_again(lower)) {
                    return;
                }
                core.next = now;
            }
            if let (Some(lower), Some(port)) = (&*lower, &mut core.port) {
                lower.open(core.sm.index, port);
            }
            core.begin_cycle(now);
            if let (Some(lower), Some(port)) = (&mut *lower, &mut core.port) {
                lower.collect(port);
            }
            ended |= core.sm.has_ended();
        });
        if ended || self.may_place {
            self.change_blocks(supply, on_block)?;
        }
        Ok(!self.is_over(supply))
    }

    /// Removes the blocks that have ended and places new ones, on the SMs that have reached the
    /// present cycle.
    pub fn change_blocks(
        &mut self,
        supply: &mut Supply<'_, '_>,
        on_block: &mut OnBlock<'_>,
    ) -> Result<(), SimError<Kept>> {
        let now = self.now;
        loop {
            let Self { shares, result, .. } = self;
            for Core { sm, policies, .. } in shares.iter_mut().flatten().filter(|core| core.at == now) {
                while let Some(cta_slot) = sm.take_ended(result) {
                    for policy in &mut *policies {
                        policy.ended(result.block).map_err(RunError::from)?;
                    }
                    on_block(result, &sm.resident_paths[cta_slot]);
                }
            }
            self.may_place = self.place_blocks(supply)?;
            // the launch is over although no SM can receive a block yet
            if self.maker.pipeline.launch.refill > 0 && self.cores().all(|core| core.sm.blocks.is_empty()) {
                supply.look_ahead()?;
            }
            // a block without instructions ends in the cycle in which it is placed
            if !self.cores().any(|core| core.at == now && core.sm.has_ended()) {
                return Ok(());
            }
        }
    }

    /// Returns whether all blocks have ended.
    pub fn is_over(&mut self, supply: &Supply<'_, '_>) -> bool {
        supply.is_exhausted() && self.cores().all(|core| core.sm.blocks.is_empty())
    }

    /// Stores the state that the completed launch leaves for the next one.
    fn leave(&mut self, left: &mut CarriedState, summary: &SimSummary) {
        leave(self.maker.machine, self.lower.take(), self.last_served, summary.makespan, left);
    }

    /// Simulates the second part of a cycle on each SM, and returns the next cycle in which
    /// something happens on any of them.
    fn end_cycle(&mut self) -> Result<u64, RunError> {
        let (now, mut next, mut result) = (self.now, u64::MAX, Ok(()));
        self.each(|core| {
            if core.next <= now && result.is_ok() {
                result = core.end_cycle();
            }
            next = next.min(core.next);
        });
        result.map(|()| next)
    }

    /// Emits the samples of the memory behind the SMs, if an observer requests them.
    fn sample(&mut self, observer: &mut dyn Observer) {
        if let (Some(told), Some(lower)) = (&mut self.told, &self.lower) {
            lower
                .samples()
                .filter_map(|counted| told.sample_if_changed(counted, self.now))
                .for_each(|news| observer.on(&Event::Sampled(news)));
        }
    }

    /// Emits the recorded events, SM by SM.
    pub fn tell(&mut self, observer: &mut dyn Observer) {
        self.pending.tell(observer);
        let several = self.count > 1;
        self.each(|core| core.tell(several, observer));
    }

    /// Emits the remaining events up to the end of the launch, including the idle intervals of SMs
    /// that never had a block.
    pub fn tell_to_the_end(&mut self, end: Cycle, observer: &mut dyn Observer) {
        self.pending.tell(observer);
        let (several, sub_cores) = (self.count > 1, self.sub_cores());
        let mut existing = self.shares.iter_mut().flatten().peekable();
        for index in 0..self.count {
            if let Some(core) = existing.next_if(|core| core.sm.index == index) {
                core.tell(several, observer);
            } else if self.listening && end > Cycle::ZERO {
                if several {
                    observer.on(&Event::Sm(index));
                }
                for sub_core in 0..sub_cores as u8 {
                    let (from, reason) = (Cycle::ZERO, StallReason::Drain);
                    observer.on(&Event::Idled(Idle { sub_core, from, to: end, reason, waiting: None }));
                }
            }
        }
    }

    /// Gives a block to every SM with room, in round robin order, and repeats this up to the
    /// allowed number of blocks per SM and cycle. It stops at the allowed number of blocks of all
    /// SMs together. Returns whether there may be blocks and room left.
    fn place_blocks(&mut self, supply: &mut Supply<'_, '_>) -> Result<bool, SimError<Kept>> {
        if self.now < self.maker.pipeline.launch.first {
            return Ok(true);
        }
        let limit = |number| if number == 0 { u32::MAX } else { number };
        let launch = &self.maker.pipeline.launch;
        let (rounds, mut left) = (limit(launch.blocks_per_cycle), limit(launch.total_blocks_per_cycle));
        for _ in 0..rounds {
            let after = self.last_served + 1;
            self.order.next_round(after);
            let mut placed = false;
            for n in 0..self.count {
                if supply.is_exhausted() {
                    return Ok(false);
                }
                if left == 0 {
                    return Ok(true);
                }
                if self.place_block(self.order.at(n), supply)? {
                    placed = true;
                    left -= 1;
                }
            }
            if !placed {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Gives the next block to an SM if it has room, and returns whether it did.
    fn place_block(&mut self, index: usize, supply: &mut Supply<'_, '_>) -> Result<bool, SimError<Kept>> {
        let now = self.now;
        let Core { sm, policies, next, .. } = self.core(index);
        let Some(cta_slot) = sm.blocks.free_cta_slot() else { return Ok(false) };
        if !supply.next(&mut sm.resident_paths[cta_slot])? {
            return Ok(false);
        }
        if supply.layout().is_one() {
            policies.iter_mut().for_each(Policy::restart);
        }
        sm.advance_to(now);
        sm.place(cta_slot, policies);
        *next = now;
        self.last_served = index;
        Ok(true)
    }
}

/// Calls a function for every SM.
#[inline]
fn each<'a>(shares: &mut [Vec<Core<'a>>], mut action: impl FnMut(&mut Core<'a>)) {
    for share in shares {
        share.iter_mut().for_each(&mut action);
    }
}
