//! A launch on one or more SMs.
//!
//! SMs share the blocks of the launch and the memory behind them, and nothing else. The plain way is a cycle at a time:
//! every SM in turn takes replies, sends requests and gets blocks; then each goes through its own stages, for itself.
//! Where it takes memory long enough to answer, SMs go through many cycles at a time, each for itself
//! ([`super::window`]); that may be on several threads, which therefore cannot change a cycle.

use super::memory::{Lower, MemoryLeft};

use super::Sm;
use super::code::Code;
use super::cores::{Core, Crew};
use super::left::{Left, OnGpu};
use super::order::Order;
use super::samples::Told;
use super::telling::Telling;
use crate::base::{Cycle, Cycles};
use crate::machine::Machine;
use crate::machine::Pipeline;
use crate::machine::memory::LowerLevel;
use crate::path::Footprint;
use crate::sim::SLOTS;
use crate::sim::blocks::Layout;
use crate::sim::error::{RunError, SimError};
use crate::sim::policy::{Policy, PolicySetup};
use crate::sim::result::{BlockResult, SimSummary};
use crate::sim::supply::Supply;
use crate::sim::supply::{Kept, On, OnBlock};
use crate::trace::{Idle, Observer, StallReason};

/// Cycles of the first window.
const FIRST_WINDOW: u64 = 64;
/// SMs that one thread takes at a time, at most.
const SHARE: usize = 2;

/// Simulates a launch on a machine with this pipeline; see [`crate::sim::simulate`].
pub(in crate::sim) fn launch(
    supply: &mut Supply<'_, '_>,
    on: &On<'_>,
    left: &mut Left,
    pipeline: &Pipeline,
    observer: &mut dyn Observer,
    on_block: &mut OnBlock<'_>,
) -> Result<SimSummary, SimError<Kept>> {
    let threads = on.threads.clamp(1, on.machine.sms());
    let code = Code::new(on.table, on.machine, pipeline);
    std::thread::scope(|scope| {
        let crew = Crew::spawn(scope, threads - 1, supply.source().at_work());
        launch_with(supply, on, left, pipeline, &code, observer, on_block, crew)
    })
}

#[allow(clippy::too_many_arguments, reason = "launch's, and two that it makes")]
fn launch_with<'a>(
    supply: &mut Supply<'_, '_>,
    on: &On<'a>,
    left: &mut Left,
    pipeline: &'a Pipeline,
    code: &'a Code<'a>,
    observer: &mut dyn Observer,
    on_block: &mut OnBlock<'_>,
    crew: Crew<'a>,
) -> Result<SimSummary, SimError<Kept>> {
    let On { machine, policy, threads, .. } = *on;
    let layout = supply.layout();
    let sms = machine.sms();
    let footprint = supply.source().footprint();
    let listening = observer.is_active();
    let sampling = listening && observer.wants_samples();
    let maker = Maker {
        code,
        machine,
        pipeline,
        policy,
        layout,
        slots: supply.slots().max(machine.limits().warps as usize).min(SLOTS),
        shared_bytes: footprint.shared_bytes * layout.places() as u64,
        listening,
        keeps_order: listening && observer.wants_order(),
        sampling,
    };
    let share = sms.div_ceil(threads.clamp(1, sms)).min(SHARE);
    let (lower, last_served) = found(machine, &footprint, left);
    let mut gpu = Gpu {
        shares: (0..sms.div_ceil(share)).map(|_| Vec::new()).collect(),
        share,
        count: sms,
        maker,
        now: 0,
        lower,
        crew,
        telling: Telling::new(sms),
        length: FIRST_WINDOW,
        listening,
        told: sampling.then(Told::default),
        may_place: true,
        last_served,
        order: Order::new(pipeline.launch.placement, sms),
        result: BlockResult::default(),
    };
    if sampling {
        // who listens to samples hears of each SM's first ones
        (0..sms).for_each(|index| {
            gpu.core(index);
        });
    }
    let end = pipeline.launch.end;
    loop {
        if supply.source().is_stopped() {
            // every cycle before this one is accounted for
            gpu.sample(observer);
            let stats = gpu.lower.as_ref().map(Lower::stats);
            return Ok(gpu.summary(supply, 0, stats, observer));
        }
        let cycles = gpu.window();
        let next = if cycles > 1 {
            match gpu.run_window(cycles, supply, observer, on_block)? {
                Some(next) => next,
                None => {
                    let stats = gpu.lower.as_ref().map(|lower| lower.stats_at(gpu.now));
                    let summary = gpu.summary(supply, end, stats, observer);
                    gpu.close_window();
                    gpu.leave(left, &summary);
                    return Ok(summary);
                }
            }
        } else {
            if !gpu.step(supply, on_block)? {
                let stats = gpu.lower.as_ref().map(Lower::stats);
                gpu.sample(observer);
                let summary = gpu.summary(supply, end, stats, observer);
                gpu.leave(left, &summary);
                return Ok(summary);
            }
            let next = gpu.end_cycle()?;
            if listening {
                gpu.tell(observer);
                gpu.sample(observer);
            }
            gpu.now += 1;
            next
        };
        // `now` is the next cycle
        let mut next = next.max(gpu.now);
        if gpu.now <= pipeline.launch.first {
            next = next.min(pipeline.launch.first);
        }
        if let Some(lower) = &mut gpu.lower
            && next > gpu.now
        {
            next = next.min(lower.quiet_for().saturating_add(gpu.now));
            if next < u64::MAX {
                lower.skip(next - gpu.now);
            }
        }
        if next == u64::MAX {
            gpu.telling.tell(observer);
            return Err(RunError::Deadlock(gpu.deadlock()).into());
        }
        gpu.now = next;
    }
}

