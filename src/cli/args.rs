//! What can be said on the command line.

mod common;
mod diff;
mod experiments;
mod export;
mod hybrid;
mod laboratory;
pub mod one_command;
mod ptx_launch;
mod pwcet;

use std::path::PathBuf;
use std::time::Duration;

use clap::{Parser, Subcommand};

use super::format::Format;
use super::resources;
use super::terminal::Colour;

pub use common::{Common, OneKernel, Races};
pub use diff::{Diff, QuotedRun};
pub use experiments::{Merge, Report, Reproduce, Sweep, What};
pub use export::{Export, Synthetic};
pub use hybrid::{Hybrid, IpointsAt};
pub use laboratory::{
    Ablate, Anomaly, Compare, Evidence, Explore, Family, FamilyName, Fermi, Hunt, TableFormat, Worst,
};
pub use ptx_launch::{PtxLaunch, Shape};
pub use pwcet::Pwcet;

/// Simulates kernels on one GPU streaming multiprocessor and checks execution-time bounds against every run.
#[derive(Debug, Parser)]
#[command(version, max_term_width = 110, arg_required_else_help = true)]
pub struct Args {
    #[command(subcommand)]
    pub command: Command,
    #[command(flatten)]
    pub general: General,
}

/// What every command takes.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "General options")]
pub struct General {
    /// Say more on stderr, and in `run` list all branches and the path of --explain; repeat for more still
    #[arg(short, long, action = clap::ArgAction::Count, global = true)]
    pub verbose: u8,
    /// No progress and no warnings on stderr; errors and results stay
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub quiet: bool,
    /// Colours; `auto` knows NO_COLOR and TERM=dumb
    #[arg(long, value_enum, value_name = "WHEN", default_value_t = Colour::Auto, global = true)]
    pub color: Colour,
    /// End after SECONDS (also 1.5, 30s, 5m, 2h) with what is proved by then, as Ctrl-C does
    #[arg(long, value_name = "SECONDS", value_parser = parse_duration, global = true)]
    pub time_limit: Option<Duration>,
    /// Memory that may be used, BYTES or 500M, 4G: what would need more is refused with a message, and searches end
    /// [default: half of what this machine has left; 1G for the states of a search]
    #[arg(long, value_name = "BYTES", value_parser = parse_bytes, global = true)]
    pub max_memory: Option<u64>,
}

/// What a command takes that writes files.
#[derive(Clone, Copy, Debug, clap::Args)]
pub struct Writing {
    /// Replace files that are there already (never one that is read)
    #[arg(long)]
    pub force: bool,
}

