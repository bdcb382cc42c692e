//! Runs under several policies and on several machines: the kernel is executed once, and the paths
//! of its warps are replayed for each policy and machine.
//!
//! If blocks run one by one, each is replayed everywhere before the next is executed, so that
//! memory does not grow with the grid. If blocks overlap in time, every replay needs all of them
//! again: the paths of a launch that is not too large are kept, and a larger launch is executed
//! again for each replay.

use super::ahead::ahead;
use super::clock::{Clock, Timed};
use super::executed_launch::ExecutedLaunch;
use super::judge::{Analysed, Analysers, Found, Judge};
use super::judged_launch::{Failed, JudgedLaunch, Unsettled};
use super::left::Left;
use super::options::RunOptions;
use super::order::{OrderDependences, settled};
use super::plan::{Plan, resident_blocks};
use super::run::{observe_source, sim_problem};
use super::workload::{Workload, WorkloadSource};
use warpbound_bound::Scope;
use warpbound_core::base::{Cycles, ProgressMonitor};
use warpbound_core::diag::Diagnostics;
use warpbound_core::path::{BlockPaths, BlockSource};
use warpbound_core::program::TimingTable;
use warpbound_exec::Options;
use warpbound_sim::{Engine, PaperMachine, PolicySetup, SimError};
use warpbound_trace::trace::{Observer, StallReason};

/// The results of a plan, by policy. If a policy failed, its entry contains only those earlier
/// results that are of its own run.
pub(super) type Ran = Vec<OfPolicy>;

/// The result of one policy.
pub(super) type OfPolicy = Result<JudgedLaunch, Failed>;

/// Starts functional runs of a launch, as many as are needed.
pub(super) trait Executes<'e> {
    /// Starts a new run. `only` tells that no other run is started.
    fn begin(&mut self, options: Options, only: bool) -> Result<WorkloadSource<'e>, Diagnostics>;

    /// Takes back a run. `complete` tells that it reached the end of the launch.
    fn end(&mut self, source: WorkloadSource<'e>, complete: bool);
}

/// Starts functional runs of a workload that can be started independently; the memory at the end is
/// not needed.
struct Anew<'w>(&'w Workload, &'w ProgressMonitor);

impl<'w> Executes<'w> for Anew<'w> {
    fn begin(&mut self, options: Options, _only: bool) -> Result<WorkloadSource<'w>, Diagnostics> {
        self.0.source(options, self.1)
    }

    fn end(&mut self, _source: WorkloadSource<'w>, _complete: bool) {}
}

/// Starts the functional run of a workload and keeps its state at the end.
struct Kept<'w> {
    plan: Plan<'w>,
    divergence: bool,
    source: Option<WorkloadSource<'w>>,
}

impl<'w> Executes<'w> for Kept<'w> {
    fn begin(&mut self, options: Options, _only: bool) -> Result<WorkloadSource<'w>, Diagnostics> {
        let options = Options { divergence: self.divergence, ..options };
        self.plan.workload.source(options, self.plan.options.monitor)
    }

    fn end(&mut self, source: WorkloadSource<'w>, _complete: bool) {
        self.source = Some(source);
    }
}

/// Runs the plan. The results are in the order of the policies.
///
/// # Errors
/// Returns an error for a launch that does not fit the machine, an error of the kernel, a schedule
/// that does not fit, or a difference in the self-check (which is a fault of this program). The
/// error is that of the first policy that has one, with the results judged before it.
pub fn check(plan: &Plan) -> Result<Vec<JudgedLaunch>, Failed> {
    let mut before = Vec::new();
    for ran in check_all(&[plan], &mut ()).pop().expect("a result for each plan") {
        match ran {
            Ok(checked) => before.push(checked),
            Err(failed) => return Err(failed.after(before)),
        }
    }
    Ok(before)
}

/// Runs plans of one workload, such as the same launch on several machines. Each runs as in
/// [`check`], but the kernel is executed once for all machines that need the same data recorded,
/// and a policy that fails does not affect the others. The results are in the order of the plans.
/// The observer sees all runs, one after the other.
pub(super) fn check_all(plans: &[&Plan], observer: &mut dyn Observer) -> Vec<Ran> {
    check_all_after(plans, &mut nothing_left(plans), observer)
}

/// Runs one policy with an observer and judges it.
///
/// # Errors
/// Returns the errors of [`check`](super::check()).
pub fn observe(plan: &Plan, observer: &mut dyn Observer) -> Result<JudgedLaunch, Failed> {
    let mut ran = check_all(&[plan], observer);
    ran.pop().and_then(|mut ran| ran.pop()).expect("a result of the policy")
}

/// Does the same as [`observe`], and returns the functional run as it ended: the contents of memory
/// and, if `divergence` is set, the statistics of branches.
///
/// # Errors
/// Returns the errors of [`check`](super::check()).
pub fn observe_and_keep<'w>(
    plan: &Plan<'w>,
    divergence: bool,
    observer: &mut dyn Observer,
) -> Result<(JudgedLaunch, WorkloadSource<'w>), Failed> {
    let mut kept = Kept { plan: *plan, divergence, source: None };
    let mut ran = check_executed(&[plan], &mut nothing_left(&[plan]), &mut kept, observer);
    let judged = ran.pop().and_then(|mut ran| ran.pop()).expect("a result of the policy");
    Ok((judged?, kept.source.expect("a run with a result has begun")))
}

