//! The output of `check`.

use super::folders::Folders;
use super::{Judged, Run};
use crate::check::Verdict;
use crate::cli::args::Check;
use crate::cli::commands::{again, draw};
use crate::cli::failures::Batch;
use crate::cli::lists::{Lists, Setup};
use crate::cli::output::Ending;
use crate::cli::session::Session;
use crate::load::Loaded;
use crate::report::check::CheckResult;
use crate::report::output::Output;
use crate::report::suite::CheckReport;

/// Returns the report of everything that was judged.
pub fn report<'a>(
    args: &Check,
    all: &'a [Judged],
    lists: &Lists,
    folders: &Folders,
    batch: &Batch,
    session: &Session,
) -> CheckReport<'a> {
    let result = |(judged, run): (&'a Judged, &'a Run)| {
        let (name, machine) = (judged.what.name(), &run.setup.machine);
        let mut result = match &judged.what {
            Loaded::Application(found) => {
                CheckResult::of_application(name, &found.application, machine, &run.judged)
            }
            Loaded::Kernel(_) => CheckResult::new(name, machine, run.checked()),
        };
        if run.is_violated() {
            let same = || same_again(args, judged, run);
            result.replay_command = Some(folders.command(args, judged, run).unwrap_or_else(same));
        }
        result
    };
    let results: Vec<CheckResult> = runs(all).map(result).collect();
    let verdicts: Vec<Verdict> = runs(all).map(|(_, run)| run.checked().verdict()).collect();
    let output = Output::of_batch("check", Some(args.common.seed), results, batch.report(session));
    CheckReport {
        output: output.judged(verdicts.into_iter()),
        in_full: args.kernels.len() == 1 && !lists.are_lists(),
        several_machines: lists.several_machines(),
    }
}

/// Draws the first block of a kernel, if requested.
pub fn gantt(args: &Check, all: &[Judged], lists: &Lists, session: &Session, ending: &mut Ending) {
    let one_as_text = args.kernels.len() == 1 && args.common.format.is_for_people();
    if let ([Judged { what: Loaded::Kernel(kernel), runs }], true) = (all, args.gantt && one_as_text) {
        for Run { setup, .. } in runs {
            let heading = match lists.are_lists() {
                true => format!("{} under {}\n", setup.machine.name(), setup.policy.kind()),
                false => String::new(),
            };
            match draw::gantt(kernel, &setup.machine, &setup.policy, &setup.common, &session.watch) {
                Ok(drawn) => ending.print(session, &format!("\n{heading}{drawn}")),
                Err(problems) => ending.late.append(problems),
            }
        }
    }
}

/// Returns the `check` command that repeats a run.
fn same_again(args: &Check, judged: &Judged, run: &Run) -> String {
    let Setup { common, policy, .. } = &run.setup;
    again::check(args, common, judged.what.name_given(), policy, run.launch())
}

/// Writes the counterexamples after the results have been printed, and prints how to reproduce each
/// violation.
pub fn again(
    args: &Check,
    all: &[Judged],
    lists: &Lists,
    folders: &Folders,
    session: &Session,
    ending: &mut Ending,
) {
    for (judged, run) in runs(all).filter(|(_, run)| run.is_violated()) {
        let same = || same_again(args, judged, run);
        let command = match folders.write(args, judged, run, session) {
            Ok(()) => folders.command(args, judged, run).unwrap_or_else(same),
            Err(problems) => {
                ending.late.append(problems);
                same()
            }
        };
        if args.common.format.is_for_people() {
            let (kernel, policy) = (judged.what.name(), &run.checked().scheduler);
            let on = if lists.several_machines() {
                format!(" on {}", run.setup.machine.name())
            } else {
                String::new()
            };
            let line =
                format!("\n{kernel} breaks a bound{on} under {policy}; to see it again:\n  {command}\n");
            ending.print(session, &line);
        }
    }
}

fn runs(all: &[Judged]) -> impl Iterator<Item = (&Judged, &Run)> {
    all.iter().flat_map(|judged| judged.runs.iter().map(move |run| (judged, run)))
}
