//! `warpbound diff`: explains the difference between the makespans of two runs.

use std::path::Path;

use serde::Deserialize;

use super::run::explain;
use crate::args::{Diff, QuotedRun, UNCLOSED, parsed};
use crate::output::{self, Outcome};
use crate::session::Session;
use warpbound_core::diag::{Diagnostic, Diagnostics};
use warpbound_judge::load::read;
use warpbound_report::diff::DiffResult;
use warpbound_report::explain::Explained;
use warpbound_report::output::{Output, SCHEMA};

/// The largest file that is read, in bytes.
const FILE_BYTES: u64 = 256 << 20;

/// Runs the command.
pub fn run(args: &Diff, session: &Session) -> Outcome {
    let a = side(&args.a, session)?;
    let b = side(&args.b, session)?;
    let result = DiffResult::new((&args.a, &a), (&args.b, &b)).map_err(|message| {
        Diagnostic::general(format!("{}, {}", args.a, args.b), message)
            .hint("`diff` compares runs of one kernel, instruction by instruction; policy, machine and data may differ; `why` compares different kernels, too")
    })?;
    output::report(session, args.format, &Output::new("diff", None, vec![result]))
}

/// Returns one of the two runs.
pub(super) fn side(given: &str, session: &Session) -> Result<Explained, Diagnostics> {
    let Some(words) = shlex::split(given) else {
        return Err(Diagnostic::general(given, UNCLOSED).into());
    };
    match words.as_slice() {
        [file] if file.ends_with(".json") => Ok(from_file(file)?),
        _ => from_words(given, &words, session),
    }
}

fn from_words(given: &str, words: &[String], session: &Session) -> Result<Explained, Diagnostics> {
    let hint = "write the arguments of `warpbound run` in quotes: \"KERNEL --policy lrr\"";
    let QuotedRun { run } =
        parsed(words).map_err(|message| Diagnostic::general(given, message).hint(hint))?;
    let wrong = [
        ("--trace", !run.trace.is_empty()),
        ("--html", run.html.is_some()),
        ("--dump", !run.dump.is_empty()),
        ("--timings", run.timings),
        ("--gantt", run.gantt),
    ];
    if let Some((option, _)) = wrong.iter().find(|(_, is_given)| *is_given) {
        let message = format!("this command looks at the critical path only: {option} does nothing here");
        return Err(Diagnostic::general(given, message).hint("leave it out").into());
    }
    explain::explain(&run, given, session)
}

/// The part of the output of `run --explain --format json` that is needed here.
#[derive(Deserialize)]
struct Printed {
    #[serde(default)]
    schema: u32,
    #[serde(default)]
    command: String,
    #[serde(default)]
    complete: bool,
    #[serde(default)]
    results: Vec<Run>,
}

#[derive(Deserialize)]
struct Run {
    explanation: Option<Explained>,
}

fn from_file(file: &str) -> Result<Explained, Diagnostic> {
    let how = "write one with `warpbound run KERNEL --explain --format json > FILE`";
    let bytes = read::text(Path::new(file), FILE_BYTES)?;
    let wrong = |message: String| Diagnostic::general(file, message).hint(how);
    let printed: Printed = serde_json::from_slice(&bytes).map_err(|error| {
        let mut problem = wrong(format!("this is not a result of `run --explain`: {error}"));
        problem.line = error.line() as u32;
        problem.column = error.column() as u32;
        problem
    })?;
    if printed.command != "run" {
        return Err(wrong(match printed.command.as_str() {
            "" => "this is not a result of `warpbound run`".to_owned(),
            other => format!("this is a result of `warpbound {other}`, not of `run`"),
        }));
    }
    if printed.schema != SCHEMA {
        let message =
            format!("the file has version {} of the JSON, but version {SCHEMA} is read", printed.schema);
        return Err(wrong(message));
    }
    if !printed.complete {
        return Err(wrong("the run in it did not come to its end: there is nothing to compare".to_owned()));
    }
    let explained = printed.results.into_iter().find_map(|run| run.explanation);
    let explained = explained.ok_or_else(|| wrong("the run in it has no critical path".to_owned()))?;
    explained.added_up().map_err(wrong)
}
