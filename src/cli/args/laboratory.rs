//! Options of the laboratory: what searches, sweeps and compares.

use std::path::PathBuf;

use super::{Common, OneKernel, PtxLaunch, Several, Writing};
use crate::cli::format::Format;
use crate::cli::resources::MAX_INSTRUCTIONS;

#[derive(Debug, clap::Args)]
pub struct Explore {
    /// The block to explore
    #[arg(long, default_value_t = 0, value_name = "N")]
    pub of_block: u32,
    /// States to visit at most; each takes 50 to 150 bytes. Where they take more than 1 GiB, or than
    /// --max-memory says, the search ends sooner, and says so
    #[arg(long, default_value_t = 20_000_000, value_name = "N")]
    pub max_states: u64,
    /// Threads; the result does not depend on it [default: all cores]
    #[arg(long, value_name = "N")]
    pub jobs: Option<usize>,
    /// Instead of all schedules: one policy, every latency of a unit in an interval, e.g. gmem=4..=21
    #[arg(long, value_name = "UNIT=FROM..=TO")]
    pub vary: Vec<String>,
    /// Write a worst schedule, to be replayed with --scheduler replay:FILE
    #[arg(long, value_name = "FILE", conflicts_with = "vary")]
    pub worst_schedule: Option<PathBuf>,
    /// Write a best schedule
    #[arg(long, value_name = "FILE", conflicts_with = "vary")]
    pub best_schedule: Option<PathBuf>,
    #[command(flatten)]
    pub writing: Writing,
    #[command(flatten)]
    pub on: OneKernel,
}

#[derive(Debug, clap::Args)]
pub struct Compare {
    /// Embedded kernels, .warp, launch or program .ron files; none: the embedded suite
    pub kernels: Vec<String>,
    #[command(flatten)]
    pub several: Several,
    #[command(flatten)]
    pub common: Common,
    #[command(flatten)]
    pub ptx: PtxLaunch,
    /// States to visit at most per block, 50 to 150 bytes each
    #[arg(long, default_value_t = 50_000, value_name = "N")]
    pub max_states: u64,
}

#[derive(Debug, clap::Args)]
pub struct Worst {
    /// Embedded kernels, .warp or launch .ron files, or one .ptx with --entry --grid --block --arg; none: the embedded suite
    pub kernels: Vec<String>,
    /// Schedules to evaluate for a block, at most
    #[arg(long, default_value_t = 5000, value_name = "N")]
    pub budget: u64,
    /// Seed of the search; --seed is that of random buffer contents
    #[arg(long, default_value_t = 1, value_name = "N")]
    pub search_seed: u64,
    /// States to visit at most to know the worst case of a block exactly, 50 to 150 bytes each
    #[arg(long, default_value_t = 300_000, value_name = "N")]
    pub max_states: u64,
    /// Threads; the result does not depend on it [default: all cores]
    #[arg(long, value_name = "N")]
    pub jobs: Option<usize>,
    /// Write the worst schedules into DIR as KERNEL.replay, for --scheduler replay:FILE
    #[arg(long, value_name = "DIR")]
    pub schedule: Option<PathBuf>,
    #[command(flatten)]
    pub writing: Writing,
    #[command(flatten)]
    pub common: Common,
    #[command(flatten)]
    pub ptx: PtxLaunch,
}

