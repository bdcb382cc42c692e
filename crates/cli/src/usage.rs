//! Help, versions, and the errors of invalid command lines.

use std::error::Error as _;
use std::ffi::OsString;

use clap::CommandFactory;
use clap::error::{ContextKind, ContextValue, ErrorKind};

use super::args::{Args, one_command};
use super::printer::Printer;
use super::{output, terminal};
use warpbound_core::diag::{Diagnostic, closest};
use warpbound_judge::load::EmbeddedFolder;

/// The exit code for an invalid command line.
const USAGE: u8 = 2;

/// Prints help, or the error of this command line; as JSON if the command line asks for JSON.
pub fn finish(mut error: clap::Error, words: &[OsString], printer: &Printer) -> u8 {
    suggest(&mut error, words);
    let error = &error;
    if !error.use_stderr() || !asks_for_json(words) {
        let wanted = match printer {
            Printer::Process => terminal::help_colour(words.iter().cloned()),
            Printer::Memory(_) => clap::ColorChoice::Never,
        };
        return output::usage(printer, error, terminal::shows_colour(wanted, error.use_stderr()));
    }
    output::failed_early(printer, command(words).unwrap_or(""), problem(error));
    USAGE
}

/// Returns the command of a command line, even if the command line is invalid.
fn command(words: &[OsString]) -> Option<&'static str> {
    words.iter().skip(1).filter_map(|word| word.to_str()).find_map(one_command::command_name)
}

/// Replaces suggestions that mislead by one that says what is meant, if that can be told.
fn suggest(error: &mut clap::Error, words: &[OsString]) {
    let tip = match error.kind() {
        ErrorKind::ValueValidation => of_number(error),
        ErrorKind::InvalidSubcommand => of_kernel(error),
        ErrorKind::UnknownArgument => of_argument(error, words),
        _ => None,
    };
    if let Some(tip) = tip {
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
    }
}

/// Says what is expected where a number is not one; the parser's own words are those of a programmer.
fn of_number(error: &clap::Error) -> Option<String> {
    let cause = error.source()?.to_string();
    let expected = match cause.as_str() {
        "invalid digit found in string" | "cannot parse integer from empty string" => {
            "an integer of at least 0, such as 400"
        }
        "invalid float literal" => "a number, such as 0.5",
        _ if cause.starts_with("number too large") => "a smaller number",
        _ => return None,
    };
    Some(format!("expected {expected}"))
}

/// Says that the name in the place of a command is a kernel, if it is one.
fn of_kernel(error: &mut clap::Error) -> Option<String> {
    let Some(ContextValue::String(name)) = error.get(ContextKind::InvalidSubcommand) else { return None };
    EmbeddedFolder::Kernels.find(name)?;
    let tip = format!("`{name}` is a kernel: `warpbound run {name}` simulates it");
    error.remove(ContextKind::SuggestedSubcommand);
    Some(tip)
}

/// Says what an unknown argument may be meant as: a negative number, a part of a run that needs
/// quotes, an option in the wrong place, or an option of other commands. It is hardly meant as a value
/// after `--`, which the parser suggests.
fn of_argument(error: &mut clap::Error, words: &[OsString]) -> Option<String> {
    let Some(ContextValue::String(unknown)) = error.get(ContextKind::InvalidArg).cloned() else {
        return None;
    };
    error.remove(ContextKind::Suggested);
    let used = command(words);
    if unknown.starts_with('-') && unknown[1..].starts_with(|c: char| c.is_ascii_digit()) {
        let before = words.windows(2).find(|pair| pair[1].to_str() == Some(&unknown));
        let option = before.and_then(|pair| pair[0].to_str()).filter(|word| word.starts_with("--"));
        return Some(match option {
            Some(option) => format!("{option} takes no negative number"),
            None => "no number is negative here".to_owned(),
        });
    }
    let Some(long) = unknown.strip_prefix("--") else {
        let used = used.filter(|used| ["why", "diff"].contains(used))?;
        return Some(format!(
            "a run is one argument, in quotes: warpbound {used} 'saxpy --policy lrr' saxpy"
        ));
    };
    let long = long.split('=').next().unwrap_or(long);
    let place =
        |wanted: &dyn Fn(&str) -> bool| words.iter().position(|word| word.to_str().is_some_and(wanted));
    if let (Some(option), Some(name)) = (place(&|word| word.starts_with("--")), used)
        && place(&|word| word == name).is_some_and(|command| option < command)
    {
        return Some(format!("options of a command follow its name: warpbound {name} .. --{long}"));
    }
    // a name that resembles another one by chance misleads, above all `--force`
    if let Some(ContextValue::String(similar)) = error.get(ContextKind::SuggestedArg)
        && !resembles(long, similar.trim_start_matches('-'))
    {
        error.remove(ContextKind::SuggestedArg);
        error.remove(ContextKind::Usage);
    }
    let used = used?;
    let all = Args::command();
    let owners = all.get_subcommands().filter(|command| {
        command.get_name() != used && command.get_arguments().any(|option| option.get_long() == Some(long))
    });
    let owners: Vec<String> = owners.map(|command| format!("`{}`", command.get_name())).collect();
    let tip = || format!("`{used}` has no such option; `--{long}` is an option of {}", owners.join(", "));
    (!owners.is_empty()).then(tip)
}

/// Returns whether an option may be a misspelling of another one: one begins with the other, or they
/// differ in a letter or two.
fn resembles(word: &str, other: &str) -> bool {
    word.starts_with(other) || other.starts_with(word) || closest(word, std::iter::once(other)).is_some()
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
