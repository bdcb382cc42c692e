//! The options and arguments of the command line. The doc comments of fields are the text of
//! `--help`.

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

/// Simulates one GPU streaming multiprocessor and checks execution-time bounds.
#[derive(Debug, Parser)]
#[command(version, max_term_width = 110, arg_required_else_help = true)]
pub struct Args {
    #[command(subcommand)]
    pub command: Command,
    #[command(flatten)]
    pub general: General,
}

/// The options that every command accepts.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "General options")]
pub struct General {
    /// Print more on stderr; repeat for still more
    ///
    /// With `run`, also list every branch, and every link of the critical path of --explain.
    #[arg(short, long, action = clap::ArgAction::Count, global = true)]
    pub verbose: u8,
    /// Print no progress and no warnings on stderr; errors and results stay
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub quiet: bool,
    /// When to use colours
    ///
    /// `auto` obeys NO_COLOR and TERM=dumb.
    #[arg(long, value_enum, value_name = "WHEN", default_value_t = Colour::Auto, global = true)]
    pub color: Colour,
    /// Stop after this time, in seconds or as 30s, 5m or 2h; fractions are allowed
    ///
    /// The command then prints what it has established by then, as it does after Ctrl-C [default:
    /// no limit]
    #[arg(long, value_name = "SECONDS", value_parser = parse_duration, global = true)]
    pub time_limit: Option<Duration>,
    /// Most memory to use, in bytes or as 500M or 4G [default: half of what is free]
    ///
    /// An input that needs more is refused with a message, and a search that needs more ends early.
    /// Without this option the states of a search take at most 1G.
    #[arg(long, value_name = "BYTES", value_parser = parse_bytes, global = true)]
    pub max_memory: Option<u64>,
}

/// The option of commands that write files.
#[derive(Clone, Copy, Debug, clap::Args)]
pub struct Writing {
    /// Replace files that exist already (never a file that the command reads)
    #[arg(long)]
    pub force: bool,
}

/// The options of commands that another process can resume.
#[derive(Debug, clap::Args)]
pub struct Checkpoint {
    /// Write a checkpoint to FILE between kernels, for --resume
    ///
    /// This is for programs and lists of traces. The file holds the measurements so far and the
    /// contents of device memory. It is written when a kernel has ended, but only so often that
    /// writing takes at most a twentieth of the time; a kernel that was in flight is repeated.
    #[arg(long, value_name = "FILE")]
    pub checkpoint: Option<PathBuf>,
    /// Continue from the checkpoint if the file exists
    ///
    /// The output is the same as that of an uninterrupted run.
    #[arg(long, requires = "checkpoint")]
    pub resume: bool,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Simulate kernels and judge every bound
    ///
    /// Without KERNEL, the embedded suite runs under the policies gto and lrr.
    Check(Check),
    /// Simulate one kernel: cycles, stalls, traces, results
    Run(Run),
    /// Compare two runs of one kernel and explain the difference in cycles
    Diff(Diff),
    /// List the exec and idle phases of each warp when it runs alone
    ///
    /// This is Algorithm 1 of Jeanmougin et al., ECRTS 2025.
    Phases(Phases),
    /// Find the exact worst and best makespan over all work-conserving schedules
    Explore(Explore),
    /// Compare every bound with simulated and explored times, one line per kernel
    Compare(Compare),
    /// Search for the worst schedule of blocks that are too large to explore
    ///
    /// The schedule found splits the overestimation of each bound into slack of the bound and luck
    /// of the policy.
    Worst(Worst),
    /// Search for a block that violates a bound, and shrink it to a small witness
    Hunt(Hunt),
    /// Write the executed paths as traces for Accel-Sim
    ///
    /// The folder holds kernelslist.g and one .traceg file per launch.
    Export(Export),
    /// Generate an artificial trace of any length
    Synthetic(Synthetic),
    /// Write a kernel of a parametric family, and its machine
    Family(Family),
    /// Search for timing anomalies: a shorter latency, a longer schedule
    ///
    /// The search runs on kernels over a range of latencies or, with --phases, among sequences of
    /// phases.
    Anomaly(Anomaly),
    /// Finishing times of the Fermi kernels of Raravi and Andersson, and their bounds
    ///
    /// The exact times are over all schedules.
    Fermi(Fermi),
    /// Measure what each simplification of the paper model costs
    ///
    /// These are the columns of Table 2 of Jeanmougin et al., ECRTS 2025. Without KERNEL, the
    /// embedded suite runs.
    Ablate(Ablate),
    /// Check GUB, IWB, SWB and LWB on every block of a small grammar
    ///
    /// Each bound is compared with the exact worst case of the block.
    Evidence(Evidence),
    /// Simulate every point of a plan and write a folder of results
    ///
    /// A plan lists kernels, launches, seeds, machines, settings and policies; every combination is
    /// a point.
    Sweep(Sweep),
    /// Merge the folders of results that shards of one sweep wrote
    Merge(Merge),
    /// Make an HTML page with plots and tables of results, or SVG plots
    Report(Report),
    /// Reproduce a table or figure of a paper beside the published numbers
    Reproduce(Reproduce),
    /// Show the control flow graph of a kernel: blocks, loops, divergence
    Cfg(Cfg),
    /// Compute a guaranteed bound over all paths, for any input data
    ///
    /// Without KERNEL, the embedded suite is analysed.
    Static(Static),
    /// Compare methods for the worst case over inputs, policies and schedules
    ///
    /// One table shows the longest run, the bounds, the hybrid estimates and the guaranteed bound
    /// side by side.
    Wcet(Wcet),
    /// Estimate times that runs exceed with a small probability (pWCET)
    ///
    /// The method is extreme-value statistics of measured or simulated execution times.
    Pwcet(Box<Pwcet>),
    /// Estimate the worst case from times measured between points of the code
    ///
    /// The times are combined along the control flow graph (Betts and Donaldson, ECRTS 2013).
    Hybrid(Hybrid),
    /// Show what a .ptx, .cubin, .warp, trace or machine file contains
    Inspect(Inspect),
    /// Convert a GPGPU-Sim configuration (gpgpusim.config) to a machine, on stdout
    ImportConfig(ImportConfig),
    /// List the embedded kernels, machines and plans, the policies and the bounds
    List(List),
    /// Print a completion script for a shell
    Completions(Completions),
    /// Print the manual page, or write the pages of all commands as files
    Man(Man),
}

