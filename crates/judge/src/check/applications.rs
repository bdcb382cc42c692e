//! The check of an application on several machines under several policies. Each launch is executed
//! once for all machines that need the same data recorded, and its paths are replayed for each
//! machine and policy.
//!
//! The runs proceed through the application side by side. A run that fails or is stopped does not
//! affect the others: the memory contents that a launch leaves do not depend on its timing. The
//! traces of a list are independent of each other.

use std::sync::Arc;

use super::application::{Application, ApplicationPlan, Traced};
use super::judged_application::{JudgedApplication, Run, Tally};
use super::left::Left;
use super::plan::Plan;
use super::progress::{ApplicationProgress, SavedProgress, groups, launches_on};
use super::replay::{self, Executes, check_all, check_all_after, check_executed};
use super::steps::{After, copied, in_launch, start};
use super::workload::{Workload, WorkloadSource};
use warpbound_core::base::{ProgressMonitor, in_order};
use warpbound_core::diag::Diagnostics;
use warpbound_core::program::sequence::{Action, Kernel, LaunchAction, Sequence};
use warpbound_exec::{Device, Executor, Options};
use warpbound_sim::PolicySetup;
use warpbound_trace::trace::Observer;

/// Runs one application according to each of these plans, under the policies given with it. The
/// results are in the order of the plans. The observer sees all runs. If `begun` is given, resumes
/// at that point. Calls `keep` with the observer after every launch that all runs have completed.
/// Also returns the memory at the end of a program.
pub(super) fn check_application<O: Observer>(
    plans: &[(ApplicationPlan, &[PolicySetup])],
    observer: &mut O,
    begun: Option<SavedProgress>,
    keep: &mut dyn FnMut(&ApplicationProgress, &O),
) -> (Vec<Vec<Run>>, Option<Device>) {
    let SavedProgress { group: first, mut launches, mut device, runs, left } = begun.unwrap_or_default();
    let mut so_far = runs.into_iter().zip(left);
    let mut all: Vec<Runs> =
        plans.iter().map(|plan| Runs::new(plan, so_far.next().unwrap_or_default())).collect();
    let Some((ApplicationPlan { application, .. }, _)) = plans.first() else { return (Vec::new(), None) };
    let by_options = groups(application, plans.iter().map(|(plan, _)| plan.machine));
    let every = application.launches();
    let mut at_end = None;
    for (group, members) in by_options.iter().enumerate().skip(first) {
        let mut through = |all: &[Runs], launches: u64, device: Option<&Device>, observer: &O| {
            // results of runs that failed or were stopped are not kept: resuming in another process
            // would repeat the failure
            let together = all.iter().enumerate().all(|(index, runs)| {
                let through = launches_on(index, &by_options, (group, launches), every);
                runs.tallies.iter().all(|tally| tally.launches() == through)
            });
            if together {
                let runs = all.iter().map(|runs| runs.tallies.iter().map(Tally::so_far).collect()).collect();
                let left = all.iter().map(|runs| runs.tallies.iter().map(|tally| &tally.left).collect());
                let (groups, left) = (by_options.len(), left.collect());
                keep(&ApplicationProgress { group, groups, launches, runs, left, device }, observer);
            }
        };
        let from = (std::mem::take(&mut launches), device.take());
        let ended = match application {
            Application::Program(sequence) => {
                every_launch(&mut all, members, sequence, from, observer, &mut through)
            }
            Application::Traces(traces) => {
                every_trace(&mut all, members, traces, from.0, observer, &mut through);
                Ok(None)
            }
        };
        let ended = ended.map(|device| at_end = device);
        members.iter().for_each(|&index| all[index].end(&ended));
    }
    (all.into_iter().map(Runs::finish).collect(), at_end)
}

/// A function that is called after every launch, with the runs, the number of launches that are
/// complete, the memory, and the observer.
type Through<'t, O> = dyn FnMut(&[Runs], u64, Option<&Device>, &O) + 't;

/// The runs of one plan.
struct Runs<'p> {
    plan: &'p ApplicationPlan<'p>,
    /// The tally of each policy.
    tallies: Vec<Tally>,
    /// The end of the run of each policy; `None` while it is in progress.
    ended: Vec<Option<Result<(), Diagnostics>>>,
    /// The policies of the runs in progress, each with its index.
    under_way: Vec<(usize, PolicySetup)>,
}

