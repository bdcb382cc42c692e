//! The instrumentation points of a kernel.

use std::fmt;

use super::ipg::{Ipg, IpgError, with_end};
use warpbound_core::base::Pc;
use warpbound_core::program::KernelCode;
use warpbound_core::program::graph::LoopTree;
use warpbound_core::program::sem::Sem;
use warpbound_core::program::warp_cfg::{Divergence, IrreducibleCode, WarpCfg};
use warpbound_trace::trace::IpointMap;

/// The points that are instrumented besides the entry and the end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Density {
    /// Every basic block, except those that consist only of an `exit`.
    #[default]
    Blocks,
    /// The headers of loops.
    Loops,
}

/// A kernel with ipoints: `b0`, `b1`, .. at the starts of its basic blocks, and `end`, which a warp
/// passes when its last result is available.
#[derive(Clone, Debug)]
pub struct Instrumented {
    /// The graph of the ipoints.
    pub ipg: Ipg,
    /// The positions of the ipoints in the code.
    pub map: IpointMap,
    /// The names of the ipoints, by number.
    pub names: Vec<String>,
    /// The source line of the instruction after each ipoint; 0 at the end.
    pub lines: Vec<u32>,
    /// The source line of the header of each loop of the graph.
    pub loop_lines: Vec<u32>,
}

/// The reason why a kernel has no instrumentation point graph.
#[derive(Clone, Debug)]
pub enum NoGraph {
    /// A function is irreducible.
    Function(Box<IrreducibleCode>),
    /// The combined graph of all functions cannot be used.
    Ipg(IpgError),
    /// The threads of a warp are scheduled independently of each other.
    Independent,
}

impl fmt::Display for NoGraph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Function(code) => write!(f, "the control flow of `{}` is irreducible", code.function),
            Self::Ipg(error) => error.fmt(f),
            Self::Independent => f.write_str(
                "the threads of a warp take turns in this machine code, so no graph has all paths of a warp",
            ),
        }
    }
}

impl std::error::Error for NoGraph {}

impl Instrumented {
    /// Determines the ipoints of a program, launched in blocks of this size, if the size is known.
    ///
    /// # Errors
    /// Returns an error for a cycle in the control flow that is not a loop, and for code whose threads
    /// are scheduled independently of each other.
    pub fn new(
        program: &KernelCode,
        block: Option<[u32; 3]>,
        divergence: Divergence,
        density: Density,
    ) -> Result<Self, NoGraph> {
        if program.has_independent_threads() {
            return Err(NoGraph::Independent);
        }
        let code = WarpCfg::new(program, block, divergence).map_err(NoGraph::Function)?;
        let graph = with_end(&code.lanes);
        let end = graph.len() - 1;
        let tree = LoopTree::new(&graph).map_err(|found| NoGraph::Ipg(IpgError::Irreducible(found)))?;
        let added: Vec<(usize, usize)> = code.added.iter().map(|edge| (edge.from, edge.to)).collect();
        // on some machines the exit that ends a warp does not issue: an ipoint before it would not
        // be visible there
        let only_exits = |node: usize| {
            code.blocks.get(node).is_some_and(|block| {
                block.end.get() == block.start.get() + 1
                    && matches!(program.instrs[block.start.index()].sem, Sem::Exit)
            })
        };
        let chosen = |node: usize| match density {
            Density::Blocks => !only_exits(node),
            Density::Loops => tree.loops.iter().any(|of| of.header == node) && !only_exits(node),
        };
        let name = |node: usize| if node == end { "end".to_owned() } else { format!("b{node}") };
        let ipg = Ipg::new(&graph, &added, chosen, name).map_err(NoGraph::Ipg)?;
        let line =
            |node: usize| code.blocks.get(node).map_or(0, |block| program.instrs[block.start.index()].line);
        let start = |ipoint: usize| code.blocks.get(ipg.node(ipoint)).map(|block| (block.start, ipoint));
        let last = ipg.len() - 1;
        let before: Vec<(Pc, usize)> = (0..ipg.len()).filter_map(start).collect();
        Ok(Self {
            map: IpointMap::new(before, last),
            names: ipg.names().map(str::to_owned).collect(),
            lines: (0..ipg.len()).map(|ipoint| line(ipg.node(ipoint))).collect(),
            loop_lines: ipg.loops().iter().map(|of| line(of.header)).collect(),
            ipg,
        })
    }
}
