//! The options of `bundle`.

use std::path::PathBuf;

use super::{PtxLaunch, Writing};
use crate::resources::MAX_INSTRUCTIONS;

#[derive(Debug, clap::Args)]
pub struct Bundle {
    /// Kernels: names, or launch or program files [default: the embedded ones]
    pub kernels: Vec<String>,
    /// Folder for the folders of the kernels
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    #[command(flatten)]
    pub writing: Writing,
    /// Seed of random buffer contents
    #[arg(long, default_value_t = 0, value_name = "N")]
    pub seed: u64,
    /// Most warp instructions that one block may execute
    #[arg(long, default_value_t = MAX_INSTRUCTIONS, value_name = "N")]
    pub max_instructions: u64,
    #[command(flatten)]
    pub ptx: PtxLaunch,
}
