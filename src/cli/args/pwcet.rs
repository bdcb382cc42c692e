//! Probabilistic execution times.

use std::path::PathBuf;

use super::{Common, LoopBounds, PtxLaunch, Writing};
use crate::pwcet::Options;
use crate::sweep::{Shard, Source};

#[derive(Debug, clap::Args)]
pub struct Pwcet {
    /// Measured times: a .csv, .tsv, .txt, .jsonl or .json file, a folder of results, or `-` for stdin; or what to simulate, a
    /// kernel as `check` takes it
    #[arg(value_name = "FILE|KERNEL")]
    pub what: String,
    /// The column: its name, or its number from 1. Of a folder of results the makespan
    #[arg(long, value_name = "NAME", conflicts_with = "runs")]
    pub column: Option<String>,
    /// The unit of the measured times, for titles
    #[arg(long, value_name = "WORD", default_value = "cycles")]
    pub unit: String,
    /// Simulate so many runs; the first has the number --seed, which is the seed of all that is drawn for it
    /// [default: 10000]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub runs: Option<u64>,
    /// What is drawn anew for each run: inputs, replacement (of cache lines), jitter (of memory latencies), placement (of blocks on
    /// SMs); what else the machine does at random it does not do then [default: random inputs and what the machine does at
    /// random]
    #[arg(long, value_name = "SOURCES", value_delimiter = ',')]
    pub vary: Vec<Source>,
    /// Keep every run in a folder of results, as a sweep does
    #[arg(long, value_name = "DIR", conflicts_with = "column")]
    pub out: Option<PathBuf>,
    /// Go on with a campaign that is in --out already
    #[arg(long, requires = "out")]
    pub resume: bool,
    /// Simulate one part of several into --out, and analyse nothing; `merge` puts them together
    #[arg(long, value_name = "I/N", requires = "out")]
    pub shard: Option<Shard>,
    /// Threads; the results do not depend on it [default: all cores]
    #[arg(long, value_name = "N")]
    pub jobs: Option<usize>,
    /// The threshold, in place of an automatic one
    #[arg(long, value_name = "TIME", conflicts_with = "exceedances")]
    pub threshold: Option<f64>,
    /// Have so many runs above the threshold
    #[arg(long, value_name = "N")]
    pub exceedances: Option<usize>,
    /// A test rejects below this p-value
    #[arg(long, value_name = "P", default_value_t = 0.01)]
    pub significance: f64,
    /// Confidence intervals hold the true value with this probability
    #[arg(long, value_name = "P", default_value_t = 0.95)]
    pub level: f64,
    /// Replicates of each bootstrap; 0 for none
    #[arg(long, value_name = "N", default_value_t = 1000)]
    pub bootstraps: usize,
    /// Probabilities of a run whose times are wanted [default: 1e-3 to 1e-15]
    #[arg(long, value_name = "P", value_delimiter = ',')]
    pub probability: Vec<f64>,
    /// Does it hold? Simulate so many further runs, more than --runs, and put their longest time, the bounds on their paths, the bound
    /// over all paths and the worst schedule of a small block beside the curve
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub judge: Option<u64>,
    /// With --judge: states to visit at most to know the worst schedule of a block exactly, 50 to 150 bytes each
    #[arg(long, default_value_t = 200_000, value_name = "N")]
    pub max_states: u64,
    #[command(flatten)]
    pub bounds: LoopBounds,
    /// Write a page with tables and plots, for any browser
    #[arg(long, value_name = "FILE")]
    pub page: Option<PathBuf>,
    /// Each plot as an SVG file of its own, into DIR
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
    /// So many runs of a kernel, for which these are drawn anew, and nothing else said.
    pub fn of(kernel: &str, runs: u64, vary: &[Source], common: Common) -> Self {
        let Options { significance, level, bootstraps, .. } = Options::default();
        Self {
            what: kernel.to_owned(),
            column: None,
            unit: "cycles".to_owned(),
            runs: Some(runs),
            vary: vary.to_vec(),
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
            page: None,
            svg: None,
            writing: Writing { force: false },
            common,
            ptx: PtxLaunch::default(),
        }
    }
}