/// What a command takes that another process can go on with.
#[derive(Debug, clap::Args)]
pub struct Checkpoint {
    /// Of a program or a list of traces: write FILE between kernels, with which --resume goes on
    ///
    /// It has what was measured so far and device memory. It is written when a kernel has ended, but so that at most a twentieth
    /// of the time goes into it; a kernel that was under way is done again.
    #[arg(long, value_name = "FILE")]
    pub checkpoint: Option<PathBuf>,
    /// Go on where the checkpoint was written, if it is there; the output is that of a run in one go
    #[arg(long, requires = "checkpoint")]
    pub resume: bool,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Simulate and judge every bound; without KERNEL the embedded suite under gto and lrr
    Check(Check),
    /// Simulate one kernel: cycles, stalls, traces, results
    Run(Run),
    /// Two runs of one kernel: where the difference of their cycles comes from
    Diff(Diff),
    /// Exec and idle phases of each warp run alone (Algorithm 1 of Jeanmougin et al., ECRTS 2025)
    Phases(Phases),
    /// The true worst and best makespan over all work-conserving schedules of a block
    Explore(Explore),
    /// Every bound beside what was simulated and what was explored, a line per kernel
    Compare(Compare),
    /// The worst schedule that a search finds: how much of an overestimation is slack of the bound, how much luck of the policy
    Worst(Worst),
    /// Search for a block that breaks a bound, and shrink what is found
    Hunt(Hunt),
    /// The paths of a run as traces that Accel-Sim replays: kernelslist.g, and a .traceg for each launch
    Export(Export),
    /// A trace that is made up, as long as you like
    Synthetic(Synthetic),
    /// Write a kernel of a family with parameters, and its machine
    Family(Family),
    /// Something gets shorter and the schedule longer: on kernels over latencies, or among phases
    Anomaly(Anomaly),
    /// The finishing time of the Fermi kernels of Raravi and Andersson over all schedules, and its bounds
    Fermi(Fermi),
    /// What each simplification of the paper model costs (Jeanmougin et al., ECRTS 2025, Table 2); without KERNEL the embedded suite
    Ablate(Ablate),
    /// Every block of a small grammar: its exact worst case against GUB, IWB, SWB and LWB
    Evidence(Evidence),
    /// Every point of a plan: kernels x launches x seeds x machines x settings x policies, into a folder of results
    Sweep(Sweep),
    /// Put the results of shards together
    Merge(Merge),
    /// A page with plots and tables of what sweeps found, and the plots as SVG files
    Report(Report),
    /// A table or figure of a paper: ours, the published number, the difference
    Reproduce(Reproduce),
    /// The control flow of a kernel's warps: blocks, loops, what divergence adds
    Cfg(Cfg),
    /// A guaranteed bound over all paths, whatever the data are; without KERNEL the embedded suite
    Static(Static),
    /// The worst case over inputs, policies and schedules: runs, bounds, estimates and the guarantee beside each other
    Wcet(Wcet),
    /// Times that runs exceed hardly ever: extreme-value statistics of measured or simulated execution times
    Pwcet(Box<Pwcet>),
    /// Estimates from times between points of the code, put together along its control flow (Betts and Donaldson, ECRTS 2013)
    Hybrid(Hybrid),
    /// What is in a .ptx, .cubin, .warp, trace or machine file
    Inspect(Inspect),
    /// A machine from a configuration of GPGPU-Sim (gpgpusim.config), on stdout
    ImportConfig(ImportConfig),
    /// Embedded kernels, machines and plans, policies, bounds
    List(List),
    /// Completions for a shell, on stdout
    Completions(Completions),
    /// The manual page on stdout, or those of all commands as files
    Man(Man),
}

#[derive(Debug, clap::Args)]
pub struct Check {
    /// Embedded kernels, .warp files, launch or program .ron files, traces (.traceg, kernelslist.g), or one .ptx with --entry
    /// --grid --block --arg; `-` is stdin
    pub kernels: Vec<String>,
    /// Bounds that decide the exit code
    #[arg(long, value_delimiter = ',', value_name = "NAME")]
    pub bound: Vec<String>,
    #[command(flatten)]
    pub several: Several,
    /// Write a replayable folder for each violation into DIR
    #[arg(long, value_name = "DIR")]
    pub counterexamples: Option<PathBuf>,
    #[command(flatten)]
    pub writing: Writing,
    #[command(flatten)]
    pub checkpoint: Checkpoint,
    /// Exit 1 unless every run came to its end and some gating bound applied to it
    #[arg(long)]
    pub require_verdict: bool,
    /// Also compare the analyser's times of every warp, run alone, with the simulator's; of machine code, also whether its
    /// control codes cover its dependences
    #[arg(long)]
    pub self_check: bool,
    /// Draw the schedule (small runs)
    #[arg(long)]
    pub gantt: bool,
    #[command(flatten)]
    pub common: Common,
    #[command(flatten)]
    pub ptx: PtxLaunch,
}

/// What a command takes that has many runs.
#[derive(Debug, clap::Args)]
pub struct Several {
    /// Threads for several kernels; the results do not depend on it [default: all cores]
    #[arg(long, value_name = "N")]
    pub jobs: Option<usize>,
    /// Also write the results into folder DIR as `sweep` does: results.jsonl, results.csv, manifest.json
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}

impl Several {
    /// Threads for so many kernels.
    pub fn threads(&self, kernels: usize) -> usize {
        self.jobs.unwrap_or_else(resources::threads).clamp(1, kernels.max(1))
    }
}

