//! The options and arguments of the command line, one file per command or group of commands. The
//! doc comments of fields are the text of `--help`.

mod ablate;
mod all_paths;
mod anomaly;
mod bundle;
mod cfg;
mod check;
mod common;
mod compare;
mod compile;
mod completions;
mod diff;
mod evidence;
mod evidence_pack;
mod explain;
mod explore;
mod export;
mod family;
mod fermi;
mod hunt;
mod hybrid;
mod import_config;
mod inspect;
mod list;
mod man;
mod merge;
pub mod one_command;
mod phases;
mod ptx_launch;
mod pwcet;
mod quoted;
mod report;
mod reproduce;
mod run;
mod schema;
mod sweep;
mod validate;
mod wcet;
mod worst;

use std::time::Duration;

use clap::{Parser, Subcommand};

use super::terminal::Colour;

pub use ablate::{Ablate, TableFormat};
pub use all_paths::Static;
pub use anomaly::Anomaly;
pub use bundle::Bundle;
pub use cfg::{Cfg, Edges};
pub use check::Check;
use common::at_least_one;
pub use common::{Checkpoint, Common, LoopBounds, OneKernel, Races, Several, Writing};
pub use compare::Compare;
pub use compile::{Compile, Headers};
pub use completions::Completions;
pub use diff::{Diff, QuotedRun};
pub use evidence::Evidence;
pub use evidence_pack::EvidencePack;
pub use explain::Explain;
pub use explore::Explore;
pub use export::{Export, Synthetic};
pub use family::{Family, FamilyName};
pub use fermi::Fermi;
pub use hunt::Hunt;
pub use hybrid::{Hybrid, IpointsAt};
pub use import_config::ImportConfig;
pub use inspect::Inspect;
pub use list::List;
pub use man::Man;
pub use merge::Merge;
pub use phases::Phases;
pub use ptx_launch::PtxLaunch;
pub use pwcet::Pwcet;
pub use quoted::{UNCLOSED, parsed, quoted};
pub use report::Report;
pub use reproduce::{PaperItem, Reproduce};
pub use run::Run;
pub use schema::{Schema, SchemaAction};
pub use sweep::Sweep;
pub use validate::{QuotedLaunch, Validate};
pub use wcet::Wcet;
pub use worst::Worst;