#[derive(Debug, clap::Args)]
pub struct Check {
    /// Kernels: names, files, or one .ptx with --entry --grid --block --arg
    ///
    /// Each is an embedded kernel, a .warp file, a launch or program .ron file, or a trace
    /// (.traceg, kernelslist.g); `-` is stdin.
    pub kernels: Vec<String>,
    /// Bounds that decide the exit code [default: published and proved bounds]
    #[arg(long, value_delimiter = ',', value_name = "NAME")]
    pub bound: Vec<String>,
    #[command(flatten)]
    pub several: Several,
    /// Write a folder to replay each violation into DIR
    #[arg(long, value_name = "DIR")]
    pub counterexamples: Option<PathBuf>,
    #[command(flatten)]
    pub writing: Writing,
    #[command(flatten)]
    pub checkpoint: Checkpoint,
    /// Exit with 1 unless every run completed and a gating bound applied to it
    #[arg(long)]
    pub require_verdict: bool,
    /// Also check the analyser against the simulator on every warp run alone
    ///
    /// With machine code, also check that its control codes cover its dependences.
    #[arg(long)]
    pub self_check: bool,
    /// Draw the schedule of a small run
    #[arg(long)]
    pub gantt: bool,
    #[command(flatten)]
    pub common: Common,
    #[command(flatten)]
    pub ptx: PtxLaunch,
}

/// The options of commands that run several kernels.
#[derive(Debug, clap::Args)]
pub struct Several {
    /// Threads for several kernels; results do not depend on it [default: all cores]
    #[arg(long, value_name = "N")]
    pub jobs: Option<usize>,
    /// Also write a folder of results into DIR, as `sweep` does
    ///
    /// It holds results.jsonl, results.csv and manifest.json.
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}

impl Several {
    /// Returns the number of threads to use for this number of kernels.
    pub fn threads(&self, kernels: usize) -> usize {
        self.jobs.unwrap_or_else(resources::threads).clamp(1, kernels.max(1))
    }
}

#[derive(Debug, clap::Args)]
pub struct Run {
    /// Write a trace; the extension of FILE selects its form (repeatable)
    ///
    /// The extensions are .html (timeline), .svg (figure), .json (Perfetto), .kanata (Konata),
    /// .csv, .replay (schedule for --scheduler) and .ipoints (for `hybrid`). On a machine with
    /// several SMs a trace covers SM 0; only .ipoints covers all of them. All times are in cycles
    /// of the SM.
    ///
    /// .html: a page for any browser, with a timeline of the warps beside the source and its
    /// stalls; up to two million instructions and idle intervals.
    ///
    /// .svg: a figure of a short run, up to 300 instructions in 600 cycles.
    ///
    /// .json: trace events for Perfetto, with one cycle shown as one microsecond: instructions by
    /// unit and by warp, the state of each warp, cycles without an issue by sub-core and reason,
    /// counters of the units and, on machines that have them, of fetch, caches and DRAM.
    ///
    /// .kanata: a log for Konata, one row per instruction: lane 0 has the stages Q (waits for its
    /// unit), X (occupies it) and L (until the result is available), lane 1 the name of the unit.
    ///
    /// .csv: block,warp,index,pc,issue,start,done,unit,line,text, one instruction per line.
    ///
    /// .replay: the schedule, for --scheduler replay:FILE.
    ///
    /// .ipoints: `ipoint sm warp cycle`, one line whenever a warp enters a basic block (b0, b1, ..
    /// as `cfg` numbers them) or ends (end); the warp is its slot on the SM.
    #[arg(long, value_name = "FILE")]
    pub trace: Vec<PathBuf>,
    /// Write a buffer or module variable to FILE after the kernel (repeatable)
    ///
    /// The file holds raw little-endian bytes.
    #[arg(long, value_name = "NAME=FILE")]
    pub dump: Vec<String>,
    #[command(flatten)]
    pub writing: Writing,
    #[command(flatten)]
    pub checkpoint: Checkpoint,
    /// Measure and report seconds; the output is then not reproducible
    #[arg(long)]
    pub timings: bool,
    /// Draw the schedule of a small run
    #[arg(long)]
    pub gantt: bool,
    /// Show the critical path: the cause of each cycle of the makespan
    ///
    /// With -v, every link of the path is listed.
    #[arg(long, conflicts_with = "timings")]
    pub explain: bool,
    #[command(flatten)]
    pub on: OneKernel,
}

