//! Options of experiments: plans, and what they wrote.

use std::path::PathBuf;

use super::Writing;
use crate::cli::format::Format;
use crate::sweep::Shard;

#[derive(Debug, clap::Args)]
pub struct Sweep {
    /// The plan: a .ron file, an embedded one (table3, table4), or `-` for stdin
    ///
    /// It lists kernels (all of the suite, names, files, and launch options that vary), machines, settings of machines
    /// with their values, policies and seeds; every combination is a point. Files are relative to the plan. The README's
    /// section on sweeps shows one.
    pub plan: String,
    /// Folder of the results: manifest.json, results.jsonl, results.csv
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    /// Go on with results that are there already; without any, begin
    #[arg(long)]
    pub resume: bool,
    /// Do one part of several, in a folder of its own; `merge` puts them together
    #[arg(long, value_name = "I/N")]
    pub shard: Option<Shard>,
    /// Threads; the results do not depend on it [default: all cores]
    #[arg(long, value_name = "N")]
    pub jobs: Option<usize>,
    /// Output
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
}

#[derive(Debug, clap::Args)]
pub struct Merge {
    /// Folders that `sweep` or `merge` wrote, of one plan
    #[arg(required = true, value_name = "DIR")]
    pub folders: Vec<PathBuf>,
    /// Folder of the merged results; what it has of the plan already is kept
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    /// Output
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
}

#[derive(Debug, clap::Args)]
#[command(group = clap::ArgGroup::new("written").required(true).multiple(true))]
pub struct Report {
    /// Folders that `sweep` or `merge` wrote, results.jsonl files, or files with what `check --format json` printed
    #[arg(required = true, value_name = "RESULTS")]
    pub results: Vec<PathBuf>,
    /// A page with summary, plots and tables, for any browser; it needs no other file and no network
    #[arg(long, value_name = "FILE", group = "written")]
    pub out: Option<PathBuf>,
    /// Each plot as an SVG file of its own, into DIR
    #[arg(long, value_name = "DIR", group = "written")]
    pub svg: Option<PathBuf>,
    #[command(flatten)]
    pub writing: Writing,
}

#[derive(Debug, clap::Args)]
pub struct Reproduce {
    /// The table
    #[arg(value_enum)]
    pub what: What,
    /// Threads; the results do not depend on it [default: all cores]
    #[arg(long, value_name = "N")]
    pub jobs: Option<usize>,
    /// Output
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
}

/// What is reproduced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum What {
    /// What each simplification of the model costs, over a suite (Jeanmougin et al., ECRTS 2025)
    Table2,
    /// Overestimation over a suite, seven latencies (the same)
    Table3,
    /// Overestimation of two matrix products, 4 to 32 warps (the same)
    Table4,
}
