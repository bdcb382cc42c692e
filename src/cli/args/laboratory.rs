//! The options of commands that search, sweep and compare.

use std::path::PathBuf;

use super::{Common, OneKernel, PtxLaunch, Several, Writing};
use crate::cli::format::Format;
use crate::cli::resources::MAX_INSTRUCTIONS;

#[derive(Debug, clap::Args)]
pub struct Explore {
    /// Index of the block to explore, from 0
    #[arg(long, default_value_t = 0, value_name = "N")]
    pub of_block: u32,
    /// Most states to visit
    ///
    /// A state takes 50 to 150 bytes. The search also ends, with a note, when the states take more
    /// than 1 GiB, or than --max-memory.
    #[arg(long, default_value_t = 20_000_000, value_name = "N")]
    pub max_states: u64,
    /// Threads; the result does not depend on it [default: all cores]
    #[arg(long, value_name = "N")]
    pub jobs: Option<usize>,
    /// Explore latencies of a unit under one policy, e.g. gmem=4..=21 (repeatable)
    ///
    /// Every latency in the interval is tried, instead of every schedule.
    #[arg(long, value_name = "UNIT=FROM..=TO")]
    pub vary: Vec<String>,
    /// Write a worst schedule to FILE, for --scheduler replay:FILE
    #[arg(long, value_name = "FILE", conflicts_with = "vary")]
    pub worst_schedule: Option<PathBuf>,
    /// Write a best schedule to FILE, for --scheduler replay:FILE
    #[arg(long, value_name = "FILE", conflicts_with = "vary")]
    pub best_schedule: Option<PathBuf>,
    #[command(flatten)]
    pub writing: Writing,
    #[command(flatten)]
    pub on: OneKernel,
}

#[derive(Debug, clap::Args)]
pub struct Compare {
    /// Kernels: names, or .warp, launch or program files [default: the embedded suite]
    pub kernels: Vec<String>,
    #[command(flatten)]
    pub several: Several,
    #[command(flatten)]
    pub common: Common,
    #[command(flatten)]
    pub ptx: PtxLaunch,
    /// Most states to visit per block; a state takes 50 to 150 bytes
    #[arg(long, default_value_t = 50_000, value_name = "N")]
    pub max_states: u64,
}

#[derive(Debug, clap::Args)]
pub struct Worst {
    /// Kernels: names, files, or one .ptx with --entry --grid --block --arg
    ///
    /// Each is an embedded kernel or a .warp or launch .ron file [default: the embedded suite]
    pub kernels: Vec<String>,
    /// Most schedules to evaluate per block
    #[arg(long, default_value_t = 5000, value_name = "N")]
    pub budget: u64,
    /// Seed of the search; --seed is that of random buffer contents
    #[arg(long, default_value_t = 1, value_name = "N")]
    pub search_seed: u64,
    /// Most states to visit in the exact search for the worst case of a block
    ///
    /// A state takes 50 to 150 bytes. A block that needs more states has no exact result.
    #[arg(long, default_value_t = 300_000, value_name = "N")]
    pub max_states: u64,
    /// Threads; the result does not depend on it [default: all cores]
    #[arg(long, value_name = "N")]
    pub jobs: Option<usize>,
    /// Write the worst schedules as DIR/KERNEL.replay, for --scheduler replay:FILE
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
    /// The bound to violate
    #[arg(long, value_name = "NAME")]
    pub bound: String,
    /// Seed of all random choices
    #[arg(long, default_value_t = 1, value_name = "N")]
    pub seed: u64,
    /// Schedules to search: any, identical or policy:NAME (repeatable)
    ///
    /// `identical` is any schedule of warps that all run the same code [default: any; for gub any,
    /// identical and policy:lrr]
    #[arg(long, value_name = "WHICH")]
    pub setting: Vec<String>,
    /// Most instances to judge per setting [default: 1000000]
    ///
    /// The default is 20000000 for gub and 20000 for rbb.
    #[arg(long, value_name = "N")]
    pub instances: Option<u64>,
    /// Warps per instance; for rbb, per block
    #[arg(long, default_value_t = 2, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=8))]
    pub warps: u16,
    /// For rbb: blocks per launch [default: 3]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=16))]
    pub blocks: Option<u16>,
    /// For rbb: blocks resident on the SM at a time [default: 2]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=8))]
    pub resident: Option<u16>,
    /// For rbb: sub-cores of the SM [default: 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=4))]
    pub sub_cores: Option<u16>,
    /// Most instructions per warp [default: 6]
    ///
    /// The default for gub is 14, or 12 for identical warps, or 32 under a policy; for rbb it is 4.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=200))]
    pub instructions: Option<u16>,
    /// Most functional units
    #[arg(long, default_value_t = 4, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=16))]
    pub units: u16,
    /// Threads; the result does not depend on it [default: all cores]
    #[arg(long, value_name = "N")]
    pub jobs: Option<usize>,
    /// Write a folder to replay each violation into DIR
    #[arg(long, value_name = "DIR")]
    pub counterexamples: Option<PathBuf>,
    #[command(flatten)]
    pub writing: Writing,
    /// Form of the output
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
}

