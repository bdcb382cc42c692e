//! The output of results and errors, and the exit code.

use std::borrow::Cow;

use serde::Serialize;

use super::failures::Failures;
use super::format::Format;
use super::printer::Printer;
use super::session::Session;
use warpbound_core::diag::{Diagnostic, Diagnostics, printable, printable_in_colour, printable_json};
use warpbound_report::csv::{self, Json};
use warpbound_report::output::{Batch, Failed, Report, Stopped};

/// The exit code of a command that did what it was told.
const SUCCESS: u8 = 0;
/// The exit code for invalid input.
const WRONG_INPUT: u8 = 1;
/// The exit code if the command was stopped before its result was complete.
const INCOMPLETE: u8 = 1;
/// The exit code if a gating bound is violated.
const VIOLATED: u8 = 3;

/// The ending of a command whose result has been printed.
#[derive(Debug, Default)]
pub struct Ending {
    /// Whether a gating bound is violated.
    pub violated: bool,
    /// The errors that occurred after the result was complete: files that could not be written, or
    /// a run without the required verdict.
    pub late: Diagnostics,
    /// The kernels of a batch that failed.
    pub failures: Failures,
    /// Whether a printed report states that nothing stopped the command. A stop that is noticed
    /// after the last result was complete changes nothing.
    pub complete: bool,
}

impl Ending {
    /// Prints a result. An error of printing is recorded, but does not change the result.
    pub fn print(&mut self, session: &Session, text: &str) {
        if let Err(problem) = print(session, text) {
            self.late.push(problem);
        }
    }

    /// Prints a result in the requested form.
    pub fn report(&mut self, session: &Session, format: Format, report: &impl Report) {
        session.conclude();
        self.complete = report.as_ref().complete;
        match printed(report, session, format) {
            Ok(text) => self.print(session, &text),
            Err(problem) => self.late.push(problem),
        }
    }

    /// Returns the exit code; a violation takes precedence over errors.
    fn code(&self) -> u8 {
        match self {
            Self { violated: true, .. } => VIOLATED,
            Self { late, failures, .. } if late.is_empty() && failures.is_empty() => SUCCESS,
            _ => WRONG_INPUT,
        }
    }
}

/// The outcome of a command: an ending, or the errors that occurred before there was a result.
pub type Outcome = Result<Ending, Diagnostics>;

/// Prints the remaining errors and returns the exit code of the command.
pub fn finish(outcome: Outcome, session: &Session, command: &'static str, format: Format) -> u8 {
    let printer = &session.printer;
    session.conclude();
    session.progress.end();
    match outcome {
        Ok(ending) => {
            // in JSON the failures are part of the result
            if format != Format::Json {
                print_error(printer, &ending.failures.to_string());
            }
            print_error(printer, &ending.late.to_string());
            match session.cut_short() {
                Some(_) if !ending.violated && !ending.complete => INCOMPLETE,
                _ => ending.code(),
            }
        }
        Err(problems) => {
            match format {
                Format::Text | Format::Csv => print_error(printer, &problems.to_string()),
                Format::Json => {
                    let all = Failed::of_batch(command, None, Vec::new(), Batch::failed(&problems));
                    if let Err(problem) = print(session, &json_line(&all)) {
                        print_error(printer, &problem.to_string());
                    }
                }
            }
            WRONG_INPUT
        }
    }
}

/// Prints, as JSON, an error that occurred before a command started.
pub fn failed_early(printer: &Printer, command: &'static str, problem: Diagnostic) {
    let problems = Diagnostics::from(problem);
    let all = Failed::of_batch(command, None, Vec::new(), Batch::failed(&problems));
    if let Err(problem) = printer.out(&json_line(&all)) {
        print_error(printer, &problem.to_string());
    }
}

/// Reports that a command was stopped before it had a result, and what is kept nevertheless.
/// Returns the exit code.
pub fn no_result(
    printer: &Printer,
    command: &'static str,
    format: Format,
    reason: Stopped,
    kept: Option<String>,
) -> u8 {
    let problem = Diagnostic::general(command, format!("{} before there was any result", reason.text()));
    let problem = match kept {
        Some(kept) => problem.hint(kept),
        None => problem,
    };
    let problems = Diagnostics::from(problem);
    match format {
        Format::Text | Format::Csv => print_error(printer, &problems.to_string()),
        Format::Json => {
            let batch = Batch { stopped: Some(reason), ..Batch::failed(&problems) };
            let text = json_line(&Failed::of_batch(command, None, Vec::new(), batch));
            // errors are ignored, because the process ends in any case
            let _ = printer.out(&text);
        }
    }
    WRONG_INPUT
}

/// Returns a report in the requested form.
fn printed(report: &impl Report, session: &Session, format: Format) -> Result<String, Diagnostic> {
    match format {
        Format::Text => Ok(report.text(session.style)),
        Format::Json => Ok(json_line(report)),
        Format::Csv => csv_table(&json_line(report), session.table.as_deref()),
    }
}

/// Returns a table of a report.
fn csv_table(json: &str, table: Option<&str>) -> Result<String, Diagnostic> {
    let json: Json = serde_json::from_str(json).expect("it was written here");
    let name = table.map_or_else(|| csv::main_table(&json), str::to_owned);
    csv::table(&json, &name).map_err(|none| {
        let problem = Diagnostic::general(format!("--table {name}"), "this output has no such table");
        problem.hint(match none.tables.as_slice() {
            [] => "it has no table at all".to_owned(),
            tables => format!("tables: {}", tables.join(", ")),
        })
    })
}

fn json_line(value: &impl Serialize) -> String {
    let mut json = serde_json::to_string(value).expect("reports are plain data");
    json.push('\n');
    // the text can be large, so it is not copied without need
    let changed = match printable_json(&json) {
        Cow::Owned(changed) => Some(changed),
        Cow::Borrowed(_) => None,
    };
    changed.unwrap_or(json)
}

fn print_error(printer: &Printer, text: &str) {
    printer.err(&printable(text));
}

/// Writes text to stdout.
fn print(session: &Session, text: &str) -> Result<(), Diagnostic> {
    session.conclude();
    session.progress.end();
    let text = if session.style.colour { printable_in_colour(text).into() } else { printable(text) };
    session.printer.out(&text)
}

/// Prints the help, or the error of an invalid command line, and returns the exit code.
pub fn usage(printer: &Printer, error: &clap::Error, colour: bool) -> u8 {
    let text = error.render();
    let text = if colour { printable_in_colour(&text.ansi().to_string()) } else { text.to_string() };
    if error.use_stderr() {
        // coloured text was already made printable above; `printable` would remove its colours
        if colour {
            printer.err(&text);
        } else {
            print_error(printer, &text);
        }
    } else if let Err(problem) = printer.out(&text) {
        print_error(printer, &problem.to_string());
        return WRONG_INPUT;
    }
    error.exit_code() as u8
}

/// Prints a text as the whole result of a command.
pub fn text(session: &Session, text: &str) -> Outcome {
    let mut ending = Ending::default();
    ending.print(session, text);
    Ok(ending)
}

/// Prints a report as the whole result of a command.
pub fn report(session: &Session, format: Format, report: &impl Report) -> Outcome {
    let mut ending = Ending::default();
    ending.report(session, format, report);
    Ok(ending)
}
