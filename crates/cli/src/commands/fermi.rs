//! `warpbound fermi`: computes the finishing time of the template kernels of Raravi and Andersson,
//! 2010, over all schedules.
//!
//! The command studies bounds and does not judge a program: a refuted bound is a result, and the
//! exit code is 0.

use std::ops::RangeInclusive;

use crate::args::Fermi;
use crate::files::loader;
use crate::output::{self, Outcome};
use crate::resources;
use crate::session::Session;
use warpbound_core::base::Cycles;
use warpbound_core::diag::{Diagnostic, Diagnostics};
use warpbound_judge::explore::fermi::{Fairness, FermiBound, FermiMachine, TemplateKernel, explore};
use warpbound_report::fermi::{Cell, FermiOutcome, FermiResult, KernelBound, OfKernel, Witness, judge};
use warpbound_report::output::{Batch, Output, Stopped};

/// The largest end of a range.
const MAX_RANGE: usize = 10_000;
/// The most cells of a table.
const MAX_CELLS: usize = 1_000;

/// Runs the command.
pub fn run(args: &Fermi, session: &Session) -> Outcome {
    let machine = match &args.machine {
        Some(path) => FermiMachine::parse(&loader().file(path.clone()).text()?)?,
        None => FermiMachine::published(),
    };
    let fairness = if args.no_fairness { Fairness::Unrestricted } else { Fairness::SubBlock };
    if let Some(at) = &args.witness {
        witness(args, &machine, fairness, at, session)
    } else if !args.threads.is_empty() {
        of_kernel(args, &machine, fairness, session)
    } else {
        table(args, &machine, fairness, session)
    }
}

fn range(option: &str, text: &str) -> Result<RangeInclusive<usize>, Diagnostic> {
    let (from, to) = text.split_once("..=").unwrap_or((text, text));
    let number = |word: &str| word.trim().parse::<usize>().ok().filter(|n| (1..=MAX_RANGE).contains(n));
    match (number(from), number(to)) {
        (Some(from), Some(to)) if from <= to => Ok(from..=to),
        _ => Err(Diagnostic::general(
            format!("{option} {text}"),
            format!("expected N or FROM..=TO, 1 to {MAX_RANGE}"),
        )
        .hint(format!("for example {option} 1..=4"))),
    }
}

fn report(
    args: &Fermi,
    machine: &FermiMachine,
    fairness: Fairness,
    all: impl IntoIterator<Item = FermiOutcome>,
    batch: Batch,
    session: &Session,
) -> Outcome {
    let results = all.into_iter().map(|of| FermiResult::new(machine, fairness, of)).collect();
    output::report(session, args.format, &Output::of_batch("fermi", None, results, batch))
}

fn table(args: &Fermi, machine: &FermiMachine, fairness: Fairness, session: &Session) -> Outcome {
    let (warps, reps) = (range("--warps", &args.warps)?, range("--rep", &args.rep)?);
    if warps.clone().count() * reps.clone().count() > MAX_CELLS {
        let message = format!("more than {MAX_CELLS} cells");
        return Err(Diagnostic::general(format!("--warps {} --rep {}", args.warps, args.rep), message).into());
    }
    let mut problems = Diagnostics::new();
    let mut kernels = Vec::new();
    for w in warps {
        for rep in reps.clone() {
            match TemplateKernel::new(machine, w, rep) {
                Ok(kernel) => kernels.push(kernel),
                Err(problem) => problems.push(problem),
            }
        }
    }
    let kernels = problems.into_result(kernels)?;
    session.progress.begin("exploring", Some(kernels.len() as u64), "cells");
    let cells: Vec<Cell> = kernels
        .iter()
        .map(|kernel| {
            let found = explore(machine, kernel, fairness, max_states(args), &session.monitor).ok();
            session.monitor.advance(1);
            let worst = found.as_ref().map(|found| found.worst);
            Cell {
                warps: kernel.warps,
                rep: kernel.repetitions,
                complete: found.is_some(),
                worst: worst.map(Cycles::get),
                best: found.as_ref().map(|found| found.best.get()),
                states: found.as_ref().map(|found| found.states),
                bounds: judge(machine, fairness, kernel.warps, kernel.repetitions, worst),
            }
        })
        .collect();
    let batch = match cells.iter().all(|cell| cell.complete) {
        true => Batch::default(),
        false => Batch::stopped(Some(session.stopped().unwrap_or(Stopped::MaxStates))),
    };
    report(args, machine, fairness, cells.into_iter().map(FermiOutcome::Cell), batch, session)
}

fn witness(args: &Fermi, machine: &FermiMachine, fairness: Fairness, at: &str, session: &Session) -> Outcome {
    let parsed = at.split_once(',').and_then(|(w, r)| Some((w.trim().parse().ok()?, r.trim().parse().ok()?)));
    let place = format!("--witness {at}");
    let (warps, rep) = parsed.ok_or_else(|| {
        Diagnostic::general(place.clone(), "expected WARPS,REPETITIONS").hint("for example --witness 4,1")
    })?;
    let kernel = TemplateKernel::new(machine, warps, rep)?;
    session.progress.begin("exploring", None, "");
    let found = explore(machine, &kernel, fairness, max_states(args), &session.monitor).map_err(|_| {
        let stopped = session.stopped().map(|reason| Diagnostic::general(&place, reason.text()));
        let short = || {
            Diagnostic::general(&place, "the search needs more states than --max-states allows")
                .hint("raise --max-states")
        };
        stopped.unwrap_or_else(short)
    })?;
    let bounds = judge(machine, fairness, warps, rep, Some(found.worst));
    let found = FermiOutcome::Witness(Witness::new(machine, warps, rep, &found, bounds));
    report(args, machine, fairness, [found], Batch::default(), session)
}

fn of_kernel(args: &Fermi, machine: &FermiMachine, fairness: Fairness, session: &Session) -> Outcome {
    let all: Vec<OfKernel> = range("--rep", &args.rep)?
        .map(|rep| OfKernel {
            threads: args.threads.clone(),
            warps: args.threads.iter().map(|threads| machine.warps(*threads)).collect(),
            rep,
            bounds: FermiBound::ALL
                .into_iter()
                .map(|bound| match bound.applicable(machine, fairness) {
                    Ok(()) => KernelBound {
                        name: bound.name(),
                        value: Some(bound.kernel(machine, &args.threads, rep).get()),
                        reason: None,
                    },
                    Err(reason) => KernelBound { name: bound.name(), value: None, reason: Some(reason) },
                })
                .collect(),
        })
        .collect();
    report(args, machine, fairness, all.into_iter().map(FermiOutcome::Kernel), Batch::default(), session)
}

/// The memory of a stored state in bytes, including room for growth.
const STATE_BYTES: u64 = 64;

/// Returns the limit of states: the requested number, or fewer if memory is short.
fn max_states(args: &Fermi) -> usize {
    let fit = usize::try_from(resources::of_search() / STATE_BYTES).unwrap_or(usize::MAX);
    args.max_states.min(fit)
}
