//! Runs of a kernel with random inputs, observed between instrumentation points.
//!
//! Many kernels execute the same instructions for any data. A run whose paths equal those of the
//! first run takes the same time. It is therefore executed only functionally ([`ExecutedLaunch`])
//! and not simulated again.

use std::sync::OnceLock;

use super::args::{Common, PtxLaunch};
use super::resources;
use super::session::Session;
use crate::load;
use warpbound_bound::Bound;
use warpbound_core::base::{ProgressMonitor, in_order};
use warpbound_core::diag::{Diagnostic, Diagnostics};
use warpbound_core::machine::Machine;
use warpbound_hybrid::{Instrumented, Observed, Run};
use warpbound_judge::check::order::OrderDependences;
use warpbound_judge::check::{ExecutedLaunch, JudgedLaunch, Paths, Plan, observe};
use warpbound_judge::load::{FROM_STDIN, LoadedKernel};
use warpbound_sim::PolicySetup;

/// Checks that a kernel or program can be read for each run, and that each run has a seed.
///
/// # Errors
/// If the name stands for stdin and there are several runs, or if the last seed is too large.
pub fn check_runs(name: &str, first: u64, runs: u64) -> Result<(), Diagnostics> {
    if runs > 1 && name == FROM_STDIN {
        let problem = Diagnostic::general(
            "-",
            "the kernel is read again for each run, but stdin can be read only once",
        );
        return Err(problem.hint("give --runs 1, or name a file").into());
    }
    if first.checked_add(runs - 1).is_none() {
        let message = "the seed of the last run does not fit in 64 bits";
        return Err(Diagnostic::general(format!("--seed {first}"), message).hint("give fewer --runs").into());
    }
    Ok(())
}

/// Warns if all of several inputs of a kernel are equal, because nothing in them is random.
///
/// # Errors
/// If the kernel cannot be loaded with another seed.
pub fn warn_of_equal_inputs(
    name: &str,
    (ptx, common): (&PtxLaunch, &Common),
    kernel: &LoadedKernel,
    runs: u64,
    session: &Session,
) -> Result<(), Diagnostics> {
    if runs > 1 {
        let other = load::kernel(name, ptx, common.seed.wrapping_add(1), &session.monitor)?;
        if kernel.workload.launch() == other.workload.launch() {
            tracing::warn!("{name}: the {runs} inputs are equal, because no buffer has random contents");
        }
    }
    Ok(())
}

/// Returns the error of a run that failed, or that of the command if it was stopped.
pub fn failed_run(name: &str, problems: Diagnostics, session: &Session) -> Diagnostics {
    match session.stopped() {
        Some(reason) => {
            let message = format!("{} before the last run: there is no estimate", reason.text());
            Diagnostic::general(name, message)
                .hint("give fewer --runs or a longer --time-limit; `sweep` keeps the runs that are done")
                .into()
        }
        None => problems,
    }
}

/// Runs of a kernel with consecutive seeds.
pub struct Campaign<'a> {
    /// The name of the kernel on the command line.
    pub name: &'a str,
    /// The options that override parts of its launch.
    pub ptx: &'a PtxLaunch,
    /// The common options, including the seed of the first run.
    pub common: &'a Common,
    /// The number of runs, at least one.
    pub runs: u64,
    /// The number of threads, which does not affect the result; `None` for all cores.
    pub jobs: Option<usize>,
    /// The ipoints of the kernel.
    pub code: &'a Instrumented,
    /// For each loop, a bound that every run must obey, if one was given.
    pub given: &'a [Option<u64>],
    /// The machine.
    pub machine: &'a Machine,
    /// The policy.
    pub policy: &'a PolicySetup,
    /// The bounds to judge on the runs.
    pub bounds: &'a [Box<dyn Bound>],
}