#[derive(Debug, clap::Args)]
pub struct Hunt {
    /// The bound to break
    #[arg(long, value_name = "NAME")]
    pub bound: String,
    /// Seed of everything random
    #[arg(long, default_value_t = 1, value_name = "N")]
    pub seed: u64,
    /// Schedules: any, identical (any, all warps run the same code), policy:NAME [default: any; for gub any, identical and policy:lrr]
    #[arg(long, value_name = "WHICH")]
    pub setting: Vec<String>,
    /// Instances to judge at most, per setting [default: 1000000; for gub 20000000, for rbb 20000]
    #[arg(long, value_name = "N")]
    pub instances: Option<u64>,
    /// Warps of an instance; for rbb of each of its blocks
    #[arg(long, default_value_t = 2, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=8))]
    pub warps: u16,
    /// For rbb: blocks of a launch [default: 3]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=16))]
    pub blocks: Option<u16>,
    /// For rbb: blocks that the SM holds at a time [default: 2]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=8))]
    pub resident: Option<u16>,
    /// For rbb: sub-cores of the SM [default: 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=4))]
    pub sub_cores: Option<u16>,
    /// Instructions of a warp at most [default: 6; for gub 14, 12 if identical, 32 under a policy; for rbb 4]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=200))]
    pub instructions: Option<u16>,
    /// Functional units at most
    #[arg(long, default_value_t = 4, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=16))]
    pub units: u16,
    /// Threads; the result does not depend on it [default: all cores]
    #[arg(long, value_name = "N")]
    pub jobs: Option<usize>,
    /// Write a replayable folder for each violation into DIR
    #[arg(long, value_name = "DIR")]
    pub counterexamples: Option<PathBuf>,
    #[command(flatten)]
    pub writing: Writing,
    /// Output
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
}

#[derive(Debug, clap::Args)]
pub struct Anomaly {
    /// As for check; without KERNEL the embedded suite
    pub kernels: Vec<String>,
    /// Policies; repeat or separate with commas [default: all; with --phases lrr and gto]
    #[arg(long, value_delimiter = ',', value_name = "NAME")]
    pub scheduler: Vec<String>,
    /// Sweep the latency of a unit down from the machine's value to 0, cycle by cycle
    #[arg(long, value_name = "NAME", conflicts_with = "sweep")]
    pub unit: Option<String>,
    /// Sweep a machine setting, or mem-latency [default: mem-latency=5..=400:5]
    #[arg(long, value_name = "PATH=FROM..=TO[:STEP]")]
    pub sweep: Option<String>,
    /// Search whole phases for an anomaly as in figure 4 of Jeanmougin et al., ECRTS 2025, and draw it
    #[arg(long, conflicts_with_all = ["kernels", "unit", "sweep"])]
    pub phases: bool,
    /// Draw the schedule of these phases: exec and idle lengths in turn, warps apart by `/`
    #[arg(long, value_name = "E,I,../E,I,..", conflicts_with_all = ["kernels", "unit", "sweep", "phases"])]
    pub lengths: Option<String>,
    /// With --phases: warps
    #[arg(long, default_value_t = 3, value_name = "N")]
    pub warps: usize,
    /// With --phases: exec phases per warp
    #[arg(long, default_value_t = 2, value_name = "N")]
    pub pairs: usize,
    /// With --phases: phases that get shorter, all of them needed
    #[arg(long, default_value_t = 2, value_name = "N")]
    pub shortened: usize,
    /// With --phases: schedules to try at most
    #[arg(long, default_value_t = 20_000_000, value_name = "N")]
    pub max_schedules: u64,
    /// Seed of random buffer contents; with --phases draw instances from it instead of trying all in order
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Machine: an embedded one by name, or a file [default: the .warp file's, else ecrts25-orin]
    #[arg(long, value_name = "NAME|FILE")]
    pub machine: Option<String>,
    /// Total cycles of a global load, while something else is swept
    #[arg(long, value_name = "L")]
    pub mem_latency: Option<u64>,
    /// Change a machine setting, e.g. hazards=Raw,Waw
    #[arg(long, value_name = "PATH=VALUE")]
    pub set: Vec<String>,
    /// Threads; the result does not depend on it [default: all cores]
    #[arg(long, value_name = "N")]
    pub jobs: Option<usize>,
    /// Output
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
    /// Most warp instructions one block may execute; its path takes 4 to 16 bytes each
    #[arg(long, default_value_t = MAX_INSTRUCTIONS, value_name = "N")]
    pub max_instructions: u64,
    #[command(flatten)]
    pub ptx: PtxLaunch,
}

#[derive(Debug, clap::Args)]
pub struct Fermi {
    /// Warps: N or FROM..=TO
    #[arg(long, default_value = "1..=6", value_name = "RANGE")]
    pub warps: String,
    /// Repetitions of the sub-block: N or FROM..=TO
    #[arg(long, default_value = "1..=4", value_name = "RANGE")]
    pub rep: String,
    /// Drop the rule that repetition k has priority over k+1
    #[arg(long)]
    pub no_fairness: bool,
    /// Print a worst and a best schedule of W warps and R repetitions, cycle by cycle
    #[arg(long, value_name = "W,R")]
    pub witness: Option<String>,
    /// Print the bounds of a kernel with so many threads on each SM, for each repetition
    #[arg(long, value_delimiter = ',', value_name = "N,..", conflicts_with = "witness")]
    pub threads: Vec<u32>,
    /// A file as src/explore/fermi/fermi-raravi.ron [default: that one, embedded]
    #[arg(long, value_name = "FILE")]
    pub machine: Option<std::path::PathBuf>,
    /// States of one cell to visit at most, about 60 bytes each
    #[arg(long, default_value_t = 2_000_000, value_name = "N")]
    pub max_states: usize,
    /// Output
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
}

#[derive(Debug, clap::Args)]
pub struct Ablate {
    /// Embedded kernels, .warp or launch .ron files; none: the embedded suite
    pub kernels: Vec<String>,
    /// The full machine to start from: an embedded one by name, or a file
    #[arg(long, default_value = "ablation-baseline", value_name = "NAME|FILE")]
    pub machine: String,
    /// Policy of all variants [default: the machine's]
    #[arg(long, value_name = "NAME")]
    pub scheduler: Option<String>,
    /// Change a setting of the full machine, e.g. limits.blocks=1
    #[arg(long, value_name = "PATH=VALUE")]
    pub set: Vec<String>,
    /// Seed of random buffer contents
    #[arg(long, default_value_t = 0, value_name = "N")]
    pub seed: u64,
    /// Threads; the result does not depend on it [default: all cores]
    #[arg(long, value_name = "N")]
    pub jobs: Option<usize>,
    /// Output
    #[arg(long, value_enum, default_value_t = TableFormat::Text)]
    pub format: TableFormat,
    /// Most warp instructions one block may execute; its path takes 4 to 16 bytes each
    #[arg(long, default_value_t = MAX_INSTRUCTIONS, value_name = "N")]
    pub max_instructions: u64,
}

/// Form of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum TableFormat {
    /// For people.
    Text,
    /// For scripts: one object on stdout and nothing else there.
    Json,
    /// A line per row, the first names the columns.
    Csv,
}

