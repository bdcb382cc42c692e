//! Options of every command that simulates.

use super::PtxLaunch;
use crate::cli::format::Format;
use crate::cli::resources::{self, MAX_INSTRUCTIONS};
use crate::exec::Options;
use crate::exec::races::BlockOrder;
use crate::machine::{Machine, SchedulerKind};

/// A kernel and what it is to run on.
#[derive(Clone, Debug, clap::Args)]
pub struct OneKernel {
    /// Embedded kernel, .warp file, launch or program .ron file, trace (.traceg, kernelslist.g@N), or .ptx with --entry
    /// --grid --block --arg; `-` is stdin
    pub kernel: String,
    #[command(flatten)]
    pub common: Common,
    #[command(flatten)]
    pub ptx: PtxLaunch,
}

/// What every simulating command takes.
#[derive(Clone, Debug, clap::Args)]
pub struct Common {
    /// Machine: an embedded one by name, or a file; `check` and `compare` take several, A,B [default: the .warp
    /// file's, else ecrts25-orin]
    #[arg(long, value_name = "NAME|FILE")]
    pub machine: Option<String>,
    /// Policy
    #[arg(long, value_name = "NAME", help = format!("Policy: {}; `check` and `compare` take several, A,B", SchedulerKind::forms()))]
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
    /// Most warp instructions one block may execute; its path takes 4 to 16 bytes each, up to 1 GiB with the
    /// default. Where memory is short the limit is lower
    #[arg(long, default_value_t = MAX_INSTRUCTIONS, value_name = "N")]
    pub max_instructions: u64,
    /// Threads that the SMs of a machine with several run on (all cores); results do not depend on it.
    /// Another one executes the kernel, but with N = 1, where there is one for both
    #[arg(long, value_name = "N")]
    pub sm_threads: Option<usize>,
    /// Whether to watch memory for accesses whose order shows: no bound is judged if there are any
    #[arg(long, value_enum, default_value_t = Races::Report)]
    pub races: Races,
    /// Memory that this watch may use, MiB; it needs about four times what the kernel accesses
    #[arg(long, default_value_t = 1024, value_name = "MIB")]
    pub race_memory: u32,
}

/// What to do about accesses whose order shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Races {
    /// Name them and judge no bound.
    Report,
    /// Do not look for them: the verdict is about the order of the functional run.
    Ignore,
}

impl Common {
    /// A machine by name, and nothing else said.
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

    /// Memory of the watch for races, bytes; none if nobody wants it.
    pub fn race_memory(&self) -> Option<usize> {
        (self.races == Races::Report).then(|| self.race_memory as usize * (1 << 20))
    }

    /// A functional run of blocks one by one, watched for races.
    pub fn watched(&self, machine: &Machine) -> Options {
        Options::of(machine, self.fuel()).watching(self.race_memory(), BlockOrder::OneByOne)
    }

    /// Warp instructions that a block may execute, as far as there is memory for their path.
    pub fn fuel(&self) -> u64 {
        resources::fuel(self.max_instructions)
    }

    /// Threads for machines with several SMs.
    pub fn threads(&self) -> usize {
        self.sm_threads.unwrap_or_else(resources::threads).max(1)
    }

    /// Whether functional execution has a thread of its own.
    pub fn runs_ahead(&self) -> bool {
        self.sm_threads != Some(1) && resources::threads() > 1
    }
}
