//! Running blocks: a whole launch, or one block at a time.

use std::ops::AddAssign;

use super::SLOTS;
use super::error::{RunError, SimError};
use super::pipeline;
use super::pipeline::memory::MemoryStats;
use super::policy::{Gto, Lrr, Policy, PolicySetup, ReplayError};
use super::sm::{SlotSteps, Sm};
use crate::base::{BlockId, Cycle, Cycles};
use crate::machine::Machine;
use crate::path::{BlockPaths, BlockSource, Footprint};
use crate::program::TimingTable;
use crate::trace::{Listening, Observer, Stalls};

/// How a block went.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BlockResult {
    /// Which.
    pub block: BlockId,
    /// When it became resident, in the time of the SM.
    pub start: Cycle,
    /// From there to the largest `done` of its instructions.
    pub makespan: Cycles,
    /// Instructions issued.
    pub issues: u64,
    /// Its warps.
    pub warps: Vec<WarpResult>,
}

/// How a warp went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WarpResult {
    /// From the start of the block to the warp's largest `done`.
    pub finish: Cycles,
    /// Instructions issued.
    pub issues: u64,
}

/// How a launch went.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SimSummary {
    /// From the start of the first block to the end of the last one; the sum of the blocks'
    /// makespans where one is resident at a time.
    pub makespan: Cycles,
    /// Instructions issued.
    pub issues: u64,
    /// Idle issue slots by reason; with the issues they add up to the makespan times the number of
    /// sub-cores.
    pub stalls: Stalls,
    /// The sub-cores, of one SM after the other.
    pub sub_cores: Vec<SubCoreResult>,
    /// Blocks.
    pub blocks: u64,
    /// Blocks that were resident at a time, at most.
    pub resident_blocks: u32,
    /// What happened in the memory, if the machine has one that is not perfect.
    pub memory: Option<MemoryStats>,
}

/// How a sub-core went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SubCoreResult {
    /// Instructions it issued.
    pub issues: u64,
    /// Its idle issue slots by reason; with its issues they add up to the makespan of the SM.
    pub stalls: Stalls,
}

impl AddAssign for SubCoreResult {
    fn add_assign(&mut self, other: Self) {
        self.issues += other.issues;
        self.stalls += other.stalls;
    }
}

/// Evaluates an expression with the policies that a setup chooses, one for each sub-core: three times
/// compiled, since most runs are under GTO or LRR on one sub-core.
macro_rules! with_policies {
    ($setup:expr, $machine:expr, $policies:ident => $run:expr) => {
        match ($setup, $machine.sub_cores().count()) {
            (PolicySetup::Gto, 1) => {
                let $policies = &mut [Gto::default()];
                $run
            }
            (PolicySetup::Lrr, 1) => {
                let $policies = &mut [Lrr::default()];
                $run
            }
            (any, _) => {
                let $policies = &mut any.policies($machine);
                $run
            }
        }
    };
}

/// Simulates a launch, on one SM unless the machine has several.
///
/// Blocks become resident in launch order, at most `resident_blocks` at a time, each with slots of
/// its own; a block that ends, which is at its last `done`, makes room for the next one in that
/// cycle. With one block at a time the policy starts anew with each. `on_block` hears of every
/// block when it ends; of several that end in the same cycle, of the one launched first.
///
/// Where the source says that nobody wants the rest, blocks under way may be left unfinished: the
/// summary is then that of the cycles up to there.
///
/// # Errors
/// What the source reports, or why a block could not be simulated to its end.
pub fn simulate<S: BlockSource, O: Observer>(
    source: &mut S,
    table: &TimingTable,
    machine: &Machine,
    setup: &PolicySetup,
    resident_blocks: u32,
    observer: &mut O,
    on_block: impl FnMut(&BlockResult, &BlockPaths),
) -> Result<SimSummary, SimError<S::Error>> {
    simulate_on(1, source, table, machine, setup, resident_blocks, observer, on_block)
}

