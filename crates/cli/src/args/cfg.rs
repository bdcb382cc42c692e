//! The options of `cfg`.

use std::path::PathBuf;

use super::{PtxLaunch, Writing};
use crate::format::Format;

#[derive(Debug, clap::Args)]
pub struct Cfg {
    /// Embedded kernel, launch .ron file, or .ptx with --entry --grid --block --arg
    ///
    /// `-` is stdin.
    pub kernel: String,
    /// Which edges represent divergence
    #[arg(long, value_enum, default_value_t = Edges::Sides)]
    pub edges: Edges,
    /// Write the graph to FILE: .svg for a drawing, .dot for Graphviz (repeatable)
    #[arg(long, value_name = "FILE")]
    pub out: Vec<PathBuf>,
    /// The former option for a file in the language of Graphviz, whatever its ending
    #[arg(long, value_name = "FILE", hide = true)]
    pub dot: Option<PathBuf>,
    /// The former option for a drawing, whatever its ending
    #[arg(long, value_name = "FILE", hide = true)]
    pub svg: Option<PathBuf>,
    #[command(flatten)]
    pub writing: Writing,
    #[command(flatten)]
    pub ptx: PtxLaunch,
    /// Seed of random buffer contents
    #[arg(long, default_value_t = 0)]
    pub seed: u64,
    /// Form of the output
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
}

/// The edges that represent divergence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Edges {
    /// Edges from the ends of each side of a branch to its other sides
    Sides,
    /// The edges of figure 3 of Betts and Donaldson, ECRTS 2013
    Published,
}
