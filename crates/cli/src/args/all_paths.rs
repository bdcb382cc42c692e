//! The options of `static`.

use super::{Common, LoopBounds, PtxLaunch};

#[derive(Debug, clap::Args)]
pub struct Static {
    /// Kernels: names, files, or one .ptx with --entry --grid --block --arg
    ///
    /// Each is an embedded kernel or program, or a .warp file or a launch or program .ron file
    /// [default: the embedded suite]
    pub kernels: Vec<String>,
    #[command(flatten)]
    pub bounds: LoopBounds,
    #[command(flatten)]
    pub common: Common,
    #[command(flatten)]
    pub ptx: PtxLaunch,
}
