//! The options of every command that simulates.

use super::PtxLaunch;
use crate::cli::format::Format;
use crate::cli::resources::{self, MAX_INSTRUCTIONS};
use crate::exec::Options;
use crate::exec::races::BlockOrder;
use crate::machine::{Machine, SchedulerKind};

/// A kernel and the machine it runs on.
#[derive(Clone, Debug, clap::Args)]
pub struct OneKernel {
    /// Kernel: a name, a file, or .ptx with --entry --grid --block --arg
    ///
    /// It is an embedded kernel, a .warp file, a launch or program .ron file, or a trace (.traceg,
    /// kernelslist.g@N); `-` is stdin.
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
    #[arg(long, value_name = "NAME", help = format!("Policy: {}; `check` and `compare` take several, A,B", SchedulerKind::forms()))]
    pub scheduler: Option<String>,
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
    /// Results do not depend on it. One more thread executes the kernel functionally; with N = 1, a
    /// single thread does both.
    #[arg(long, value_name = "N")]
    pub sm_threads: Option<usize>,
    /// What to do about memory races: accesses whose order affects the results
    ///
    /// No bound is judged for a kernel in which a race was found.
    #[arg(long, value_enum, default_value_t = Races::Report)]
    pub races: Races,
    /// Memory for the detection of races, in MiB
    ///
    /// It needs about four times the memory that the kernel accesses.
    #[arg(long, default_value_t = 1024, value_name = "MIB")]
    pub race_memory: u32,
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
            scheduler: None,
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

    /// Returns the options of a functional run, block by block, that detects races if `--races`
    /// asks for it.
    pub fn watched(&self, machine: &Machine) -> Options {
        Options::of(machine, self.fuel()).watching(self.race_memory(), BlockOrder::OneByOne)
    }

    /// Returns the most warp instructions that a block may execute; short memory lowers
    /// `--max-instructions`.
    pub fn fuel(&self) -> u64 {
        resources::fuel(self.max_instructions)
    }

    /// Returns the number of threads for a machine with several SMs.
    pub fn threads(&self) -> usize {
        self.sm_threads.unwrap_or_else(resources::threads).max(1)
    }

    /// Returns whether functional execution has a thread of its own.
    pub fn runs_ahead(&self) -> bool {
        self.sm_threads != Some(1) && resources::threads() > 1
    }
}
