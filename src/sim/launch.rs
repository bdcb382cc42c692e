//! Running a launch, on the engine that its machine asks for; and how launches and blocks went.

use std::ops::AddAssign;

use super::error::{RunError, SimError};
use super::paper::{self, PaperMachine};
use super::pipeline;
use super::pipeline::memory::MemoryStats;
use super::policy::PolicySetup;
use super::supply::Supply;
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
    let on = On { threads, table, machine, policy: setup };
    on_engine(&on, &mut source, resident_blocks, observer, &mut on_block).map_err(|error| match error {
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
pub(super) struct On<'a> {
    /// Threads that several SMs may run on.
    pub threads: usize,
    pub table: &'a TimingTable,
    pub machine: &'a Machine,
    pub policy: &'a PolicySetup,
}

/// Not generic, so that the engines are compiled here and nowhere else.
fn on_engine(
    on: &On<'_>,
    source: &mut AnySource<'_>,
    resident_blocks: u32,
    observer: &mut dyn Observer,
    on_block: &mut OnBlock<'_>,
) -> Result<SimSummary, SimError<Kept>> {
    let mut supply = Supply::new(source, resident_blocks)?;
    if let Some(pipeline) = on.machine.pipeline() {
        return pipeline::launch(&mut supply, on, pipeline, observer, on_block);
    }
    let machine = PaperMachine::of(on.machine).map_err(RunError::from)?;
    if observer.is_active() {
        paper::launch(&mut supply, on.table, machine, on.policy, &mut Listening(observer), on_block)
    } else {
        paper::launch(&mut supply, on.table, machine, on.policy, &mut (), on_block)
    }
}
