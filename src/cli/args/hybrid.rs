//! The hybrid analysis.

use std::path::PathBuf;

use super::{Common, Edges, PtxLaunch, Writing};

#[derive(Debug, clap::Args)]
pub struct Hybrid {
    /// Embedded kernel, launch .ron file, or .ptx with --entry --grid --block --arg; `-` is stdin
    #[arg(required_unless_present = "graph")]
    pub kernel: Option<String>,
    /// Runs to simulate; the random data of each is drawn with the next seed, from --seed on
    #[arg(long, default_value_t = 10, value_name = "N", value_parser = clap::value_parser!(u64).range(1..),
        conflicts_with = "traces")]
    pub runs: u64,
    /// Read traces in the place of simulated runs, as `run --trace FILE.ipoints` writes them
    #[arg(long, value_name = "FILE", num_args = 1..)]
    pub traces: Vec<PathBuf>,
    /// Traces are of this control flow graph, not of a kernel: `a -> b c`, `a ~> b` if divergence adds it, `plain b` for no
    /// ipoint, the entry first; `block 4` and `barrier b` if 4 warps are a block and wait for each other at b
    #[arg(long, value_name = "FILE", requires = "traces", conflicts_with = "kernel")]
    pub graph: Option<PathBuf>,
    /// What is instrumented besides the entry and the end
    #[arg(long, value_enum, default_value_t = IpointsAt::Blocks, conflicts_with = "graph")]
    pub ipoints: IpointsAt,
    /// Which edges stand for divergence, as in `cfg`
    #[arg(long, value_enum, default_value_t = Edges::Sides, conflicts_with = "graph")]
    pub edges: Edges,
    /// Iterations per entry of the loop whose header is on this line of the source (of a graph: at this node), in the place of
    /// what was observed
    #[arg(long, value_name = "LINE=N")]
    pub loop_bound: Vec<String>,
    /// A file of such bounds, LINE=N a line; a # begins a comment
    #[arg(long, value_name = "FILE")]
    pub annotations: Option<PathBuf>,
    /// Write the integer linear program in the LP format of CPLEX
    #[arg(long, value_name = "FILE")]
    pub dump_lp: Option<PathBuf>,
    /// Threads for several runs; the result does not depend on it [default: all cores]
    #[arg(long, value_name = "N")]
    pub jobs: Option<usize>,
    #[command(flatten)]
    pub writing: Writing,
    #[command(flatten)]
    pub common: Common,
    #[command(flatten)]
    pub ptx: PtxLaunch,
}

/// What is instrumented.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum IpointsAt {
    /// Every basic block
    Blocks,
    /// The headers of loops
    Loops,
}
