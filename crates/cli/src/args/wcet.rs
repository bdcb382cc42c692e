//! The options of `wcet`.

use super::{Common, LoopBounds, PtxLaunch, at_least_one};

#[derive(Debug, clap::Args)]
pub struct Wcet {
    /// Kernels: names, launch or program files, or one .ptx with --entry --grid --block --arg
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
    #[arg(long, value_name = "N", value_parser = at_least_one())]
    pub jobs: Option<usize>,
    #[command(flatten)]
    pub common: Common,
    #[command(flatten)]
    pub ptx: PtxLaunch,
}