/// As [`simulate`], with several SMs on this many threads, which changes no event and no cycle.
///
/// # Errors
/// As [`simulate`].
#[allow(clippy::too_many_arguments, reason = "simulate's, and one more")]
pub fn simulate_on<S: BlockSource, O: Observer>(
    threads: usize,
    source: &mut S,
    table: &TimingTable,
    machine: &Machine,
    setup: &PolicySetup,
    resident_blocks: u32,
    observer: &mut O,
    mut on_block: impl FnMut(&BlockResult, &BlockPaths),
) -> Result<SimSummary, SimError<S::Error>> {
    let mut source = Blocks { source, error: None };
    let on = On { threads, table, machine, setup, resident_blocks };
    on_engine(&on, &mut source, observer, &mut on_block).map_err(|error| match error {
        SimError::Run(error) => SimError::Run(error),
        SimError::Source(Kept) => SimError::Source(source.error.expect("it is kept where it is found")),
    })
}

/// Any source of blocks: the engines are compiled once for all of them.
pub(super) type AnySource<'s> = dyn BlockSource<Error = Kept> + 's;

/// Somebody who hears of blocks that ended.
pub(super) type OnBlock<'f> = dyn FnMut(&BlockResult, &BlockPaths) + 'f;

/// Says that a source has failed; the reason is kept in [`Blocks`].
pub(super) struct Kept;

/// A source that keeps its error.
struct Blocks<'s, S: BlockSource> {
    source: &'s mut S,
    error: Option<S::Error>,
}

impl<S: BlockSource> BlockSource for Blocks<'_, S> {
    type Error = Kept;

    fn next_block(&mut self, paths: &mut BlockPaths) -> Result<bool, Kept> {
        self.source.next_block(paths).map_err(|error| {
            self.error = Some(error);
            Kept
        })
    }

    fn footprint(&self) -> Footprint {
        self.source.footprint()
    }
}

/// What a launch runs on.
struct On<'a> {
    threads: usize,
    table: &'a TimingTable,
    machine: &'a Machine,
    setup: &'a PolicySetup,
    resident_blocks: u32,
}

/// Not generic, so that the engines are compiled here and nowhere else.
fn on_engine(
    on: &On<'_>,
    source: &mut AnySource<'_>,
    observer: &mut dyn Observer,
    on_block: &mut OnBlock<'_>,
) -> Result<SimSummary, SimError<Kept>> {
    let On { threads, table, machine, setup: policy, resident_blocks } = *on;
    if let Some(pipeline) = machine.pipeline() {
        let setup = pipeline::Setup { table, machine, pipeline, policy, resident_blocks, threads };
        pipeline::launch(source, &setup, observer, on_block)
    } else if observer.is_active() {
        with_policies!(policy, machine, policies => {
            launch(source, table, resident_blocks, policies, &mut Listening(observer), on_block)
        })
    } else {
        with_policies!(policy, machine, policies => {
            launch(source, table, resident_blocks, policies, &mut (), on_block)
        })
    }
}

fn launch<P: Policy, O: Observer>(
    source: &mut AnySource<'_>,
    table: &TimingTable,
    resident_blocks: u32,
    policies: &mut [P],
    observer: &mut O,
    on_block: &mut OnBlock<'_>,
) -> Result<SimSummary, SimError<Kept>> {
    let mut sm = Sm::new(table);
    let mut rooms = vec![BlockPaths::default()];
    let mut exhausted = !source.next_block(&mut rooms[0]).map_err(SimError::Source)?;
    // the first block tells how many slots a block takes
    let warps = rooms[0].warps.len().max(1);
    let places = (resident_blocks as usize).clamp(1, (SLOTS / warps).max(1));
    let stride = if places == 1 { SLOTS } else { warps };
    rooms.resize_with(places, BlockPaths::default);
    sm.restart(places);
    let mut first_is_there = !exhausted;
    let mut result = BlockResult::default();
    let mut blocks = 0;
    loop {
        for (place, room) in rooms.iter_mut().enumerate() {
            if exhausted || !sm.is_free(place) {
                continue;
            }
            if !std::mem::take(&mut first_is_there) && !source.next_block(room).map_err(SimError::Source)? {
                exhausted = true;
                continue;
            }
            check_size(room, stride)?;
            if places == 1 {
                policies.iter_mut().for_each(P::restart);
            }
            sm.place(place, place * stride, room, policies, observer);
            blocks += 1;
        }
        if sm.is_empty() {
            break;
        }
        let mut steps: SlotSteps<'_> = [&[]; SLOTS];
        for (place, room) in rooms.iter().enumerate() {
            if !sm.is_free(place) {
                sm.steps_of(place, room, &mut steps);
            }
        }
        sm.run(&steps, policies, observer)?;
        while let Some(place) = sm.take_ended(&mut result) {
            ended(policies, result.block)?;
            observer.block_ended(result.block, sm.now());
            on_block(&result, &rooms[place]);
        }
    }
    let makespan = sm.now().since_start();
    let sub_cores = sm.used[..policies.len()].to_vec();
    let total = total(&sub_cores, makespan);
    Ok(SimSummary {
        makespan,
        issues: total.issues,
        stalls: total.stalls,
        sub_cores,
        blocks,
        resident_blocks: u32::try_from(places).unwrap_or(u32::MAX),
        memory: None,
    })
}

