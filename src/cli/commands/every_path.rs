//! `warpbound static`: a bound over all paths.

use std::collections::HashMap;

use crate::base::Pc;
use crate::bound;
use crate::check::every_path::{EveryPath, every_path, keeps_bounds};
use crate::check::{Plan, Verdict, check};
use crate::cli::args::Static;
use crate::cli::failures::Batch;
use crate::cli::load::{self, Loaded, LoadedKernel};
use crate::cli::output::{Ending, Outcome};
use crate::cli::session::Session;
use crate::cli::suite::suite_kernels;
use crate::diag::{Diagnostic, Diagnostics};
use crate::exec::Options;
use crate::program::loop_bounds::{self, LoopBound};
use crate::program::warp_cfg::{Divergence, WarpCfg};
use crate::report::every_path::{StaticReport, StaticResult};
use crate::report::output::Output;

/// Runs the command.
pub fn run(args: &Static, session: &Session) -> Outcome {
    let names = if args.kernels.is_empty() { suite_kernels()? } else { args.kernels.clone() };
    let bounds = parsed_bounds(&args.loop_bound)?;
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

/// The bounds of loops that the command line gives.
pub fn parsed_bounds(given: &[String]) -> Result<Vec<LoopBound>, Diagnostics> {
    let mut problems = Diagnostics::new();
    let mut bounds = Vec::new();
    for text in given {
        match LoopBound::parse(text) {
            Ok(bound) => bounds.push(bound),
            Err(message) => problems.push(Diagnostic::general(format!("--loop-bound {text}"), message).hint(
                "LINE is where the loop begins in the PTX, N how often a thread goes back to it at most",
            )),
        }
    }
    problems.into_result(bounds)
}

/// The loops of a kernel that they are for.
pub fn resolved_bounds(kernel: &LoadedKernel, bounds: &[LoopBound]) -> Result<HashMap<Pc, u64>, Diagnostics> {
    if bounds.is_empty() {
        return Ok(HashMap::new());
    }
    let program = kernel.workload.program();
    let block = kernel.workload.launch().map(|launch| launch.block);
    let graph = WarpCfg::new(program, block, Divergence::Sides).map_err(|code| code.problem(program))?;
    Ok(loop_bounds::resolve(program, &graph, bounds)?)
}

/// A kernel's result; nothing if somebody ended the command before there was one.
fn row(
    name: &str,
    args: &Static,
    bounds: &[LoopBound],
    session: &Session,
) -> Result<Option<(StaticResult, Verdict)>, Diagnostics> {
    let kernel = load::kernel(name, &args.ptx, args.common.seed)?;
    let (machine, _) = load::machine(&args.common, &kernel)?;
    let loaded = Loaded::Kernel(Box::new(kernel));
    let policy = load::policy_of(&args.common, &loaded, &machine)?;
    let Loaded::Kernel(kernel) = &loaded else { unreachable!("made above") };
    let resolved = resolved_bounds(kernel, bounds)?;
    let excerpts = |problems: Diagnostics| problems.with_excerpts(&kernel.code);
    let options = Options::of(&machine, args.common.fuel());
    keeps_bounds(&kernel.workload, options, &resolved, &session.watch).map_err(excerpts)?;
    let found = every_path(&kernel.workload, &machine, &resolved, args.common.fuel(), &session.watch)
        .map_err(excerpts)?;
    let checked = check(&Plan {
        workload: &kernel.workload,
        machine: &machine,
        policies: &[policy],
        bounds: &bound::all(),
        gating: &[],
        max_instructions_per_block: args.common.fuel(),
        threads: 1,
        ahead: false,
        self_check: false,
        race_memory: args.common.race_memory(),
        watch: &session.watch,
    })
    .map_err(|failed| excerpts(failed.problems))?;
    let run = checked.into_iter().next().filter(crate::check::Checked::is_complete);
    let (Some(run), false) = (run, found == EveryPath::Stopped) else { return Ok(None) };
    let result = StaticResult::new(&kernel.workload, &machine, bounds, &found, &run);
    let verdict = result.verdict(&run);
    Ok(Some((result, verdict)))
}
