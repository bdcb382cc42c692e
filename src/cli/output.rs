//! Where results and problems go.

use std::io::{self, IsTerminal, Write};
use std::path::Path;

use serde::Serialize;

use crate::diag::{Diagnostic, Diagnostics};
use crate::report::style::Style;

/// Form of the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// For people.
    Text,
    /// For scripts: one object on stdout and nothing else there.
    Json,
}

/// Why a command did not end with a result.
#[derive(Debug)]
pub enum Failure {
    /// The input is wrong.
    Input(Diagnostics),
    /// Nobody reads the output any more.
    ClosedPipe,
}

impl From<Diagnostics> for Failure {
    fn from(problems: Diagnostics) -> Self {
        Self::Input(problems)
    }
}

impl From<Diagnostic> for Failure {
    fn from(problem: Diagnostic) -> Self {
        Self::Input(problem.into())
    }
}

#[derive(Serialize)]
struct Problems<'a> {
    schema: u32,
    errors: Vec<Problem<'a>>,
    #[serde(skip_serializing_if = "is_zero")]
    more_errors: usize,
}

#[derive(Serialize)]
struct Problem<'a> {
    file: &'a str,
    line: u32,
    column: u32,
    message: &'a str,
    hint: &'a str,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
fn is_zero(n: &usize) -> bool {
    *n == 0
}

/// Problems: text on stderr, JSON on stdout.
pub fn report_problems(problems: &Diagnostics, format: Format) {
    match format {
        Format::Text => eprint!("{problems}"),
        Format::Json => {
            let errors = problems.list().iter().map(|d| Problem {
                file: &d.file,
                line: d.line,
                column: d.column,
                message: &d.message,
                hint: &d.hint,
            });
            let all = Problems { schema: 1, errors: errors.collect(), more_errors: problems.dropped() };
            // a closed stdout leaves nobody to tell
            let _ = print_json(&all);
        }
    }
}

/// Colour if a person is reading.
pub fn style() -> Style {
    Style { colour: io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none() }
}

/// Text to stdout.
pub fn print(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(|error| match error.kind() {
        io::ErrorKind::BrokenPipe => Failure::ClosedPipe,
        _ => Diagnostic::general("stdout", format!("cannot write: {error}")).into(),
    })
}

/// One JSON object to stdout.
pub fn print_json(value: &impl Serialize) -> Result<(), Failure> {
    let text = serde_json::to_string(value).expect("reports are plain data");
    print(&(text + "\n"))
}

/// Writes a whole file, or nothing: the bytes go to a neighbour first and are moved into place.
/// What is there and no plain file (a device, a pipe) is written to directly.
pub fn write_file(path: &Path, bytes: &[u8]) -> Result<(), Diagnostics> {
    if std::fs::metadata(path).is_ok_and(|there| !there.is_file()) {
        return std::fs::write(path, bytes).map_err(|error| {
            Diagnostic::general(path.display().to_string(), format!("cannot write the file: {error}")).into()
        });
    }
    let mut name = path.file_name().map(std::ffi::OsStr::to_os_string).unwrap_or_default();
    name.push(".part");
    let part = path.with_file_name(name);
    let written = std::fs::write(&part, bytes).and_then(|()| std::fs::rename(&part, path));
    written.map_err(|error| {
        // best effort: the part file is ours
        let _ = std::fs::remove_file(&part);
        Diagnostic::general(path.display().to_string(), format!("cannot write the file: {error}")).into()
    })
}
