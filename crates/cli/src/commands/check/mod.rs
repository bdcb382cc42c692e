//! `warpbound check`: simulates kernels and judges every bound.

mod folders;
mod judged;
mod report;

use folders::Folders;
use judged::{Judged, Run};
use report::Kept;

use std::sync::{Mutex, PoisonError};

use super::sweep::CommandOptions;
use crate::args::Check;
use crate::batch::{Blocks, each_kernel};
use crate::checkpoint::{self, Checkpoint};
use crate::failures::Batch;
use crate::files::loader;
use crate::lists::Lists;
use crate::output::{Ending, Outcome};
use crate::session::Session;
use crate::suite::suite_kernels;
use warpbound_bound::{self as bound, Bound};
use warpbound_core::base::ProgressMonitor;
use warpbound_core::diag::{Diagnostic, Diagnostics};

/// Runs the command.
pub fn run(args: &Check, session: &Session) -> Outcome {
    let bounds = bound::all();
    check_bound_names(&args.bound, &bounds)?;
    let lists = Lists::new(&args.common)?;
    let names = kernel_names(args)?;
    // located only once, because stdin cannot be read again
    let locations: Vec<_> = names.iter().map(|name| loader().find_kernel(name)).collect();
    let prepare = |index: usize, monitor: &ProgressMonitor| {
        let location = locations[index].clone()?;
        judged::prepare(&names[index], location, args, &lists, monitor)
    };
    let folders = Folders::prepare(args, &lists, &names, &locations, session)?;
    let own =
        || (0..names.len()).filter_map(|index| Some(prepare(index, &session.monitor).ok()?.own())).collect();
    let recording = command_options(args).recording(
        args.several.out.as_deref(),
        &lists,
        (session, args.checkpoint.resume),
        own,
    )?;
    let threads = args.several.threads(names.len());
    let checkpoint = Mutex::new(None);
    let work = |index: usize, monitor: &ProgressMonitor, begin: Blocks| {
        tracing::info!(kernel = %names[index], "checking");
        let options = args.several.run_options(&args.common, names.len(), monitor);
        let options = options.judged_by(&bounds, &args.bound).self_check(args.self_check);
        let prepared = match prepare(index, monitor) {
            Ok(prepared) => prepared,
            Err(problems) => {
                let records = recording.as_ref().map(|recording| recording.of_failed(index, &problems));
                return (None, problems, records);
            }
        };
        begin(prepared.blocks());
        let runs = match prepared.run_from_checkpoint(&options, args, session, &checkpoint) {
            Ok(runs) => runs,
            Err(problems) => return (None, problems, None),
        };
        let records = recording.as_ref().filter(|_| !monitor.is_stopped());
        let records = records.map(|recording| recording.of_kernel(index, &runs));
        let (judged, problems) = prepared.judged(runs, &options, &|run| folders.name(index, run));
        (judged, problems, records)
    };
    let mut ending = Ending::default();
    let mut kept = Kept::new(args, &lists, &folders, session);
    let mut batch = Batch::new(&names);
    each_kernel(&mut batch, threads, session, work, |batch, index, (judged, problems, records)| {
        note_failures(batch, index, judged.as_ref(), &problems, session);
        if let Some(recording) = &recording {
            recording.append(records, &mut ending);
        }
        if let Some(judged) = judged {
            kept.add(judged, &mut ending);
        }
    });
    batch.only_failure(!kept.is_empty() || recording.is_some())?;
    kept.print(&batch, session, &mut ending);
    if let Some(recording) = recording {
        recording.conclude(&mut ending);
    }
    let checkpoint = checkpoint.into_inner().unwrap_or_else(PoisonError::into_inner);
    conclude_checkpoint(checkpoint, args, &batch, session, &mut ending);
    ending.failures = batch.failures;
    Ok(ending)
}

/// Returns the names of the kernels, of which there must be one if there is a checkpoint.
fn kernel_names(args: &Check) -> Result<Vec<String>, Diagnostics> {
    let names = if args.kernels.is_empty() { suite_kernels()? } else { args.kernels.clone() };
    match &args.checkpoint.checkpoint {
        Some(path) if names.len() != 1 => {
            Err(checkpoint::of_one(path, &format!("{} kernels are named", names.len())).into())
        }
        _ => Ok(names),
    }
}

/// Returns the options of the command that a recording states.
fn command_options(args: &Check) -> CommandOptions<'_> {
    CommandOptions {
        command: "check",
        kernels: &args.kernels,
        common: &args.common,
        launch: &args.ptx,
        bounds: &args.bound,
    }
}

/// Adds the problems of a kernel to the batch, and notes whether the kernel was cut short.
fn note_failures(
    batch: &mut Batch,
    index: usize,
    judged: Option<&Judged>,
    problems: &Diagnostics,
    session: &Session,
) {
    if !problems.is_empty() {
        batch.failures.add(batch.name(index), problems);
        // the cancellation may be the only error
        if session.monitor.is_stopped() {
            batch.cut_short();
        }
    } else if judged.iter().flat_map(|judged| &judged.runs).any(|run| !run.checked().is_complete()) {
        batch.cut_short();
    }
}

/// Concludes the checkpoint, or reports that an incomplete run has none.
fn conclude_checkpoint(
    checkpoint: Option<Checkpoint>,
    args: &Check,
    batch: &Batch,
    session: &Session,
    ending: &mut Ending,
) {
    match (&args.checkpoint.checkpoint, checkpoint) {
        (_, Some(checkpoint)) => checkpoint.conclude(session, ending),
        (Some(path), None) if batch.is_incomplete() => ending.late.push(checkpoint::not_begun(path, session)),
        (_, None) => {}
    }
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