/// What a launch finds: what is behind the SMs, and the SM that got a block last. What other launches have left is used up.
pub(super) fn found(machine: &Machine, footprint: &Footprint, left: &mut Left) -> (Option<Lower>, usize) {
    let left = left.0.take();
    let last_served = left.as_ref().map_or(machine.sms() - 1, |left| left.last_served);
    (lower_level(machine, footprint, left), last_served)
}

/// What is behind the SMs, if it has to be simulated: a load/store unit without an L1 has perfect
/// memory for itself. It is as other launches have left it, if there were any, and with what has been copied there.
fn lower_level(machine: &Machine, footprint: &Footprint, left: Option<OnGpu>) -> Option<Lower> {
    let memory = machine.memory();
    let (mut lower, copied) = match left {
        None => (new_lower_level(machine)?, &footprint.buffers),
        Some(left) => {
            let lower = lower_level_after(machine, left.memory).expect("launches on it left this");
            (lower?, &footprint.copied)
        }
    };
    if memory.start.copies() {
        copied.iter().for_each(|&(address, bytes)| lower.preload(address, bytes));
    }
    Some(lower)
}

fn new_lower_level(machine: &Machine) -> Option<Lower> {
    let memory = machine.memory();
    machine.pipeline()?.load_store?;
    let perfect = memory.lower == LowerLevel::Perfect && memory.l1.is_none() && memory.constant.is_none();
    (!perfect).then(|| Lower::new(memory, machine.sms()))
}

/// What is behind the SMs where launches have left this; nothing at all if it was another machine.
fn lower_level_after(machine: &Machine, left: Option<MemoryLeft>) -> Option<Option<Lower>> {
    match (new_lower_level(machine), left) {
        (None, None) => Some(None),
        (Some(mut lower), Some(left)) => lower.go_on_after(left).then_some(Some(lower)),
        _ => None,
    }
}

impl Left {
    /// Whether a launch on this machine can have left it.
    pub fn fits(&self, machine: &Machine) -> bool {
        let Self(Some(left)) = self else { return true };
        machine.memory().start.is_left()
            && left.last_served < machine.sms()
            && lower_level_after(machine, left.memory.clone()).is_some()
    }
}

/// What a launch leaves on a machine where the next one finds it.
pub(super) fn leave(
    machine: &Machine,
    lower: Option<Lower>,
    last_served: usize,
    makespan: Cycles,
    left: &mut Left,
) {
    if machine.memory().start.is_left() {
        let memory = lower.map(|lower| lower.leave(makespan.get(), machine.sms()));
        left.0 = Some(OnGpu { last_served, memory });
    }
}

/// What SMs are made of.
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
    /// The SM with this number, in front of this memory.
    fn make(self, index: usize, lower: Option<&Lower>) -> Core<'a> {
        let policies = self.policy.policies(self.machine);
        let Self { code, machine, pipeline, layout, slots, shared_bytes, .. } = self;
        let mut sm = Sm::new(code, machine, pipeline, layout, slots, (index, shared_bytes), &policies);
        sm.listen(self.listening, self.keeps_order, self.sampling.then(Box::default));
        Core::new(sm, policies, lower.map(|lower| lower.port(index)))
    }
}

pub(super) struct Gpu<'a> {
    /// The SMs that have had a block, some together, in the order of their numbers.
    pub shares: Vec<Vec<Core<'a>>>,
    /// SMs of a share, but for the last.
    share: usize,
    pub count: usize,
    maker: Maker<'a>,
    pub now: u64,
    /// The memory behind the SMs, if it is simulated.
    pub lower: Option<Lower>,
    pub crew: Crew<'a>,
    /// What happened in the last window, if nobody has heard of it.
    pub telling: Telling,
    /// How many cycles the next window has at most.
    pub length: u64,
    /// Whether somebody hears of events.
    pub listening: bool,
    /// The counters of memory that were told last, if somebody wants to hear of them.
    pub told: Option<Told>,
    /// Whether there may be a block and room for it; there is none until a block ends.
    pub may_place: bool,
    /// The SM that got a block last.
    last_served: usize,
    /// In which order they get blocks.
    order: Order,
    /// The block that ended last.
    result: BlockResult,
}

