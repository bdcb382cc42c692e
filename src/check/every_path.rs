//! The bound over all paths of a launch.

use std::collections::HashMap;

use super::judging::residency;
use super::order::untimed;
use super::plan::resident_blocks_on;
use super::workload::{Workload, WorkloadKind, WorkloadSource};
use crate::base::{BlockId, Cycles, LaneMask, Pc, WARP_SIZE, Watch};
use crate::bound::{
    Applicable, BoundValue, Context, Guarantee, LaunchShares, NotApplicable, Order, Schedules, StaticBound,
    StaticKind, static_bound, static_premises, static_share,
};
use crate::diag::{Diagnostic, Diagnostics};
use crate::exec::Options;
use crate::exec::all_paths::{AllPaths, BlockPathSets, NoPaths};
use crate::machine::{Features, Machine, SchedulerKind};
use crate::path::{BlockPaths, BlockSource, PathSet, WarpPath};
use crate::program::TimingTable;
use crate::program::graph::Loop;
use crate::program::warp_cfg::{Divergence, WarpCfg};

/// Stack of the thread that walks: paths whose branches nest deeply need it.
const STACK: usize = 1 << 29;

/// The bound over all paths of a launch. It has a value only for schedules that it holds for ([`Self::under`]).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StaticLaunch {
    /// Which bound over the paths of a run it is over all paths.
    pub kind: StaticKind,
    /// The sum over the blocks, where they run one after the other.
    value: BoundValue,
    /// What it rests on, but for the schedules.
    premises: Premises,
    /// Blocks.
    pub blocks: u32,
    /// Warps of all blocks.
    pub warps: u64,
    /// Of these, warps with one path, whatever the data are.
    pub with_one_path: u64,
    /// Whether the number of barriers depends on the path in some block.
    pub irregular: bool,
}

/// What the bound rests on, whatever the schedules are.
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

impl StaticLaunch {
    /// Its value for these schedules.
    ///
    /// # Errors
    /// The first premise that does not hold for them.
    pub fn under(&self, schedules: Schedules) -> Result<Guarantee, NotApplicable> {
        let (_, applicable) = self.premises.under(schedules)?;
        Ok(applicable.guarantees(self.value))
    }
}

/// What there is to say of all paths of a launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EveryPath {
    /// A bound.
    Bound(StaticLaunch),
    /// A premise of it does not hold.
    NotApplicable(NotApplicable),
    /// Somebody ended it.
    Stopped,
}

/// The bound over all paths of a launch on a machine, for runs under these policies.
///
/// `bounds`: by the first instruction of a loop, how often a warp goes back to it at most each time it comes to it. `steps`: what may
/// be written down of the paths of a block.
///
/// # Errors
/// What has to be known and is not, such as a bound of a loop whose rounds depend on data; and what is wrong with the launch.
pub fn every_path(
    workload: &Workload,
    machine: &Machine,
    policies: &[SchedulerKind],
    bounds: &HashMap<Pc, u64>,
    steps: u64,
    watch: &Watch,
) -> Result<EveryPath, Diagnostics> {
    let table = TimingTable::new(workload.program(), machine)?;
    if table.barriers().is_some() {
        let why =
            "the longest path follows registers, and control codes hold this program back (dependences)";
        return Ok(EveryPath::NotApplicable(NotApplicable::new(why)));
    }
    let resident = resident_blocks_on(workload, machine)?;
    let mut premises = Premises {
        resident_blocks: resident,
        partial_barriers: false,
        beyond: workload.program().beyond_the_paper_model_on(machine),
        // loaded data are unknown, whoever stored them
        order: untimed(workload.program()),
    };
    // what does not hold anyway need not be walked; a replay may turn out to pass over no warp
    let hopeful =
        |policy: &SchedulerKind| Schedules::Run { policy: policy.clone(), passed_over: Some(false) };
    let all = std::iter::once(Schedules::WorkConserving).chain(policies.iter().map(hopeful));
    let kind = match all.map(|schedules| premises.under(schedules)).collect::<Result<Vec<_>, _>>() {
        Ok(known) => known[0].0,
        Err(why) => return Ok(EveryPath::NotApplicable(why)),
    };
    let mut sum = Cycles::ZERO;
    let (mut blocks, mut warps, mut with_one_path, mut irregular) = (0, 0, 0, false);
    let mut shares = LaunchShares::new(residency(workload, machine, resident));
    let options = Options::of(machine, steps);
    let all = for_each_block(workload, options, bounds, watch, |block| {
        premises.partial_barriers |= block.partial_barriers;
        match kind {
            StaticKind::Iwb => {
                let StaticBound { value, beyond, .. } = static_bound(&table, &block.warps);
                sum += value;
                irregular |= beyond.is_some();
            }
            StaticKind::Rbb => {
                let found = static_share(&table, &block.warps);
                shares.add(BlockId::new(blocks), &found.share);
                irregular |= found.irregular;
            }
        }
        blocks += 1;
        warps += block.warps.len() as u64;
        with_one_path += block.warps.iter().filter(|set| set.only_path().is_some()).count() as u64;
    })?;
    if let Err(why) = premises.under(Schedules::WorkConserving) {
        return Ok(EveryPath::NotApplicable(why));
    }
    let value = match kind {
        StaticKind::Iwb => BoundValue::new(sum),
        StaticKind::Rbb => shares.value(),
    };
    let found = StaticLaunch { kind, value, premises, blocks, warps, with_one_path, irregular };
    Ok(if all { EveryPath::Bound(found) } else { EveryPath::Stopped })
}