impl<'p> Runs<'p> {
    fn new(
        (plan, policies): &'p (ApplicationPlan<'p>, &[PolicySetup]),
        (checked, left): (Vec<Option<JudgedApplication>>, Vec<Left>),
    ) -> Self {
        let mut so_far = checked.into_iter().zip(left);
        let mut tally = || {
            let (checked, left) = so_far.next().unwrap_or_default();
            Tally::from(checked, left)
        };
        Self {
            plan,
            tallies: policies.iter().map(|_| tally()).collect(),
            ended: policies.iter().map(|_| None).collect(),
            under_way: policies.iter().cloned().enumerate().collect(),
        }
    }

    /// Returns the policies of the runs in progress.
    fn policies(&self) -> Vec<PolicySetup> {
        self.under_way.iter().map(|(_, policy)| policy.clone()).collect()
    }

    /// Takes the state that each run in progress has left on its machine. [`Self::put_left`] puts
    /// it back.
    fn take_left(&mut self) -> Vec<Left> {
        let Self { tallies, under_way, .. } = self;
        under_way.iter().map(|(policy, _)| std::mem::take(&mut tallies[*policy].left)).collect()
    }

    /// Puts back the states that [`Self::take_left`] took, after another launch has changed them.
    fn put_left(&mut self, left: Vec<Left>) {
        let Self { tallies, under_way, .. } = self;
        under_way.iter().zip(left).for_each(|((policy, _), left)| tallies[*policy].left = left);
    }

    /// Adds the results of a launch by this statement to the runs in progress. `told` adds to an
    /// error the launch in which it occurred.
    fn add(
        &mut self,
        statement: usize,
        ran: impl IntoIterator<Item = (usize, replay::OfPolicy)>,
        told: &dyn Fn(&Diagnostics) -> Diagnostics,
    ) {
        for (policy, ran) in ran {
            if self.ended[policy].is_some() {
                continue;
            }
            let tally = &mut self.tallies[policy];
            let ended = match ran.map(|checked| tally.add(self.plan, statement, checked)) {
                Ok(true) => continue,
                Ok(false) => Ok(()),
                Err(failed) => {
                    tally.fail(self.plan, &failed);
                    Err(told(&failed.problems))
                }
            };
            self.ended[policy] = Some(ended);
            self.under_way.retain(|(index, _)| *index != policy);
        }
    }

    /// Ends all runs in progress.
    fn end(&mut self, how: &Result<(), Diagnostics>) {
        for (index, _) in self.under_way.drain(..) {
            self.ended[index] = Some(how.clone());
        }
    }

    fn finish(mut self) -> Vec<Run> {
        self.end(&Ok(()));
        let ended = self.tallies.into_iter().zip(self.ended);
        ended.map(|(tally, ended)| tally.end(self.plan, ended.unwrap_or(Ok(())))).collect()
    }
}

fn go_on(all: &[Runs], members: &[usize]) -> bool {
    members.iter().any(|&index| !all[index].under_way.is_empty())
}

/// Runs the traces of a list in order, as long as some run is in progress. They run in parallel if
/// none depends on the state in which the one before it leaves a machine, and no observer is there.
fn every_trace<O: Observer>(
    all: &mut [Runs],
    members: &[usize],
    traces: &[Traced],
    launches: u64,
    observer: &mut O,
    through: &mut Through<'_, O>,
) {
    let Some(options) = members.first().map(|&index| all[index].plan.options) else { return };
    let is_left = members.iter().any(|&index| all[index].plan.machine.memory().start.is_left());
    if options.jobs > 1 && !is_left && !observer.needs().events {
        return side_by_side(all, members, traces, launches, &mut |all, launches| {
            through(all, launches, None, observer);
        });
    }
    for (index, Traced { workload, .. }) in traces.iter().enumerate().skip(launches as usize) {
        // the first trace is started in any case: a result without a completed block is a result as
        // well
        if options.monitor.is_stopped() && index as u64 > launches {
            return;
        }
        one(all, members, (index, workload), &Clone::clone, &mut |plans, left| {
            check_all_after(plans, left, observer)
        });
        if !go_on(all, members) {
            return;
        }
        through(all, index as u64 + 1, None, observer);
    }
}

/// Runs the traces of a list, which are independent of each other, on several threads.
fn side_by_side(
    all: &mut [Runs],
    members: &[usize],
    traces: &[Traced],
    launches: u64,
    through: &mut dyn FnMut(&[Runs], u64),
) {
    let plans: Vec<(&ApplicationPlan, Vec<PolicySetup>)> =
        members.iter().map(|&index| (all[index].plan, all[index].policies())).collect();
    let Some(options) = plans.first().map(|(plan, _)| plan.options) else { return };
    let work = |index: usize| {
        if options.monitor.is_stopped() && index as u64 > launches {
            return None;
        }
        let workload = &traces[index].workload;
        // kernels that are simulated side by side keep all threads busy
        let plans: Vec<Plan> = plans
            .iter()
            .map(|(plan, policies)| plan.of_launch(workload, policies))
            .map(|plan| Plan { options: plan.options.ahead(false), ..plan })
            .collect();
        Some(check_all(&plans.iter().collect::<Vec<_>>(), &mut ()))
    };
    let mut next = launches as usize;
    // an error ends the loop, because no run is in progress any more
    let _ = in_order(next..traces.len(), options.jobs, work, |ran| {
        let ran = ran.ok_or(())?;
        for (&index, ran) in members.iter().zip(ran) {
            all[index].add(next, ran.into_iter().enumerate(), &Clone::clone);
        }
        next += 1;
        if !go_on(all, members) {
            return Err(());
        }
        through(all, next as u64);
        Ok(())
    });
}