impl<'a> Gpu<'a> {
    pub fn cores(&mut self) -> impl Iterator<Item = &mut Core<'a>> {
        self.shares.iter_mut().flatten()
    }

    /// As [`Self::cores`], for what happens in every cycle.
    #[inline]
    pub fn each(&mut self, what: impl FnMut(&mut Core<'a>)) {
        each(&mut self.shares, what);
    }

    /// Sub-cores of an SM.
    pub fn sub_cores(&self) -> usize {
        self.maker.machine.sub_cores().count()
    }

    /// The SM with this number. It comes into being, if it has not yet; until now it was idle.
    fn core(&mut self, index: usize) -> &mut Core<'a> {
        let share = &mut self.shares[index / self.share];
        let place = share.partition_point(|core| core.sm.index < index);
        if share.get(place).is_none_or(|core| core.sm.index != index) {
            let mut core = self.maker.make(index, self.lower.as_ref());
            core.sm.was_idle_until(self.now);
            share.insert(place, core);
        }
        &mut share[place]
    }

    /// A cycle of all SMs, up to the end of giving out blocks. Whether the launch goes on.
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

    /// On the SMs that stand in the present cycle, blocks that have ended are taken out and others placed.
    pub fn change_blocks(
        &mut self,
        supply: &mut Supply<'_, '_>,
        on_block: &mut OnBlock<'_>,
    ) -> Result<(), SimError<Kept>> {
        let now = self.now;
        loop {
            let Self { shares, result, .. } = self;
            for Core { sm, policies, .. } in shares.iter_mut().flatten().filter(|core| core.at == now) {
                while let Some(place) = sm.take_ended(result) {
                    for policy in &mut *policies {
                        policy.ended(result.block).map_err(RunError::from)?;
                    }
                    on_block(result, &sm.rooms[place]);
                }
            }
            self.may_place = self.place_blocks(supply)?;
            // a block without instructions ends in the cycle in which it is placed
            if !self.cores().any(|core| core.at == now && core.sm.has_ended()) {
                return Ok(());
            }
        }
    }

    /// Whether all blocks have ended.
    pub fn is_over(&mut self, supply: &Supply<'_, '_>) -> bool {
        supply.is_exhausted() && self.cores().all(|core| core.sm.blocks.is_empty())
    }

    /// The launch is over: what it leaves for the next one.
    fn leave(&mut self, left: &mut Left, summary: &SimSummary) {
        leave(self.maker.machine, self.lower.take(), self.last_served, summary.makespan, left);
    }

    /// What SMs do for themselves in a cycle, and when something happens next on one.
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

    /// Tells of the memory behind the SMs, if somebody wants to hear of it.
    fn sample(&mut self, observer: &mut dyn Observer) {
        if let (Some(told), Some(lower)) = (&mut self.told, &self.lower) {
            lower
                .samples()
                .filter_map(|counted| told.news(counted, self.now))
                .for_each(|news| observer.sampled(&news));
        }
    }

    /// Tells what happened, SM by SM.
    pub fn tell(&mut self, observer: &mut dyn Observer) {
        self.telling.tell(observer);
        let several = self.count > 1;
        self.each(|core| core.tell(several, observer));
    }

    /// Tells the rest of what happened up to the end; and of SMs that never had a block that nothing did.
    pub fn tell_to_the_end(&mut self, end: Cycle, observer: &mut dyn Observer) {
        self.telling.tell(observer);
        let (several, sub_cores) = (self.count > 1, self.sub_cores());
        let mut there = self.shares.iter_mut().flatten().peekable();
        for index in 0..self.count {
            if let Some(core) = there.next_if(|core| core.sm.index == index) {
                core.tell(several, observer);
            } else if self.listening && end > Cycle::ZERO {
                if several {
                    observer.on_sm(index);
                }
                for sub_core in 0..sub_cores as u8 {
                    let (from, reason) = (Cycle::ZERO, StallReason::Drain);
                    observer.idled(&Idle { sub_core, from, to: end, reason, waiting: None });
                }
            }
        }
    }

    /// Every SM with room gets a block, in its turn, and again up to as many as it may in a cycle.
    /// Whether there may be blocks and room left.
    fn place_blocks(&mut self, supply: &mut Supply<'_, '_>) -> Result<bool, SimError<Kept>> {
        if self.now < self.maker.pipeline.launch.first {
            return Ok(true);
        }
        let limit = match self.maker.pipeline.launch.blocks_per_cycle {
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
        let now = self.now;
        let Core { sm, policies, next, .. } = self.core(index);
        let Some(place) = sm.blocks.free_place() else { return Ok(false) };
        if !supply.next(&mut sm.rooms[place])? {
            return Ok(false);
        }
        if supply.layout().is_one() {
            policies.iter_mut().for_each(Policy::restart);
        }
        sm.advance_to(now);
        sm.place(place, policies);
        *next = now;
        self.last_served = index;
        Ok(true)
    }
}

/// Something for every SM.
#[inline]
fn each<'a>(shares: &mut [Vec<Core<'a>>], mut what: impl FnMut(&mut Core<'a>)) {
    for share in shares {
        share.iter_mut().for_each(&mut what);
    }
}