#[derive(Debug, clap::Args)]
pub struct Run {
    /// Write a trace; the ending decides: .html a timeline, .svg a figure, .json Perfetto, .kanata, .csv, .replay a schedule to
    /// replay, .ipoints for `hybrid`
    ///
    /// On several SMs it is that of SM 0, but for .ipoints, which has all. All times are cycles of the SM.
    ///
    /// .html: a page for any browser, with a timeline of the warps beside the source and its stalls; up to two million
    /// instructions and idle intervals.
    ///
    /// .svg: a figure of a short run, up to 300 instructions over 600 cycles.
    ///
    /// .json: trace events for Perfetto, a cycle as a microsecond: instructions by unit and by warp, what
    /// each warp was doing, cycles without an issue by sub-core and reason, counters of the units and, on
    /// machines that have them, of fetch, caches and DRAM.
    ///
    /// .kanata: a log for Konata, a row per instruction: lane 0 Q (waits for its unit), X (occupies it),
    /// L (until the result is there), lane 1 the name of the unit.
    ///
    /// .csv: block,warp,index,pc,issue,start,done,unit,line,text, an instruction a line.
    ///
    /// .replay: the schedule, for --scheduler replay:FILE.
    ///
    /// .ipoints: `ipoint sm warp cycle`, a line whenever a warp begins a basic block (b0, b1, .. as `cfg` counts them) or ends
    /// (end); the warp is its slot on the SM.
    #[arg(long, value_name = "FILE")]
    pub trace: Vec<PathBuf>,
    /// Write a buffer or module variable after the kernel, raw little endian
    #[arg(long, value_name = "NAME=FILE")]
    pub dump: Vec<String>,
    #[command(flatten)]
    pub writing: Writing,
    #[command(flatten)]
    pub checkpoint: Checkpoint,
    /// Measure and report seconds; the output is then no longer reproducible
    #[arg(long)]
    pub timings: bool,
    /// Draw the schedule (small runs)
    #[arg(long)]
    pub gantt: bool,
    /// The critical path: what each cycle of the makespan hangs on; with -v link by link
    #[arg(long, conflicts_with = "timings")]
    pub explain: bool,
    #[command(flatten)]
    pub on: OneKernel,
}

#[derive(Debug, clap::Args)]
pub struct Phases {
    /// The block to analyse
    #[arg(long, default_value_t = 0, value_name = "N")]
    pub of_block: u32,
    #[command(flatten)]
    pub on: OneKernel,
}

#[derive(Debug, clap::Args)]
pub struct Cfg {
    /// Embedded kernel, launch .ron file, or .ptx with --entry --grid --block --arg; `-` is stdin
    pub kernel: String,
    /// Which edges stand for divergence: those between the sides of a branch, or those of the published algorithm
    #[arg(long, value_enum, default_value_t = Edges::Sides)]
    pub edges: Edges,
    /// Write the graph in the language of Graphviz
    #[arg(long, value_name = "FILE")]
    pub dot: Option<PathBuf>,
    /// Draw it
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
    #[command(flatten)]
    pub writing: Writing,
    #[command(flatten)]
    pub ptx: PtxLaunch,
    /// Seed of random data
    #[arg(long, default_value_t = 0)]
    pub seed: u64,
    /// Output
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
}

/// What is said of loops.
#[derive(Debug, clap::Args)]
pub struct LoopBounds {
    /// How often a thread goes back to the beginning of the loop in line LINE of the PTX at most, each time it comes to it from outside
    ///
    /// Loops need it whose rounds depend on data; the error without it names the loop. A number that is too small makes the bound wrong:
    /// a run that shows it is an error. FILE:LINE=N is for the kernels of one source only.
    #[arg(long, value_name = "LINE=N")]
    pub loop_bound: Vec<String>,
    /// A file of such bounds, LINE=N or FILE:LINE=N a line; a # begins a comment
    #[arg(long, value_name = "FILE")]
    pub annotations: Option<PathBuf>,
}

#[derive(Debug, clap::Args)]
pub struct Static {
    /// Embedded kernels, .warp or launch .ron files, or one .ptx with --entry --grid --block --arg; none: the embedded suite
    pub kernels: Vec<String>,
    #[command(flatten)]
    pub bounds: LoopBounds,
    #[command(flatten)]
    pub common: Common,
    #[command(flatten)]
    pub ptx: PtxLaunch,
}

