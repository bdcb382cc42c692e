//! What can be said on the command line (DESIGN.md, "The command line").

use std::path::PathBuf;

use clap::{Parser, Subcommand};

use super::output::Format;

/// Simulates kernels on one GPU streaming multiprocessor and checks execution-time bounds against every run.
#[derive(Debug, Parser)]
#[command(version, max_term_width = 110, arg_required_else_help = true)]
pub struct Args {
    #[command(subcommand)]
    pub command: Command,
    /// Say more on stderr, and list all branches in `run`; repeat for more still
    #[arg(short, long, action = clap::ArgAction::Count, global = true)]
    pub verbose: u8,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Simulate and judge every bound; without KERNEL the embedded suite under gto and lrr
    Check(Check),
    /// Simulate one kernel: cycles, stalls, traces, results
    Run(Run),
    /// Exec and idle phases of each warp run alone (seed 000, Algorithm 1)
    Phases(Phases),
    /// The true worst and best makespan over all work-conserving schedules of a block
    Explore(Explore),
    /// Every bound beside what was simulated and what was explored, a line per kernel
    Compare(Compare),
    /// Search for a block that breaks a bound, and shrink what is found
    Hunt(Hunt),
    /// Write a kernel of a family with parameters, and its machine
    Family(Family),
    /// Something gets shorter and the schedule longer: on kernels over latencies, or among phases
    Anomaly(Anomaly),
    /// The finishing time of seed 001's Fermi kernels over all schedules, and its bounds
    Fermi(Fermi),
    /// What each simplification of the paper model costs (seed 000, Table 2); without KERNEL the embedded suite
    Ablate(Ablate),
    /// Every block of a small grammar: its exact worst case against GUB, IWB, SWB and LWB
    Evidence(Evidence),
    /// What is in a .ptx, .warp or machine file
    Inspect(Inspect),
    /// Embedded kernels and machines, policies, bounds
    List(List),
}

#[derive(Debug, clap::Args)]
pub struct Check {
    /// Embedded kernels, .warp files, launch .ron files, or one .ptx with --entry --grid --block --arg
    pub kernels: Vec<String>,
    #[command(flatten)]
    pub common: Common,
    #[command(flatten)]
    pub ptx: PtxLaunch,
    /// Bounds that decide the exit code
    #[arg(long, value_delimiter = ',', value_name = "NAME")]
    pub bound: Vec<String>,
    /// Write a replayable folder for each violation into DIR
    #[arg(long, value_name = "DIR")]
    pub counterexamples: Option<PathBuf>,
    /// Also compare the analyser's times of every warp, run alone, with the simulator's
    #[arg(long)]
    pub self_check: bool,
    /// Draw the schedule (small runs)
    #[arg(long)]
    pub gantt: bool,
}

#[derive(Debug, clap::Args)]
pub struct Run {
    #[command(flatten)]
    pub on: OneKernel,
    /// Write a trace; the ending decides: .json Perfetto, .kanata, .csv, .replay a schedule to replay
    #[arg(long, value_name = "FILE")]
    pub trace: Vec<PathBuf>,
    /// Write a buffer after the kernel, raw little endian
    #[arg(long, value_name = "NAME=FILE")]
    pub dump: Vec<String>,
    /// Measure and report seconds; the output is then no longer reproducible
    #[arg(long)]
    pub timings: bool,
    /// Draw the schedule (small runs)
    #[arg(long)]
    pub gantt: bool,
}

#[derive(Debug, clap::Args)]
pub struct Phases {
    #[command(flatten)]
    pub on: OneKernel,
    /// The block to analyse
    #[arg(long, default_value_t = 0, value_name = "N")]
    pub of_block: u32,
}

#[derive(Debug, clap::Args)]
pub struct Explore {
    #[command(flatten)]
    pub on: OneKernel,
    /// The block to explore
    #[arg(long, default_value_t = 0, value_name = "N")]
    pub of_block: u32,
    /// States to visit at most; about 50 bytes each
    #[arg(long, default_value_t = 20_000_000, value_name = "N")]
    pub max_states: u64,
    /// Threads; the result does not depend on it [default: all cores]
    #[arg(long, value_name = "N")]
    pub jobs: Option<usize>,
    /// Instead of all schedules: one policy, every latency of a unit in an interval, e.g. gmem=4..=21
    #[arg(long, value_name = "UNIT=FROM..=TO")]
    pub vary: Vec<String>,
    /// Write a worst schedule, to be replayed with --scheduler replay:FILE
    #[arg(long, value_name = "FILE")]
    pub worst_schedule: Option<PathBuf>,
    /// Write a best schedule
    #[arg(long, value_name = "FILE")]
    pub best_schedule: Option<PathBuf>,
}

