//! The check of an application under one policy, with an observer.

use super::ahead::ahead;
use super::application::{Application, ApplicationPlan};
use super::checked::{Checked, Failed};
use super::order::{Seen, settled};
use super::reached::{Begun, Reached};
use super::run::{observe_after, observe_source_after};
use super::steps::{After, copied, in_launch, start};
use super::tally::{ApplicationChecked, ApplicationFailed, Tally};
use crate::diag::Diagnostics;
use crate::exec::{Device, Executor};
use crate::program::sequence::{Action, Kernel, LaunchAction, Sequence};
use crate::sim::{Left, PolicySetup};
use crate::trace::Observer;

/// Runs an application under one policy with an observer. Also returns the memory at its end, if it
/// has any. If `begun` is given, resumes at that point. Calls `keep` with the observer after every
/// launch that is complete.
///
/// # Errors
/// As [`super::check`], with the launch in which the error occurred.
pub fn observe_application<O: Observer>(
    plan: &ApplicationPlan,
    policy: &PolicySetup,
    observer: &mut O,
    begun: Option<Begun>,
    keep: &mut dyn FnMut(&Reached, &O),
) -> Result<(ApplicationChecked, Option<Device>), ApplicationFailed> {
    let Begun { launches, device, mut runs, mut left, .. } = begun.unwrap_or_default();
    let checked = runs.pop().and_then(|mut policies| policies.pop()).flatten();
    let left = left.pop().and_then(|mut policies| policies.pop()).unwrap_or_default();
    let mut tally = Tally::from(checked, left);
    let mut through = |tally: &Tally, device: Option<&Device>, observer: &O| {
        let (runs, left) = (vec![vec![tally.so_far()]], vec![vec![&tally.left]]);
        keep(&Reached { group: 0, groups: 1, launches: tally.launches(), runs, left, device }, observer);
    };
    let ended = match plan.application {
        Application::Program(sequence) => {
            let mut through =
                |tally: &Tally, device: &Device, observer: &O| through(tally, Some(device), observer);
            let from = (launches, device);
            every_launch((plan, sequence), policy, observer, &mut tally, from, &mut through).map(Some)
        }
        Application::Traces(traces) => {
            let left = traces.iter().enumerate().skip(launches as usize);
            let each = left.map(|(index, traced)| {
                let one = plan.of_launch(&traced.workload, std::slice::from_ref(policy));
                match observe_after(&mut tally.left, &one, policy, observer) {
                    Ok((checked, _)) => {
                        let goes_on = tally.add(plan, index, checked);
                        if goes_on {
                            through(&tally, None, observer);
                        }
                        Ok(goes_on)
                    }
                    Err(failed) => {
                        tally.fail(plan, &failed);
                        Err(failed.problems)
                    }
                }
            });
            // the first trace that fails or is stopped is the last one
            let last = each.into_iter().find(|went| !matches!(went, Ok(true)));
            last.unwrap_or(Ok(true)).map(|_| None)
        }
    };
    tally.end(plan, ended)
}

/// Runs the launches of a program in order, until the run is stopped.
fn every_launch<O: Observer>(
    (plan, sequence): (&ApplicationPlan, &std::sync::Arc<Sequence>),
    policy: &PolicySetup,
    observer: &mut O,
    tally: &mut Tally,
    (launches, device): (u64, Option<Device>),
    through: &mut dyn FnMut(&Tally, &Device, &O),
) -> Result<Device, Diagnostics> {
    let mut device = device.map_or_else(|| start(sequence), Ok)?;
    for action in After::launches(sequence.actions(), launches) {
        device = match action.map_err(|wrong| wrong.problems)? {
            Action::Launch(step) => {
                tracing::debug!(launch = step.number, "running");
                let ran = one((plan, sequence), policy, observer, (&step, device), &mut tally.left);
                let (checked, device) = ran.map_err(|failed| {
                    tally.fail(plan, &failed);
                    in_launch(failed.problems, sequence, &step)
                })?;
                if !tally.add(plan, step.statement, checked) {
                    return Ok(device);
                }
                through(tally, &device, observer);
                device
            }
            other => copied(device, &other)?,
        };
    }
    Ok(device)
}

/// Runs and judges one launch.
fn one(
    (plan, sequence): (&ApplicationPlan, &std::sync::Arc<Sequence>),
    policy: &PolicySetup,
    observer: &mut dyn Observer,
    (step, device): (&LaunchAction, Device),
    left: &mut Left,
) -> Result<(Checked, Device), Failed> {
    let workload = plan.workload(sequence, step);
    let one = plan.of_launch(&workload, std::slice::from_ref(policy));
    let Kernel { module, program } = sequence.kernel(step);
    let executor = Executor::on(device, *module, program, &step.launch, one.options()?)?;
    let mut executor = executor.watched(plan.watch);
    let ended = ahead(&mut executor, one.runs_ahead(), |blocks| {
        observe_source_after(left, &one, policy, blocks, observer)
    });
    let checked = settled(ended, &Seen::of(&executor), program)?;
    Ok((checked, executor.into_device()))
}
