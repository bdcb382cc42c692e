//! The options of `ablate`.

use super::at_least_one;
use crate::format::Format;
use crate::resources::MAX_INSTRUCTIONS;

#[derive(Debug, clap::Args)]
pub struct Ablate {
    /// Kernels: names, or .warp, launch or program files [default: the embedded suite]
    pub kernels: Vec<String>,
    /// The full machine to start from: an embedded one by name, or a file
    #[arg(long, default_value = "ablation-baseline", value_name = "NAME|FILE")]
    pub machine: String,
    /// Policy of all variants [default: the machine's]
    #[arg(long, value_name = "NAME")]
    pub policy: Option<String>,
    /// Change a setting of the full machine, e.g. limits.blocks=1 (repeatable)
    #[arg(long, value_name = "PATH=VALUE")]
    pub set: Vec<String>,
    /// Seed of random buffer contents
    #[arg(long, default_value_t = 0, value_name = "N")]
    pub seed: u64,
    /// Threads; the result does not depend on it [default: all cores]
    #[arg(long, value_name = "N", value_parser = at_least_one())]
    pub jobs: Option<usize>,
    /// Form of the output
    #[arg(long, value_enum, default_value_t = TableFormat::Text)]
    pub format: TableFormat,
    /// Most warp instructions that one block may execute
    ///
    /// The path of a block takes 4 to 16 bytes per instruction.
    #[arg(long, default_value_t = MAX_INSTRUCTIONS, value_name = "N")]
    pub max_instructions: u64,
}

/// The form of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum TableFormat {
    /// Text for people.
    Text,
    /// JSON for scripts: one object and nothing else on stdout.
    Json,
    /// Comma-separated values, after a line with the names of the columns.
    Csv,
}

impl TableFormat {
    /// Returns the format of reports and error messages: text if the table is in CSV.
    pub fn of_reports(self) -> Format {
        match self {
            Self::Text | Self::Csv => Format::Text,
            Self::Json => Format::Json,
        }
    }
}
