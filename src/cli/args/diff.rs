//! What `diff` takes.

use clap::Parser;

use super::Run;
use crate::cli::format::Format;

#[derive(Debug, clap::Args)]
pub struct Diff {
    /// A .json file of `run --explain --format json`, or in quotes what would be given to `run`: "saxpy --scheduler lrr"
    pub a: String,
    /// The other run, in the same way
    pub b: String,
    /// Output
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
}

/// The words of a run in quotes.
#[derive(Debug, Parser)]
#[command(name = "run", no_binary_name = true, disable_help_flag = true, disable_version_flag = true)]
pub struct QuotedRun {
    #[command(flatten)]
    pub run: Run,
}
