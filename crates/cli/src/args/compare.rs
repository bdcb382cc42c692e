//! The options of `compare`.

use super::{Common, PtxLaunch, Several};

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
