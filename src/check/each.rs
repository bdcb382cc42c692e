//! The check of one launch or application on several machines under several policies. A run that
//! fails does not affect the others. `check`, `compare` and sweeps use this to run everything that
//! they judge.

use super::application::{Application, ApplicationPlan};
use super::applications::check_applications;
use super::checked::{Checked, Failed};
use super::plan::Plan;
use super::reached::{Begun, Reached};
use super::replay::check_all;
use super::tally::{ApplicationChecked, ApplicationFailed};
use super::workload::Workload;
use crate::base::Watch;
use crate::bound::Bound;
use crate::diag::Diagnostics;
use crate::machine::Machine;
use crate::sim::PolicySetup;

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

/// The settings of the judgement, which are the same for all runs.
#[derive(Clone, Copy)]
pub struct Judging<'a> {
    /// The bounds.
    pub bounds: &'a [Box<dyn Bound>],
    /// The names of the bounds that determine the verdict; empty for all.
    pub gating: &'a [String],
    /// The largest number of instructions that functional runs execute per block.
    pub max_instructions_per_block: u64,
    /// The number of threads for machines with several SMs.
    pub threads: usize,
    /// The number of threads for kernels of an application that are independent of each other.
    pub jobs: usize,
    /// Whether blocks are executed on a separate thread.
    pub ahead: bool,
    /// The number of bytes for the race detector; `None` trusts the kernels.
    pub race_memory: Option<usize>,
    /// Whether to compare the analyser with the simulator on every warp alone.
    pub self_check: bool,
    /// Is notified of every block that is complete, and can stop the runs.
    pub watch: &'a Watch,
}

/// The result of a judged run.
#[derive(Clone, Debug)]
pub enum Judged {
    /// The result of a launch.
    Launch(Box<Checked>),
    /// The result of an application.
    Application(Box<ApplicationChecked>),
}

impl Judged {
    /// Returns the result of a launch, or the total of an application.
    pub fn total(&self) -> &Checked {
        match self {
            Self::Launch(checked) => checked,
            Self::Application(checked) => &checked.total,
        }
    }
}

/// A run as far as it got, and the error that ended it, if any.
#[derive(Clone, Debug, Default)]
pub struct Run {
    /// The results that were judged, if there are any.
    pub judged: Option<Judged>,
    /// The reason why the run is incomplete, if it is.
    pub problems: Option<Diagnostics>,
}

impl Run {
    /// Creates a run that failed before it began.
    pub fn failed(problems: Diagnostics) -> Self {
        Self { judged: None, problems: Some(problems) }
    }

    fn of_launch(ran: Result<Checked, Failed>) -> Self {
        let (checked, problems) = match ran {
            Ok(checked) => (Some(checked), None),
            Err(Failed { problems, mut judged }) => (judged.pop(), Some(problems)),
        };
        Self { judged: checked.map(|checked| Judged::Launch(Box::new(checked))), problems }
    }

    fn of_application(ran: Result<ApplicationChecked, ApplicationFailed>) -> Self {
        let (checked, problems) = match ran {
            Ok(checked) => (Some(Box::new(checked)), None),
            Err(ApplicationFailed { problems, judged }) => (judged, Some(problems)),
        };
        Self { judged: checked.map(Judged::Application), problems }
    }
}

/// Runs the subject on each of these machines under the policies given with it. The results are in
/// the same order. A launch is executed once for all machines that need the same data recorded, and
/// so is each launch of an application.
pub fn judge_each(subject: Subject, on: &[(&Machine, &[PolicySetup])], judging: &Judging) -> Vec<Vec<Run>> {
    match subject {
        Subject::Launch(workload) => {
            let plans: Vec<Plan> =
                on.iter().map(|(machine, policies)| plan(workload, machine, policies, judging)).collect();
            let ran = check_all(&plans.iter().collect::<Vec<_>>());
            ran.into_iter().map(|ran| ran.into_iter().map(Run::of_launch).collect()).collect()
        }
        Subject::Application { name, application } => {
            judge_application(name, application, on, judging, None, &mut |_| {})
        }
    }
}

/// Does the same as [`judge_each`] for an application. If `begun` is given, resumes at that point.
/// Calls `keep` after every launch that all runs have completed.
pub fn judge_application(
    name: &str,
    application: &Application,
    on: &[(&Machine, &[PolicySetup])],
    judging: &Judging,
    begun: Option<Begun>,
    keep: &mut dyn FnMut(&Reached),
) -> Vec<Vec<Run>> {
    let plans: Vec<ApplicationPlan> =
        on.iter().map(|(machine, _)| application_plan(name, application, machine, judging)).collect();
    let runs: Vec<(&ApplicationPlan, &[PolicySetup])> =
        plans.iter().zip(on).map(|(plan, (_, policies))| (plan, *policies)).collect();
    let ran = check_applications(&runs, begun, keep);
    ran.into_iter().map(|ran| ran.into_iter().map(Run::of_application).collect()).collect()
}

fn plan<'a>(
    workload: &'a Workload,
    machine: &'a Machine,
    policies: &'a [PolicySetup],
    judging: &Judging<'a>,
) -> Plan<'a> {
    Plan {
        workload,
        machine,
        policies,
        bounds: judging.bounds,
        gating: judging.gating,
        max_instructions_per_block: judging.max_instructions_per_block,
        threads: judging.threads,
        ahead: judging.ahead,
        self_check: judging.self_check,
        watch: judging.watch,
        race_memory: judging.race_memory,
    }
}

fn application_plan<'a>(
    name: &'a str,
    application: &'a Application,
    machine: &'a Machine,
    judging: &Judging<'a>,
) -> ApplicationPlan<'a> {
    ApplicationPlan {
        name,
        application,
        machine,
        bounds: judging.bounds,
        gating: judging.gating,
        max_instructions_per_block: judging.max_instructions_per_block,
        threads: judging.threads,
        jobs: judging.jobs,
        // kernels that are simulated side by side keep all threads busy
        ahead: judging.ahead
            && (judging.jobs == 1 || application.program().is_some() || machine.memory().start.is_left()),
        self_check: judging.self_check,
        race_memory: judging.race_memory,
        watch: judging.watch,
    }
}
