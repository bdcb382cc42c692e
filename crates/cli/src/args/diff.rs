//! The arguments of `diff`.

use clap::Parser;

use super::Run;
use crate::format::Format;

#[derive(Debug, clap::Args)]
pub struct Diff {
    /// First run: a JSON file of `run --explain`, or quoted arguments of `run`
    ///
    /// For example "saxpy --policy lrr". The file is what `run --explain --format json` prints.
    pub a: String,
    /// Second run, in the same form
    pub b: String,
    /// Form of the output
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
}

/// The parsed arguments of a run that is given in quotes.
#[derive(Debug, Parser)]
#[command(name = "run", no_binary_name = true, disable_help_flag = true, disable_version_flag = true)]
pub struct QuotedRun {
    #[command(flatten)]
    pub run: Run,
}
