//! Traces out.

use std::path::PathBuf;

use super::{OneKernel, Writing};
use crate::accelsim::Pattern;

#[derive(Debug, clap::Args)]
pub struct Export {
    /// The folder
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    #[command(flatten)]
    pub writing: Writing,
    #[command(flatten)]
    pub on: OneKernel,
}

#[derive(Debug, clap::Args)]
pub struct Synthetic {
    /// What the instructions are like
    #[arg(value_enum)]
    pub pattern: PatternName,
    /// The folder
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    /// Blocks
    #[arg(long, default_value_t = 16, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub blocks: u32,
    /// Warps of a block
    #[arg(long, default_value_t = 8, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=32))]
    pub warps: u32,
    /// Instructions of a warp, about
    #[arg(long, default_value_t = 1000, value_name = "N")]
    pub instructions: u64,
    /// Seed of what is drawn
    #[arg(long, default_value_t = 0, value_name = "N")]
    pub seed: u64,
    #[command(flatten)]
    pub writing: Writing,
}

/// Kinds of made-up traces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum PatternName {
    /// Tiles through shared memory to sums of products, with barriers
    Gemm,
    /// Nothing but arithmetic
    Arithmetic,
    /// Two loads and a store of words side by side for each sum
    Streaming,
    /// Each load reads the address of the next, anywhere
    Chase,
}

impl PatternName {
    /// The pattern.
    pub fn pattern(self) -> Pattern {
        match self {
            Self::Gemm => Pattern::Gemm,
            Self::Arithmetic => Pattern::Arithmetic,
            Self::Streaming => Pattern::Streaming,
            Self::Chase => Pattern::Chase,
        }
    }
}