/// Runs the plans of one kernel, each with the machine state that earlier kernels have left, by
/// policy.
type RunKernel<'r> = dyn FnMut(&[&Plan], &mut [Vec<Left>]) -> Vec<replay::Ran> + 'r;

/// Runs one kernel, launched by this statement, for all runs in progress. `told` adds to an error
/// the launch in which it occurred.
fn one(
    all: &mut [Runs],
    members: &[usize],
    (statement, workload): (usize, &Workload),
    told: &dyn Fn(&Diagnostics) -> Diagnostics,
    check: &mut RunKernel<'_>,
) {
    let going: Vec<usize> =
        members.iter().copied().filter(|&index| !all[index].under_way.is_empty()).collect();
    let policies: Vec<Vec<PolicySetup>> = going.iter().map(|&index| all[index].policies()).collect();
    let plans: Vec<Plan> = going
        .iter()
        .zip(&policies)
        .map(|(&index, policies)| all[index].plan.of_launch(workload, policies))
        .collect();
    let mut left: Vec<Vec<Left>> = going.iter().map(|&index| all[index].take_left()).collect();
    let ran = check(&plans.iter().collect::<Vec<_>>(), &mut left);
    for ((index, ran), left) in going.into_iter().zip(ran).zip(left) {
        all[index].put_left(left);
        let under_way: Vec<usize> = all[index].under_way.iter().map(|(policy, _)| *policy).collect();
        all[index].add(statement, under_way.into_iter().zip(ran), told);
    }
}

/// Runs the launches of a program in order, as long as some run is in progress. Returns the memory
/// at the end, if some run came to it.
fn every_launch<O: Observer>(
    all: &mut [Runs],
    members: &[usize],
    sequence: &Arc<Sequence>,
    (launches, device): (u64, Option<Device>),
    observer: &mut O,
    through: &mut Through<'_, O>,
) -> Result<Option<Device>, Diagnostics> {
    let mut device = device.map_or_else(|| start(sequence), Ok)?;
    for action in After::launches(sequence.actions(), launches) {
        device = match action.map_err(|wrong| wrong.problems)? {
            Action::Launch(step) => {
                tracing::debug!(launch = step.number, "running");
                match launch(all, members, sequence, &step, device, observer) {
                    Some(after) => {
                        through(all, step.number + 1, Some(&after), observer);
                        after
                    }
                    None => return Ok(None),
                }
            }
            other => copied(device, &other)?,
        };
    }
    Ok(Some(device))
}

/// Runs one launch for all runs in progress. Returns the memory that it leaves, or `None` if no run
/// continues.
fn launch(
    all: &mut [Runs],
    members: &[usize],
    sequence: &Arc<Sequence>,
    step: &LaunchAction,
    device: Device,
    observer: &mut dyn Observer,
) -> Option<Device> {
    let first = members.iter().map(|&index| &all[index]).find(|runs| !runs.under_way.is_empty())?.plan;
    let workload = first.workload(sequence, step);
    let monitor = first.options.monitor;
    let mut executes = OnMemory { sequence, step, monitor, before: Some(device), after: None };
    let told = |problems: &Diagnostics| in_launch(problems.clone(), sequence, step);
    one(all, members, (step.statement, &workload), &told, &mut |plans, left| {
        check_executed(plans, left, &mut executes, observer)
    });
    executes.after.filter(|_| go_on(all, members))
}

/// A launch, with the memory that earlier launches leave.
struct OnMemory<'s> {
    sequence: &'s Sequence,
    step: &'s LaunchAction,
    monitor: &'s ProgressMonitor,
    before: Option<Device>,
    /// The memory after the launch, once it has been executed.
    after: Option<Device>,
}

impl<'s> Executes<'s> for OnMemory<'s> {
    fn begin(&mut self, options: Options, only: bool) -> Result<WorkloadSource<'s>, Diagnostics> {
        let Kernel { module, program } = self.sequence.kernel(self.step);
        let before = if only { self.before.take() } else { self.before.clone() };
        let device = before.expect("no run was announced as the only one");
        let executor = Executor::on(device, *module, program, &self.step.launch, options)?;
        Ok(WorkloadSource::Launch(Box::new(executor.watched(self.monitor))))
    }

    fn end(&mut self, source: WorkloadSource<'s>, complete: bool) {
        if let (WorkloadSource::Launch(executor), true) = (source, complete) {
            self.after.get_or_insert_with(|| executor.into_device());
        }
    }
}
