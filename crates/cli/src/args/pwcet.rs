//! The options of `pwcet`.

use std::path::PathBuf;

use super::run::page;
use super::{Common, LoopBounds, PtxLaunch, Writing, at_least_one};
use warpbound_judge::sweep::{Shard, Source};
use warpbound_pwcet::Options;

#[derive(Debug, clap::Args)]
pub struct Pwcet {
    /// Measured times, or a kernel to simulate, as `check` accepts it
    ///
    /// Measured times are a .csv, .tsv, .txt, .jsonl or .json file, a folder of results, or `-` for
    /// stdin.
    #[arg(value_name = "FILE|KERNEL")]
    pub what: String,
    /// Column of the times: its name, or its number from 1
    ///
    /// In a folder of results, the default is the makespan.
    #[arg(long, value_name = "NAME", conflicts_with = "runs")]
    pub column: Option<String>,
    /// Unit of the measured times, for titles
    ///
    /// Times that are simulated are in cycles [default: cycles]
    #[arg(long, value_name = "WORD")]
    pub unit: Option<String>,
    /// Runs to simulate [default: 10000]
    ///
    /// The number of the first run is --seed; the number of a run is the seed of all its random
    /// choices.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub runs: Option<u64>,
    /// What varies at random from run to run, separated by commas
    ///
    /// `inputs` are buffer contents, `replacement` is that of cache lines, `jitter` is that of
    /// memory latencies, `placement` is that of blocks on SMs. Random behaviour of the machine that
    /// is not listed is switched off [default: random inputs and all random behaviour of the
    /// machine]
    #[arg(long, alias = "vary", value_name = "SOURCES", value_delimiter = ',')]
    pub random: Vec<Source>,
    /// Keep every run in a folder of results, as a sweep does
    #[arg(long, value_name = "DIR", conflicts_with = "column")]
    pub out: Option<PathBuf>,
    /// Continue the campaign in --out
    #[arg(long, requires = "out")]
    pub resume: bool,
    /// Simulate part I of N into --out, for `merge`, without an analysis
    #[arg(long, value_name = "I/N", requires = "out")]
    pub shard: Option<Shard>,
    /// Threads; the results do not depend on it [default: all cores]
    #[arg(long, value_name = "N", value_parser = at_least_one())]
    pub jobs: Option<usize>,
    /// Threshold of the tail, in the unit of the times [default: chosen automatically]
    #[arg(long, value_name = "TIME", conflicts_with = "exceedances")]
    pub threshold: Option<f64>,
    /// Choose the threshold so that N runs exceed it
    #[arg(long, value_name = "N")]
    pub exceedances: Option<usize>,
    /// p-value below which a test rejects
    #[arg(long, value_name = "P", default_value_t = 0.01)]
    pub significance: f64,
    /// Probability with which confidence intervals contain the true value
    #[arg(long, value_name = "P", default_value_t = 0.95)]
    pub level: f64,
    /// Replicates of each bootstrap; 0 for no bootstrap
    #[arg(long, value_name = "N", default_value_t = 1000)]
    pub bootstraps: usize,
    /// Exceedance probabilities per run to report [default: 1e-3 to 1e-15]
    #[arg(long, value_name = "P", value_delimiter = ',')]
    pub probability: Vec<f64>,
    /// Judge the curve by N further runs, in addition to --runs
    ///
    /// The result compares the curve with the longest of these runs, the bounds on their paths and
    /// the bound over all paths. For a small block, it also shows the worst schedule.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub judge: Option<u64>,
    /// With --judge: most states to visit in the exact search for the worst schedule
    ///
    /// A state takes 50 to 150 bytes.
    #[arg(long, default_value_t = 200_000, value_name = "N")]
    pub max_states: u64,
    #[command(flatten)]
    pub bounds: LoopBounds,
    /// Write a page with tables and plots to FILE, for any browser
    #[arg(long, alias = "page", value_name = "FILE", value_parser = page)]
    pub html: Option<PathBuf>,
    /// Write each plot as an SVG file into DIR
    #[arg(long, value_name = "DIR")]
    pub svg: Option<PathBuf>,
    #[command(flatten)]
    pub writing: Writing,
    #[command(flatten)]
    pub common: Common,
    #[command(flatten)]
    pub ptx: PtxLaunch,
}

impl Pwcet {
    /// Returns the options for simulating `runs` runs of a kernel in which `random` varies; the
    /// other options have their defaults.
    pub fn of(kernel: &str, runs: u64, random: &[Source], common: Common) -> Self {
        let Options { significance, level, bootstraps, .. } = Options::default();
        Self {
            what: kernel.to_owned(),
            column: None,
            unit: None,
            runs: Some(runs),
            random: random.to_vec(),
            out: None,
            resume: false,
            shard: None,
            jobs: None,
            threshold: None,
            exceedances: None,
            significance,
            level,
            bootstraps,
            probability: Vec::new(),
            judge: None,
            max_states: 0,
            bounds: LoopBounds { loop_bound: Vec::new(), annotations: None },
            html: None,
            svg: None,
            writing: Writing { force: false },
            common,
            ptx: PtxLaunch::default(),
        }
    }
}
