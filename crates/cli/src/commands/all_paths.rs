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
use warpbound_exec::Options;
use warpbound_judge::check::all_paths::{AllPathsOutcome, all_paths, keeps_bounds};
use warpbound_judge::check::{Plan, Verdict, check};
use warpbound_report::all_paths::{StaticReport, StaticResult, StaticRun};
use warpbound_report::output::Output;

/// Runs the command.
pub fn run(args: &Static, session: &Session) -> Outcome {
    let names = if args.kernels.is_empty() { suite_kernels()? } else { args.kernels.clone() };
    let bounds = ByLine::new(&args.bounds)?;
    let mut batch = Batch::new(&names);
    let mut rows: Vec<(StaticResult, Verdict)> = Vec::new();
    while let Some((_, name)) = batch.begin(session) {
        session.progress.begin(batch.label(name), None, "blocks");
        match row(name, args, &bounds, session) {
            Ok(Some(row)) => rows.push(row),
            Ok(None) => batch.cut_short(),
            Err(problems) => batch.failures.add(name, &problems),
        }
    }
    if rows.is_empty() && names.len() == 1 && !batch.is_incomplete() {
        return Err(batch.failures.into_problems());
    }
    let (results, verdicts): (Vec<_>, Vec<_>) = rows.into_iter().unzip();
    let violated = verdicts.iter().any(Verdict::is_violated);
    let output = Output::of_batch("static", Some(args.common.seed), results, batch.report(session));
    let report = StaticReport { output: output.judged(verdicts.into_iter()) };
    let mut ending = Ending { violated, ..Ending::default() };
    ending.report(session, args.common.format, &report);
    ending.failures = batch.failures;
    Ok(ending)
}

/// Returns the result for a kernel, or `None` if the command was stopped before there was one.
fn row(
    name: &str,
    args: &Static,
    bounds: &ByLine,
    session: &Session,
) -> Result<Option<(StaticResult, Verdict)>, Diagnostics> {
    let kernel = load::kernel(name, &args.ptx, args.common.seed, &session.monitor)?;
    let (machine, _) = load::machine(&args.common, &kernel)?;
    let policy = load::policy(&args.common, &kernel, &machine)?;
    let (given, resolved) = bounds.of(&kernel)?;
    let excerpts = |problems: Diagnostics| problems.with_excerpts(&kernel.code);
    let options = Options::of(&machine, args.common.fuel());
    keeps_bounds(&kernel.workload, options, &resolved, &session.monitor).map_err(excerpts)?;
    let found = all_paths(
        &kernel.workload,
        &machine,
        &[policy.kind()],
        &resolved,
        args.common.fuel(),
        &session.monitor,
    )
    .map_err(excerpts)?;
    let bounds = bound::all();
    let options = args.common.run_options(&session.monitor).judged_by(&bounds, &[]).threads(1).ahead(false);
    let policies = std::slice::from_ref(&policy);
    let checked = check(&Plan { workload: &kernel.workload, machine: &machine, policies, options })
        .map_err(|failed| excerpts(failed.problems))?;
    let run = checked.into_iter().next().filter(warpbound_judge::check::JudgedLaunch::is_complete);
    let (Some(run), false) = (run, found == AllPathsOutcome::Stopped) else { return Ok(None) };
    let run = StaticRun { policy: policy.kind(), checked: &run };
    let result = StaticResult::new(&kernel.workload, &machine, &given, &found, &run);
    let verdict = result.verdict(run.checked);
    Ok(Some((result, verdict)))
}
