//! Worst cases beyond those of simulated runs: over all paths and over all schedules.

use std::collections::HashMap;

use super::args::{Common, PtxLaunch};
use super::resources;
use super::session::Session;
use crate::load;
use warpbound_bound::{Applicable, BoundValue, Context, NotApplicable, Order, Schedules};
use warpbound_core::base::{Cycles, Pc};
use warpbound_core::diag::{Diagnostic, Diagnostics};
use warpbound_core::machine::{Machine, PolicyKind};
use warpbound_core::path::{BlockPaths, BlockSource};
use warpbound_core::program::TimingTable;
use warpbound_judge::check::all_paths::{AllPathsOutcome, all_paths};
use warpbound_judge::explore::explore;
use warpbound_judge::explore::search::Limits;
use warpbound_judge::load::LoadedKernel;
use warpbound_report::wcet::{AllPathsValue, Explored};

/// The most blocks of a launch that is explored.
const MAX_BLOCKS: usize = 64;

/// The most runs that are kept for comparison with later ones.
const MAX_KNOWN: usize = 64;

/// Returns the bound over all paths, for runs with these schedules. If a loop needs a bound or
/// something cannot be analysed, the result states it.
pub fn all_paths_value(
    kernel: &LoadedKernel,
    machine: &Machine,
    schedules: &[Schedules],
    bounds: &HashMap<Pc, u64>,
    common: &Common,
    session: &Session,
) -> Result<AllPathsValue, Diagnostics> {
    let policies: Vec<PolicyKind> = schedules.iter().filter_map(Schedules::policy).cloned().collect();
    let found = all_paths(&kernel.workload, machine, &policies, bounds, common.fuel(), &session.monitor);
    Ok(match found {
        Ok(AllPathsOutcome::Bound(found)) => {
            let of_each = schedules.iter().map(|schedules| found.under(schedules.clone()));
            match of_each.collect::<Result<Vec<_>, _>>() {
                Ok(values) => values.first().map_or_else(
                    || AllPathsValue::Missing("no run".to_owned()),
                    |value| AllPathsValue::Bound(*value),
                ),
                Err(why) => AllPathsValue::Missing(why.to_string()),
            }
        }
        Ok(AllPathsOutcome::NotApplicable(why)) => AllPathsValue::Missing(why.to_string()),
        Ok(AllPathsOutcome::Stopped) => {
            return Err(
                Diagnostic::general(kernel.workload.name.clone(), "ended before there was a bound").into()
            );
        }
        Err(problems) => AllPathsValue::Missing(first_of(&problems)),
    })
}

/// Returns the first error as the reason why there is no bound.
pub fn first_of(problems: &Diagnostics) -> String {
    let description = |problem: &Diagnostic| match problem.hint.as_str() {
        "" => problem.message.clone(),
        hint => format!("{}; {hint}", problem.message),
    };
    problems.list().first().map_or_else(String::new, description)
}

/// The parameters of an exploration of schedules.
pub struct Exploring<'a> {
    /// The options that override parts of the launch.
    pub ptx: &'a PtxLaunch,
    /// The common options, including the seed of the first run.
    pub common: &'a Common,
    /// The number of runs, which have consecutive seeds.
    pub runs: u64,
    /// The most states to visit.
    pub max_states: u64,
    /// The number of threads; `None` for all cores.
    pub jobs: Option<usize>,
}

