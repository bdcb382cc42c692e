//! The options of `anomaly`.

use super::{PtxLaunch, at_least_one};
use crate::format::Format;
use crate::resources::MAX_INSTRUCTIONS;

#[derive(Debug, clap::Args)]
pub struct Anomaly {
    /// Kernels, as `check` accepts them [default: the embedded suite]
    pub kernels: Vec<String>,
    /// Policies, repeated or with commas [default: all; lrr and gto with --phases]
    #[arg(long, value_delimiter = ',', value_name = "NAME")]
    pub policy: Vec<String>,
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
    #[arg(long, value_name = "N", value_parser = at_least_one())]
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
