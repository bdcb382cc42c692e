//! Simulating and judging the points of a job.

use std::sync::Arc;

use super::points::{Assignment, Job, Points};
use super::record::{Columns, Measured, Record};
use crate::base::Watch;
use crate::bound::Bound;
use crate::check::{
    Checked, Failed, Plan, SequenceFailed, SequencePlan, Workload, check_all, observe_sequence,
};
use crate::diag::Diagnostics;
use crate::machine::Machine;
use crate::program::sequence::Sequence;
use crate::sim::PolicySetup;

/// Where kernels, machines and policies come from.
pub trait Inputs: Sync {
    /// A kernel with launch options and a seed.
    ///
    /// # Errors
    /// What is wrong with it.
    fn subject(&self, kernel: &str, options: &[Assignment], seed: u64) -> Result<Subject, Diagnostics>;

    /// A machine with settings.
    ///
    /// # Errors
    /// What is wrong with it.
    fn machine(&self, name: &str, settings: &[Assignment]) -> Result<Machine, Diagnostics>;

    /// The policies of the plan, in its order.
    fn policies(&self) -> &[PolicySetup];
}

/// What a point runs.
#[derive(Clone, Debug)]
pub enum Subject {
    /// One launch.
    Kernel(Box<Workload>),
    /// Several launches, one after the other.
    Program {
        /// What reports call it.
        name: String,
        /// The launches.
        sequence: Arc<Sequence>,
    },
}

/// What is judged, and how; the same for all points.
pub struct Judging<'a> {
    /// The bounds.
    pub bounds: &'a [Box<dyn Bound>],
    /// Names of those that decide the verdict; empty for all.
    pub gating: &'a [String],
    /// Fuel of functional runs.
    pub max_instructions_per_block: u64,
    /// Memory of the watch for races; none trusts the kernels.
    pub race_memory: Option<usize>,
    /// Whether to compare the analyser with the simulator on every warp alone.
    pub self_check: bool,
    /// May end it. Steps are not counted here.
    pub watch: &'a Watch,
}

/// The records of a job, in the order of its points; none if somebody ended it.
pub fn run_job(
    points: &Points,
    job: &Job,
    columns: &Columns,
    inputs: &impl Inputs,
    judging: &Judging,
) -> Option<Vec<Record>> {
    let policies = inputs.policies();
    let numbers = points.numbers(job);
    let first = points.point(numbers.start);
    let subject = inputs.subject(first.kernel, &first.launch, first.seed);
    let mut records = Vec::with_capacity((numbers.end - numbers.start) as usize);
    let machines: Vec<Result<Machine, Diagnostics>> = numbers
        .clone()
        .step_by(policies.len())
        .map(|number| {
            let point = points.point(number);
            inputs.machine(point.machine, &point.settings)
        })
        .collect();
    let runs = match &subject {
        Err(problems) => machines.iter().map(|_| vec![Run::failed(problems); policies.len()]).collect(),
        Ok(Subject::Kernel(workload)) => of_kernel(workload, &machines, policies, judging),
        Ok(Subject::Program { name, sequence }) => of_program(name, sequence, &machines, policies, judging),
    };
    if judging.watch.is_stopped() {
        return None;
    }
    let is_program = matches!(subject, Ok(Subject::Program { .. }));
    for (number, (machine, run)) in numbers.zip(
        machines.iter().zip(&runs).flat_map(|(machine, runs)| runs.iter().map(move |run| (machine, run))),
    ) {
        let digest = machine.as_ref().map_or(0, Machine::digest);
        let measured = run.checked.as_ref().map(|checked| Measured { checked, digest, is_program });
        let point = points.point(number);
        records.push(Record::new(columns, points, &point, measured.as_ref(), run.error.clone()));
    }
    Some(records)
}

/// A point's result: as far as it came, and what went wrong.
#[derive(Clone)]
struct Run {
    checked: Option<Checked>,
    error: Option<String>,
}

