//! The options of `evidence-pack`.

use std::path::PathBuf;

use super::{Common, LoopBounds, PtxLaunch};

#[derive(Debug, clap::Args)]
pub struct EvidencePack {
    /// Kernels: names, files, or one .ptx with --entry --grid --block --arg
    ///
    /// Each is an embedded kernel, a .warp file, a launch or program .ron file, or a trace
    /// (.traceg, .tracez, kernelslist.g); `-` is stdin.
    #[arg(required = true)]
    pub kernels: Vec<String>,
    /// Write the pack into DIR, which must be empty or not exist
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    /// Claim the bound over all paths, which `static` computes: for every input
    ///
    /// Loop bounds become premises that have to be argued.
    #[arg(long = "static")]
    pub of_all_paths: bool,
    #[command(flatten)]
    pub bounds: LoopBounds,
    #[command(flatten)]
    pub common: Common,
    #[command(flatten)]
    pub ptx: PtxLaunch,
}
