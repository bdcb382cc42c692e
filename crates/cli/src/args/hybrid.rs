//! The options of `hybrid`.

use std::path::PathBuf;

use super::{Common, Edges, PtxLaunch, Writing, at_least_one};

#[derive(Debug, clap::Args)]
pub struct Hybrid {
    /// Embedded kernel, launch .ron file, or .ptx with --entry --grid --block --arg
    ///
    /// `-` is stdin.
    #[arg(required_unless_present = "graph")]
    pub kernel: Option<String>,
    /// Runs to simulate
    ///
    /// The random data of each run are drawn from its own seed; the first is --seed, and each
    /// further one is larger by one.
    #[arg(long, default_value_t = 10, value_name = "N", value_parser = clap::value_parser!(u64).range(1..),
        conflicts_with = "traces")]
    pub runs: u64,
    /// Read traces of `run --trace FILE.ipoints` instead of simulating
    #[arg(long, value_name = "FILE", num_args = 1..)]
    pub traces: Vec<PathBuf>,
    /// Control flow graph of the traced code, instead of that of a kernel
    ///
    /// The file has one statement per line, the entry first: `a -> b c` for edges, `a ~> b` for an
    /// edge that divergence adds, `plain b` for a node without an ipoint; `block 4` and `barrier b`
    /// if 4 warps form a block and wait for each other at b.
    #[arg(long, value_name = "FILE", requires = "traces", conflicts_with = "kernel")]
    pub graph: Option<PathBuf>,
    /// Where to instrument the code, besides its entry and its end
    #[arg(long, value_enum, default_value_t = IpointsAt::Blocks, conflicts_with = "graph")]
    pub ipoints: IpointsAt,
    /// Which edges represent divergence, as in `cfg`
    #[arg(long, value_enum, default_value_t = Edges::Sides, conflicts_with = "graph")]
    pub edges: Edges,
    /// Bound the iterations per entry of the loop at source line LINE (repeatable)
    ///
    /// It replaces the observed number of iterations. LINE is the line of the loop header; with
    /// --graph, it is the node.
    #[arg(long, value_name = "LINE=N")]
    pub loop_bound: Vec<String>,
    /// Read such bounds from FILE, one LINE=N per line
    ///
    /// A # begins a comment.
    #[arg(long, value_name = "FILE")]
    pub annotations: Option<PathBuf>,
    /// Write the integer linear program to FILE in the LP format of CPLEX
    #[arg(long, value_name = "FILE")]
    pub dump_lp: Option<PathBuf>,
    /// Threads for several runs; the result does not depend on it [default: all cores]
    #[arg(long, value_name = "N", value_parser = at_least_one())]
    pub jobs: Option<usize>,
    #[command(flatten)]
    pub writing: Writing,
    #[command(flatten)]
    pub common: Common,
    #[command(flatten)]
    pub ptx: PtxLaunch,
}

/// The instrumented points of the code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum IpointsAt {
    /// Every basic block
    Blocks,
    /// The headers of loops
    Loops,
}
