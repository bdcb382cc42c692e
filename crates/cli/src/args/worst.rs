//! The options of `worst`.

use std::path::PathBuf;

use super::{Common, PtxLaunch, Writing, at_least_one};

#[derive(Debug, clap::Args)]
pub struct Worst {
    /// Kernels: names, files, or one .ptx with --entry --grid --block --arg
    ///
    /// Each is an embedded kernel or a .warp or launch .ron file [default: the embedded suite]
    pub kernels: Vec<String>,
    /// Most schedules to evaluate per block
    #[arg(long, default_value_t = 5000, value_name = "N")]
    pub budget: u64,
    /// Seed of the search; --seed is that of random buffer contents
    #[arg(long, default_value_t = 1, value_name = "N")]
    pub search_seed: u64,
    /// Most states to visit in the exact search for the worst case of a block
    ///
    /// A state takes 50 to 150 bytes. A block that needs more states has no exact result.
    #[arg(long, default_value_t = 300_000, value_name = "N")]
    pub max_states: u64,
    /// Threads; the result does not depend on it [default: all cores]
    #[arg(long, value_name = "N", value_parser = at_least_one())]
    pub jobs: Option<usize>,
    /// Write the worst schedules as DIR/KERNEL.replay, for --policy replay:FILE
    #[arg(long, alias = "schedule", value_name = "DIR")]
    pub out: Option<PathBuf>,
    #[command(flatten)]
    pub writing: Writing,
    #[command(flatten)]
    pub common: Common,
    #[command(flatten)]
    pub ptx: PtxLaunch,
}