impl Run {
    fn failed(problems: &Diagnostics) -> Self {
        Self { checked: None, error: Some(one_line(problems)) }
    }

    fn done(checked: Checked) -> Self {
        Self { checked: Some(checked), error: None }
    }
}

/// A launch under every policy on every machine; the kernel is executed as seldom as can be.
fn of_kernel(
    workload: &Workload,
    machines: &[Result<Machine, Diagnostics>],
    policies: &[PolicySetup],
    judging: &Judging,
) -> Vec<Vec<Run>> {
    let plan = |machine, policies| Plan {
        workload,
        machine,
        policies,
        bounds: judging.bounds,
        gating: judging.gating,
        max_instructions_per_block: judging.max_instructions_per_block,
        threads: 1,
        ahead: false,
        self_check: judging.self_check,
        watch: judging.watch,
        race_memory: judging.race_memory,
    };
    let plans: Vec<Plan> = machines.iter().flatten().map(|machine| plan(machine, policies)).collect();
    let mut ran = check_all(&plans.iter().collect::<Vec<_>>()).into_iter();
    let each_alone = |machine| {
        // one that fails takes nothing from the others
        let alone = |policy| {
            let ran = check_all(&[&plan(machine, std::slice::from_ref(policy))]).pop()?;
            Some(match ran {
                Ok(mut runs) => Run::done(runs.pop()?),
                Err(Failed { problems, mut judged }) => {
                    Run { checked: judged.pop(), ..Run::failed(&problems) }
                }
            })
        };
        policies.iter().filter_map(alone).collect()
    };
    on_each(machines, policies, |machine| match ran.next().expect("a result for each plan") {
        Ok(runs) => runs.into_iter().map(Run::done).collect(),
        Err(_) => each_alone(machine),
    })
}

/// A program under every policy on every machine, from its first launch each time.
fn of_program(
    name: &str,
    sequence: &Arc<Sequence>,
    machines: &[Result<Machine, Diagnostics>],
    policies: &[PolicySetup],
    judging: &Judging,
) -> Vec<Vec<Run>> {
    let one = |machine, policy| {
        let plan = SequencePlan {
            name,
            sequence,
            machine,
            bounds: judging.bounds,
            gating: judging.gating,
            max_instructions_per_block: judging.max_instructions_per_block,
            threads: 1,
            ahead: false,
            self_check: judging.self_check,
            race_memory: judging.race_memory,
            watch: judging.watch,
        };
        match observe_sequence(&plan, policy, &mut ()) {
            Ok((checked, _)) => Run::done(checked.total),
            Err(SequenceFailed { problems, judged }) => {
                Run { checked: judged.map(|judged| judged.total), ..Run::failed(&problems) }
            }
        }
    };
    on_each(machines, policies, |machine| policies.iter().map(|policy| one(machine, policy)).collect())
}

/// The runs on each machine, in the order of the policies; where there is no machine, all have failed.
fn on_each<'m>(
    machines: &'m [Result<Machine, Diagnostics>],
    policies: &[PolicySetup],
    mut runs: impl FnMut(&'m Machine) -> Vec<Run>,
) -> Vec<Vec<Run>> {
    let of_one = |machine: &'m Result<Machine, Diagnostics>| match machine {
        Ok(machine) => runs(machine),
        Err(problems) => vec![Run::failed(problems); policies.len()],
    };
    machines.iter().map(of_one).collect()
}

/// Problems as they stand in a record: the first, and how many there are besides.
fn one_line(problems: &Diagnostics) -> String {
    let Some(first) = problems.list().first() else { return "failed".to_owned() };
    let place = match first.line {
        0 => first.file.clone(),
        line => format!("{}:{line}:{}", first.file, first.column),
    };
    let more = problems.list().len() - 1 + problems.dropped();
    let more = if more == 0 { String::new() } else { format!(" (and {more} more)") };
    format!("{place}: {}{more}", first.message).replace(['\n', '\r'], " ")
}
