//! Where results and problems go, and the exit code.

use std::io::{self, Write};
use std::process::ExitCode;

use serde::Serialize;

use super::failures::Failures;
use super::format::Format;
use super::session::Session;
use crate::diag::{Diagnostic, Diagnostics, printable, printable_in_colour, printable_json};
use crate::report::output::{Batch, Failed, Report, Stopped};
use crate::report::style::Style;

/// Exit code for a wrong input.
const WRONG_INPUT: u8 = 1;
/// Exit code when a gating bound is violated.
const VIOLATED: u8 = 3;

/// How a command ended that came to a result: the result has been printed.
#[derive(Debug, Default)]
pub struct Ending {
    /// A gating bound is violated.
    pub violated: bool,
    /// What went wrong after the result was there: files that could not be written, a run that had to be
    /// judged and was not.
    pub late: Diagnostics,
    /// Kernels of a batch that failed.
    pub failures: Failures,
}

impl Ending {
    /// Prints a result. That it cannot be printed does not change what it is.
    pub fn print(&mut self, session: &Session, text: &str) {
        if let Err(problem) = print(session, text) {
            self.late.push(problem);
        }
    }

    /// Prints a result in the form that was asked for.
    pub fn report(&mut self, session: &Session, format: Format, report: &impl Report) {
        session.conclude();
        self.print(session, &printed(report, session.style, format));
    }

    /// A violation decides, whatever else happened.
    fn code(&self) -> ExitCode {
        match self {
            Self { violated: true, .. } => ExitCode::from(VIOLATED),
            Self { late, failures, .. } if late.is_empty() && failures.is_empty() => ExitCode::SUCCESS,
            _ => ExitCode::from(WRONG_INPUT),
        }
    }
}

/// What a command comes to: an ending, or problems before there was any result.
pub type Outcome = Result<Ending, Diagnostics>;

/// Says what has not been said yet, and with which code the process ends.
pub fn finish(outcome: Outcome, session: &Session, command: &'static str, format: Format) -> ExitCode {
    session.conclude();
    session.progress.end();
    match outcome {
        Ok(ending) => {
            // in JSON the failures stand beside the results
            if format == Format::Text {
                complain(&ending.failures.to_string());
            }
            complain(&ending.late.to_string());
            ending.code()
        }
        Err(problems) => {
            match format {
                Format::Text => complain(&problems.to_string()),
                Format::Json => {
                    let all = Failed::of_batch(command, None, Vec::new(), Batch::failed(&problems));
                    if let Err(problem) = print(session, &json_line(&all)) {
                        complain(&problem.to_string());
                    }
                }
            }
            ExitCode::from(WRONG_INPUT)
        }
    }
}

/// Says as JSON what was wrong before a command began.
pub fn failed_early(command: &'static str, problem: Diagnostic) {
    let problems = Diagnostics::from(problem);
    let all = Failed::of_batch(command, None, Vec::new(), Batch::failed(&problems));
    if let Err(problem) = write_out(&json_line(&all)) {
        complain(&problem.to_string());
    }
}

/// Says that a command was ended before it had any result, and what stays all the same. Gives the exit code.
pub fn no_result(command: &'static str, format: Format, reason: Stopped, kept: Option<String>) -> u8 {
    let problem = Diagnostic::general(command, format!("{} before there was any result", reason.text()));
    let problem = match kept {
        Some(kept) => problem.hint(kept),
        None => problem,
    };
    let problems = Diagnostics::from(problem);
    match format {
        Format::Text => complain(&problems.to_string()),
        Format::Json => {
            let batch = Batch { stopped: Some(reason), ..Batch::failed(&problems) };
            let text = json_line(&Failed::of_batch(command, None, Vec::new(), batch));
            // the process ends: whether anybody reads it changes nothing
            let _ = io::stdout().lock().write_all(text.as_bytes());
        }
    }
    WRONG_INPUT
}

/// A report in this form.
fn printed(report: &impl Report, style: Style, format: Format) -> String {
    match format {
        Format::Text => report.text(style),
        Format::Json => json_line(report),
    }
}

fn json_line(value: &impl Serialize) -> String {
    let json = serde_json::to_string(value).expect("reports are plain data");
    printable_json(&json).into_owned() + "\n"
}

/// Text to stderr. If that is closed there is nobody left to tell.
fn complain(text: &str) {
    let _ = io::stderr().lock().write_all(printable(text).as_bytes());
}

/// Text to stdout. A reader who has seen enough is no problem.
fn print(session: &Session, text: &str) -> Result<(), Diagnostic> {
    session.conclude();
    session.progress.end();
    let text = if session.style.colour { printable_in_colour(text).into() } else { printable(text) };
    write_out(&text)
}

/// Writes a text as it is.
fn write_out(text: &str) -> Result<(), Diagnostic> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Diagnostic::general("stdout", format!("cannot write the result: {error}")))
        }
        _ => Ok(()),
    }
}

/// What there is to say of a command line instead of running it: help, or what is wrong with it.
pub fn usage(error: &clap::Error, colour: bool) -> ExitCode {
    let text = error.render();
    let text = if colour { printable_in_colour(&text.ansi().to_string()) } else { text.to_string() };
    if error.use_stderr() {
        // it keeps the colours that it has
        let _ = io::stderr()
            .lock()
            .write_all(if colour { text.as_str().into() } else { printable(&text) }.as_bytes());
    } else if let Err(problem) = write_out(&text) {
        complain(&problem.to_string());
        return ExitCode::from(WRONG_INPUT);
    }
    ExitCode::from(error.exit_code() as u8)
}

/// Text that nothing follows.
pub fn text(session: &Session, text: &str) -> Outcome {
    let mut ending = Ending::default();
    ending.print(session, text);
    Ok(ending)
}

/// A result that nothing follows.
pub fn report(session: &Session, format: Format, report: &impl Report) -> Outcome {
    let mut ending = Ending::default();
    ending.report(session, format, report);
    Ok(ending)
}
