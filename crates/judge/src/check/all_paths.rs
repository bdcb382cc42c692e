//! The bound over all paths of a launch, and of a program of several launches.

mod kept;
mod program;

pub use kept::{ExceededLoops, keeps_bounds, program_keeps_bounds};
pub use program::{LaunchPaths, ProgramPaths, all_paths_of_program};

use std::collections::HashMap;

use super::judge::{Found, residency};
use super::order::untimed;
use super::plan::resident_blocks_on;
use super::verdict::PartRow;
use super::workload::{Workload, WorkloadKind, WorkloadSource};
use warpbound_bound::{
    Applicable, BoundPart, BoundValue, Context, Guarantee, LaunchShares, MemoryLeft, NotApplicable, Order,
    PipelineAnalyser, PipelineShares, Residency, Schedules, StaticBound, StaticKind, static_bound,
    static_premises, static_share,
};
use warpbound_core::base::{BlockId, Pc, ProgressMonitor};
use warpbound_core::diag::{Diagnostic, Diagnostics};
use warpbound_core::isa::Space;
use warpbound_core::machine::{Features, Machine, PolicyKind};
use warpbound_core::path::{BlockPaths, BlockSource, Footprint, PathSet};
use warpbound_core::program::{KernelCode, TimingTable};
use warpbound_exec::all_paths::{AllPaths, BlockPathSets, NoPaths};
use warpbound_exec::{Executor, Options};

/// The stack size, in bytes, of the thread that walks the paths: deeply nested branches need a
/// large one.
const STACK: usize = 1 << 29;

/// The bound over all paths of a launch. It has a value only for schedules for which it holds
/// ([`Self::under`]).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AllPathsBound {
    /// The bound over the paths of one run, of which this bound is the generalisation to all paths.
    pub kind: StaticKind,
    /// The value: the sum over the blocks if they run one after the other.
    value: BoundValue,
    /// What its cycles are counted for, if the bound has parts.
    pub parts: Vec<PartRow>,
    /// The premises of the bound, except for the schedules.
    premises: Premises,
    /// The number of blocks.
    pub blocks: u32,
    /// The number of warps of all blocks.
    pub warps: u64,
    /// The number of those warps that have a single path whatever the data are.
    pub with_one_path: u64,
    /// Whether the number of barriers depends on the path in some block.
    pub irregular: bool,
}

/// The premises of the bound that do not depend on the schedules.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Premises {
    resident_blocks: u32,
    partial_barriers: bool,
    beyond: Features,
    order: Order,
}

impl Premises {
    fn under(&self, schedules: Schedules) -> Result<(StaticKind, Applicable), NotApplicable> {
        let Self { resident_blocks, partial_barriers, beyond, ref order } = *self;
        let context = Context { schedules, resident_blocks, partial_barriers, beyond, order: order.clone() };
        static_premises(&context)
    }
}

impl AllPathsBound {
    /// Returns the value for these schedules.
    ///
    /// # Errors
    /// Returns the first premise that does not hold for them.
    pub fn under(&self, schedules: Schedules) -> Result<Guarantee, NotApplicable> {
        let (_, applicable) = self.premises.under(schedules)?;
        applicable.guarantees(self.value)
    }
}

/// The result of the analysis of all paths of a launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AllPathsOutcome {
    /// The analysis found a bound.
    Bound(AllPathsBound),
    /// A premise of the bound does not hold.
    NotApplicable(NotApplicable),
    /// The analysis was stopped.
    Stopped,
}

/// Computes the bound over all paths of a launch on a machine, for runs under these policies.
///
/// `bounds` maps the first instruction of a loop to the largest number of times that a thread goes
/// back to it each time it enters the loop. `steps` limits the number of steps that are stored for
/// the paths of a block.
///
/// # Errors
/// Returns an error if a fact is needed but unknown, such as the bound of a loop whose trip count
/// depends on data, and if the launch is invalid.
pub fn all_paths(
    workload: &Workload,
    machine: &Machine,
    policies: &[PolicyKind],
    bounds: &HashMap<Pc, u64>,
    steps: u64,
    monitor: &ProgressMonitor,
) -> Result<AllPathsOutcome, Diagnostics> {
    let options = Options::of(machine, steps);
    let finds = || Ok((footprint(workload)?, None));
    let walk = |visit: &mut Visit| for_each_block(workload, options, bounds, monitor, visit);
    Ok(analysed(workload, machine, policies, finds, walk)?.0)
}

/// A function that takes the paths of a block.
type Visit<'v> = dyn FnMut(BlockPathSets) + Send + 'v;