#[derive(Debug, clap::Args)]
pub struct Phases {
    /// Index of the block to analyse, from 0
    #[arg(long, default_value_t = 0, value_name = "N")]
    pub of_block: u32,
    #[command(flatten)]
    pub on: OneKernel,
}

#[derive(Debug, clap::Args)]
pub struct Cfg {
    /// Embedded kernel, launch .ron file, or .ptx with --entry --grid --block --arg
    ///
    /// `-` is stdin.
    pub kernel: String,
    /// Which edges represent divergence
    #[arg(long, value_enum, default_value_t = Edges::Sides)]
    pub edges: Edges,
    /// Write the graph to FILE in the language of Graphviz
    #[arg(long, value_name = "FILE")]
    pub dot: Option<PathBuf>,
    /// Write a drawing of the graph to FILE
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
    #[command(flatten)]
    pub writing: Writing,
    #[command(flatten)]
    pub ptx: PtxLaunch,
    /// Seed of random buffer contents
    #[arg(long, default_value_t = 0)]
    pub seed: u64,
    /// Form of the output
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
}

/// The options that bound the iterations of loops.
#[derive(Debug, clap::Args)]
pub struct LoopBounds {
    /// Bound the iterations of the loop at line LINE of the PTX (repeatable)
    ///
    /// N is the greatest number of times that a thread returns to the beginning of the loop after
    /// it has entered it from outside. Loops whose trip count depends on data need such a bound;
    /// the error without it names the loop. The result is wrong if N is too small; a run that
    /// exceeds N is an error. The form FILE:LINE=N applies only to kernels of that source file.
    #[arg(long, value_name = "LINE=N")]
    pub loop_bound: Vec<String>,
    /// Read such bounds from FILE, one LINE=N or FILE:LINE=N per line
    ///
    /// A # begins a comment.
    #[arg(long, value_name = "FILE")]
    pub annotations: Option<PathBuf>,
}

#[derive(Debug, clap::Args)]
pub struct Static {
    /// Kernels: names, files, or one .ptx with --entry --grid --block --arg
    ///
    /// Each is an embedded kernel or a .warp or launch .ron file [default: the embedded suite]
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
    /// Kernels: names, launch files, or one .ptx with --entry --grid --block --arg
    #[arg(required = true)]
    pub kernels: Vec<String>,
    /// Inputs to simulate
    ///
    /// The random data of each input are drawn from its own seed; the first is --seed, and each
    /// further one is larger by one.
    #[arg(long, default_value_t = 100, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub runs: u64,
    #[command(flatten)]
    pub bounds: LoopBounds,
    /// Most states to visit in the exact search for the worst schedule of a block
    ///
    /// A state takes 50 to 150 bytes. A block that needs more states has no exact result.
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

/// The edges that represent divergence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Edges {
    /// Edges from the ends of each side of a branch to its other sides
    Sides,
    /// The edges of figure 3 of Betts and Donaldson, ECRTS 2013
    Published,
}

#[derive(Debug, clap::Args)]
pub struct Inspect {
    /// A kernel, module, trace or machine file, or an embedded name
    ///
    /// The file is a .ptx, .cubin or .warp file, a trace (.traceg, kernelslist.g), or a launch,
    /// program or machine .ron file; `-` is stdin.
    pub file: String,
    /// List every instruction of machine code with its control codes
    #[arg(long)]
    pub disasm: bool,
    /// Write a launch file for a kernel of a .ptx file to stdout, arguments guessed
    #[arg(long)]
    pub template: bool,
    /// With --template: the kernel, needed if the file has several
    ///
    /// It is the name or a part of it, mangled or not.
    #[arg(long, requires = "template")]
    pub entry: Option<String>,
    /// Form of the output
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
}

#[derive(Debug, clap::Args)]
pub struct ImportConfig {
    /// gpgpusim.config, and files that override it, such as trace.config for traces
    ///
    /// If an option is given several times, the last one counts.
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<String>,
    /// Name of the machine [default: that of the file; its folder for gpgpusim.config]
    #[arg(long)]
    pub name: Option<String>,
    /// Form of the output
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
}

#[derive(Debug, clap::Args)]
pub struct List {
    /// Form of the output
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
    // this also rejects negative, infinite and NaN values
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
    /// Write a page for every command into DIR [default: one page on stdout]
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
