//! Runs under several policies and on several machines: the kernel is executed once, and what its warps did is
//! replayed as often as it takes.
//!
//! Where blocks run one by one, each is replayed everywhere before the next is executed, so that memory does not
//! grow with the grid. Where they overlap in time every replay needs all of them again: paths of a launch that is
//! not too large are kept, and a larger one is executed anew for each.

use super::ahead::ahead;
use super::checked::{Checked, Failed};
use super::judging::{Analysed, Judge, analyser};
use super::plan::{Plan, resident_blocks};
use super::run::{observe, observe_source, sim_problem};
use crate::base::Cycles;
use crate::bound::{Analyser, Scope};
use crate::diag::Diagnostics;
use crate::exec::Options;
use crate::exec::races::TimeDependences;
use crate::path::{BlockPaths, BlockSource, Footprint, Listed, WarpPath};
use crate::program::TimingTable;
use crate::sim::{Engine, PaperMachine, SimError};
use crate::trace::StallReason;

/// Bytes of paths that are kept to be replayed.
const KEPT: usize = 128 << 20;

/// What came of a plan: the results in the order of its policies.
pub type Ran = Result<Vec<Checked>, Failed>;

/// Runs the plan. The results are in the order of the policies.
///
/// # Errors
/// A launch that does not fit the machine, an error of the kernel, a schedule that does not fit,
/// or a difference in the self-check (which is a fault of this program).
pub fn check(plan: &Plan) -> Ran {
    check_all(&[plan]).pop().expect("a result for each plan")
}

/// Runs plans of one workload, such as the same launch on several machines: each as [`check`] would, but the
/// kernel is executed once for all machines that need the same to be recorded. The results are in the order of
/// the plans.
pub fn check_all(plans: &[&Plan]) -> Vec<Ran> {
    let mut results: Vec<Option<Ran>> = plans.iter().map(|_| None).collect();
    let mut groups: Vec<Group> = Vec::new();
    for (index, plan) in plans.iter().enumerate() {
        match Group::of(plan) {
            Err(problems) => results[index] = Some(Err(problems.into())),
            Ok(new) => {
                let known = groups.iter().position(|group| group.is_like(&new));
                let group = known.unwrap_or_else(|| {
                    groups.push(new);
                    groups.len() - 1
                });
                groups[group].members.push(index);
            }
        }
    }
    for group in groups {
        let members: Vec<&Plan> = group.members.iter().map(|&index| plans[index]).collect();
        let ran = if group.one_by_one {
            block_by_block(&members, group.options)
        } else {
            launch_by_launch(&members, group.options)
        };
        group.members.into_iter().zip(ran).for_each(|(index, ran)| results[index] = Some(ran));
    }
    results.into_iter().map(|ran| ran.expect("every plan is of a group")).collect()
}

/// Plans that a functional run serves together.
struct Group {
    options: Options,
    /// Whether a block starts when the one before it has ended, on the engine of the paper model.
    one_by_one: bool,
    members: Vec<usize>,
}

impl Group {
    fn of(plan: &Plan) -> Result<Self, Diagnostics> {
        let one_by_one = resident_blocks(plan)? <= 1 && plan.machine.pipeline().is_none();
        Ok(Self { options: plan.options()?, one_by_one, members: Vec::new() })
    }

    fn is_like(&self, other: &Self) -> bool {
        (self.options, self.one_by_one) == (other.options, other.one_by_one)
    }
}

/// Each block is executed once and replayed under every plan.
fn block_by_block(plans: &[&Plan], options: Options) -> Vec<Ran> {
    let first = plans[0];
    let program = first.workload.program();
    let tables: Vec<_> = plans.iter().map(|plan| TimingTable::new(program, plan.machine)).collect();
    let mut runs: Vec<Result<Replays, Failed>> = plans
        .iter()
        .zip(&tables)
        .map(|(plan, table)| match table {
            Ok(table) => Replays::new(plan, table).map_err(Failed::from),
            Err(problems) => Err(problems.clone().into()),
        })
        .collect();
    let mut source = match first.workload.source(options) {
        Ok(source) => source.watched(first.watch),
        Err(problems) => return plans.iter().map(|_| Err(problems.clone().into())).collect(),
    };
    let ended = ahead(&mut source, first.runs_ahead(), |blocks| {
        let mut paths = BlockPaths::default();
        while runs.iter().any(Result::is_ok) && !first.watch.is_stopped() && blocks.next_block(&mut paths)? {
            for run in &mut runs {
                let Ok(replays) = run else { continue };
                if let Err(problems) = replays.block(&paths) {
                    *run = Err(Failed::from(problems).after(replays.so_far()));
                }
            }
        }
        Ok(())
    });
    let dependences = source.time_dependences();
    let finish = |run: Result<Replays, Failed>| match (run, &ended) {
        (Ok(replays), Ok(())) => Ok(replays.finish(&dependences)),
        (Ok(replays), Err(problems)) => {
            let problems: Diagnostics = Clone::clone(problems);
            Err(Failed::from(problems).after(replays.finish(&dependences)))
        }
        (Err(failed), _) => Err(failed.ordered_by_time(&dependences, program)),
    };
    runs.into_iter().map(finish).collect()
}

