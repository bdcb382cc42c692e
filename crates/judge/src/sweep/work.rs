//! The simulation and judgement of the points of a job.

use super::points::{Assignment, Job, Point, Points};
use super::record::{Columns, Measured, Record};
use crate::check::{Run, RunOptions, judge_each};
use crate::load::Loaded;
use warpbound_core::diag::Diagnostics;
use warpbound_core::machine::Machine;
use warpbound_sim::PolicySetup;

/// The source of kernels, machines and policies.
pub trait Inputs: Sync {
    /// Returns a kernel with launch options and a seed.
    ///
    /// # Errors
    /// Returns what is wrong with it.
    fn subject(&self, kernel: &str, options: &[Assignment], seed: u64) -> Result<Loaded, Diagnostics>;

    /// Returns a machine with settings, and with the values that are drawn for a run.
    ///
    /// # Errors
    /// Returns what is wrong with it.
    fn machine(&self, point: &Point) -> Result<Machine, Diagnostics>;

    /// Returns the policies of the plan, in its order.
    fn policies(&self) -> &[PolicySetup];
}

/// Returns the records of a job, in the order of its points; `None` if the job was stopped.
pub fn run_job(
    points: &Points,
    job: &Job,
    columns: &Columns,
    inputs: &impl Inputs,
    options: &RunOptions,
) -> Option<Vec<Record>> {
    let policies = inputs.policies();
    let numbers = points.numbers(job);
    let first = points.point(numbers.start);
    let loaded = inputs.subject(first.kernel, &first.launch, first.seed);
    let machines: Vec<Result<Machine, Diagnostics>> =
        numbers.clone().step_by(policies.len()).map(|number| inputs.machine(&points.point(number))).collect();
    let all_failed = |problems: &Diagnostics| vec![Run::failed(problems.clone()); policies.len()];
    let runs: Vec<Vec<Run>> = match &loaded {
        Err(problems) => machines.iter().map(|_| all_failed(problems)).collect(),
        Ok(loaded) => {
            let on: Vec<_> = machines.iter().flatten().map(|machine| (machine, policies)).collect();
            let mut ran = judge_each(loaded.subject(), &on, options).into_iter();
            let of_one = |machine: &Result<Machine, Diagnostics>| match machine {
                Ok(_) => ran.next().expect("runs for each machine"),
                Err(problems) => all_failed(problems),
            };
            machines.iter().map(of_one).collect()
        }
    };
    if options.monitor.is_stopped() {
        return None;
    }
    let digests = machines.iter().map(|machine| machine.as_ref().map_or(0, Machine::digest));
    let with_digests =
        digests.zip(&runs).flat_map(|(digest, runs)| runs.iter().map(move |run| (digest, run)));
    Some(records(points, numbers.start, columns, with_digests))
}

/// Returns the records of consecutive points, starting with `first`: each run is given with the
/// digest of its machine.
pub fn records<'r>(
    points: &Points,
    first: u64,
    columns: &Columns,
    runs: impl IntoIterator<Item = (u64, &'r Run)>,
) -> Vec<Record> {
    let of_point = |(number, (digest, run)): (u64, (u64, &Run))| {
        let measured = run.judged.as_ref().map(|judged| Measured { judged, digest });
        let error = run.problems.as_ref().map(one_line);
        Record::new(columns, points, &points.point(number), measured.as_ref(), error)
    };
    (first..).zip(runs).map(of_point).collect()
}

/// Returns the text of problems for a record: the first problem, and the number of the others.
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