impl TableFormat {
    /// How problems are told.
    pub fn of_problems(self) -> Format {
        self.of_reports().unwrap_or(Format::Text)
    }

    /// As a form that every report has.
    pub fn of_reports(self) -> Option<Format> {
        match self {
            Self::Text => Some(Format::Text),
            Self::Json => Some(Format::Json),
            Self::Csv => None,
        }
    }
}

#[derive(Debug, clap::Args)]
pub struct Family {
    /// The family
    #[arg(value_enum)]
    pub name: FamilyName,
    /// Initiation interval of the units, cycles
    #[arg(long, default_value_t = 16, value_name = "P")]
    pub p: u64,
    /// Stages
    #[arg(long, default_value_t = 4, value_name = "M")]
    pub m: u64,
    /// Instructions of a stage
    #[arg(long, default_value_t = 16, value_name = "N")]
    pub n: u64,
    /// Let each gate read a short instruction, so that gto meets the same fate as lrr
    #[arg(long)]
    pub gated: bool,
    /// Write kernel.warp and machine.ron into DIR instead of to stdout
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    #[command(flatten)]
    pub writing: Writing,
}

/// Families of kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum FamilyName {
    /// Two warps that take turns in blocking each other; GUB fails by any factor
    PingPong,
}

#[derive(Debug, clap::Args)]
pub struct Evidence {
    /// Warps
    #[arg(long, default_value_t = 2, value_name = "N")]
    pub warps: usize,
    /// Instructions of a warp at most; 2 warps up to 4 are 87 million blocks
    #[arg(long, default_value_t = 3, value_name = "N")]
    pub instructions: usize,
    /// Only the blocks with these numbers, to run a campaign in parts
    #[arg(long, value_name = "FROM..TO")]
    pub range: Option<String>,
    /// Threads; the result does not depend on it [default: all cores]
    #[arg(long, value_name = "N")]
    pub jobs: Option<usize>,
    /// Output
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
}