impl Exploring<'_> {
    /// Returns the worst case over all schedules of the runs' paths, if it is known for each run.
    pub fn worst(
        &self,
        name: &str,
        machine: &Machine,
        schedules: &[Schedules],
        session: &Session,
    ) -> Result<Explored, Diagnostics> {
        let threads = self.jobs.unwrap_or_else(resources::threads).max(1);
        let limits = Limits { max_states: self.max_states, max_bytes: resources::of_search(), threads };
        let mut known: Vec<(Vec<BlockPaths>, Cycles)> = Vec::new();
        let mut worst = None;
        session.progress.begin(format!("exploring {name}"), Some(self.runs), "runs");
        for number in 0..self.runs {
            let seed = self.common.seed + number;
            let kernel = load::kernel(name, self.ptx, seed, &session.monitor)?;
            let hold = |partial_barriers, order: &Order| {
                explorable(&kernel, machine, schedules, (partial_barriers, order))
            };
            // premises that do not depend on the paths are checked before the kernel is executed
            if let Err(why) = hold(false, &Order::AtTheEnd) {
                return Ok(Explored::Missing(why.to_string()));
            }
            let table = TimingTable::new(kernel.workload.program(), machine)?;
            let mut source =
                kernel.workload.source(self.common.functional_options(machine), &session.monitor)?;
            let (mut paths, mut blocks) = (BlockPaths::default(), Vec::new());
            while source.next_block(&mut paths).map_err(|problems| kernel.with_excerpts(problems))? {
                if blocks.len() == MAX_BLOCKS {
                    return Ok(Explored::Missing(format!("more than {MAX_BLOCKS} blocks")));
                }
                blocks.push(paths.clone());
            }
            let partial_barriers = blocks.iter().any(|block| block.partial_barriers);
            let applicable = match hold(partial_barriers, &source.seen().order(kernel.workload.program())) {
                Ok(applicable) => applicable.first().copied(),
                Err(why) => return Ok(Explored::Missing(format!("{why} (seed {seed})"))),
            };
            let Some(applicable) = applicable else { break };
            let same = |(other, _): &&(Vec<BlockPaths>, Cycles)| *other == blocks;
            let sum = match known.iter().find(same) {
                Some((_, sum)) => *sum,
                None => {
                    let sum = match worst_of_blocks(&blocks, (&table, machine), limits, session) {
                        Ok(sum) => sum,
                        Err(why) => return Ok(Explored::Missing(why)),
                    };
                    if known.len() < MAX_KNOWN {
                        known.push((blocks, sum));
                    }
                    sum
                }
            };
            let value = match applicable.guarantees(BoundValue::new(sum)) {
                Ok(value) => value,
                Err(why) => return Ok(Explored::Missing(why.to_string())),
            };
            if worst.is_none_or(|(most, _)| value > most) {
                worst = Some((value, seed));
            }
            session.monitor.advance(1);
        }
        Ok(worst
            .map_or_else(|| Explored::Missing("no run".to_owned()), |(sum, seed)| Explored::Worst(sum, seed)))
    }
}

/// Returns for each of the schedules the proof that the premises of an exploration hold, or the
/// first premise that does not hold.
fn explorable(
    kernel: &LoadedKernel,
    machine: &Machine,
    schedules: &[Schedules],
    (partial_barriers, order): (bool, &Order),
) -> Result<Vec<Applicable>, NotApplicable> {
    let together = machine.limits().occupancy(&kernel.workload.needs()).map_or(1, |found| found.blocks);
    let context = |schedules: &Schedules| Context {
        schedules: schedules.clone(),
        resident_blocks: together.min(kernel.workload.blocks()),
        partial_barriers,
        beyond: kernel.workload.program().beyond_the_paper_model_on(machine),
        order: order.clone(),
    };
    schedules.iter().map(|schedules| context(schedules).explorable()).collect()
}

/// Returns the sum of the worst cases of blocks that run one after the other, or why one of them is
/// not known.
fn worst_of_blocks(
    blocks: &[BlockPaths],
    (table, machine): (&TimingTable, &Machine),
    limits: Limits,
    session: &Session,
) -> Result<Cycles, String> {
    let mut sum = Cycles::ZERO;
    for paths in blocks {
        match explore(table, machine, paths, Cycles::ZERO, limits, &session.monitor) {
            Ok(found) if found.is_complete() => sum += found.worst.at_least,
            Ok(_) => return Err(format!("more than {} states (--max-states)", limits.max_states)),
            Err(why) => return Err(why.to_string()),
        }
    }
    Ok(sum)
}