/// Simulates one GPU streaming multiprocessor and checks execution-time bounds.
#[derive(Debug, Parser)]
#[command(name = "warpbound", version, max_term_width = 110, arg_required_else_help = true)]
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
    /// Table that --format csv prints, such as results.bounds
    ///
    /// It is the path of a list in the JSON of the command. An unknown name lists all tables
    /// [default: the main table of the command].
    #[arg(long, value_name = "NAME", global = true)]
    pub table: Option<String>,
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
    /// State why one run takes longer than another: the three largest causes
    ///
    /// The runs may differ in policy, machine, latencies, data or kernel. A cause is an instruction
    /// together with what it waits for on the critical path; if kernels differ, it is what is waited
    /// for, and the instruction with most of these cycles.
    Why(Diff),
    /// List the exec and idle phases of each warp when it runs alone
    ///
    /// This is Algorithm 1 of Jeanmougin et al., ECRTS 2025.
    Phases(Phases),
    /// Find the exact worst and best makespan over all work-conserving schedules
    ///
    /// On a machine with a pipeline, every arbiter of the launch takes each of its candidates.
    Explore(Explore),
    /// Compare every bound with simulated and explored times, one line per kernel
    Compare(Compare),
    /// Search for the worst schedule of blocks that are too large to explore
    ///
    /// The schedule found splits the overestimation of each bound into slack of the bound and luck
    /// of the policy. On a machine with a pipeline, the choices of all arbiters of the launch are
    /// searched.
    Worst(Worst),
    /// Search for a block that violates a bound, and shrink it to a small witness
    Hunt(Hunt),
    /// Compile CUDA C++ to PTX with clang, nvcc or NVRTC, whichever is found
    ///
    /// clang and NVRTC need no CUDA toolkit: they get the headers of warpbound. `pip install
    /// nvidia-cuda-nvrtc-cu12` installs NVRTC. The PTX states source lines, and its first line
    /// states the compiler and its options.
    Compile(Compile),
    /// Write the headers with which kernels are compiled into a folder
    Headers(Headers),
    /// Write the executed paths as traces for Accel-Sim
    ///
    /// The folder holds kernelslist.g and one .traceg file per launch.
    Export(Export),
    /// Write kernels with all their data, to be run on a GPU
    ///
    /// The folder has one folder for each kernel: launch.json, the PTX, and the contents of memory
    /// before and after the functional run. scripts/measure-on-card.py runs them on a GPU. Without
    /// KERNEL, all embedded launches and programs that can run there are written.
    Bundle(Bundle),
    /// Generate an artificial trace of any length
    Synthetic(Synthetic),
    /// Write a kernel of a parametric family, and its machine
    Family(Family),
    /// Search for timing anomalies: a shorter latency, a longer schedule
    ///
    /// Kernels run with a range of latencies or, with --phases, sequences of phases are tried.
    Anomaly(Anomaly),
    /// Compute finishing times and bounds of the Fermi kernels of Raravi and Andersson
    ///
    /// The exact times are the longest and the shortest over all schedules.
    Fermi(Fermi),
    /// Measure what each simplification of the paper model costs
    ///
    /// These are the columns of Table 2 of Jeanmougin et al., ECRTS 2025. Without KERNEL, the
    /// embedded suite runs.
    Ablate(Ablate),
    /// Check GUB, IWB, SWB and LWB on every block of a small grammar
    ///
    /// Each bound is compared with the exact worst case of the block. `evidence-pack` writes the
    /// evidence for the bound of a kernel.
    Evidence(Evidence),
    /// Write the evidence for the guaranteed bound of a kernel into a folder
    ///
    /// The folder has a page, a README and JSON: the claim, its premises and where they are
    /// checked, the derivation of the number, the runs that it was compared with, digests,
    /// commands that repeat it, and the tests that cover each rule. If nothing is guaranteed, it
    /// states that and why. Without --policy the policies are gto, lrr, oldest and random.
    /// The bound is that of the paths of the runs, or with --static that over all paths.
    EvidencePack(EvidencePack),
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
    /// The bound of a program is the sum of the bounds of its launches; the program file states
    /// them, so that they are the same for any data. Without KERNEL, the embedded suite is
    /// analysed.
    Static(Static),
    /// Compare methods for the worst case over inputs, policies and schedules
    ///
    /// One table shows the longest run, the bounds, the hybrid estimates and the guaranteed bound
    /// side by side. For a program, schedules are not explored and nothing is estimated.
    Wcet(Wcet),
    /// Estimate times that runs exceed with a small probability (pWCET)
    ///
    /// The method is extreme-value statistics of measured or simulated execution times.
    Pwcet(Box<Pwcet>),
    /// Estimate the worst case from times measured between points of the code
    ///
    /// The times are combined along the control flow graph (Betts and Donaldson, ECRTS 2013).
    Hybrid(Hybrid),
    /// Compare simulated cycles with cycles measured on a GPU
    ///
    /// The kernels of the table run on the machine. Mean, median and worst error, correlation, and
    /// the errors by kernel and by stall reason are printed. A kernel is compared only if its code
    /// and data are those that were measured, and its results were equal bit for bit.
    Validate(Validate),
    /// Show what a .ptx, .cubin, .warp, trace or machine file contains
    Inspect(Inspect),
    /// Convert a GPGPU-Sim configuration (gpgpusim.config) to a machine, on stdout
    ImportConfig(ImportConfig),
    /// List the embedded kernels, machines and plans, the policies and the bounds
    ///
    /// Machines are listed with what they were compared with and how far off they are.
    List(List),
    /// Explain a term of the outputs or the options, or list all terms
    ///
    /// The terms are those of the glossary, the policies, the bounds and their parts, the stall
    /// reasons, the causes of the critical path, the functional units, the tests of `pwcet` and the
    /// settings of machines.
    Explain(Explain),
    /// Print the JSON Schemas of outputs, and check outputs against them
    Schema(Schema),
    /// Print a completion script for a shell
    Completions(Completions),
    /// Print the manual page, or write the pages of all commands as files
    Man(Man),
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
