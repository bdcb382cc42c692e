//! A program on several machines under several policies: each launch is executed once for all that
//! need the same to be recorded, and replayed as often as it takes.
//!
//! The runs go through the program side by side. One that fails, or is ended, leaves the others alone; what a launch leaves
//! in memory does not depend on who looks at its time.

use super::plan::Plan;
use super::replay::{Executes, check_executed};
use super::sequence::{SequenceChecked, SequenceFailed, SequencePlan, Tally, observe_sequence};
use super::steps::{copied, start};
use super::workload::WorkloadSource;
use crate::base::Watch;
use crate::diag::Diagnostics;
use crate::exec::{Device, Executor, Options};
use crate::program::sequence::{Action, Kernel, LaunchAction, Sequence};
use crate::sim::PolicySetup;

/// What came of each policy of a plan.
type Ran = Vec<Result<SequenceChecked, SequenceFailed>>;

/// Runs one program as each of these plans says, under the policies beside it. The results are in their order.
pub(super) fn check_sequences(plans: &[(&SequencePlan, &[PolicySetup])]) -> Vec<Ran> {
    if let [(plan, [policy])] = plans {
        return vec![vec![observe_sequence(plan, policy, &mut ()).map(|(checked, _)| checked)]];
    }
    let mut groups: Vec<(Options, Vec<usize>)> = Vec::new();
    for (index, (plan, _)) in plans.iter().enumerate() {
        let options = Options::of(plan.machine, plan.max_instructions_per_block);
        match groups.iter_mut().find(|(known, _)| *known == options) {
            Some((_, members)) => members.push(index),
            None => groups.push((options, vec![index])),
        }
    }
    let mut results: Vec<Ran> = plans.iter().map(|_| Ran::new()).collect();
    for (_, members) in groups {
        let ran = together(members.iter().map(|&index| Runs::new(plans[index])).collect());
        members.into_iter().zip(ran).for_each(|(index, ran)| results[index] = ran);
    }
    results
}

/// The runs of one plan.
struct Runs<'p> {
    plan: &'p SequencePlan<'p>,
    /// By policy.
    tallies: Vec<Tally>,
    /// By policy: how it ended, if it has.
    ended: Vec<Option<Result<(), Diagnostics>>>,
    /// The policies of those that have not, and which they are.
    under_way: Vec<(usize, PolicySetup)>,
}

impl<'p> Runs<'p> {
    fn new((plan, policies): (&'p SequencePlan<'p>, &[PolicySetup])) -> Self {
        Self {
            plan,
            tallies: policies.iter().map(|_| Tally::default()).collect(),
            ended: policies.iter().map(|_| None).collect(),
            under_way: policies.iter().cloned().enumerate().collect(),
        }
    }

    /// Ends all that are under way.
    fn end(&mut self, how: &Result<(), Diagnostics>) {
        for (index, _) in self.under_way.drain(..) {
            self.ended[index] = Some(how.clone());
        }
    }

    fn finish(mut self) -> Ran {
        self.end(&Ok(()));
        let ended = self.tallies.into_iter().zip(self.ended);
        let result = |(tally, ended): (Tally, Option<_>)| tally.end(self.plan, ended.unwrap_or(Ok(())));
        ended.map(|run| result(run).map(|(checked, ())| checked)).collect()
    }
}

/// The runs of plans that need the same memory.
fn together(mut runs: Vec<Runs>) -> Vec<Ran> {
    let ended = every_launch(&mut runs);
    runs.iter_mut().for_each(|runs| runs.end(&ended));
    runs.into_iter().map(Runs::finish).collect()
}

/// Launch after launch, as long as some run goes on.
fn every_launch(all: &mut [Runs]) -> Result<(), Diagnostics> {
    let Some(Runs { plan: SequencePlan { sequence, watch, .. }, .. }) = all.first() else { return Ok(()) };
    let mut device = start(sequence)?;
    for action in sequence.actions() {
        device = match action.map_err(|wrong| wrong.problems)? {
            Action::Launch(step) => {
                tracing::debug!(launch = step.number, "running");
                match launch(all, sequence, &step, device, watch) {
                    Some(after) => after,
                    None => break,
                }
            }
            other => copied(device, &other)?,
        };
    }
    Ok(())
}

/// One launch for all runs that are under way, and what it leaves in memory; nothing if none of them goes on.
fn launch(
    all: &mut [Runs],
    sequence: &Sequence,
    step: &LaunchAction,
    device: Device,
    watch: &Watch,
) -> Option<Device> {
    let mut going: Vec<&mut Runs> = all.iter_mut().filter(|runs| !runs.under_way.is_empty()).collect();
    let workload = going.first()?.plan.workload(step);
    let policies: Vec<Vec<PolicySetup>> =
        going.iter().map(|runs| runs.under_way.iter().map(|(_, policy)| policy.clone()).collect()).collect();
    let plans: Vec<Plan> = going
        .iter()
        .zip(&policies)
        .map(|(runs, policies)| runs.plan.of_launch(&workload, policies))
        .collect();
    let mut executes = Executed { sequence, step, watch, device, after: None };
    let ran = check_executed(&plans.iter().collect::<Vec<_>>(), &mut executes);
    for (runs, ran) in going.iter_mut().zip(ran) {
        let Runs { plan, tallies, ended, under_way } = &mut **runs;
        let mut ran = ran.into_iter();
        under_way.retain(|(index, _)| {
            let tally = &mut tallies[*index];
            let goes_on = match ran.next().expect("a result for each policy") {
                Ok(checked) => Ok(tally.add(plan, step, checked)),
                Err(failed) => Err(tally.fail(plan, step, &failed)),
            };
            if let Ok(true) = goes_on {
                return true;
            }
            ended[*index] = Some(goes_on.map(|_| ()));
            false
        });
    }
    let goes_on = going.iter().any(|runs| !runs.under_way.is_empty());
    executes.after.filter(|_| goes_on)
}

/// A launch, in the memory that those before it leave.
struct Executed<'s> {
    sequence: &'s Sequence,
    step: &'s LaunchAction,
    watch: &'s Watch,
    device: Device,
    /// The memory once it has been executed.
    after: Option<Device>,
}

impl<'s> Executes<'s> for Executed<'s> {
    fn begin(&mut self, options: Options) -> Result<WorkloadSource<'s>, Diagnostics> {
        let Kernel { module, program } = self.sequence.kernel(self.step);
        let executor = Executor::on(self.device.clone(), *module, program, &self.step.launch, options)?;
        Ok(WorkloadSource::Launch(Box::new(executor.watched(self.watch))))
    }

    fn end(&mut self, source: WorkloadSource<'s>) {
        if let WorkloadSource::Launch(executor) = source {
            self.after.get_or_insert_with(|| executor.into_device());
        }
    }
}
