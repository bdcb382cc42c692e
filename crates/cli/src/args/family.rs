//! The options of `family`.

use std::path::PathBuf;

use super::Writing;

#[derive(Debug, clap::Args)]
pub struct Family {
    /// The family
    #[arg(value_enum)]
    pub name: FamilyName,
    /// Initiation interval of the units, in cycles
    #[arg(long, default_value_t = 16, value_name = "P")]
    pub p: u64,
    /// Number of stages
    #[arg(long, default_value_t = 4, value_name = "M")]
    pub m: u64,
    /// Instructions per stage
    #[arg(long, default_value_t = 16, value_name = "N")]
    pub n: u64,
    /// Let the instruction between stages wait for a short one, so that GUB also fails under gto
    #[arg(long)]
    pub gated: bool,
    /// Write kernel.warp and machine.ron into DIR instead of to stdout
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    #[command(flatten)]
    pub writing: Writing,
}

/// The families of kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum FamilyName {
    /// Two warps that block each other; their makespan can be any multiple of GUB
    PingPong,
}
