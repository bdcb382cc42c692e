//! `warpbound check`: simulate and judge every bound.

mod folders;
mod judged;
mod report;

use folders::Folders;
use judged::{Judged, Prepared, Ran, Run};

use crate::bound::{self, Bound};
use crate::check::Checked;
use crate::cli::args::Check;
use crate::cli::assets;
use crate::cli::failures::Batch;
use crate::cli::output::{Ending, Outcome};
use crate::cli::programs;
use crate::cli::session::Session;
use crate::diag::{Diagnostic, Diagnostics};
use crate::program::launch::LaunchSpec;

/// Runs the command.
pub fn run(args: &Check, session: &Session) -> Outcome {
    let bounds = bound::all();
    check_bound_names(&args.bound, &bounds)?;
    let names = if args.kernels.is_empty() { suite_kernels()? } else { args.kernels.clone() };
    // stdin can be read once
    let locations: Vec<_> = names.iter().map(|name| assets::find_kernel(name)).collect();
    let folders = Folders::prepare(args, &names, &locations, session)?;
    let mut batch = Batch::new(&names);
    let mut all = Vec::new();
    while let Some((index, name)) = batch.begin(session) {
        tracing::info!(kernel = %name, "checking");
        let outcome = locations[index].clone().and_then(|location| Prepared::new(name, location, args));
        let (judged, problems) = match outcome {
            Ok(prepared) => {
                session.progress.begin(batch.label(name), prepared.blocks(), "blocks");
                prepared.judge(args, &bounds, session, &|policy| folders.name(index, policy))
            }
            Err(problems) => (None, Some(problems)),
        };
        match problems {
            Some(problems) => batch.failures.add(name, &problems),
            None if judged.iter().flat_map(|judged| &judged.runs).any(|run| !run.checked().is_complete()) => {
                batch.cut_short();
            }
            None => {}
        }
        all.extend(judged);
    }
    if all.is_empty() && args.kernels.len() == 1 && !batch.is_incomplete() {
        return Err(batch.failures.into_problems());
    }
    let output = report::report(args, &all, &folders, &batch, session);
    let violated = all.iter().flat_map(|judged| &judged.runs).any(Run::is_violated);
    let mut ending = Ending { violated, ..Ending::default() };
    ending.report(session, args.common.format, &output);
    report::gantt(args, &all, session, &mut ending);
    report::again(args, &all, &folders, session, &mut ending);
    if args.require_verdict {
        require_verdict(&all, &mut ending);
    }
    ending.failures = batch.failures;
    Ok(ending)
}

/// Refuses names that no bound has.
pub fn check_bound_names(names: &[String], bounds: &[Box<dyn Bound>]) -> Result<(), Diagnostics> {
    let mut problems = Diagnostics::new();
    for name in names {
        if let Some((message, hint)) = bound::unknown(name, bounds) {
            problems.push(Diagnostic::general(format!("--bound {name}"), message).hint(hint));
        }
    }
    problems.into_result(())
}

/// The launches that say `suite: true`, by name.
pub fn suite_kernels() -> Result<Vec<String>, Diagnostics> {
    let mut names = Vec::new();
    for (name, location) in assets::kernels() {
        if location.extension() != "ron" {
            continue;
        }
        let source = location.text()?;
        if !programs::is_program(&source) && LaunchSpec::parse(&source)?.suite {
            names.push(name);
        }
    }
    Ok(names)
}

/// Runs to which no gating bound applied, or that were not taken to their end, are an error.
fn require_verdict(all: &[Judged], ending: &mut Ending) {
    let mut missing = Vec::new();
    for judged in all {
        let kernel = judged.prepared.name();
        let runs = judged.runs.iter().map(Run::checked);
        let without = |run: &&Checked| !run.is_complete() || !run.verdict().applies();
        missing.extend(runs.filter(without).map(|run| format!("{kernel} under {}", run.scheduler)));
    }
    let message = match (missing.is_empty(), all.is_empty()) {
        (true, false) => return,
        (_, true) => "nothing was judged".to_owned(),
        (false, _) => format!("no verdict on {}", missing.join(", ")),
    };
    let problem = Diagnostic::general("--require-verdict", message);
    ending
        .late
        .push(problem.hint("the reasons stand beside the bounds; `--bound NAME` chooses which decide"));
}
