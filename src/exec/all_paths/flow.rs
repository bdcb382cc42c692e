//! The control flow of a kernel as walks ask about it.

use std::collections::HashMap;

use crate::base::Pc;
use crate::program::Program;
use crate::program::warp_cfg::{Divergence, FunctionCfg, IrreducibleCode, WarpCfg};

/// Blocks, loops and branches of a kernel.
pub(super) struct CodeFlow {
    kernel: FunctionCfg,
    /// By block: whether lanes of a warp may part at its end.
    may_part: Vec<bool>,
    /// By block: the loop that it is the beginning of.
    heads: Vec<Option<usize>>,
    /// By loop: how often lanes go back to its beginning at most, each time they come to it.
    bounds: Vec<Option<u64>>,
    /// By loop: see [`Self::parts_for_good`].
    apart: Vec<bool>,
    /// One past the kernel's last instruction.
    end: Pc,
}

impl CodeFlow {
    /// The flow of a program's kernel, for blocks of this size; bounds by the first instruction of their loop.
    ///
    /// # Errors
    /// Code that is irreducible.
    pub(super) fn new(
        program: &Program,
        block: [u32; 3],
        bounds: &HashMap<Pc, u64>,
    ) -> Result<Self, Box<IrreducibleCode>> {
        let WarpCfg { functions, diverges, .. } = WarpCfg::new(program, Some(block), Divergence::Sides)?;
        let kernel = functions.into_iter().next().expect("the kernel is the first function");
        let mut heads = vec![None; kernel.cfg.blocks.len()];
        kernel.loops.loops.iter().enumerate().for_each(|(index, found)| heads[found.header] = Some(index));
        let first = |header: usize| kernel.cfg.blocks[header].start;
        let bounds =
            kernel.loops.loops.iter().map(|found| bounds.get(&first(found.header)).copied()).collect();
        let apart = kernel.loops.loops.iter().map(|found| {
            let inside = |block: &usize| found.contains(*block);
            found.body.iter().any(|&block| {
                let ways = kernel.cfg.graph.successors(block);
                let meet = kernel.cfg.post_dominator[block];
                diverges[block]
                    && ways.len() > 1
                    && ways.iter().all(inside)
                    && !meet.as_ref().is_some_and(inside)
            })
        });
        let apart = apart.collect();
        let end = kernel.cfg.blocks.last().map_or(Pc::new(0), |block| block.end);
        Ok(Self { may_part: diverges, heads, bounds, apart, end, kernel })
    }

    /// The block that begins at an instruction.
    pub(super) fn block_at(&self, pc: Pc) -> Option<usize> {
        let blocks = &self.kernel.cfg.blocks;
        blocks.binary_search_by_key(&pc, |block| block.start).ok()
    }

    /// Whether lanes of a warp may part at the branch there.
    pub(super) fn may_part(&self, branch: Pc) -> bool {
        self.may_part[self.kernel.cfg.block_of(branch)]
    }

    /// The loop that begins with a block.
    pub(super) fn loop_headed_by(&self, block: usize) -> Option<usize> {
        self.heads[block]
    }

    /// Whether a block is in a loop.
    pub(super) fn contains(&self, index: usize, block: usize) -> bool {
        self.kernel.loops.loops[index].contains(block)
    }

    /// Whether an instruction is in a loop.
    pub(super) fn contains_pc(&self, index: usize, pc: Pc) -> bool {
        pc < self.end && self.contains(index, self.kernel.cfg.block_of(pc))
    }

    /// How often lanes go back to the beginning of a loop at most, if somebody said so.
    pub(super) fn bound(&self, index: usize) -> Option<u64> {
        self.bounds[index]
    }

    /// The innermost loop around an instruction.
    pub(super) fn innermost(&self, pc: Pc) -> Option<usize> {
        self.kernel.loops.innermost(self.kernel.cfg.block_of(pc))
    }

    /// The first instruction of a loop.
    pub(super) fn header(&self, index: usize) -> Pc {
        self.kernel.cfg.blocks[self.kernel.loops.loops[index].header].start
    }

    /// Whether lanes may part in a loop and go round apart from each other, since they meet only behind it.
    pub(super) fn parts_for_good(&self, index: usize) -> bool {
        self.apart[index]
    }

    /// The outermost of the loops around one.
    pub(super) fn outermost(&self, mut index: usize) -> usize {
        while let Some(parent) = self.kernel.loops.loops[index].parent {
            index = parent;
        }
        index
    }

    /// How often lanes come to the beginning of a loop at most each time that they come to the outermost loop around it,
    /// if all of these have bounds.
    pub(super) fn most_arrivals(&self, index: usize) -> Option<u64> {
        let around = std::iter::successors(Some(index), |&index| self.kernel.loops.loops[index].parent);
        around
            .map(|index| self.bounds[index])
            .try_fold(1u64, |most, bound| Some(most.saturating_mul(bound?.saturating_add(1))))
    }
}
