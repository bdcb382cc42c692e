//! Help, versions, and the errors of invalid command lines.

use std::ffi::OsString;
use std::process::ExitCode;

use clap::error::ErrorKind;

use super::args::one_command;
use super::{output, terminal};
use warpbound_core::diag::Diagnostic;

/// The exit code for an invalid command line.
const USAGE: u8 = 2;

/// Prints help, or the error of this command line; as JSON if the command line asks for JSON.
pub fn finish(error: &clap::Error, words: &[OsString]) -> ExitCode {
    if !error.use_stderr() || !asks_for_json(words) {
        let colour = terminal::help_colour(words.iter().cloned());
        return output::usage(error, terminal::shows_colour(colour, error.use_stderr()));
    }
    let command = words.iter().skip(1).filter_map(|word| word.to_str()).find_map(one_command::command_name);
    output::failed_early(command.unwrap_or(""), problem(error));
    ExitCode::from(USAGE)
}

/// Returns whether an option asks for JSON, even if the command line is invalid.
fn asks_for_json(words: &[OsString]) -> bool {
    let words: Vec<&str> = words.iter().filter_map(|word| word.to_str()).collect();
    words.contains(&"--format=json") || words.windows(2).any(|pair| pair == ["--format", "json"])
}

/// Returns the error with a hint. Its text begins with the message; suggestions and usage follow
/// it.
fn problem(error: &clap::Error) -> Diagnostic {
    let text = error.render().to_string();
    let mut paragraphs = text.split("\n\n").map(|part| {
        let words: Vec<&str> = part.split_whitespace().collect();
        words.join(" ")
    });
    let first = paragraphs.next().unwrap_or_default();
    let message = first.strip_prefix("error: ").unwrap_or(&first).to_owned();
    let hints = paragraphs.filter(|part| !part.is_empty() && !part.starts_with("For more information"));
    let mut hint = hints.collect::<Vec<_>>().join("; ");
    if error.kind() == ErrorKind::MissingSubcommand || hint.is_empty() {
        "--help lists commands and options".clone_into(&mut hint);
    }
    Diagnostic::general("command line", message).hint(hint)
}
