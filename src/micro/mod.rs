//! Micro kernels (`*.warp`): worked examples and counterexamples, written by hand or by a search.
//!
//! One instruction a line: an op name that the machine maps to a unit, the destination (`_` for
//! none), the sources. `.warps N` opens the code of the next N warps; `bar` is a barrier; `ret`
//! ends a warp and is added where it is missing. An op whose name ends with `.global` brings its result from
//! global memory, which is where the two-level policy looks. `.blocks N` begins the next N blocks of a launch, the
//! warps that follow being those of each of them; without it there is one block. `.machine` and `.scheduler`
//! before all of these set the file's defaults.

pub mod family;
mod parse;
mod write;

use crate::base::{BlockId, LaneMask, Pc};
use crate::diag::{Diagnostics, SourceText};
use crate::machine::SchedulerKind;
use crate::path::{BarrierUse, BlockPaths, BlockSource, Step, WarpPath};
use crate::program::{Flow, Program};

pub use write::write;

/// A parsed micro kernel.
#[derive(Clone, Debug)]
pub struct MicroKernel {
    /// The machine the file asks for, a name or a path relative to the file.
    pub machine: Option<String>,
    /// The policy the file asks for.
    pub scheduler: Option<SchedulerKind>,
    /// The code of all warps, one after the other; equal warps share it.
    pub program: Program,
    /// First and one-past-last instruction of each warp, block after block; equal blocks of one `.blocks`
    /// stand here once.
    pub warps: Vec<(Pc, Pc)>,
    /// By block: its first warp in `warps`.
    pub blocks: Vec<usize>,
    /// Warps of a block, the same for all.
    pub block_warps: usize,
}

impl MicroKernel {
    /// Reads a `.warp` file. `name` is what the kernel is called in reports.
    ///
    /// # Errors
    /// Every line that is not an instruction or a directive.
    pub fn parse(name: &str, source: &SourceText) -> Result<Self, Diagnostics> {
        parse::parse(name, source)
    }

    /// A block of the kernel; nothing executes in one that does not exist.
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

    /// The kernel as a source of its blocks.
    pub fn source(&self) -> MicroSource<'_> {
        MicroSource { kernel: self, next: 0 }
    }
}

/// Yields a micro kernel's blocks.
#[derive(Clone, Debug)]
pub struct MicroSource<'a> {
    kernel: &'a MicroKernel,
    next: usize,
}

impl BlockSource for MicroSource<'_> {
    type Error = Diagnostics;

    fn next_block(&mut self, paths: &mut BlockPaths) -> Result<bool, Diagnostics> {
        let there = self.next < self.kernel.blocks.len();
        if there {
            *paths = self.kernel.paths(self.next);
            self.next += 1;
        }
        Ok(there)
    }
}