/// Computes the bound of a launch as [`all_paths`] does, and what the launch leaves in the L2 for
/// every input. `finds` returns the memory that the launch uses, and what is known of the L2 before
/// it, as [`Found::after`] takes it. `walk` visits the paths of each block.
fn analysed(
    workload: &Workload,
    machine: &Machine,
    policies: &[PolicyKind],
    finds: impl FnOnce() -> Result<(Footprint, Option<MemoryLeft>), Diagnostics>,
    walk: impl FnOnce(&mut Visit) -> Result<bool, Diagnostics>,
) -> Result<(AllPathsOutcome, MemoryLeft), Diagnostics> {
    let without = |why| Ok((AllPathsOutcome::NotApplicable(why), MemoryLeft::unknown()));
    let table = TimingTable::new(workload.program(), machine)?;
    let resident = resident_blocks_on(workload, machine)?;
    let mut premises = Premises {
        resident_blocks: resident,
        partial_barriers: false,
        beyond: workload.program().beyond_the_paper_model_on(machine),
        // loaded data are unknown, whichever store wrote them
        order: untimed(workload.program()),
    };
    // the premises that fail for every schedule are tested before the walk. Here it is assumed that
    // a policy passes over no ready warp, which is not known yet for a replay
    let if_none_is_passed_over =
        |policy: &PolicyKind| Schedules::Run { policy: policy.clone(), passed_over: Some(false) };
    let all = std::iter::once(Schedules::WorkConserving).chain(policies.iter().map(if_none_is_passed_over));
    let kind = match all.map(|schedules| premises.under(schedules)).collect::<Result<Vec<_>, _>>() {
        Ok(known) => known[0].0,
        Err(why) => return without(why),
    };
    if table.barriers().is_some() && kind != StaticKind::Plb {
        let why = "the longest path follows registers, but control codes decide the waits of this program (dependences)";
        return without(NotApplicable::new(why));
    }
    let residency = residency(workload, machine, resident);
    let mut collected = Collected::new(kind, workload, (&table, machine), residency, finds)?;
    let (mut blocks, mut warps, mut with_one_path) = (0, 0, 0);
    let all = walk(&mut |block| {
        premises.partial_barriers |= block.partial_barriers;
        collected.add(BlockId::new(blocks), &table, &block.warps);
        blocks += 1;
        warps += block.warps.len() as u64;
        with_one_path += block.warps.iter().filter(|set| set.only_path().is_some()).count() as u64;
    })?;
    if let Err(why) = premises.under(Schedules::WorkConserving) {
        return without(why);
    }
    if !all {
        return Ok((AllPathsOutcome::Stopped, MemoryLeft::unknown()));
    }
    let irregular = collected.irregular;
    let (value, parts, leaves) = collected.end();
    let parts = parts.into_iter().map(|part| PartRow::new(part, machine)).collect();
    let found = AllPathsBound { kind, value, parts, premises, blocks, warps, with_one_path, irregular };
    Ok((AllPathsOutcome::Bound(found), leaves))
}

/// The blocks of a launch so far, in the terms of the bound that is computed.
struct Collected<'t> {
    blocks: Blocks<'t>,
    /// Whether the number of barriers depends on the path in some block.
    irregular: bool,
}

