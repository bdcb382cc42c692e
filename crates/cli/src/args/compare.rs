//! The options of `compare`.

use super::{Common, PtxLaunch, Several};

#[derive(Debug, clap::Args)]
pub struct Compare {
    /// Kernels: names, or .warp, launch or program files [default: the embedded suite]
    pub kernels: Vec<String>,
    /// State the fastest policy for each value of a setting, and why, instead of the bounds
    ///
    /// SETTING is mem_latency or the path of a machine's setting, as in --set. VALUES are
    /// FROM..=TO, FROM..=TO/STEP, or a list such as 100,200,400.
    #[arg(long, value_name = "SETTING=VALUES", conflicts_with_all = ["out", "max_states"])]
    pub over: Option<String>,
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
