//! The options of `sweep`.

use std::path::PathBuf;

use super::at_least_one;
use crate::format::Format;
use warpbound_judge::sweep::Shard;

#[derive(Debug, clap::Args)]
pub struct Sweep {
    /// The plan: a .ron file, an embedded one (table3, table3-calls, table4), or `-`
    ///
    /// It lists kernels (the whole suite, names, files, and launch options that vary), machines,
    /// settings of machines with their values, policies and seeds; every combination is a point.
    /// File names are relative to the plan; `-` is stdin. docs/sweeps.md shows an example.
    pub plan: String,
    /// Folder for the results: manifest.json, results.jsonl, results.csv
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    /// Draw a plot of the results into FILE, such as 'cycles ~ mem_latency | policy=plot.svg'
    ///
    /// `report --help` explains the formula; the name of the file ends in .svg or .pdf (repeatable).
    #[arg(long, value_name = "FORMULA=FILE")]
    pub plot: Vec<String>,
    /// Continue with the results that are in the folder; start if there are none
    #[arg(long)]
    pub resume: bool,
    /// Simulate part I of N, in a folder of its own, for `merge`
    #[arg(long, value_name = "I/N")]
    pub shard: Option<Shard>,
    /// Threads; the results do not depend on it [default: all cores]
    #[arg(long, value_name = "N", value_parser = at_least_one())]
    pub jobs: Option<usize>,
    /// Form of the output
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
}