#[derive(Debug, clap::Args)]
pub struct Compare {
    /// Embedded kernels, .warp or launch .ron files; none: the embedded suite
    pub kernels: Vec<String>,
    #[command(flatten)]
    pub common: Common,
    /// States to visit at most per block
    #[arg(long, default_value_t = 50_000, value_name = "N")]
    pub max_states: u64,
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
    /// Search whole phases for an anomaly as in figure 4 of seed 000, and draw it
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
    /// Most warp instructions one block may execute; a path takes 4 to 8 bytes each
    #[arg(long, default_value_t = 1 << 26, value_name = "N")]
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
    /// States of one cell to visit at most
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
    /// Most warp instructions one block may execute; a path takes 4 to 8 bytes each
    #[arg(long, default_value_t = 1 << 26, value_name = "N")]
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
        if self == Self::Json { Format::Json } else { Format::Text }
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

#[derive(Debug, clap::Args)]
pub struct Inspect {
    /// A .ptx, .warp, launch .ron or machine .ron file, or the name of an embedded kernel or machine
    pub file: String,
    /// Output
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
}

#[derive(Debug, clap::Args)]
pub struct List {
    /// Output
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
}

/// A kernel and what it is to run on.
#[derive(Clone, Debug, clap::Args)]
pub struct OneKernel {
    /// Embedded kernel, .warp file, launch .ron file, or .ptx with --entry --grid --block --arg
    pub kernel: String,
    #[command(flatten)]
    pub common: Common,
    #[command(flatten)]
    pub ptx: PtxLaunch,
}

/// What every simulating command takes.
#[derive(Clone, Debug, clap::Args)]
pub struct Common {
    /// Machine: an embedded one by name, or a file [default: the .warp file's, else ecrts25-orin]
    #[arg(long, value_name = "NAME|FILE")]
    pub machine: Option<String>,
    /// Policy: gto, lrr, srr, gsrr, oldest, two-level, random:SEED, replay:FILE
    #[arg(long, value_name = "NAME")]
    pub scheduler: Option<String>,
    /// Total cycles of a global load
    #[arg(long, value_name = "L")]
    pub mem_latency: Option<u64>,
    /// Change a machine setting, e.g. units.gmem.lat=199 or hazards=Raw,Waw
    #[arg(long, value_name = "PATH=VALUE")]
    pub set: Vec<String>,
    /// Seed of random buffer contents
    #[arg(long, default_value_t = 0, value_name = "N")]
    pub seed: u64,
    /// Output
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
    /// Most warp instructions one block may execute; a path takes 4 to 8 bytes each
    #[arg(long, default_value_t = 1 << 26, value_name = "N")]
    pub max_instructions: u64,
    /// Threads for machines with several SMs; results do not depend on it. Without this option one
    /// thread simulates and another executes the kernel; with N = 1 there is one for both
    #[arg(long, value_name = "N")]
    pub sm_threads: Option<usize>,
}

impl Common {
    /// Threads for machines with several SMs.
    ///
    /// SMs meet in every cycle, and threads that meet so often seldom pay.
    pub fn threads(&self) -> usize {
        self.sm_threads.unwrap_or(1).max(1)
    }

    /// Whether functional execution has a thread of its own.
    pub fn runs_ahead(&self) -> bool {
        self.sm_threads != Some(1) && super::load::threads() > 1
    }
}

/// A launch given on the command line, for a bare .ptx file.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Launch of a .ptx file")]
pub struct PtxLaunch {
    /// Kernel in the file; may be left out if there is only one
    #[arg(long)]
    pub entry: Option<String>,
    /// Blocks: X or X,Y or X,Y,Z
    #[arg(long, value_parser = parse_shape, value_name = "X,Y,Z")]
    pub grid: Option<Shape>,
    /// Threads per block: X or X,Y or X,Y,Z
    #[arg(long, value_parser = parse_shape, value_name = "X,Y,Z")]
    pub block: Option<Shape>,
    /// An argument as in a launch file, one for each parameter: U32(1000) or Buffer(name: "a", elem: F32, len: 64, init: Iota)
    #[arg(long, value_name = "ARG", allow_hyphen_values = true)]
    pub arg: Vec<String>,
    /// Dynamic shared memory, bytes
    #[arg(long, value_name = "BYTES")]
    pub dynamic_shared: Option<u32>,
    /// Registers per thread, if they are to limit occupancy
    #[arg(long, value_name = "N")]
    pub registers: Option<u32>,
}

impl PtxLaunch {
    /// Whether any of it was given.
    pub fn is_given(&self) -> bool {
        self.entry.is_some()
            || self.grid.is_some()
            || self.block.is_some()
            || !self.arg.is_empty()
            || self.dynamic_shared.is_some()
            || self.registers.is_some()
    }
}

/// Extent per axis.
#[derive(Clone, Copy, Debug)]
pub struct Shape(pub u32, pub u32, pub u32);

fn parse_shape(text: &str) -> Result<Shape, String> {
    let parts: Result<Vec<u32>, _> =
        text.trim_matches(['(', ')']).split([',', 'x']).map(|part| part.trim().parse::<u32>()).collect();
    match parts.as_deref() {
        Ok([x]) => Ok(Shape(*x, 1, 1)),
        Ok([x, y]) => Ok(Shape(*x, *y, 1)),
        Ok([x, y, z]) => Ok(Shape(*x, *y, *z)),
        _ => Err("expected X or X,Y or X,Y,Z".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Args::command().debug_assert();
        let args = Args::parse_from([
            "warpbound",
            "check",
            "--set",
            "a=1",
            "--set",
            "b=2",
            "vecadd",
            "--format",
            "json",
        ]);
        let Command::Check(check) = args.command else { panic!("not check") };
        assert_eq!((check.kernels.as_slice(), check.common.set.len()), (["vecadd".to_owned()].as_slice(), 2));
        assert!(parse_shape("2,x").is_err() && parse_shape("1,2,3,4").is_err());
    }
}
