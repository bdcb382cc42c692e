//! `warpbound check`: simulates kernels and judges every bound.

mod folders;
mod judged;
mod report;

use folders::Folders;
use judged::{Judged, Run};

use std::sync::{Mutex, PoisonError};

use super::sweep::Said;
use crate::base::Watch;
use crate::bound::{self, Bound};
use crate::cli::args::Check;
use crate::cli::batch::{Blocks, each_kernel};
use crate::cli::checkpoint;
use crate::cli::failures::Batch;
use crate::cli::files::loader;
use crate::cli::lists::Lists;
use crate::cli::output::{Ending, Outcome};
use crate::cli::session::Session;
use crate::cli::suite::suite_kernels;
use crate::diag::{Diagnostic, Diagnostics};

/// Runs the command.
pub fn run(args: &Check, session: &Session) -> Outcome {
    let bounds = bound::all();
    check_bound_names(&args.bound, &bounds)?;
    let lists = Lists::new(&args.common)?;
    let names = if args.kernels.is_empty() { suite_kernels()? } else { args.kernels.clone() };
    if let (Some(path), true) = (&args.checkpoint.checkpoint, names.len() != 1) {
        return Err(checkpoint::of_one(path, &format!("{} kernels are named", names.len())).into());
    }
    // located only once, because stdin cannot be read again
    let locations: Vec<_> = names.iter().map(|name| loader().find_kernel(name)).collect();
    let prepare = |index: usize, watch: &Watch| {
        let location = locations[index].clone()?;
        judged::prepare(&names[index], location, args, &lists, watch)
    };
    let folders = Folders::prepare(args, &lists, &names, &locations, session)?;
    let said = Said {
        command: "check",
        kernels: &args.kernels,
        common: &args.common,
        launch: &args.ptx,
        bounds: &args.bound,
    };
    let own =
        || (0..names.len()).filter_map(|index| Some(prepare(index, &session.watch).ok()?.own())).collect();
    let recording =
        said.recording(args.several.out.as_deref(), &lists, (session, args.checkpoint.resume), own)?;
    let threads = args.several.threads(names.len());
    let kept = Mutex::new(None);
    let work = |index: usize, watch: &Watch, begin: Blocks| {
        tracing::info!(kernel = %names[index], "checking");
        let options = args.several.run_options(&args.common, names.len(), watch);
        let options = options.judged_by(&bounds, &args.bound).self_check(args.self_check);
        let prepared = match prepare(index, watch) {
            Ok(prepared) => prepared,
            Err(problems) => {
                let records = recording.as_ref().map(|recording| recording.of_failed(index, &problems));
                return (None, problems, records);
            }
        };
        begin(prepared.blocks());
        let runs = match prepared.run_from_checkpoint(&options, args, session, &kept) {
            Ok(runs) => runs,
            Err(problems) => return (None, problems, None),
        };
        let records = recording.as_ref().filter(|_| !watch.is_stopped());
        let records = records.map(|recording| recording.of_kernel(index, &runs));
        let (judged, problems) = prepared.judged(runs, &options, &|run| folders.name(index, run));
        (judged, problems, records)
    };
    let mut ending = Ending::default();
    let mut all: Vec<Judged> = Vec::new();
    let mut batch = Batch::new(&names);
    each_kernel(&mut batch, threads, session, work, |batch, index, (judged, problems, records)| {
        if !problems.is_empty() {
            batch.failures.add(batch.name(index), &problems);
            // the cancellation may be the only error
            if session.watch.is_stopped() {
                batch.cut_short();
            }
        } else if judged.iter().flat_map(|judged| &judged.runs).any(|run| !run.checked().is_complete()) {
            batch.cut_short();
        }
        if let Some(recording) = &recording {
            recording.append(records, &mut ending);
        }
        all.extend(judged);
    });
    let nothing = all.is_empty() && recording.is_none();
    if nothing && args.kernels.len() == 1 && !batch.is_incomplete() {
        return Err(batch.failures.into_problems());
    }
    let output = report::report(args, &all, &lists, &folders, &batch, session);
    ending.violated = all.iter().flat_map(|judged| &judged.runs).any(Run::is_violated);
    ending.report(session, args.common.format, &output);
    report::gantt(args, &all, &lists, session, &mut ending);
    report::again(args, &all, &lists, &folders, session, &mut ending);
    if args.require_verdict {
        require_verdict(&all, &lists, &mut ending);
    }
    if let Some(recording) = recording {
        recording.conclude(&mut ending);
    }
    match (&args.checkpoint.checkpoint, kept.into_inner().unwrap_or_else(PoisonError::into_inner)) {
        (_, Some(checkpoint)) => checkpoint.conclude(session, &mut ending),
        (Some(path), None) if batch.is_incomplete() => ending.late.push(checkpoint::not_begun(path)),
        (_, None) => {}
    }
    ending.failures = batch.failures;
    Ok(ending)
}

/// Rejects names that are not those of bounds.
pub fn check_bound_names(names: &[String], bounds: &[Box<dyn Bound>]) -> Result<(), Diagnostics> {
    let mut problems = Diagnostics::new();
    for name in names {
        if let Some((message, hint)) = bound::unknown(name, bounds) {
            problems.push(Diagnostic::general(format!("--bound {name}"), message).hint(hint));
        }
    }
    problems.into_result(())
}

/// Adds an error if no gating bound applied to a run, or if a run did not complete.
fn require_verdict(all: &[Judged], lists: &Lists, ending: &mut Ending) {
    let mut missing = Vec::new();
    for judged in all {
        let kernel = judged.what.name();
        for run in &judged.runs {
            let checked = run.checked();
            if !checked.is_complete() || !checked.verdict().applies() {
                let on = if lists.several_machines() {
                    format!(" on {}", run.setup.machine.name())
                } else {
                    String::new()
                };
                missing.push(format!("{kernel}{on} under {}", checked.scheduler));
            }
        }
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
