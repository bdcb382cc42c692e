//! Micro kernels (`*.warp`): worked examples and counterexamples, written by hand or by a search.
//!
//! One instruction a line: an op name that the machine maps to a unit, the destination (`_` for
//! none), the sources. `.warps N` opens the code of the next N warps; `bar` is a barrier; `ret`
//! ends a warp and is added where it is missing. `.machine` and `.scheduler` before the first
//! `.warps` set the file's defaults.

pub mod family;
mod parse;
mod write;

use crate::base::{BlockId, LaneMask, Pc, WarpId};
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
    /// First and one-past-last instruction of each warp.
    pub warps: Vec<(Pc, Pc)>,
}

impl MicroKernel {
    /// Reads a `.warp` file. `name` is what the kernel is called in reports.
    ///
    /// # Errors
    /// Every line that is not an instruction or a directive.
    pub fn parse(name: &str, source: &SourceText) -> Result<Self, Diagnostics> {
        parse::parse(name, source)
    }

    /// The one block of the kernel.
    pub fn paths(&self) -> BlockPaths {
        let warps = self.warps.iter().map(|&(start, end)| self.path(start, end)).collect::<Vec<_>>();
        let mut paths = BlockPaths { block: BlockId::new(0), warps, ..BlockPaths::default() };
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

    /// The kernel as a source of its one block.
    pub fn source(&self) -> MicroSource {
        MicroSource { paths: Some(self.paths()) }
    }

    /// The number of warps.
    pub fn warp_ids(&self) -> impl Iterator<Item = WarpId> {
        (0..self.warps.len()).map(WarpId::from_index)
    }
}

/// Yields a micro kernel's block once.
#[derive(Clone, Debug)]
pub struct MicroSource {
    paths: Option<BlockPaths>,
}

impl BlockSource for MicroSource {
    type Error = Diagnostics;

    fn next_block(&mut self, paths: &mut BlockPaths) -> Result<bool, Diagnostics> {
        Ok(self.paths.take().map(|block| *paths = block).is_some())
    }
}
