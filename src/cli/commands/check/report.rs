//! What `check` prints.

use super::folders::Folders;
use super::{Judged, Ran, Run};
use crate::check::Verdict;
use crate::cli::args::Check;
use crate::cli::commands::{again, draw};
use crate::cli::failures::Batch;
use crate::cli::format::Format;
use crate::cli::load::Loaded;
use crate::cli::output::Ending;
use crate::cli::session::Session;
use crate::report::check::CheckResult;
use crate::report::output::Output;
use crate::report::suite::CheckReport;

/// Everything that was judged.
pub fn report<'a>(
    args: &Check,
    all: &'a [Judged],
    folders: &Folders,
    batch: &Batch,
    session: &Session,
) -> CheckReport<'a> {
    let result = |(judged, run): (&'a Judged, &'a Run)| {
        let Judged { prepared, .. } = judged;
        let mut result = match (&run.result, &prepared.what) {
            (Ran::Program(checked, _), Loaded::Program(program)) => {
                CheckResult::of_program(prepared.name(), &program.sequence, &prepared.machine, checked)
            }
            _ => CheckResult::new(prepared.name(), &prepared.machine, run.checked()),
        };
        if run.is_violated() {
            let same = || again::check(args, prepared.name_given(), &run.policy, run.launch());
            result.replay_command = Some(folders.command(args, judged, run).unwrap_or_else(same));
        }
        result
    };
    let results = runs(all).map(result).collect();
    let verdicts: Vec<Verdict> = runs(all).map(|(_, run)| run.checked().verdict()).collect();
    let output = Output::of_batch("check", Some(args.common.seed), results, batch.report(session));
    CheckReport { output: output.judged(verdicts.into_iter()), in_full: args.kernels.len() == 1 }
}

/// Draws the first block of a kernel, if it is to be.
pub fn gantt(args: &Check, all: &[Judged], session: &Session, ending: &mut Ending) {
    let one_as_text = args.kernels.len() == 1 && args.common.format == Format::Text;
    if let ([Judged { prepared, runs }], true) = (all, args.gantt && one_as_text)
        && let Loaded::Kernel(kernel) = &prepared.what
    {
        for run in runs {
            match draw::gantt(kernel, &prepared.machine, &run.policy, &args.common) {
                Ok(drawn) => ending.print(session, &format!("\n{drawn}")),
                Err(problems) => ending.late.append(problems),
            }
        }
    }
}

/// Writes the counterexamples, now that the results are out, and says how to see each violation again.
pub fn again(args: &Check, all: &[Judged], folders: &Folders, session: &Session, ending: &mut Ending) {
    for (judged, run) in runs(all).filter(|(_, run)| run.is_violated()) {
        let same = || again::check(args, judged.prepared.name_given(), &run.policy, run.launch());
        let command = match folders.write(args, judged, run, session) {
            Ok(()) => folders.command(args, judged, run).unwrap_or_else(same),
            Err(problems) => {
                ending.late.append(problems);
                same()
            }
        };
        if args.common.format == Format::Text {
            let (kernel, policy) = (judged.prepared.name(), &run.checked().scheduler);
            let line = format!("\n{kernel} breaks a bound under {policy}; to see it again:\n  {command}\n");
            ending.print(session, &line);
        }
    }
}

fn runs(all: &[Judged]) -> impl Iterator<Item = (&Judged, &Run)> {
    all.iter().flat_map(|judged| judged.runs.iter().map(move |run| (judged, run)))
}