/// The replays of one plan, block after block.
struct Replays<'p> {
    plan: &'p Plan<'p>,
    table: &'p TimingTable,
    engine: Engine<'p>,
    analyser: Analyser<'p>,
    asked: Vec<bool>,
    judges: Vec<Judge<'p>>,
}

impl<'p> Replays<'p> {
    fn new(plan: &'p Plan<'p>, table: &'p TimingTable) -> Result<Self, Diagnostics> {
        Ok(Self {
            plan,
            table,
            engine: Engine::new(table, PaperMachine::of(plan.machine)?),
            analyser: analyser(plan, table),
            asked: plan.bounds.iter().map(|bound| bound.scope() == Scope::Block).collect(),
            judges: plan.policies.iter().map(|policy| Judge::new(plan, policy, 1)).collect(),
        })
    }

    /// A block is analysed once and replayed under every policy.
    fn block(&mut self, paths: &BlockPaths) -> Result<(), Diagnostics> {
        let Self { plan, table, engine, analyser, asked, judges } = self;
        let analysed = Analysed::new(plan, asked, analyser, paths);
        let checked = if plan.self_check { super::self_check(table, plan.machine, paths)? } else { 0 };
        for judge in judges {
            let result = engine
                .run_block(paths, judge.policy, &mut ())
                .map_err(|error| sim_problem(plan, judge.policy, SimError::Run(error)))?;
            judge.total.makespan += result.makespan;
            judge.total.stalls += engine.stalls();
            judge.total.sub_cores.iter_mut().zip(engine.sub_cores()).for_each(|(sum, used)| *sum += *used);
            judge.total.self_checked_warps += checked;
            let passed_over = engine.stalls().get(StallReason::NotMyTurn) > Cycles::ZERO;
            judge.block(&result, paths, &analysed, passed_over);
            plan.watch.advance(1);
        }
        Ok(())
    }

    /// What was judged, of replays that failed.
    fn so_far(&mut self) -> Vec<Checked> {
        let notes = &self.plan.workload.program().notes;
        std::mem::take(&mut self.judges).into_iter().map(|judge| judge.finish(notes.clone())).collect()
    }

    fn finish(mut self, dependences: &TimeDependences) -> Vec<Checked> {
        let program = self.plan.workload.program();
        let ordered = |checked: Checked| checked.ordered_by_time(dependences.clone(), program);
        self.so_far().into_iter().map(ordered).collect()
    }
}

/// Each plan and policy takes all blocks at its own pace.
fn launch_by_launch(plans: &[&Plan], options: Options) -> Vec<Ran> {
    let replays: usize = plans.iter().map(|plan| plan.policies.len()).sum();
    let kept = if replays > 1 { Kept::of(plans[0], options) } else { None };
    let run = |plan: &&Plan| {
        let mut runs = Vec::with_capacity(plan.policies.len());
        for policy in plan.policies {
            let ran = match &kept {
                Some(kept) => {
                    let program = plan.workload.program();
                    let ran = observe_source(plan, policy, &mut kept.source(), &mut ());
                    ran.map(|checked| checked.ordered_by_time(kept.dependences.clone(), program))
                        .map_err(|failed| failed.ordered_by_time(&kept.dependences, program))
                }
                None => observe(plan, policy, &mut ()).map(|(checked, _)| checked),
            };
            match ran {
                Ok(checked) => runs.push(checked),
                Err(failed) => return Err(failed.after(runs)),
            }
        }
        Ok(runs)
    };
    plans.iter().map(run).collect()
}

/// All blocks of a launch.
struct Kept {
    blocks: Vec<BlockPaths>,
    dependences: TimeDependences,
    footprint: Footprint,
}

impl Kept {
    /// Nothing if it is too much, or ends with an error: whoever executes the launch again will meet it where it
    /// belongs.
    fn of(plan: &Plan, options: Options) -> Option<Self> {
        let mut source = plan.workload.source(options).ok()?.watched(plan.watch);
        let mut blocks = Vec::new();
        let mut bytes = 0;
        loop {
            let mut paths = BlockPaths::default();
            if plan.watch.is_stopped() || bytes > KEPT {
                return None;
            }
            if !source.next_block(&mut paths).ok()? {
                break;
            }
            bytes += paths.warps.iter().map(WarpPath::size_bytes).sum::<usize>();
            blocks.push(paths);
        }
        Some(Self { blocks, dependences: source.time_dependences(), footprint: source.footprint() })
    }

    fn source(&self) -> Replayed<'_> {
        Replayed { blocks: Listed::new(&self.blocks), footprint: &self.footprint }
    }
}

/// Kept blocks, from the first.
struct Replayed<'k> {
    blocks: Listed<'k>,
    footprint: &'k Footprint,
}

impl BlockSource for Replayed<'_> {
    type Error = Diagnostics;

    fn next_block(&mut self, paths: &mut BlockPaths) -> Result<bool, Diagnostics> {
        let Ok(there) = self.blocks.next_block(paths);
        Ok(there)
    }

    fn footprint(&self) -> Footprint {
        self.footprint.clone()
    }
}
