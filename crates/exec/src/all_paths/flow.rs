//! The control flow of a kernel, in the form that walks need.

use std::collections::HashMap;

use warpbound_core::base::Pc;
use warpbound_core::program::KernelCode;
use warpbound_core::program::warp_cfg::{Divergence, FunctionCfg, IrreducibleCode, WarpCfg};

/// The blocks, loops and branches of a kernel.
pub(super) struct CodeFlow {
    kernel: FunctionCfg,
    /// For each block, whether lanes of a warp may diverge at its end.
    may_diverge: Vec<bool>,
    /// For each block, the loop whose header it is.
    heads: Vec<Option<usize>>,
    /// For each loop, the largest number of back edges that lanes take per entry of the loop.
    bounds: Vec<Option<u64>>,
    /// For each loop, whether lanes may diverge in it and reconverge only after it.
    apart: Vec<bool>,
    /// The address after the kernel's last instruction.
    end: Pc,
}

impl CodeFlow {
    /// Computes the flow of a program's kernel, for blocks of this size. `bounds` maps the first
    /// instruction of a loop to the bound of the loop.
    ///
    /// # Errors
    /// Returns an error if the code is irreducible.
    pub(super) fn new(
        program: &KernelCode,
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
        Ok(Self { may_diverge: diverges, heads, bounds, apart, end, kernel })
    }

    /// Returns the block that begins at an instruction.
    pub(super) fn block_at(&self, pc: Pc) -> Option<usize> {
        let blocks = &self.kernel.cfg.blocks;
        blocks.binary_search_by_key(&pc, |block| block.start).ok()
    }

    /// Returns whether lanes of a warp may diverge at this branch.
    pub(super) fn may_diverge(&self, branch: Pc) -> bool {
        self.may_diverge[self.kernel.cfg.block_of(branch)]
    }

    /// Returns the loop whose header is this block.
    pub(super) fn loop_headed_by(&self, block: usize) -> Option<usize> {
        self.heads[block]
    }

    /// Returns whether a block is in a loop.
    pub(super) fn contains(&self, index: usize, block: usize) -> bool {
        self.kernel.loops.loops[index].contains(block)
    }

    /// Returns whether an instruction is in a loop.
    pub(super) fn contains_pc(&self, index: usize, pc: Pc) -> bool {
        pc < self.end && self.contains(index, self.kernel.cfg.block_of(pc))
    }

    /// Returns the bound of a loop on the number of back edges that lanes take per entry, if one is
    /// given.
    pub(super) fn bound(&self, index: usize) -> Option<u64> {
        self.bounds[index]
    }

    /// Returns the innermost loop around an instruction.
    pub(super) fn innermost(&self, pc: Pc) -> Option<usize> {
        self.kernel.loops.innermost(self.kernel.cfg.block_of(pc))
    }

    /// Returns the first instruction of a loop.
    pub(super) fn header(&self, index: usize) -> Pc {
        self.kernel.cfg.blocks[self.kernel.loops.loops[index].header].start
    }

    /// Returns whether lanes may diverge in a loop and iterate separately from each other, because
    /// they reconverge only after the loop.
    pub(super) fn diverges_permanently(&self, index: usize) -> bool {
        self.apart[index]
    }

    /// Returns the outermost loop around a loop.
    pub(super) fn outermost(&self, mut index: usize) -> usize {
        while let Some(parent) = self.kernel.loops.loops[index].parent {
            index = parent;
        }
        index
    }

    /// Returns the largest number of times that lanes reach the header of a loop per entry of the
    /// outermost loop around it, if all of these loops have bounds.
    pub(super) fn most_arrivals(&self, index: usize) -> Option<u64> {
        let around = std::iter::successors(Some(index), |&index| self.kernel.loops.loops[index].parent);
        around
            .map(|index| self.bounds[index])
            .try_fold(1u64, |most, bound| Some(most.saturating_mul(bound?.saturating_add(1))))
    }
}
