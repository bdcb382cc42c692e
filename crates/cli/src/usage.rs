//! Help, versions, and the errors of invalid command lines.

use std::ffi::OsString;
use std::process::ExitCode;

use clap::CommandFactory;
use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};

use super::args::{Args, one_command};
use super::{output, terminal};
use warpbound_core::diag::Diagnostic;

/// The exit code for an invalid command line.
const USAGE: u8 = 2;

/// Prints help, or the error of this command line; as JSON if the command line asks for JSON.
pub fn finish(mut error: clap::Error, words: &[OsString]) -> ExitCode {
    suggest(&mut error, words);
    let error = &error;
    if !error.use_stderr() || !asks_for_json(words) {
        let colour = terminal::help_colour(words.iter().cloned());
        return output::usage(error, terminal::shows_colour(colour, error.use_stderr()));
    }
    output::failed_early(command(words).unwrap_or(""), problem(error));
    ExitCode::from(USAGE)
}

/// Returns the command of a command line, even if the command line is invalid.
fn command(words: &[OsString]) -> Option<&'static str> {
    words.iter().skip(1).filter_map(|word| word.to_str()).find_map(one_command::command_name)
}

/// Replaces the suggestion that an unknown option may be meant as a value, which it hardly ever is,
/// by the commands that have this option.
fn suggest(error: &mut clap::Error, words: &[OsString]) {
    let Some(ContextValue::String(unknown)) = error.get(ContextKind::InvalidArg) else { return };
    if error.kind() != ErrorKind::UnknownArgument {
        return;
    }
    let used = command(words);
    let Some(long) = unknown.strip_prefix("--") else {
        if let Some(used @ ("why" | "diff")) = used {
            let tip =
                format!("a run is one argument, in quotes: warpbound {used} 'saxpy --policy lrr' saxpy");
            error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
        }
        return;
    };
    let long = long.split('=').next().unwrap_or(long).to_owned();
    error.remove(ContextKind::Suggested);
    let all = Args::command();
    let owners = all.get_subcommands().filter(|command| {
        command.get_arguments().any(|option| option.get_long() == Some(&long))
            && used != Some(command.get_name())
    });
    let owners: Vec<String> = owners.map(|command| format!("`{}`", command.get_name())).collect();
    if let (Some(used), false) = (used, owners.is_empty()) {
        let owners = owners.join(", ");
        let tip =
            StyledStr::from(format!("`{used}` has no such option; `--{long}` is an option of {owners}"));
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip]));
    }
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