/// What the warps of each block may execute, block by block; whether that were all.
///
/// # Errors
/// As for [`every_path`].
pub fn for_each_block(
    workload: &Workload,
    options: Options,
    bounds: &HashMap<Pc, u64>,
    watch: &Watch,
    mut visit: impl FnMut(BlockPathSets) + Send,
) -> Result<bool, Diagnostics> {
    let (program, launch) = match &workload.kind {
        WorkloadKind::Launch { program, launch } => (program, launch),
        WorkloadKind::Micro(_) => return written_paths(workload, options, watch, visit),
        WorkloadKind::Trace(_) => {
            let message = "a trace has the paths that were taken, and nothing of others";
            return Err(Diagnostic::general(workload.name.clone(), message)
                .hint("name the kernel's code: a launch file, or a .ptx or .cubin with --entry --grid --block --arg")
                .into());
        }
        WorkloadKind::Step { .. } => {
            let message =
                "the launch of a program works on what those before it leave, which is not known here";
            return Err(Diagnostic::general(workload.name.clone(), message)
                .hint("name a launch file, or a .ptx with --entry --grid --block --arg")
                .into());
        }
    };
    let mut paths = AllPaths::new(program, launch, options, bounds)
        .map_err(|why| match why {
            NoPaths::Launch(problems) => problems,
            NoPaths::Irreducible(code) => code.problem(program).into(),
        })?
        .watched(watch);
    let walk = || -> Result<bool, Diagnostics> {
        while let Some(block) = paths.next_block()? {
            visit(block);
        }
        Ok(!watch.is_stopped())
    };
    std::thread::scope(|scope| {
        let walker = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, walk);
        match walker.map(std::thread::ScopedJoinHandle::join) {
            Ok(Ok(done)) => done,
            Ok(Err(panic)) => std::panic::resume_unwind(panic),
            Err(error) => {
                Err(Diagnostic::general(workload.name.clone(), format!("no thread to walk with: {error}"))
                    .into())
            }
        }
    })
}

/// The paths of code that has but one for each warp.
fn written_paths(
    workload: &Workload,
    options: Options,
    watch: &Watch,
    mut visit: impl FnMut(BlockPathSets),
) -> Result<bool, Diagnostics> {
    let mut source: WorkloadSource<'_> = workload.source(options, watch)?;
    let mut block = BlockPaths::default();
    while source.next_block(&mut block)? {
        let warps = block.warps.iter().map(|warp| PathSet::from_path(warp.steps())).collect();
        visit(BlockPathSets { warps, partial_barriers: block.partial_barriers });
    }
    Ok(true)
}

/// A thread that goes back to the beginning of a loop more often than somebody said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Contradiction {
    /// The loop's first instruction.
    pub header: Pc,
    /// What was said.
    pub most: u64,
    /// How often it goes back at least.
    pub rounds: u64,
    /// Its warp in the block.
    pub warp: usize,
    /// Its lane.
    pub lane: usize,
}

/// The first thread in a block of a run that contradicts these bounds.
pub fn contradiction(
    graph: &WarpCfg,
    bounds: &HashMap<Pc, u64>,
    paths: &BlockPaths,
) -> Option<Contradiction> {
    let kernel = &graph.functions[0];
    let header = |known: &Loop| kernel.cfg.blocks[known.header].start;
    let bounded = kernel.loops.loops.iter().filter_map(|known| Some((known, *bounds.get(&header(known))?)));
    bounded
        .flat_map(|(known, most)| {
            let of_warp = move |(warp, path): (usize, &WarpPath)| {
                // by lane: how often it went back since it came from outside; none outside of the loop
                let mut rounds: [Option<u64>; WARP_SIZE] = [None; WARP_SIZE];
                let mut masks = path.masks().iter().peekable();
                let mut active = LaneMask::empty();
                for (index, step) in path.steps().iter().enumerate() {
                    while let Some((_, mask)) = masks.next_if(|(from, _)| *from as usize <= index) {
                        active = *mask;
                    }
                    let Some(block) = graph.block_starting_at(step.pc()) else { continue };
                    if !known.contains(block) {
                        active.lanes().for_each(|lane| rounds[lane] = None);
                    } else if block == known.header {
                        for lane in active.lanes() {
                            let now = rounds[lane].map_or(0, |rounds| rounds + 1);
                            rounds[lane] = Some(now);
                            if now > most {
                                return Some(Contradiction {
                                    header: header(known),
                                    most,
                                    rounds: now,
                                    warp,
                                    lane,
                                });
                            }
                        }
                    }
                }
                None
            };
            paths.warps.iter().enumerate().filter_map(of_warp).collect::<Vec<_>>()
        })
        .next()
}

/// Whether a run keeps to what was said of loops.
///
/// # Errors
/// The first thread that does not, and whatever stops the run.
pub fn keeps_bounds(
    workload: &Workload,
    options: Options,
    bounds: &HashMap<Pc, u64>,
    watch: &Watch,
) -> Result<(), Diagnostics> {
    if bounds.is_empty() {
        return Ok(());
    }
    let program = workload.program();
    let graph = WarpCfg::new(program, workload.launch().map(|launch| launch.block), Divergence::Sides)
        .map_err(|code| code.problem(program))?;
    let mut source = workload.source(options, watch)?;
    let mut paths = BlockPaths::default();
    while source.next_block(&mut paths)? {
        if let Some(found) = contradiction(&graph, bounds, &paths) {
            let line = program.instr(found.header).line;
            let message = format!(
                "the bound of the loop of line {line} is {}, and lane {} of warp {} in block {} goes back {} times",
                found.most,
                found.lane,
                found.warp,
                paths.block.get(),
                found.rounds
            );
            let mut problem = Diagnostic::general(&program.file, message)
                .hint(format!("--loop-bound {line}=N with a larger N; this run shows that one is needed"));
            (problem.line, problem.column, problem.width) = (line, 1, 1);
            return Err(problem.into());
        }
    }
    Ok(())
}
