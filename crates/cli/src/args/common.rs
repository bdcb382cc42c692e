//! The options that several commands share.

use std::path::PathBuf;

use super::PtxLaunch;
use crate::format::Format;
use crate::resources::{self, MAX_INSTRUCTIONS};
use warpbound_core::base::ProgressMonitor;
use warpbound_core::machine::{FORMER_POLICY_SETTING, Machine, PolicyKind};
use warpbound_exec::Options;
use warpbound_exec::races::BlockOrder;
use warpbound_judge::check::RunOptions;

/// A kernel and the machine it runs on.
#[derive(Clone, Debug, clap::Args)]
pub struct OneKernel {
    /// Kernel: a name, a file, or .ptx with --entry --grid --block --arg
    ///
    /// It is an embedded kernel, a .warp file, a launch or program .ron file, or a trace (.traceg,
    /// .tracez, kernelslist.g@N); `-` is stdin.
    pub kernel: String,
    #[command(flatten)]
    pub common: Common,
    #[command(flatten)]
    pub ptx: PtxLaunch,
}

/// The options of every command that simulates.
#[derive(Clone, Debug, clap::Args)]
pub struct Common {
    /// Machine: an embedded one by name, or a file
    ///
    /// `check` and `compare` accept several, as A,B [default: the .warp file's, else ecrts25-orin]
    #[arg(long, value_name = "NAME|FILE")]
    pub machine: Option<String>,
    /// Policy
    #[arg(long, alias = FORMER_POLICY_SETTING, value_name = "NAME", help = format!("Policy: {}; `check` and `compare` take several, A,B", PolicyKind::forms()))]
    pub policy: Option<String>,
    /// Total latency of a global load, in cycles [default: the machine's]
    #[arg(long, value_name = "L")]
    pub mem_latency: Option<u64>,
    /// Change a machine setting (repeatable)
    ///
    /// Examples are units.gmem.lat=199 and hazards=Raw,Waw.
    #[arg(long, value_name = "PATH=VALUE")]
    pub set: Vec<String>,
    /// Seed of random buffer contents
    #[arg(long, default_value_t = 0, value_name = "N")]
    pub seed: u64,
    /// Form of the output
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
    /// Most warp instructions that one block may execute
    ///
    /// The path of a block takes 4 to 16 bytes per instruction, up to 1 GiB with the default. The
    /// limit is lower where memory is short.
    #[arg(long, default_value_t = MAX_INSTRUCTIONS, value_name = "N")]
    pub max_instructions: u64,
    /// Threads for the SMs of a machine with several SMs [default: all cores]
    ///
    /// Results do not depend on it. Two more threads execute the kernel functionally and analyse its
    /// blocks for the bounds; with N = 1, a single thread does everything.
    #[arg(long, value_name = "N", value_parser = at_least_one())]
    pub sm_threads: Option<usize>,
    /// What to do about memory races: accesses whose order affects the results
    ///
    /// No bound is judged for a kernel in which a race was found.
    #[arg(long, value_enum, default_value_t = Races::Report)]
    pub races: Races,
    /// Memory for the detection of races, in MiB
    ///
    /// It needs about twice the memory that the kernel accesses, or ten times where accesses are
    /// narrower than a word.
    #[arg(long, default_value_t = 1024, value_name = "MIB")]
    pub race_memory: u32,
}

/// Returns the parser of a number of threads.
pub fn at_least_one() -> clap::builder::RangedU64ValueParser<usize> {
    clap::builder::RangedU64ValueParser::new().range(1..)
}

/// The treatment of memory races.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Races {
    /// Report races and judge no bound if there are any.
    Report,
    /// Do not look for races: the verdict holds for the order of the functional run.
    Ignore,
}

impl Common {
    /// Returns the default options with this machine, except that races are ignored.
    pub fn on(machine: &str) -> Self {
        Self {
            machine: Some(machine.to_owned()),
            policy: None,
            mem_latency: None,
            set: Vec::new(),
            seed: 0,
            format: Format::Text,
            max_instructions: MAX_INSTRUCTIONS,
            sm_threads: None,
            races: Races::Ignore,
            race_memory: 0,
        }
    }

    /// Returns the memory for race detection in bytes, or `None` if races are ignored.
    pub fn race_memory(&self) -> Option<usize> {
        (self.races == Races::Report).then(|| self.race_memory as usize * (1 << 20))
    }

    /// Returns the options of a functional run, block by block. It detects races unless they
    /// are ignored.
    pub fn functional_options(&self, machine: &Machine) -> Options {
        Options::of(machine, self.fuel()).watching(self.race_memory(), BlockOrder::OneByOne)
    }

    /// Returns the most warp instructions that a block may execute: `--max-instructions`, or fewer
    /// if memory is short.
    pub fn fuel(&self) -> u64 {
        resources::fuel(self.max_instructions)
    }

    /// Returns the options of a run that judges no bound. It looks for races unless they are
    /// ignored.
    pub fn run_options<'a>(&self, monitor: &'a ProgressMonitor) -> RunOptions<'a> {
        RunOptions::new(self.fuel(), monitor)
            .threads(self.threads())
            .ahead(self.runs_ahead())
            .race_memory(self.race_memory())
    }

    /// Returns the number of threads for a machine with several SMs.
    fn threads(&self) -> usize {
        self.sm_threads.unwrap_or_else(resources::threads).max(1)
    }

    /// Returns whether functional execution has a thread of its own.
    fn runs_ahead(&self) -> bool {
        self.sm_threads != Some(1) && resources::threads() > 1
    }
}

/// The options of commands that run several kernels.
#[derive(Debug, clap::Args)]
pub struct Several {
    /// Threads for several kernels; results do not depend on it [default: all cores]
    #[arg(long, value_name = "N", value_parser = at_least_one())]
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
        match kernels {
            // the number of cores is not asked for where it makes no difference
            0 | 1 => 1,
            _ => self.jobs.unwrap_or_else(resources::threads).clamp(1, kernels),
        }
    }

    /// Returns the options of runs of this number of kernels, as [`Common::run_options`] does.
    pub fn run_options<'a>(
        &self,
        common: &Common,
        kernels: usize,
        monitor: &'a ProgressMonitor,
    ) -> RunOptions<'a> {
        // the kernels of a list of traces are simulated in parallel if no other kernels are
        let jobs = if kernels == 1 { self.jobs.unwrap_or_else(resources::threads) } else { 1 };
        common.run_options(monitor).jobs(jobs).ahead_unless_parallel(self.threads(kernels))
    }
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

/// The options that bound the iterations of loops.
#[derive(Debug, clap::Args)]
pub struct LoopBounds {
    /// Bound the iterations of the loop at line LINE of the PTX (repeatable)
    ///
    /// N is the greatest number of times that a thread returns to the beginning of the loop after
    /// it has entered it from outside. Loops whose trip count depends on data need such a bound;
    /// the error without it names the loop. The result is wrong if N is too small; a run that
    /// exceeds N is an error. The form FILE:LINE=N applies only to kernels of that source file. In
    /// a program, LINE@LAUNCH=N and LINE@FIRST-LAST=N apply only to these launches, counted from 0,
    /// and take precedence over LINE=N.
    #[arg(long, value_name = "LINE=N")]
    pub loop_bound: Vec<String>,
    /// Read such bounds from FILE, one LINE=N or FILE:LINE=N per line
    ///
    /// A # begins a comment.
    #[arg(long, value_name = "FILE")]
    pub annotations: Option<PathBuf>,
}