#[derive(Debug, clap::Args)]
pub struct Anomaly {
    /// Kernels, as `check` accepts them [default: the embedded suite]
    pub kernels: Vec<String>,
    /// Policies, repeated or with commas [default: all; lrr and gto with --phases]
    #[arg(long, value_delimiter = ',', value_name = "NAME")]
    pub scheduler: Vec<String>,
    /// Sweep the latency of this unit from the machine's value down to 0
    #[arg(long, value_name = "NAME", conflicts_with = "sweep")]
    pub unit: Option<String>,
    /// Sweep a machine setting, or mem-latency [default: mem-latency=5..=400:5]
    #[arg(long, value_name = "PATH=FROM..=TO[:STEP]")]
    pub sweep: Option<String>,
    /// Search sequences of phases for an anomaly, and draw it
    ///
    /// The anomaly is like that of figure 4 of Jeanmougin et al., ECRTS 2025.
    #[arg(long, conflicts_with_all = ["kernels", "unit", "sweep"])]
    pub phases: bool,
    /// Draw the schedule of these phases, with a `/` between warps
    ///
    /// The numbers are lengths of exec and idle phases in turn, in cycles.
    #[arg(long, value_name = "E,I,../E,I,..", conflicts_with_all = ["kernels", "unit", "sweep", "phases"])]
    pub lengths: Option<String>,
    /// With --phases: number of warps
    #[arg(long, default_value_t = 3, value_name = "N")]
    pub warps: usize,
    /// With --phases: exec phases per warp
    #[arg(long, default_value_t = 2, value_name = "N")]
    pub pairs: usize,
    /// With --phases: number of phases to shorten
    ///
    /// Only anomalies are shown that need all of them.
    #[arg(long, default_value_t = 2, value_name = "N")]
    pub shortened: usize,
    /// With --phases: most schedules to try
    #[arg(long, default_value_t = 20_000_000, value_name = "N")]
    pub max_schedules: u64,
    /// Seed of random buffer contents [default: 0]
    ///
    /// With --phases, instances are drawn at random from this seed; without it, all are tried in
    /// order.
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Machine: an embedded one by name, or a file
    ///
    /// [default: the .warp file's, else ecrts25-orin]
    #[arg(long, value_name = "NAME|FILE")]
    pub machine: Option<String>,
    /// Total latency of a global load, in cycles, while something else is swept
    #[arg(long, value_name = "L")]
    pub mem_latency: Option<u64>,
    /// Change a machine setting, e.g. hazards=Raw,Waw (repeatable)
    #[arg(long, value_name = "PATH=VALUE")]
    pub set: Vec<String>,
    /// Threads; the result does not depend on it [default: all cores]
    #[arg(long, value_name = "N")]
    pub jobs: Option<usize>,
    /// Form of the output
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
    /// Most warp instructions that one block may execute
    ///
    /// The path of a block takes 4 to 16 bytes per instruction.
    #[arg(long, default_value_t = MAX_INSTRUCTIONS, value_name = "N")]
    pub max_instructions: u64,
    #[command(flatten)]
    pub ptx: PtxLaunch,
}