fn ended<P: Policy>(policies: &mut [P], block: BlockId) -> Result<(), Box<ReplayError>> {
    policies.iter_mut().try_for_each(|policy| policy.ended(block))
}

/// The sum over the sub-cores, each of which accounts for every cycle of the makespan.
fn total(sub_cores: &[SubCoreResult], makespan: Cycles) -> SubCoreResult {
    let mut total = SubCoreResult::default();
    for used in sub_cores {
        debug_assert_eq!(Cycles::new(used.issues) + used.stalls.total(), makespan);
        total += *used;
    }
    total
}

fn check_size(paths: &BlockPaths, slots: usize) -> Result<(), RunError> {
    let warps = paths.warps.len();
    if warps > slots { Err(RunError::TooManyWarps { block: paths.block, warps, slots }) } else { Ok(()) }
}

/// Simulates one block at a time, each by itself from cycle 0, and keeps its memory in between.
#[derive(Clone, Debug)]
pub struct Engine<'a> {
    sm: Sm<'a>,
    machine: &'a Machine,
}

impl<'a> Engine<'a> {
    /// For a program on a machine.
    pub fn new(table: &'a TimingTable, machine: &'a Machine) -> Self {
        Self { sm: Sm::new(table), machine }
    }

    /// Simulates a block.
    ///
    /// # Errors
    /// Why it could not be simulated to its end.
    pub fn run_block<O: Observer>(
        &mut self,
        paths: &BlockPaths,
        setup: &PolicySetup,
        observer: &mut O,
    ) -> Result<BlockResult, RunError> {
        self.run_under(paths, setup, observer)
    }

    /// As [`on_engine`].
    fn run_under(
        &mut self,
        paths: &BlockPaths,
        setup: &PolicySetup,
        observer: &mut dyn Observer,
    ) -> Result<BlockResult, RunError> {
        let machine = self.machine;
        if observer.is_active() {
            with_policies!(setup, machine, policies => self.run_block_with(paths, policies, &mut Listening(observer)))
        } else {
            with_policies!(setup, machine, policies => self.run_block_with(paths, policies, &mut ()))
        }
    }

    /// Simulates a block under policies of the caller's, one for each sub-core of the machine,
    /// which are restarted first.
    ///
    /// # Errors
    /// Why it could not be simulated to its end.
    ///
    /// # Panics
    /// If there are more or fewer policies than sub-cores.
    pub fn run_block_with<P: Policy, O: Observer>(
        &mut self,
        paths: &BlockPaths,
        policies: &mut [P],
        observer: &mut O,
    ) -> Result<BlockResult, RunError> {
        assert_eq!(policies.len(), self.machine.sub_cores().count(), "one policy for each sub-core");
        check_size(paths, SLOTS)?;
        self.sm.restart(1);
        policies.iter_mut().for_each(P::restart);
        self.sm.place(0, 0, paths, policies, observer);
        let mut steps: SlotSteps<'_> = [&[]; SLOTS];
        self.sm.steps_of(0, paths, &mut steps);
        self.sm.run(&steps, policies, observer)?;
        let mut result = BlockResult::default();
        self.sm.take_ended(&mut result);
        ended(policies, result.block)?;
        observer.block_ended(result.block, self.sm.now());
        total(self.sub_cores(), result.makespan);
        Ok(result)
    }

    /// How the sub-cores went in the last block.
    pub fn sub_cores(&self) -> &[SubCoreResult] {
        &self.sm.used[..self.machine.sub_cores().count()]
    }

    /// Idle issue slots of the last block, by reason, over all sub-cores; with its issues they add
    /// up to its makespan times the number of sub-cores.
    pub fn stalls(&self) -> Stalls {
        let mut stalls = Stalls::default();
        self.sub_cores().iter().for_each(|used| stalls += used.stalls);
        stalls
    }
}
