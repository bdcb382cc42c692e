//! One launch or program on several machines under several policies, where one that fails takes nothing from the
//! others. This is how `check`, `compare` and sweeps run what they judge.

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

/// What runs.
#[derive(Clone, Copy, Debug)]
pub enum Subject<'a> {
    /// One launch.
    Launch(&'a Workload),
    /// Several kernels, one after the other.
    Application {
        /// What reports call it.
        name: &'a str,
        /// The kernels.
        application: &'a Application,
    },
}

/// What is judged, and how; the same for all runs.
#[derive(Clone, Copy)]
pub struct Judging<'a> {
    /// The bounds.
    pub bounds: &'a [Box<dyn Bound>],
    /// Names of those that decide the verdict; empty for all.
    pub gating: &'a [String],
    /// Fuel of functional runs.
    pub max_instructions_per_block: u64,
    /// Threads for machines with several SMs.
    pub threads: usize,
    /// Threads for kernels of an application that do not wait for each other.
    pub jobs: usize,
    /// Whether blocks are executed on a thread of their own.
    pub ahead: bool,
    /// Memory of the watch for races; none trusts the kernels.
    pub race_memory: Option<usize>,
    /// Whether to compare the analyser with the simulator on every warp alone.
    pub self_check: bool,
    /// Hears of every block that is through, and may end the runs.
    pub watch: &'a Watch,
}

/// What came of a run that was judged.
#[derive(Clone, Debug)]
pub enum Judged {
    /// Of a launch.
    Launch(Box<Checked>),
    /// Of an application.
    Application(Box<ApplicationChecked>),
}

impl Judged {
    /// The result; of an application the total.
    pub fn total(&self) -> &Checked {
        match self {
            Self::Launch(checked) => checked,
            Self::Application(checked) => &checked.total,
        }
    }
}

/// A run: as far as it came, and what went wrong.
#[derive(Clone, Debug, Default)]
pub struct Run {
    /// What was judged, if anything was.
    pub judged: Option<Judged>,
    /// Why it is not all.
    pub problems: Option<Diagnostics>,
}

impl Run {
    /// One that never began.
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

/// Runs the subject on each of these machines under the policies beside it, in their order. A launch is executed
/// once for all that need the same to be recorded, and so is each launch of an application.
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

/// The same for an application, from where other runs of it came to; `keep` hears of every launch that all of them are
/// through with.
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
        // kernels that are taken side by side keep all threads busy
        ahead: judging.ahead
            && (judging.jobs == 1 || application.program().is_some() || machine.memory().start.is_left()),
        self_check: judging.self_check,
        race_memory: judging.race_memory,
        watch: judging.watch,
    }
}