impl Campaign<'_> {
    /// Simulates all runs and returns the observations. `each` is called with the seed of each run
    /// and its result, in order.
    ///
    /// # Errors
    /// If a run fails, or contradicts the graph or the loop bounds, or if the command is stopped
    /// before the last run.
    pub fn run(
        &self,
        session: &Session,
        mut each: impl FnMut(u64, &JudgedLaunch),
    ) -> Result<Observed, Diagnostics> {
        let (runs, first) = (self.runs, self.common.seed);
        check_runs(self.name, first, runs)?;
        let jobs = self.jobs.unwrap_or_else(resources::threads).max(1);
        let threads = jobs.min(usize::try_from(runs).unwrap_or(usize::MAX));
        session.progress.begin(format!("simulating {}", self.name), Some(runs), "runs");
        let monitor = session.monitor.beside();
        let mut all: Option<Observed> = None;
        let known = OnceLock::new();
        let one = |number| self.one(number, threads, &monitor, &known);
        let mut seed = first;
        in_order(0..runs, threads, one, |done| {
            let (checked, found) = done?;
            each(seed, &checked);
            seed = seed.wrapping_add(1);
            match &mut all {
                Some(all) => all.then(found),
                None => all = Some(found),
            }
            session.monitor.advance(1);
            Ok::<(), Diagnostics>(())
        })
        .map_err(|problems| failed_run(self.name, problems, session))?;
        Ok(all.expect("there is a run at least"))
    }

    /// Simulates the run with this index, from 0.
    fn one(
        &self,
        number: u64,
        threads: usize,
        monitor: &ProgressMonitor,
        known: &OnceLock<Known>,
    ) -> Result<(JudgedLaunch, Observed), Diagnostics> {
        let common = self.common;
        let seed = common.seed + number;
        let kernel = load::kernel(self.name, self.ptx, seed, monitor)?;
        let options = common.run_options(monitor).judged_by(self.bounds, &[]).ahead_unless_parallel(threads);
        let plan = Plan {
            workload: &kernel.workload,
            machine: self.machine,
            policies: std::slice::from_ref(self.policy),
            options,
        };
        let mut run = Run::new(self.code, self.given);
        let failed = |problems: Diagnostics| kernel.with_excerpts(problems);
        // a single run has no first run to be compared with
        let mut executed = (self.runs > 1).then(|| ExecutedLaunch::new(&plan)).transpose().map_err(failed)?;
        let paths = executed.as_ref().and_then(ExecutedLaunch::paths);
        if let Some(first) = known.get()
            && paths == Some(&first.paths)
            && executed.as_ref().is_some_and(|executed| executed.seen() == first.seen)
        {
            return Ok((first.checked.clone(), first.observed.clone()));
        }
        let ended = match &mut executed {
            Some(executed) => executed.observe(&plan, self.policy, &mut run),
            None => observe(&plan, &mut run),
        };
        let checked = ended.map_err(|why| failed(why.problems))?;
        if !checked.is_complete() {
            return Err(Diagnostic::general(self.name, "a run did not come to its end").into());
        }
        let found = run.finish().map_err(|mut fault| {
            fault.at.run = number + 1;
            let message = format!("{} (seed {seed})", fault.describe(&self.code.ipg));
            let mut problem = Diagnostic::general(kernel.workload.program().file.clone(), message)
                .hint(fault.hint(&self.code.ipg));
            if fault.at.line > 0 {
                problem.line = u32::try_from(fault.at.line).unwrap_or(u32::MAX);
                (problem.column, problem.width) = (1, 1);
            }
            Diagnostics::from(problem).with_excerpts(&kernel.code)
        })?;
        let whole = |executed: &ExecutedLaunch| Some((executed.paths()?.clone(), executed.seen()));
        if let (0, Some((paths, seen))) = (number, executed.as_ref().and_then(whole)) {
            let first = Known { paths, seen, checked: checked.clone(), observed: found.clone() };
            // only this run sets the value
            let _ = known.set(first);
        }
        Ok((checked, found))
    }
}

/// The result of the first run.
struct Known {
    paths: Paths,
    seen: OrderDependences,
    checked: JudgedLaunch,
    observed: Observed,
}
