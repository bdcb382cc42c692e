//! The check of one launch or application on several machines under several policies. A run that
//! fails does not affect the others. `check`, `compare` and sweeps use this to run everything that
//! they judge.

use super::application::{Application, ApplicationPlan};
use super::applications::check_application;
use super::judged_application::{JudgedApplication, Run};
use super::options::RunOptions;
use super::plan::Plan;
use super::progress::{ApplicationProgress, SavedProgress};
use super::replay::check_all;
use super::workload::Workload;
use warpbound_core::diag::Diagnostics;
use warpbound_core::machine::Machine;
use warpbound_exec::Device;
use warpbound_sim::PolicySetup;
use warpbound_trace::trace::Observer;

/// The launch or application that runs.
#[derive(Clone, Copy, Debug)]
pub enum Subject<'a> {
    /// One launch.
    Launch(&'a Workload),
    /// Several kernels, one after the other.
    Application {
        /// The name of the application in reports.
        name: &'a str,
        /// The kernels.
        application: &'a Application,
    },
}

/// Runs the subject on each of these machines under the policies given with it. The results are in
/// the same order. A launch is executed once for all machines that need the same data recorded, and
/// so is each launch of an application.
pub fn judge_each(
    subject: Subject,
    on: &[(&Machine, &[PolicySetup])],
    options: &RunOptions,
) -> Vec<Vec<Run>> {
    judge_from(subject, on, options, &mut (), None, &mut |_, ()| {}).0
}

/// Does the same as [`judge_each`] with an observer, which sees all runs. If `begun` is given,
/// resumes an application at that point. Calls `keep` with the observer after every launch of an
/// application that all runs have completed. Also returns the memory at the end of a program.
pub fn judge_from<O: Observer>(
    subject: Subject,
    on: &[(&Machine, &[PolicySetup])],
    options: &RunOptions,
    observer: &mut O,
    begun: Option<SavedProgress>,
    keep: &mut dyn FnMut(&ApplicationProgress, &O),
) -> (Vec<Vec<Run>>, Option<Device>) {
    match subject {
        Subject::Launch(workload) => {
            let plan = |&(machine, policies)| Plan { workload, machine, policies, options: *options };
            let plans: Vec<Plan> = on.iter().map(plan).collect();
            let ran = check_all(&plans.iter().collect::<Vec<_>>(), observer);
            (ran.into_iter().map(|ran| ran.into_iter().map(Run::of_launch).collect()).collect(), None)
        }
        Subject::Application { name, application } => {
            let plan = |&(machine, policies)| {
                (ApplicationPlan { name, application, machine, options: *options }, policies)
            };
            let plans: Vec<(ApplicationPlan, &[PolicySetup])> = on.iter().map(plan).collect();
            check_application(&plans, observer, begun, keep)
        }
    }
}

/// Returns the result of the only run.
///
/// # Errors
/// Returns the error that ended the run.
///
/// # Panics
/// Panics if there is no run.
pub fn only_run(runs: Vec<Vec<Run>>) -> Result<JudgedApplication, Diagnostics> {
    let run = runs.into_iter().flatten().next().expect("a run");
    match run.problems {
        Some(problems) => Err(problems),
        None => Ok(run.judged.expect("a run without an error has a result")),
    }
}
