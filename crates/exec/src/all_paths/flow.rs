//! The control flow of a kernel and the functions that it calls, in the form that walks need.
//!
//! Blocks and loops are numbered across all functions, starting with the kernel.

use std::collections::HashMap;

use warpbound_core::base::Pc;
use warpbound_core::program::joins::{Irregular, MeetingPlace};
use warpbound_core::program::warp_cfg::{Divergence, FunctionCfg, IrreducibleCode, WarpCfg};
use warpbound_core::program::{KernelCode, Sem};

/// The blocks, loops and branches of a kernel.
pub(super) struct CodeFlow {
    functions: Vec<FunctionCfg>,
    /// For each block, whether lanes of a warp may diverge at its end.
    may_diverge: Vec<bool>,
    /// Whether lanes reconverge where instructions say it, and not at post-dominators.
    explicit: bool,
    /// For each block, the loop whose header it is.
    heads: Vec<Option<usize>>,
    loops: Vec<FlowLoop>,
}

/// A loop.
struct FlowLoop {
    /// The function that contains it.
    function: usize,
    /// Its number in the function.
    local: usize,
    /// Its first block.
    header: usize,
    /// The loop around it.
    parent: Option<usize>,
    /// The largest number of back edges that lanes take per entry of the loop, if it has a bound.
    bound: Option<u64>,
    /// Whether lanes may diverge in it and reconverge only after it.
    apart: bool,
    /// Whether some lanes may leave it, or wait for its end, while others iterate.
    splits: bool,
}

impl CodeFlow {
    /// Computes the flow of a program, for blocks of this size. `bounds` maps the first instruction
    /// of a loop of the kernel to the bound of the loop.
    ///
    /// # Errors
    /// Returns an error if the code is irreducible.
    pub(super) fn new(
        program: &KernelCode,
        block: [u32; 3],
        bounds: &HashMap<Pc, u64>,
    ) -> Result<Self, Box<IrreducibleCode>> {
        let WarpCfg { blocks, functions, diverges, .. } =
            WarpCfg::new(program, Some(block), Divergence::Sides)?;
        let mut flow = Self {
            heads: vec![None; blocks.len()],
            explicit: program.has_independent_threads(),
            loops: Vec::new(),
            may_diverge: diverges,
            functions: Vec::new(),
        };
        for (number, function) in functions.iter().enumerate() {
            let first_loop = flow.loops.len();
            for (local, found) in function.loops.loops.iter().enumerate() {
                let header = found.header + function.first;
                flow.heads[header] = Some(first_loop + local);
                let bound = bounds.get(&function.cfg.blocks[found.header].start).copied();
                let inside = |block: &usize| found.contains(*block);
                let diverging = |block: &&usize| flow.may_diverge[function.first + **block];
                let ways = |block: usize| function.cfg.graph.successors(block);
                let meets = |block: usize| function.joins.blocks[block].as_ref().is_some_and(inside);
                flow.loops.push(FlowLoop {
                    function: number,
                    local,
                    header,
                    parent: found.parent.map(|parent| first_loop + parent),
                    bound: bound.filter(|_| number == 0),
                    apart: found.body.iter().filter(diverging).any(|&block| {
                        ways(block).len() > 1 && ways(block).iter().all(inside) && !meets(block)
                    }),
                    splits: found.body.iter().filter(diverging).any(|&block| !meets(block)),
                });
            }
        }
        flow.functions = functions;
        Ok(flow)
    }

    /// Returns the number of the function that contains an instruction.
    fn function_of(&self, pc: Pc) -> usize {
        let start =
            |function: &FunctionCfg| function.cfg.blocks.first().map_or(Pc::new(0), |first| first.start);
        self.functions.partition_point(|function| start(function) <= pc) - 1
    }

    /// Returns the function that contains an instruction, and the function's own number of the block
    /// that does; an address after the program counts to the last block.
    fn place_of(&self, pc: Pc) -> (&FunctionCfg, usize) {
        let function = &self.functions[self.function_of(pc)];
        (function, function.cfg.block_of(pc))
    }

    /// Returns the block that contains an instruction, like [`CodeFlow::place_of`].
    fn block_of(&self, pc: Pc) -> usize {
        let (function, block) = self.place_of(pc);
        function.first + block
    }

    /// Returns whether two instructions are in the same function.
    pub(super) fn in_one_function(&self, one: Pc, other: Pc) -> bool {
        self.function_of(one) == self.function_of(other)
    }

    /// Returns the block that begins at an instruction.
    pub(super) fn block_at(&self, pc: Pc) -> Option<usize> {
        let function = &self.functions[self.function_of(pc)];
        let blocks = &function.cfg.blocks;
        blocks.binary_search_by_key(&pc, |block| block.start).ok().map(|block| function.first + block)
    }

    /// Returns the first instruction of a block.
    fn start_of(&self, block: usize) -> Pc {
        let function =
            &self.functions[self.functions.partition_point(|function| function.first <= block) - 1];
        function.cfg.blocks[block - function.first].start
    }