enum Blocks<'t> {
    /// The sum of the blocks' bounds.
    Iwb(BoundValue),
    Rbb(Box<LaunchShares>),
    Plb(Box<(PipelineAnalyser<'t>, PipelineShares)>),
}

impl<'t> Collected<'t> {
    fn new(
        kind: StaticKind,
        workload: &Workload,
        (table, machine): (&'t TimingTable, &Machine),
        residency: Residency,
        finds: impl FnOnce() -> Result<(Footprint, Option<MemoryLeft>), Diagnostics>,
    ) -> Result<Self, Diagnostics> {
        let blocks = match kind {
            StaticKind::Iwb => Blocks::Iwb(BoundValue::default()),
            StaticKind::Rbb => Blocks::Rbb(Box::new(LaunchShares::new(residency))),
            StaticKind::Plb => {
                let program = workload.program();
                let (footprint, left) = finds()?;
                let frames = program.functions.iter().any(|function| function.frame.is_some());
                let reachable =
                    (program.memory.local.size == 0 && !frames).then(|| reachable(program, &footprint));
                let found = Found::after(footprint, machine, left);
                let mut analyser =
                    PipelineAnalyser::new(program, table, machine, residency, found.at_start());
                if let Some(reachable) = reachable {
                    analyser = analyser.accessing_only(reachable);
                }
                let shares = PipelineShares::new(&analyser);
                Blocks::Plb(Box::new((analyser, shares)))
            }
        };
        Ok(Self { blocks, irregular: false })
    }

    /// Adds a block whose warps take any of these paths.
    fn add(&mut self, block: BlockId, table: &TimingTable, warps: &[PathSet]) {
        self.irregular |= match &mut self.blocks {
            Blocks::Iwb(sum) => {
                let StaticBound { value, beyond, .. } = static_bound(table, warps);
                *sum = sum.sum(BoundValue::new(value));
                beyond.is_some()
            }
            Blocks::Rbb(shares) => {
                let found = static_share(table, warps);
                shares.add(block, &found.share);
                found.irregular
            }
            Blocks::Plb(pipelined) => {
                let (analyser, shares) = pipelined.as_mut();
                let (share, irregular) = analyser.share_of_any(warps);
                shares.add(block, &share);
                irregular
            }
        };
    }

    /// Returns the bound of the launch, its parts, and what the launch leaves in the L2.
    fn end(self) -> (BoundValue, Vec<BoundPart>, MemoryLeft) {
        match self.blocks {
            Blocks::Iwb(sum) => (sum, Vec::new(), MemoryLeft::unknown()),
            Blocks::Rbb(shares) => (shares.value(), Vec::new(), MemoryLeft::unknown()),
            Blocks::Plb(pipelined) => {
                let (analyser, mut shares) = *pipelined;
                shares.end(&analyser);
                (shares.value(), shares.parts(), analyser.leaves())
            }
        }
    }
}

/// Returns the memory that a launch uses. Other workloads have no addresses, or no paths.
fn footprint(workload: &Workload) -> Result<Footprint, Diagnostics> {
    match &workload.kind {
        WorkloadKind::Launch { program, launch } => {
            Ok(Executor::new(program, launch, Options::default())?.footprint())
        }
        WorkloadKind::Step { sequence, step } => {
            Ok(program::footprint(program::known_memory(sequence)?, sequence, step)?.1)
        }
        WorkloadKind::Micro(_) | WorkloadKind::Trace(_) => Ok(Footprint::default()),
    }
}

/// Calls `visit` with the paths that the warps of each block may execute, block by block. Returns
/// whether all blocks were visited.
///
/// # Errors
/// Returns the errors of [`all_paths`].
pub fn for_each_block(
    workload: &Workload,
    options: Options,
    bounds: &HashMap<Pc, u64>,
    monitor: &ProgressMonitor,
    visit: impl FnMut(BlockPathSets) + Send,
) -> Result<bool, Diagnostics> {
    let paths = match &workload.kind {
        WorkloadKind::Launch { program, launch } => AllPaths::new(program, launch, options, bounds),
        WorkloadKind::Micro(_) => return written_paths(workload, options, monitor, visit),
        WorkloadKind::Trace(_) => {
            let message = "a trace has only the paths that were taken";
            return Err(Diagnostic::general(workload.name.clone(), message)
                .hint("name the kernel's code: a launch file, or a .ptx or .cubin with --entry --grid --block --arg")
                .into());
        }
        WorkloadKind::Step { sequence, step } => {
            program::paths(program::known_memory(sequence)?, sequence, step, options, bounds)
        }
    };
    walk(paths, workload, monitor, visit)
}

/// Calls `visit` as [`for_each_block`] does, with these paths.
fn walk(
    paths: Result<AllPaths, NoPaths>,
    workload: &Workload,
    monitor: &ProgressMonitor,
    mut visit: impl FnMut(BlockPathSets) + Send,
) -> Result<bool, Diagnostics> {
    let paths = paths.map_err(|why| match why {
        NoPaths::Launch(problems) => problems,
        NoPaths::Irreducible(code) => code.problem(workload.program()).into(),
    })?;
    let mut paths = paths.watched(monitor);
    let walk = || -> Result<bool, Diagnostics> {
        while let Some(block) = paths.next_block()? {
            visit(block);
        }
        Ok(!monitor.is_stopped())
    };
    std::thread::scope(|scope| {
        let walker = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, walk);
        match walker.map(std::thread::ScopedJoinHandle::join) {
            Ok(Ok(done)) => done,
            Ok(Err(panic)) => std::panic::resume_unwind(panic),
            Err(error) => {
                Err(Diagnostic::general(workload.name.clone(), format!("no thread can be started: {error}"))
                    .into())
            }
        }
    })
}

/// Returns the regions, by address and number of bytes, in which accesses to device memory lie whose
/// places depend on data. The lines that a generic access transfers may be those of constants and
/// parameters, too.
fn reachable(program: &KernelCode, footprint: &Footprint) -> Vec<(u64, u64)> {
    let spaces = program.instrs.iter().filter_map(|instr| instr.memory?.space());
    let constants = if spaces.into_iter().any(|space| space == Space::Generic) {
        program.memory.constant_regions()
    } else {
        Default::default()
    };
    let constants = constants.into_iter().filter(|&(_, bytes)| bytes > 0);
    footprint.buffers.iter().copied().chain(constants).collect()
}

/// Visits the paths of code that has only one path for each warp.
fn written_paths(
    workload: &Workload,
    options: Options,
    monitor: &ProgressMonitor,
    mut visit: impl FnMut(BlockPathSets),
) -> Result<bool, Diagnostics> {
    let mut source: WorkloadSource<'_> = workload.source(options, monitor)?;
    let mut block = BlockPaths::default();
    while source.next_block(&mut block)? {
        let warps = block.warps.iter().map(|warp| PathSet::from_path(warp.steps())).collect();
        visit(BlockPathSets { warps, partial_barriers: block.partial_barriers });
    }
    Ok(true)
}
