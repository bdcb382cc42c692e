//! `warpbound static`: computes a bound over all paths.

use crate::args::Static;
use crate::failures::Batch;
use crate::load;
use crate::loop_bounds::ByLine;
use crate::output::{Ending, Outcome};
use crate::session::Session;
use crate::suite::suite_kernels;
use warpbound_bound as bound;
use warpbound_core::diag::Diagnostics;
use warpbound_core::machine::Machine;
use warpbound_exec::Options;
use warpbound_judge::check::all_paths::{
    AllPathsOutcome, all_paths, all_paths_of_program, keeps_bounds, program_keeps_bounds,
};
use warpbound_judge::check::{JudgedApplication, JudgedLaunch, Subject, Verdict, judge_each};
use warpbound_judge::load::{Loaded, LoadedApplication, LoadedKernel};
use warpbound_report::all_paths::{Given, ProgramRun, StaticReport, StaticResult, StaticRun};
use warpbound_report::output::Output;
use warpbound_sim::PolicySetup;

/// Runs the command.
pub fn run(args: &Static, session: &Session) -> Outcome {
    let names = if args.kernels.is_empty() { suite_kernels()? } else { args.kernels.clone() };
    let bounds = ByLine::new(&args.bounds)?;
    let mut batch = Batch::new(&names);
    let mut rows: Vec<Row> = Vec::new();
    while let Some((_, name)) = batch.begin(session) {
        session.progress.begin(batch.label(name), None, "blocks");
        match row(name, args, &bounds, session) {
            Ok(Some(row)) => rows.push(row),
            Ok(None) => batch.cut_short(),
            Err(problems) => batch.failures.add(name, &problems),
        }
    }
    bounds.warn_of_unused();
    batch.only_failure(!rows.is_empty())?;
    let (results, verdicts): (Vec<_>, Vec<_>) = rows.into_iter().unzip();
    let violated = verdicts.iter().any(Verdict::is_violated);
    let output = Output::of_batch("static", Some(args.common.seed), results, batch.report(session));
    let report = StaticReport { output: output.judged(verdicts.into_iter()) };
    let mut ending = Ending { violated, ..Ending::default() };
    ending.report(session, args.common.format, &report);
    ending.failures = batch.failures;
    Ok(ending)
}

/// A result with the verdict on all of its bounds.
type Row = (StaticResult, Verdict);

/// Returns the result for a kernel or program, or `None` if the command was stopped before there was
/// one.
fn row(name: &str, args: &Static, bounds: &ByLine, session: &Session) -> Result<Option<Row>, Diagnostics> {
    let what = load::any(name, &args.ptx, args.common.seed, &session.monitor)?;
    let (machine, _) = load::machine_of(&args.common, &what)?;
    let policy = load::policy_of(&args.common, &what, &machine)?;
    let row = match &what {
        Loaded::Kernel(kernel) => of_kernel(kernel, args, bounds, (&machine, &policy), session),
        Loaded::Application(program) => of_program(program, args, bounds, (&machine, &policy), session),
    };
    row.map_err(|problems| what.with_excerpts(problems))
}

fn of_kernel(
    kernel: &LoadedKernel,
    args: &Static,
    bounds: &ByLine,
    (machine, policy): (&Machine, &PolicySetup),
    session: &Session,
) -> Result<Option<Row>, Diagnostics> {
    let (given, resolved) = bounds.of(kernel)?;
    let (workload, monitor, fuel) = (&kernel.workload, &session.monitor, args.common.fuel());
    keeps_bounds(workload, Options::of(machine, fuel), &resolved, monitor)?;
    let found = all_paths(workload, machine, &[policy.kind()], &resolved, fuel, monitor)?;
    let judged = run_of(Subject::Launch(workload), args, (machine, policy), session)?;
    let run = judged.map(|judged| judged.total).filter(JudgedLaunch::is_complete);
    let (Some(run), false) = (run, found == AllPathsOutcome::Stopped) else { return Ok(None) };
    let run = StaticRun { policy: policy.kind(), checked: &run };
    let result = StaticResult::new(workload, machine, Given::of_kernel(kernel, &given), &found, &run);
    let verdict = result.verdict(run.checked);
    Ok(Some((result, verdict)))
}

fn of_program(
    program: &LoadedApplication,
    args: &Static,
    bounds: &ByLine,
    (machine, policy): (&Machine, &PolicySetup),
    session: &Session,
) -> Result<Option<Row>, Diagnostics> {
    let sequence = program.program()?;
    let bounds = bounds.of_program(sequence)?;
    let (monitor, fuel) = (&session.monitor, args.common.fuel());
    program_keeps_bounds(sequence, Options::of(machine, fuel), &bounds, monitor)?;
    let policies = [policy.kind()];
    let found = all_paths_of_program(&program.name, sequence, machine, &policies, &bounds, fuel, monitor)?;
    let judged = run_of(program.subject(), args, (machine, policy), session)?;
    let judged = judged.filter(|judged| judged.launches().len() as u64 == sequence.launches);
    let (Some(found), Some(judged)) = (found, judged) else { return Ok(None) };
    let application = &program.application;
    let run = ProgramRun { policy: policy.kind(), application, loop_bounds: &bounds, judged: &judged };
    let result = StaticResult::of_program(&program.name, sequence, machine, &found, &run);
    let verdict = result.verdict(&judged.total);
    Ok(Some((result, verdict)))
}

/// Simulates the subject, and judges every bound on the paths of the run.
fn run_of(
    subject: Subject,
    args: &Static,
    (machine, policy): (&Machine, &PolicySetup),
    session: &Session,
) -> Result<Option<JudgedApplication>, Diagnostics> {
    let bounds = bound::all();
    let options = args.common.run_options(&session.monitor).judged_by(&bounds, &[]).threads(1).ahead(false);
    let runs = judge_each(subject, &[(machine, std::slice::from_ref(policy))], &options);
    let run = runs.into_iter().flatten().next().unwrap_or_default();
    run.problems.map_or(Ok(run.judged), Err)
}
