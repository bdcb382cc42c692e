//! The options of `check`.

use std::path::PathBuf;

use super::{Checkpoint, Common, PtxLaunch, Several, Writing};

#[derive(Debug, clap::Args)]
pub struct Check {
    /// Kernels: names, files, or one .ptx with --entry --grid --block --arg
    ///
    /// Each is an embedded kernel, a .warp file, a launch or program .ron file, or a trace
    /// (.traceg, .tracez, kernelslist.g); `-` is stdin.
    pub kernels: Vec<String>,
    /// Bounds that decide the exit code [default: published and proved bounds]
    #[arg(long, value_delimiter = ',', value_name = "NAME")]
    pub bound: Vec<String>,
    #[command(flatten)]
    pub several: Several,
    /// Write a folder to replay each violation into DIR
    #[arg(long, value_name = "DIR")]
    pub counterexamples: Option<PathBuf>,
    #[command(flatten)]
    pub writing: Writing,
    #[command(flatten)]
    pub checkpoint: Checkpoint,
    /// Exit with 1 unless every run completed and a gating bound applied to it
    #[arg(long)]
    pub require_verdict: bool,
    /// Also compare the analyser with the simulator on every warp, which runs alone
    ///
    /// With machine code, also check that its control codes cover its dependences.
    #[arg(long)]
    pub self_check: bool,
    /// Draw the schedule of a small run
    #[arg(long)]
    pub gantt: bool,
    #[command(flatten)]
    pub common: Common,
    #[command(flatten)]
    pub ptx: PtxLaunch,
}
