//! Running blocks: a whole launch, or one block at a time.

use super::SLOTS;
use super::error::{RunError, SimError};
use super::pipeline;
use super::pipeline::memory::MemoryStats;
use super::policy::{Gsrr, Gto, Lrr, Oldest, Policy, PolicySetup, Random, Replay, Srr, TwoLevel};
use super::sm::{SlotSteps, Sm};
use crate::base::{BlockId, Cycle, Cycles};
use crate::machine::Machine;
use crate::path::{BlockPaths, BlockSource};
use crate::program::TimingTable;
use crate::trace::{Observer, Stalls};

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
    /// Idle issue slots by reason; with the issues they add up to the makespan.
    pub stalls: Stalls,
    /// Blocks.
    pub blocks: u64,
    /// Blocks that were resident at a time, at most.
    pub resident_blocks: u32,
    /// What happened in the memory, if the machine has one that is not perfect.
    pub memory: Option<MemoryStats>,
}

/// Evaluates an expression with the policy that a setup chooses.
macro_rules! with_policy {
    ($setup:expr, $machine:expr, $policy:ident => $run:expr) => {
        match $setup {
            PolicySetup::Gto => {
                let $policy = &mut Gto::default();
                $run
            }
            PolicySetup::Lrr => {
                let $policy = &mut Lrr::default();
                $run
            }
            PolicySetup::Srr => {
                let $policy = &mut Srr::default();
                $run
            }
            PolicySetup::Gsrr => {
                let $policy = &mut Gsrr::default();
                $run
            }
            PolicySetup::Oldest => {
                let $policy = &mut Oldest;
                $run
            }
            PolicySetup::TwoLevel => {
                let $policy = &mut TwoLevel::new($machine.two_level_active());
                $run
            }
            PolicySetup::Random(seed) => {
                let $policy = &mut Random::new(*seed);
                $run
            }
            PolicySetup::Replay(schedule) => {
                let $policy = &mut Replay::new(schedule);
                $run
            }
        }
    };
}

/// Simulates a launch on one SM.
///
/// Blocks become resident in launch order, at most `resident_blocks` at a time, each with slots of
/// its own; a block that ends, which is at its last `done`, makes room for the next one in that
/// cycle. With one block at a time the policy starts anew with each. `on_block` hears of every
/// block when it ends; of several that end in the same cycle, of the one launched first.
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
    if let Some(pipeline) = machine.pipeline() {
        let on = pipeline::Setup { table, machine, pipeline, resident_blocks };
        return with_policy!(setup, machine, policy => pipeline::launch(source, &on, &*policy, observer, on_block));
    }
    with_policy!(setup, machine, policy => {
        launch(source, table, resident_blocks, policy, observer, on_block)
    })
}

fn launch<S: BlockSource, P: Policy, O: Observer>(
    source: &mut S,
    table: &TimingTable,
    resident_blocks: u32,
    policy: &mut P,
    observer: &mut O,
    mut on_block: impl FnMut(&BlockResult, &BlockPaths),
) -> Result<SimSummary, SimError<S::Error>> {
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
                policy.restart();
            }
            sm.place(place, place * stride, room, policy, observer);
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
        sm.run(&steps, policy, observer)?;
        while let Some(place) = sm.take_ended(&mut result) {
            policy.ended(result.block)?;
            observer.block_ended(result.block, sm.now());
            on_block(&result, &rooms[place]);
        }
    }
    let makespan = sm.now().since_start();
    debug_assert_eq!(Cycles::new(sm.issues) + sm.stalls.total(), makespan);
    Ok(SimSummary {
        makespan,
        issues: sm.issues,
        stalls: sm.stalls,
        blocks,
        resident_blocks: u32::try_from(places).unwrap_or(u32::MAX),
        memory: None,
    })
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
        with_policy!(setup, self.machine, policy => self.run_block_with(paths, policy, observer))
    }

    /// Simulates a block under a policy of the caller's, which is restarted first.
    ///
    /// # Errors
    /// Why it could not be simulated to its end.
    pub fn run_block_with<P: Policy, O: Observer>(
        &mut self,
        paths: &BlockPaths,
        policy: &mut P,
        observer: &mut O,
    ) -> Result<BlockResult, RunError> {
        check_size(paths, SLOTS)?;
        self.sm.restart(1);
        policy.restart();
        self.sm.place(0, 0, paths, policy, observer);
        let mut steps: SlotSteps<'_> = [&[]; SLOTS];
        self.sm.steps_of(0, paths, &mut steps);
        self.sm.run(&steps, policy, observer)?;
        let mut result = BlockResult::default();
        self.sm.take_ended(&mut result);
        policy.ended(result.block)?;
        observer.block_ended(result.block, self.sm.now());
        debug_assert_eq!(Cycles::new(self.sm.issues) + self.sm.stalls.total(), result.makespan);
        Ok(result)
    }

    /// Idle issue slots of the last block, by reason; with its issues they add up to its makespan.
    pub fn stalls(&self) -> Stalls {
        self.sm.stalls
    }
}
