//! Micro kernels (`*.warp`): examples and counterexamples, written by hand or by a search.
//!
//! A line contains one instruction: an op name that the machine maps to a unit, the destination
//! (`_` for none), and the sources. `.warps N` starts the code of the next N warps; `bar` is a
//! barrier; `ret` terminates a warp and is added if it is missing. An op whose name ends with
//! `.global` loads its result from global memory, which is relevant for the two-level policy.
//! `.blocks N` starts the next N blocks of a launch, each of which has the warps that follow;
//! without it there is one block. The lines `.machine` and `.policy`, which come before all of
//! these, set the file's defaults.

pub mod family;
mod parse;
mod write;

use warpbound_core::base::{BlockId, LaneMask, Pc};
use warpbound_core::diag::{Diagnostics, SourceText};
use warpbound_core::machine::PolicyKind;
use warpbound_core::path::{BarrierUse, BlockPaths, BlockSource, Step, WarpPath};
use warpbound_core::program::{Flow, KernelCode};

pub use write::write;

/// A parsed micro kernel.
#[derive(Clone, Debug)]
pub struct MicroKernel {
    /// The default machine of the file: a name, or a path relative to the file.
    pub machine: Option<String>,
    /// The default policy of the file.
    pub policy: Option<PolicyKind>,
    /// The code of all warps in sequence; equal warps share it.
    pub program: KernelCode,
    /// The first instruction of each warp and one past its last, block by block; the equal blocks
    /// of one `.blocks` appear once.
    pub warps: Vec<(Pc, Pc)>,
    /// The index in `warps` of the first warp of each block.
    pub blocks: Vec<usize>,
    /// The number of warps of a block, the same for all blocks.
    pub block_warps: usize,
}

impl MicroKernel {
    /// Parses a `.warp` file. `name` is the kernel's name in reports.
    ///
    /// # Errors
    /// Returns a diagnostic for each line that is neither an instruction nor a directive.
    pub fn parse(name: &str, source: &SourceText) -> Result<Self, Diagnostics> {
        parse::parse(name, source)
    }

    /// Returns the paths of a block of the kernel; empty if the block does not exist.
    pub fn paths(&self, block: usize) -> BlockPaths {
        let warps = self.blocks.get(block).map_or(&[][..], |&first| &self.warps[first..][..self.block_warps]);
        let warps = warps.iter().map(|&(start, end)| self.path(start, end)).collect::<Vec<_>>();
        let mut paths = BlockPaths { block: BlockId::from_index(block), warps, ..BlockPaths::default() };
        paths.thread_instructions = paths.warp_instructions() * u64::from(LaneMask::ALL.count());
        paths
    }

    fn path(&self, start: Pc, end: Pc) -> WarpPath {
        let mut path = WarpPath::new();
        for index in start.index()..end.index() {
            let pc = Pc::from_index(index);
            let step = match self.program.instr(pc).flow {
                Flow::Barrier | Flow::Arrive => Step::with(pc, BarrierUse { id: 0, warps: 0 }),
                _ => Step::plain(pc),
            };
            path.push(if index + 1 == end.index() { step.ending_warp() } else { step }, LaneMask::ALL);
        }
        path
    }

    /// Returns a source of the kernel's blocks.
    pub fn source(&self) -> MicroSource<'_> {
        MicroSource { kernel: self, next: 0 }
    }
}

/// A source of a micro kernel's blocks.
#[derive(Clone, Debug)]
pub struct MicroSource<'a> {
    kernel: &'a MicroKernel,
    next: usize,
}

impl BlockSource for MicroSource<'_> {
    type Error = Diagnostics;

    fn next_block(&mut self, paths: &mut BlockPaths) -> Result<bool, Diagnostics> {
        let exists = self.next < self.kernel.blocks.len();
        if exists {
            *paths = self.kernel.paths(self.next);
            self.next += 1;
        }
        Ok(exists)
    }
}
