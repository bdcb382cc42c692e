//! The properties of the user's terminal.

use std::env;
use std::ffi::OsString;
use std::io::{self, IsTerminal};

use warpbound_report::style::Style;

/// The values of `--color`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Colour {
    /// If stdout is a terminal, NO_COLOR is not set and TERM is not dumb.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// Returns the value of `--color` for what is printed before options are parsed: help and errors of
/// usage.
pub fn help_colour(args: impl Iterator<Item = OsString>) -> clap::ColorChoice {
    let words: Vec<String> = args.map(|word| word.to_string_lossy().into_owned()).collect();
    let joined = words.iter().find_map(|word| word.strip_prefix("--color="));
    let next = words.windows(2).find(|pair| pair[0] == "--color").map(|pair| pair[1].as_str());
    match joined.or(next) {
        Some("always") => clap::ColorChoice::Always,
        Some("never") => clap::ColorChoice::Never,
        _ => clap::ColorChoice::Auto,
    }
}

/// Returns whether help (on stdout) or an error of usage (on stderr) is coloured.
pub fn shows_colour(wanted: clap::ColorChoice, on_stderr: bool) -> bool {
    let terminal = if on_stderr { io::stderr().is_terminal() } else { io::stdout().is_terminal() };
    match wanted {
        clap::ColorChoice::Always => true,
        clap::ColorChoice::Never => false,
        clap::ColorChoice::Auto => terminal && allows_colour(),
    }
}

/// Returns the style of text on stdout.
pub fn style(colour: Colour) -> Style {
    let terminal = io::stdout().is_terminal();
    let wanted = terminal && allows_colour();
    let colour = match colour {
        Colour::Auto => wanted,
        Colour::Always => true,
        Colour::Never => false,
    };
    Style { colour, width: columns().or_else(|| terminal.then(width).flatten()) }
}

/// Returns whether a line that is rewritten on stderr would be displayed properly.
pub fn shows_progress() -> bool {
    io::stderr().is_terminal() && !is_dumb()
}

fn allows_colour() -> bool {
    !is_dumb() && env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

fn is_dumb() -> bool {
    env::var_os("TERM").is_some_and(|term| term == "dumb")
}

/// Returns the value of COLUMNS, which applies even if stdout is no terminal, because the user set
/// it.
fn columns() -> Option<usize> {
    env::var("COLUMNS").ok()?.trim().parse().ok().filter(|columns| *columns > 0)
}

fn width() -> Option<usize> {
    terminal_size::terminal_size_of(io::stdout()).map(|(width, _)| usize::from(width.0)).filter(|w| *w > 0)
}