#[derive(Debug, clap::Args)]
pub struct Wcet {
    /// Embedded kernels or launch .ron files, or one .ptx with --entry --grid --block --arg
    #[arg(required = true)]
    pub kernels: Vec<String>,
    /// Inputs; the random data of each is drawn with the next seed, from --seed on
    #[arg(long, default_value_t = 100, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub runs: u64,
    #[command(flatten)]
    pub bounds: LoopBounds,
    /// States to visit at most to know the worst schedule of a block exactly, 50 to 150 bytes each
    #[arg(long, default_value_t = 20_000, value_name = "N")]
    pub max_states: u64,
    /// Threads; the result does not depend on it [default: all cores]
    #[arg(long, value_name = "N")]
    pub jobs: Option<usize>,
    #[command(flatten)]
    pub common: Common,
    #[command(flatten)]
    pub ptx: PtxLaunch,
}

/// Which edges stand for divergence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Edges {
    /// From the ends of each side of a branch to the other sides
    Sides,
    /// As Betts and Donaldson, ECRTS 2013, figure 3
    Published,
}

#[derive(Debug, clap::Args)]
pub struct Inspect {
    /// A .ptx, .cubin, .warp, launch, program or machine .ron file, or the name of an embedded kernel or machine; `-` is
    /// stdin
    pub file: String,
    /// Of machine code: every instruction with its control codes
    #[arg(long)]
    pub disasm: bool,
    /// Of a .ptx file: write a launch file for a kernel to stdout, with guessed arguments
    #[arg(long)]
    pub template: bool,
    /// With --template: the kernel, if the file has several; its name or a part of it, mangled or not
    #[arg(long, requires = "template")]
    pub entry: Option<String>,
    /// Output
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
}

#[derive(Debug, clap::Args)]
pub struct ImportConfig {
    /// gpgpusim.config, and others that are laid over it, such as trace.config for traces; what is given twice counts as it
    /// stands last
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<String>,
    /// What the machine is called; without it as the file, or its folder where the file is gpgpusim.config
    #[arg(long)]
    pub name: Option<String>,
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

fn parse_duration(text: &str) -> Result<Duration, String> {
    let wrong = || "expected seconds, or a number with s, m or h".to_owned();
    let (number, unit) = match text.char_indices().next_back() {
        Some((at, 's')) => (&text[..at], 1.0),
        Some((at, 'm')) => (&text[..at], 60.0),
        Some((at, 'h')) => (&text[..at], 3600.0),
        _ => (text, 1.0),
    };
    let seconds = number.trim().parse::<f64>().map_err(|_| wrong())? * unit;
    // this also refuses what is negative, infinite or no number
    Duration::try_from_secs_f64(seconds).map_err(|_| wrong())
}

fn parse_bytes(text: &str) -> Result<u64, String> {
    let wrong = || "expected a number of bytes, or one with K, M or G".to_owned();
    let (number, shift) = match text.char_indices().next_back() {
        Some((at, 'k' | 'K')) => (&text[..at], 10),
        Some((at, 'm' | 'M')) => (&text[..at], 20),
        Some((at, 'g' | 'G')) => (&text[..at], 30),
        _ => (text, 0),
    };
    let number = number.trim().parse::<u64>().map_err(|_| wrong())?;
    number.checked_mul(1 << shift).ok_or_else(wrong)
}

#[derive(Debug, clap::Args)]
pub struct Completions {
    /// The shell
    #[arg(value_enum)]
    pub shell: clap_complete::Shell,
}

#[derive(Debug, clap::Args)]
pub struct Man {
    /// Write a page for every command into DIR
    pub dir: Option<PathBuf>,
    #[command(flatten)]
    pub writing: Writing,
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
        let parse_shape = ptx_launch::parse_shape;
        assert!(parse_shape("2,x").is_err() && parse_shape("1,2,3,4").is_err());
    }

    #[test]
    fn time_limits_have_units() {
        let seconds = |text| parse_duration(text).map(|limit| limit.as_secs_f64());
        assert_eq!(
            ["90", "1.5", "30s", "2m", "0.5h", "0"].map(|text| seconds(text).unwrap()),
            [90.0, 1.5, 30.0, 120.0, 1800.0, 0.0]
        );
        for wrong in ["", "s", "-1", "1d", "nan", "inf", "1e99h", "ä"] {
            assert!(seconds(wrong).is_err(), "{wrong}");
        }
    }
}