    /// Returns whether lanes of a warp may diverge at this branch.
    pub(super) fn may_diverge(&self, branch: Pc) -> bool {
        self.may_diverge[self.block_of(branch)]
    }

    /// Returns the instruction at which lanes that diverge at this branch wait for each other.
    pub(super) fn join(&self, branch: Pc, sem: &Sem) -> Option<Pc> {
        match sem {
            Sem::Branch { reconverge, .. } if !self.explicit => *reconverge,
            _ => {
                let (function, block) = self.place_of(branch);
                function.joins.innermost[block].map(|join| function.cfg.blocks[join].start)
            }
        }
    }

    /// Returns where lanes that diverge at this branch meet without a region of their own.
    pub(super) fn meeting_of(&self, branch: Pc) -> Option<MeetingPlace> {
        let (function, block) = self.place_of(branch);
        function.joins.meetings[block]
    }

    /// Returns the instruction at which lanes wait that have left regions by BREAK, if this branch
    /// parts them from the others, and whether they are the lanes that take it.
    pub(super) fn break_at(&self, branch: Pc) -> Option<(Pc, bool)> {
        let (function, block) = self.place_of(branch);
        function.joins.breaks[block].map(|way| (function.cfg.blocks[way.join].start, way.taken))
    }

    /// Returns the instruction at which the lanes wait that leave a region by this BREAK, if all lanes
    /// that reach it do.
    pub(super) fn exit_to(&self, leaving: Pc) -> Option<Pc> {
        let function = &self.functions[self.function_of(leaving)];
        function.joins.exits.get(&leaving).map(|&join| function.cfg.blocks[join].start)
    }

    /// Returns whether lanes that have left inner regions by BREAK arrive at the end of the region
    /// that this instruction opens.
    pub(super) fn is_reached_by_break(&self, opening: Pc) -> bool {
        self.functions[self.function_of(opening)].joins.reached_by_break.contains(&opening)
    }

    /// Returns the first instruction of a function for which it is not known in which regions the
    /// lanes are, given any of its instructions.
    pub(super) fn irregular(&self, pc: Pc) -> Option<Irregular> {
        self.functions[self.function_of(pc)].joins.irregular
    }

    /// Returns the loop whose header is this block.
    pub(super) fn loop_headed_by(&self, block: usize) -> Option<usize> {
        self.heads[block]
    }

    /// Returns whether a block is in a loop.
    pub(super) fn contains(&self, index: usize, block: usize) -> bool {
        let FlowLoop { function, local, .. } = self.loops[index];
        let function = &self.functions[function];
        let inside = block.checked_sub(function.first).filter(|&block| block < function.cfg.blocks.len());
        inside.is_some_and(|block| function.loops.loops[local].contains(block))
    }

    /// Returns whether an instruction is in a loop.
    pub(super) fn contains_pc(&self, index: usize, pc: Pc) -> bool {
        let end =
            self.functions.last().and_then(|last| last.cfg.blocks.last()).map_or(Pc::new(0), |last| last.end);
        pc < end && self.contains(index, self.block_of(pc))
    }

    /// Returns the bound of a loop on the number of back edges that lanes take per entry, if one is
    /// given.
    pub(super) fn bound(&self, index: usize) -> Option<u64> {
        self.loops[index].bound
    }

    /// Returns the innermost loop around an instruction.
    pub(super) fn innermost(&self, pc: Pc) -> Option<usize> {
        let number = self.function_of(pc);
        let function = &self.functions[number];
        let local = function.loops.innermost(function.cfg.block_of(pc))?;
        self.loops.iter().position(|found| found.function == number && found.local == local)
    }

    /// Returns the first instruction of a loop.
    pub(super) fn header(&self, index: usize) -> Pc {
        self.start_of(self.loops[index].header)
    }

    /// Returns whether lanes may diverge in a loop and iterate separately from each other, because
    /// they reconverge only after the loop.
    pub(super) fn diverges_permanently(&self, index: usize) -> bool {
        self.loops[index].apart
    }

    /// Returns whether some lanes may leave a loop, or wait for its end, while others iterate.
    pub(super) fn splits(&self, index: usize) -> bool {
        self.loops[index].splits
    }

    /// Returns the outermost loop around a loop.
    pub(super) fn outermost(&self, mut index: usize) -> usize {
        while let Some(parent) = self.loops[index].parent {
            index = parent;
        }
        index
    }

    /// Returns the largest number of times that lanes reach the header of a loop per entry of the
    /// outermost loop around it, if all of these loops have bounds.
    pub(super) fn most_arrivals(&self, index: usize) -> Option<u64> {
        let around = std::iter::successors(Some(index), |&index| self.loops[index].parent);
        around
            .map(|index| self.loops[index].bound)
            .try_fold(1u64, |most, bound| Some(most.saturating_mul(bound?.saturating_add(1))))
    }
}
