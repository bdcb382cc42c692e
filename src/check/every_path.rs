//! The bound over all paths of a launch.

use std::collections::HashMap;

use super::plan::resident_blocks_on;
use super::workload::{Workload, WorkloadKind, WorkloadSource};
use crate::base::{Cycles, Pc, Watch};
use crate::bound::{Context, NotApplicable, StaticBound, static_bound, static_premises};
use crate::diag::{Diagnostic, Diagnostics};
use crate::exec::Options;
use crate::exec::all_paths::{AllPaths, BlockPathSets, NoPaths};
use crate::machine::{Machine, SchedulerKind};
use crate::path::{BlockPaths, BlockSource, PathSet};
use crate::program::TimingTable;

/// Stack of the thread that walks: paths whose branches nest deeply need it.
const STACK: usize = 1 << 29;

/// The bound over all paths of a launch whose blocks run one after the other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StaticLaunch {
    /// The sum over the blocks.
    pub value: Cycles,
    /// Blocks.
    pub blocks: u32,
    /// Warps of all blocks.
    pub warps: u64,
    /// Of these, warps with one path, whatever the data are.
    pub with_one_path: u64,
    /// Whether the number of barriers depends on the path in some block.
    pub irregular: bool,
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

/// The bound over all paths of a launch on a machine, under every work-conserving policy.
///
/// `bounds`: by the first instruction of a loop, how often a warp goes back to it at most each time it comes to it. `steps`: what may
/// be written down of the paths of a block.
///
/// # Errors
/// What has to be known and is not, such as a bound of a loop whose rounds depend on data; and what is wrong with the launch.
pub fn every_path(
    workload: &Workload,
    machine: &Machine,
    bounds: &HashMap<Pc, u64>,
    steps: u64,
    watch: &Watch,
) -> Result<EveryPath, Diagnostics> {
    let table = TimingTable::new(workload.program(), machine)?;
    let resident = resident_blocks_on(workload, machine)?;
    let context = |partial_barriers| Context {
        beyond: machine.beyond_the_paper_model(),
        ..Context::new(&SchedulerKind::Gto, resident, partial_barriers)
    };
    if let Err(why) = static_premises(&context(false)) {
        return Ok(EveryPath::NotApplicable(why));
    }
    let mut found = StaticLaunch::default();
    let mut partial = false;
    let options = Options::of(machine, steps);
    let all = for_each_block(workload, options, bounds, watch, |block| {
        partial |= block.partial_barriers;
        let StaticBound { value, beyond, .. } = static_bound(&table, &block.warps);
        found.value += value;
        found.blocks += 1;
        found.warps += block.warps.len() as u64;
        found.with_one_path += block.warps.iter().filter(|set| set.only_path().is_some()).count() as u64;
        found.irregular |= beyond.is_some();
    })?;
    if let Err(why) = static_premises(&context(partial)) {
        return Ok(EveryPath::NotApplicable(why));
    }
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
        WorkloadKind::Micro(_) => return written_paths(workload, options, visit),
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
    mut visit: impl FnMut(BlockPathSets),
) -> Result<bool, Diagnostics> {
    let mut source: WorkloadSource<'_> = workload.source(options)?;
    let mut block = BlockPaths::default();
    while source.next_block(&mut block)? {
        let warps = block.warps.iter().map(|warp| PathSet::from_path(warp.steps())).collect();
        visit(BlockPathSets { warps, partial_barriers: block.partial_barriers });
    }
    Ok(true)
}