/// Does the same as [`check_all`], on machines that earlier launches have left in the states
/// `left`, by plan and policy.
pub(super) fn check_all_after(
    plans: &[&Plan],
    left: &mut [Vec<Left>],
    observer: &mut dyn Observer,
) -> Vec<Ran> {
    let Some(first) = plans.first() else { return Vec::new() };
    check_executed(plans, left, &mut Anew(first.workload, first.options.monitor), observer)
}

fn nothing_left(plans: &[&Plan]) -> Vec<Vec<Left>> {
    plans.iter().map(|plan| vec![Left::default(); plan.policies.len()]).collect()
}

/// Does the same as [`check_all_after`], with functional runs of the caller.
pub(super) fn check_executed<'e>(
    plans: &[&Plan],
    left: &mut [Vec<Left>],
    executes: &mut dyn Executes<'e>,
    observer: &mut dyn Observer,
) -> Vec<Ran> {
    let mut results: Vec<Option<Ran>> = plans.iter().map(|_| None).collect();
    let mut groups: Vec<Group> = Vec::new();
    for (index, plan) in plans.iter().enumerate() {
        match Group::of(plan, observer.needs().events) {
            Err(problems) => results[index] = Some(none_ran(plan, &problems)),
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
    let only = groups.len() == 1;
    for group in groups {
        let members: Vec<&Plan> = group.members.iter().map(|&index| plans[index]).collect();
        let ran = if group.one_by_one {
            // the engine of the paper model leaves no machine state
            block_by_block(&members, (group.options, only), executes)
        } else {
            let mut of_members: Vec<Vec<Left>> =
                group.members.iter().map(|&index| std::mem::take(&mut left[index])).collect();
            let ran = launch_by_launch(&members, &mut of_members, (group.options, only), executes, observer);
            group.members.iter().zip(of_members).for_each(|(&index, of_member)| left[index] = of_member);
            ran
        };
        group.members.into_iter().zip(ran).for_each(|(index, ran)| results[index] = Some(ran));
    }
    results.into_iter().map(|ran| ran.expect("every plan is of a group")).collect()
}

/// Returns the results of a plan that cannot begin.
fn none_ran(plan: &Plan, problems: &Diagnostics) -> Ran {
    plan.policies.iter().map(|_| Err(problems.clone().into())).collect()
}

/// Plans that share a functional run.
struct Group {
    options: Options,
    /// Whether a block starts when the one before it has ended, on the engine of the paper model,
    /// and no observer is there.
    one_by_one: bool,
    members: Vec<usize>,
}

impl Group {
    fn of(plan: &Plan, observed: bool) -> Result<Self, Diagnostics> {
        let one_by_one = resident_blocks(plan)? <= 1 && plan.machine.pipeline().is_none() && !observed;
        Ok(Self { options: plan.exec_options()?, one_by_one, members: Vec::new() })
    }

    fn is_like(&self, other: &Self) -> bool {
        (self.options, self.one_by_one) == (other.options, other.one_by_one)
    }
}

/// Executes each block once and replays it under every plan.
fn block_by_block<'e>(
    plans: &[&Plan],
    (options, only): (Options, bool),
    executes: &mut dyn Executes<'e>,
) -> Vec<Ran> {
    let first = plans[0];
    let program = first.workload.program();
    let tables: Vec<_> = plans.iter().map(|plan| TimingTable::new(program, plan.machine)).collect();
    let mut runs: Vec<Result<Replays, Diagnostics>> = plans
        .iter()
        .zip(&tables)
        .map(|(plan, table)| Replays::new(plan, table.as_ref().map_err(Clone::clone)?))
        .collect();
    let clock = first.options.clock;
    let mut source = match Clock::execution(clock, || executes.begin(options, only)) {
        Ok(source) => source,
        Err(problems) => return plans.iter().map(|plan| none_ran(plan, &problems)).collect(),
    };
    let mut timed = Timed { source: &mut source, clock };
    let ended = ahead(&mut timed, first.runs_ahead(), clock, |blocks| {
        let mut paths = BlockPaths::default();
        while !first.options.monitor.is_stopped() && runs.iter().flatten().any(Replays::go_on) {
            if !blocks.next_block(&mut paths)? {
                return Ok(true);
            }
            runs.iter_mut().flatten().for_each(|replays| replays.block(&paths));
        }
        Ok(false)
    });
    let seen = source.seen();
    executes.end(source, matches!(ended, Ok(true)));
    let ended = ended.map(|_| ());
    let finish = |(run, plan): (Result<Replays, Diagnostics>, &&Plan)| match run {
        Ok(replays) => replays.finish(&ended, &seen),
        Err(problems) => none_ran(plan, &problems),
    };
    runs.into_iter().zip(plans).map(finish).collect()
}

/// The replays of one plan, block after block.
struct Replays<'p> {
    plan: &'p Plan<'p>,
    table: &'p TimingTable,
    engine: Engine<'p>,
    analysers: Analysers<'p>,
    asked: Vec<bool>,
    /// The judge of each policy, and the error that ended its run, if there was one.
    judges: Vec<(Judge<'p>, Option<Diagnostics>)>,
}

impl<'p> Replays<'p> {
    fn new(plan: &'p Plan<'p>, table: &'p TimingTable) -> Result<Self, Diagnostics> {
        let analysers = Analysers::new(plan, table, 1, plan.policies, &Found::default());
        let judge = |policy| (Judge::new(plan, policy, 1, &analysers), None);
        let judges = plan.policies.iter().map(judge).collect();
        Ok(Self {
            plan,
            table,
            engine: Engine::new(table, PaperMachine::of(plan.machine)?),
            asked: plan.options.bounds.iter().map(|bound| bound.scope() == Scope::Block).collect(),
            judges,
            analysers,
        })
    }

    /// Returns whether some policy has not failed.
    fn go_on(&self) -> bool {
        self.judges.iter().any(|(_, failed)| failed.is_none())
    }

    /// Analyses a block once and replays it under every policy.
    fn block(&mut self, paths: &BlockPaths) {
        if !self.go_on() {
            return;
        }
        let Self { plan, table, engine, analysers, asked, judges } = self;
        let analysed = Analysed::new(plan, asked, analysers, paths);
        let checked =
            if plan.options.self_check { super::self_check(table, plan.machine, paths) } else { Ok(0) };
        for (judge, failed) in judges.iter_mut().filter(|(_, failed)| failed.is_none()) {
            let ran = checked.clone().and_then(|checked| {
                let ran = if plan.checks_control_codes() {
                    engine.run_block(paths, judge.policy, &mut judge.early)
                } else {
                    engine.run_block(paths, judge.policy, &mut ())
                };
                ran.map(|result| (result, checked))
                    .map_err(|error| sim_problem(plan, judge.policy, SimError::Run(error)))
            });
            let (result, checked) = match ran {
                Ok(ran) => ran,
                Err(problems) => {
                    *failed = Some(problems);
                    continue;
                }
            };
            judge.total.makespan += result.makespan;
            judge.total.stalls += engine.stalls();
            judge.total.sub_cores.iter_mut().zip(engine.sub_cores()).for_each(|(sum, used)| *sum += *used);
            judge.total.self_checked_warps += checked;
            let passed_over = engine.stalls().get(StallReason::NotMyTurn) > Cycles::ZERO;
            judge.block(&result, paths, &analysed, passed_over);
            plan.options.monitor.advance(1);
        }
    }

    /// Returns the results, given how the functional run ended.
    fn finish(self, ended: &Result<(), Diagnostics>, seen: &OrderDependences) -> Ran {
        let program = self.plan.workload.program();
        let finish = |(judge, failed): (Judge, Option<Diagnostics>)| {
            let checked = judge.finish(program.notes.clone()).settle(seen, program);
            match failed.or_else(|| ended.clone().err()) {
                None => Ok(checked),
                Some(problems) => Err(Failed { problems, judged: vec![checked] }),
            }
        };
        self.judges.into_iter().map(finish).collect()
    }
}

/// Runs each plan and policy over all blocks separately.
fn launch_by_launch<'e>(
    plans: &[&Plan],
    left: &mut [Vec<Left>],
    (options, only): (Options, bool),
    executes: &mut dyn Executes<'e>,
    observer: &mut dyn Observer,
) -> Vec<Ran> {
    let replays: usize = plans.iter().map(|plan| plan.policies.len()).sum();
    // if this execution fails, each policy repeats it, so that the error occurs after the blocks
    // before it have been simulated
    let RunOptions { clock, monitor, .. } = plans[0].options;
    let kept = Clock::execution(clock, || {
        let source = if replays > 1 { executes.begin(options, false).ok() } else { None };
        source.and_then(|source| ExecutedLaunch::of(source, monitor).into_whole())
    });
    let kept = kept.map(|(source, paths)| {
        let seen = source.seen();
        executes.end(source, true);
        (paths, seen)
    });
    let mut run = |plan: &Plan, policy: &PolicySetup, left: &mut Left| {
        let program = plan.workload.program();
        let (ran, seen) = match &kept {
            Some((paths, seen)) => {
                let ran = observe_source(left, plan, policy, &mut paths.replay(), observer);
                (ran, seen.clone())
            }
            None => {
                let mut source = Clock::execution(clock, || executes.begin(options, only && replays == 1))?;
                let ran = observe_source(left, plan, policy, &mut source, observer);
                let seen = source.seen();
                executes.end(source, ran.as_ref().is_ok_and(Unsettled::is_complete));
                (ran, seen)
            }
        };
        settled(ran, &seen, program)
    };
    let mut of_plan = |(plan, left): (&&Plan, &mut Vec<Left>)| {
        plan.policies.iter().zip(left).map(|(policy, left)| run(plan, policy, left)).collect()
    };
    plans.iter().zip(left).map(&mut of_plan).collect()
}
