//! The options of commands that write traces.

use std::path::PathBuf;

use super::{OneKernel, Writing};
use warpbound_front::accelsim::Pattern;

#[derive(Debug, clap::Args)]
pub struct Export {
    /// Folder for the traces
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    #[command(flatten)]
    pub writing: Writing,
    #[command(flatten)]
    pub on: OneKernel,
}

#[derive(Debug, clap::Args)]
pub struct Synthetic {
    /// Kind of instructions and addresses
    #[arg(value_enum)]
    pub pattern: PatternName,
    /// Folder for the trace
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    /// Number of blocks
    #[arg(long, default_value_t = 16, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub blocks: u32,
    /// Warps per block
    #[arg(long, default_value_t = 8, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=32))]
    pub warps: u32,
    /// Approximate number of instructions per warp
    #[arg(long, default_value_t = 1000, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub instructions: u64,
    /// Seed of the random choices
    #[arg(long, default_value_t = 0, value_name = "N")]
    pub seed: u64,
    #[command(flatten)]
    pub writing: Writing,
}

/// The kinds of artificial traces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum PatternName {
    /// Tiled matrix product through shared memory, with barriers
    Gemm,
    /// Arithmetic only
    Arithmetic,
    /// Two coalesced loads and a store for each sum
    Streaming,
    /// Pointer chasing: each load reads the address of the next, anywhere in memory
    Chase,
}

impl PatternName {
    /// Returns the pattern of this name.
    pub fn pattern(self) -> Pattern {
        match self {
            Self::Gemm => Pattern::Gemm,
            Self::Arithmetic => Pattern::Arithmetic,
            Self::Streaming => Pattern::Streaming,
            Self::Chase => Pattern::Chase,
        }
    }
}