#[derive(Debug, clap::Args)]
pub struct Fermi {
    /// Number of warps W: N or FROM..=TO
    #[arg(long, default_value = "1..=6", value_name = "RANGE")]
    pub warps: String,
    /// Repetitions R of the sub-block: N or FROM..=TO
    #[arg(long, default_value = "1..=4", value_name = "RANGE")]
    pub rep: String,
    /// Drop the rule that repetition k has priority over repetition k+1
    #[arg(long)]
    pub no_fairness: bool,
    /// Print a worst and a best schedule of W warps and R repetitions, cycle by cycle
    #[arg(long, value_name = "W,R")]
    pub witness: Option<String>,
    /// Print the bounds for these numbers of threads per SM, for each repetition
    #[arg(long, value_delimiter = ',', value_name = "N,..", conflicts_with = "witness")]
    pub threads: Vec<u32>,
    /// Machine file, of the form of src/explore/fermi/fermi-raravi.ron
    ///
    /// [default: that file, which is embedded]
    #[arg(long, value_name = "FILE")]
    pub machine: Option<std::path::PathBuf>,
    /// Most states to visit per table cell; a state takes about 60 bytes
    #[arg(long, default_value_t = 2_000_000, value_name = "N")]
    pub max_states: usize,
    /// Form of the output
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
}

#[derive(Debug, clap::Args)]
pub struct Ablate {
    /// Kernels: names, or .warp or launch .ron files [default: the embedded suite]
    pub kernels: Vec<String>,
    /// The full machine to start from: an embedded one by name, or a file
    #[arg(long, default_value = "ablation-baseline", value_name = "NAME|FILE")]
    pub machine: String,
    /// Policy of all variants [default: the machine's]
    #[arg(long, value_name = "NAME")]
    pub scheduler: Option<String>,
    /// Change a setting of the full machine, e.g. limits.blocks=1 (repeatable)
    #[arg(long, value_name = "PATH=VALUE")]
    pub set: Vec<String>,
    /// Seed of random buffer contents
    #[arg(long, default_value_t = 0, value_name = "N")]
    pub seed: u64,
    /// Threads; the result does not depend on it [default: all cores]
    #[arg(long, value_name = "N")]
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
    /// Returns the format of reports and error messages; people read them beside a table in CSV.
    pub fn of_reports(self) -> Format {
        match self {
            Self::Text | Self::Csv => Format::Text,
            Self::Json => Format::Json,
        }
    }
}

#[derive(Debug, clap::Args)]
pub struct Family {
    /// The family
    #[arg(value_enum)]
    pub name: FamilyName,
    /// Initiation interval of the units, in cycles
    #[arg(long, default_value_t = 16, value_name = "P")]
    pub p: u64,
    /// Number of stages
    #[arg(long, default_value_t = 4, value_name = "M")]
    pub m: u64,
    /// Instructions per stage
    #[arg(long, default_value_t = 16, value_name = "N")]
    pub n: u64,
    /// Let each gate read a short instruction, so that GUB also fails under gto
    #[arg(long)]
    pub gated: bool,
    /// Write kernel.warp and machine.ron into DIR instead of to stdout
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    #[command(flatten)]
    pub writing: Writing,
}

/// The families of kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum FamilyName {
    /// Two warps that alternately block each other; GUB fails by any factor
    PingPong,
}

#[derive(Debug, clap::Args)]
pub struct Evidence {
    /// Warps per block
    #[arg(long, default_value_t = 2, value_name = "N")]
    pub warps: usize,
    /// Most instructions per warp; 2 warps of up to 4 make 87 million blocks
    #[arg(long, default_value_t = 3, value_name = "N")]
    pub instructions: usize,
    /// Check only the blocks with these numbers, to split a campaign into parts
    #[arg(long, value_name = "FROM..TO")]
    pub range: Option<String>,
    /// Threads; the result does not depend on it [default: all cores]
    #[arg(long, value_name = "N")]
    pub jobs: Option<usize>,
    /// Form of the output
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
}
