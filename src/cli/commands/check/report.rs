//! What `check` prints.

use serde::Serialize;

use super::folders::Folders;
use super::{Judged, Ran, Run};
use crate::check::Status;
use crate::cli::args::Check;
use crate::cli::commands::{again, draw};
use crate::cli::failures::Batch;
use crate::cli::load::Loaded;
use crate::cli::output::{Ending, Format};
use crate::cli::session::Session;
use crate::report::json::{self, Suite};
use crate::report::sequence;
use crate::report::text::{self, SuiteRow};

/// One named kernel under one policy: its result is the object itself.
#[derive(Serialize)]
struct Single<'a> {
    #[serde(flatten)]
    check: &'a json::Check,
    judged: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    stopped: Option<&'static str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    errors: Vec<json::Problem>,
}

/// Prints everything as one object.
pub fn json(
    args: &Check,
    all: &[Judged],
    folders: &Folders,
    batch: &Batch,
    session: &Session,
    ending: &mut Ending,
) {
    let mut results = Vec::new();
    for (judged, run) in runs(all) {
        let prepared = &judged.prepared;
        let (name, machine, seed) = (prepared.name(), &prepared.machine, args.common.seed);
        let mut result = match (&run.result, &prepared.what) {
            (Ran::Program(checked, _), Loaded::Program(program)) => {
                sequence::json(name, &program.sequence, machine, seed, checked)
            }
            _ => json::Check::new(name, machine, seed, run.checked()),
        };
        if run.checked().verdict() == Status::Violated {
            let same = || again::check(args, prepared.name_given(), &run.policy, run.launch());
            result.replay_command = Some(folders.command(args, judged, run).unwrap_or_else(same));
        }
        results.push(result);
    }
    let judged = judged(all);
    let batch = batch.json(session);
    if let ([check], 1) = (results.as_slice(), args.kernels.len()) {
        let json::Batch { stopped, errors, .. } = batch;
        return ending.print_json(session, &Single { check, judged, stopped, errors });
    }
    let verdict = Status::combine(runs(all).map(|(_, run)| run.checked().verdict()));
    ending.print_json(session, &Suite { schema: json::SCHEMA, results, verdict, judged, batch });
}

/// Prints tables and verdicts.
pub fn text<'a>(args: &Check, all: &'a [Judged], batch: &Batch, session: &Session, ending: &mut Ending) {
    let style = session.style;
    let mut out = String::new();
    if args.kernels.len() == 1 {
        for (Judged { prepared, .. }, run) in runs(all) {
            out.push_str(&match (&run.result, &prepared.what) {
                (Ran::Program(checked, _), Loaded::Program(program)) => {
                    sequence::text(&program.name, &program.sequence, &prepared.machine, checked, style)
                }
                _ => text::check(prepared.name(), &prepared.machine, run.checked(), style),
            });
        }
    } else {
        let row = |(judged, run): (&'a Judged, &'a Run)| SuiteRow {
            kernel: judged.prepared.name(),
            checked: run.checked(),
        };
        let rows: Vec<SuiteRow> = runs(all).map(row).collect();
        if !rows.is_empty() {
            out.push_str(&text::suite(&rows, style));
            out.push_str(&text::suite_summary(&rows, style));
        }
    }
    out.push_str(&batch.text(session));
    if judged(all) == 0 {
        let why = if batch.is_incomplete() || all.is_empty() { "" } else { ": no gating bound applies" };
        out.push_str(&format!("\nnothing was judged{why}\n"));
    }
    ending.print(session, &out);
    if let ([Judged { prepared, runs }], true) = (all, args.gantt && args.kernels.len() == 1)
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
    for (judged, run) in runs(all).filter(|(_, run)| run.checked().verdict() == Status::Violated) {
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

/// Runs with a verdict.
fn judged(all: &[Judged]) -> usize {
    runs(all).filter(|(_, run)| run.checked().verdict() != Status::NotApplicable).count()
}
