//! One launch or program on several machines under several policies, where one that fails takes nothing from the
//! others. This is how `check`, `compare` and sweeps run what they judge.

use std::sync::Arc;

use super::checked::{Checked, Failed};
use super::plan::Plan;
use super::replay::check_all;
use super::sequence::{SequenceChecked, SequenceFailed, SequencePlan, observe_sequence};
use super::workload::Workload;
use crate::base::Watch;
use crate::bound::Bound;
use crate::diag::Diagnostics;
use crate::machine::Machine;
use crate::program::sequence::Sequence;
use crate::sim::PolicySetup;

/// What runs.
#[derive(Clone, Copy, Debug)]
pub enum Subject<'a> {
    /// One launch.
    Launch(&'a Workload),
    /// Several launches, one after the other.
    Program {
        /// What reports call it.
        name: &'a str,
        /// The launches.
        sequence: &'a Arc<Sequence>,
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
    /// Of a program.
    Program(Box<SequenceChecked>),
}

impl Judged {
    /// The result; of a program the total.
    pub fn total(&self) -> &Checked {
        match self {
            Self::Launch(checked) => checked,
            Self::Program(checked) => &checked.total,
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

    fn of_launch(checked: Option<Checked>, problems: Option<Diagnostics>) -> Self {
        Self { judged: checked.map(|checked| Judged::Launch(Box::new(checked))), problems }
    }
}

/// Runs the subject on each of these machines under the policies beside it, in their order. A launch is executed
/// once for all that need the same to be recorded.
pub fn judge_each(subject: Subject, on: &[(&Machine, &[PolicySetup])], judging: &Judging) -> Vec<Vec<Run>> {
    match subject {
        Subject::Launch(workload) => of_launch(workload, on, judging),
        Subject::Program { name, sequence } => {
            let of_machine = |(machine, policies): &(&Machine, &[PolicySetup])| {
                policies.iter().map(|policy| of_program(name, sequence, machine, policy, judging)).collect()
            };
            on.iter().map(of_machine).collect()
        }
    }
}

fn of_launch(workload: &Workload, on: &[(&Machine, &[PolicySetup])], judging: &Judging) -> Vec<Vec<Run>> {
    let plans: Vec<Plan> =
        on.iter().map(|(machine, policies)| plan(workload, machine, policies, judging)).collect();
    let ran = check_all(&plans.iter().collect::<Vec<_>>());
    let of_machine = |(plan, ran): (&Plan, Result<Vec<Checked>, Failed>)| match ran {
        Ok(runs) => runs.into_iter().map(|checked| Run::of_launch(Some(checked), None)).collect(),
        Err(failed) if plan.policies.len() == 1 => vec![alone(failed)],
        // one that fails takes nothing from the others
        Err(_) => plan
            .policies
            .chunks(1)
            .map(|policy| match check_all(&[&Plan { policies: policy, ..*plan }]).pop() {
                Some(Ok(mut runs)) => Run::of_launch(runs.pop(), None),
                Some(Err(failed)) => alone(failed),
                None => Run::default(),
            })
            .collect(),
    };
    plans.iter().zip(ran).map(of_machine).collect()
}

/// The failure of the only policy of a plan.
fn alone(Failed { problems, mut judged }: Failed) -> Run {
    Run::of_launch(judged.pop(), Some(problems))
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

/// A program is executed anew for each run, from its first launch.
fn of_program(
    name: &str,
    sequence: &Arc<Sequence>,
    machine: &Machine,
    policy: &PolicySetup,
    judging: &Judging,
) -> Run {
    let plan = SequencePlan {
        name,
        sequence,
        machine,
        bounds: judging.bounds,
        gating: judging.gating,
        max_instructions_per_block: judging.max_instructions_per_block,
        threads: judging.threads,
        ahead: judging.ahead,
        self_check: judging.self_check,
        race_memory: judging.race_memory,
        watch: judging.watch,
    };
    match observe_sequence(&plan, policy, &mut ()) {
        Ok((checked, _)) => Run { judged: Some(Judged::Program(Box::new(checked))), problems: None },
        Err(SequenceFailed { problems, judged }) => {
            Run { judged: judged.map(Judged::Program), problems: Some(problems) }
        }
    }
}
