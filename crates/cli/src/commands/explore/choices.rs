//! The exploration of all choices of the arbiters of a machine with a pipeline.

use crate::args::Explore;
use crate::choices::Searched;
use crate::output::{Ending, Outcome};
use crate::resources;
use crate::session::Session;
use warpbound_core::diag::{Diagnostic, Diagnostics};
use warpbound_core::machine::Machine;
use warpbound_judge::check::Verdict;
use warpbound_judge::explore::choices::explore;
use warpbound_judge::explore::search::{Limits, Spent};
use warpbound_judge::load::LoadedKernel;
use warpbound_report::explore::{Choices, ExploreResult};
use warpbound_report::output::{Batch, Output, Stopped};

/// Explores the choices and judges the bound.
pub fn run(args: &Explore, kernel: &LoadedKernel, machine: &Machine, session: &Session) -> Outcome {
    refuse(args)?;
    let common = &args.on.common;
    let Some(searched) = Searched::new(kernel, machine, common, session)? else {
        let why = session.stopped().map_or("stopped", Stopped::text);
        let message = format!("{why} before the choices were explored");
        return Err(Diagnostic::general(kernel.workload.name.clone(), message).into());
    };
    session.progress.begin(&kernel.workload.name, None, "states");
    let limits = Limits { max_states: args.max_states, max_bytes: resources::of_search(), threads: 1 };
    let found = searched.launch(machine, |launch| explore(launch, limits, &session.monitor));
    let stopped = found.spent.map(|spent| match spent {
        Spent::States => Stopped::MaxStates,
        Spent::Memory => Stopped::Memory,
        Spent::Time => session.stopped().unwrap_or(Stopped::Interrupt),
    });
    let at_most = if found.spent.is_none() { found.worst } else { u64::MAX };
    let of_policies = searched.checked.iter().map(|run| run.makespan.get());
    let at_least = of_policies.fold(found.worst, u64::max);
    let verdicts = searched.verdicts(at_least, at_most);
    let bounds = searched.judged(&verdicts, found.spent.is_none().then_some(found.worst));
    let choices = Choices::new(&kernel.workload.name, machine, &searched.checked, &found, stopped, bounds);
    let batch = stopped.map_or_else(Batch::default, |stopped| Batch::stopped(Some(stopped)));
    let output = Output::of_batch("explore", Some(common.seed), vec![ExploreResult::Choices(choices)], batch);
    let output = output.judged(verdicts.iter().cloned());
    let violated = verdicts.iter().any(Verdict::is_violated);
    let mut ending = Ending { violated, ..Ending::default() };
    ending.report(session, common.format, &output);
    Ok(ending)
}

/// Returns an error for options that have no meaning for choices of arbiters.
fn refuse(args: &Explore) -> Result<(), Diagnostics> {
    let files = [("--worst-schedule", &args.worst_schedule), ("--best-schedule", &args.best_schedule)];
    let mut problems = Diagnostics::new();
    for (option, _) in files.into_iter().filter(|(_, path)| path.is_some()) {
        let message = "a replay file holds the order of the issues, and not the choices of other arbiters";
        problems.push(
            Diagnostic::general(option, message)
                .hint("leave it out; --format json prints the choices of a worst and of a best run"),
        );
    }
    if args.of_block > 0 {
        let message = "on a machine with a pipeline the launch as a whole is explored";
        let option = format!("--of-block {}", args.of_block);
        problems.push(Diagnostic::general(option, message).hint("leave it out"));
    }
    problems.into_result(())
}
