//! The control flow of a program: basic blocks and their immediate post-dominators.
//!
//! A divergent branch reconverges at the immediate post-dominator of its block. Front ends build a
//! [`Cfg`] for each function and look up the reconvergence points of its branches with
//! [`Cfg::reconvergence`]. All exits of a function lead to one virtual exit node; a branch whose
//! only post-dominator is that node has no reconvergence point.

use super::graph::FlowGraph;
use super::sem::{Region, Sem, straight};
use super::{Flow, Instr, KernelCode};
use crate::base::Pc;

/// The successors of an instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Successors {
    /// Whether control may continue with the next instruction.
    pub falls_through: bool,
    /// The branch targets.
    pub targets: Vec<Pc>,
    /// Whether lanes may leave the function here.
    pub leaves: bool,
    /// Whether a called function runs before the next instruction.
    pub calls: bool,
    /// Whether lanes that have diverged continue together at the next instruction (BSYNC).
    pub rejoins: bool,
}

impl Successors {
    /// The successors of an instruction that always falls through.
    pub fn next() -> Self {
        Self { falls_through: true, targets: Vec::new(), leaves: false, calls: false, rejoins: false }
    }

    /// Returns the successors of an instruction. A call falls through to the instruction after it.
    pub fn of(instr: &Instr) -> Self {
        let guarded = instr.guard.is_some();
        let (targets, ends) = match &instr.sem {
            Sem::Branch { target, .. } => (vec![*target], false),
            Sem::BranchTable { targets, .. } => (targets.clone(), false),
            Sem::Collect { onward, .. } => (vec![*onward], true),
            // A trap aborts the run with an error, so its successors do not matter. If it counted
            // as an exit, no branch around an assertion would have a reconvergence point.
            Sem::Exit | Sem::Return { .. } => {
                return Self { falls_through: guarded, leaves: true, ..Self::next() };
            }
            // the exit of straight-line code without semantics
            Sem::None if instr.flow == Flow::Exit => {
                return Self { falls_through: false, leaves: true, ..Self::next() };
            }
            straight!() | Sem::Call(_) | Sem::CallPointer(_) => (Vec::new(), true),
            Sem::OpenRegion { .. }
            | Sem::CloseRegion { .. }
            | Sem::LeaveRegion { .. }
            | Sem::Yield
            | Sem::EndCollective
            | Sem::Trap { .. } => (Vec::new(), true),
        };
        let calls = matches!(instr.sem, Sem::Call(_) | Sem::CallPointer(_));
        let rejoins = matches!(instr.sem, Sem::CloseRegion { region: Region::Barrier(_) });
        Self { falls_through: guarded || ends, targets, leaves: false, calls, rejoins }
    }

    fn ends_block(&self) -> bool {
        !self.falls_through || !self.targets.is_empty() || self.leaves || self.calls || self.rejoins
    }
}

/// A basic block: a maximal sequence of instructions that control enters only at the first one and
/// leaves only after the last one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BasicBlock {
    /// The first instruction.
    pub start: Pc,
    /// One past the last instruction.
    pub end: Pc,
}

/// The basic blocks of one function and their immediate post-dominators.
#[derive(Clone, Debug)]
pub struct Cfg {
    /// The blocks in ascending order of address.
    pub blocks: Vec<BasicBlock>,
    /// The index of each block's immediate post-dominator; `None` if it is the virtual exit.
    pub post_dominator: Vec<Option<usize>>,
    /// The control flow graph, whose nodes are the indices of the blocks.
    pub graph: FlowGraph,
}

impl Cfg {
    /// Analyses a function that begins at `first` and has one instruction per element of `flow`.
    pub fn new(first: Pc, flow: &[Successors]) -> Self {
        // machine code may branch into another function; its lanes leave this one
        let inside =
            |target: Pc| target.index().checked_sub(first.index()).filter(|&index| index < flow.len());
        let mut leader = vec![false; flow.len()];
        if let Some(start) = leader.first_mut() {
            *start = true;
        }
        for (index, successors) in flow.iter().enumerate() {
            if successors.ends_block() && index + 1 < flow.len() {
                leader[index + 1] = true;
            }
            for index in successors.targets.iter().filter_map(|&target| inside(target)) {
                leader[index] = true;
            }
        }
        let starts: Vec<usize> = (0..flow.len()).filter(|&i| leader[i]).collect();
        let block_of = |index: usize| starts.partition_point(|&start| start <= index) - 1;
        let ends = starts.iter().skip(1).copied().chain(std::iter::once(flow.len()));
        let ranges: Vec<(usize, usize)> = starts.iter().copied().zip(ends).collect();

        let mut successors = vec![Vec::new(); ranges.len()];
        let mut leaves = vec![false; ranges.len()];
        for (block, &(_, end)) in ranges.iter().enumerate() {
            let last = &flow[end - 1];
            let falls = last.falls_through.then_some(end).filter(|&next| next < flow.len());
            let outside = last.targets.iter().any(|&target| inside(target).is_none());
            leaves[block] = last.leaves || outside || last.falls_through && end == flow.len();
            for index in last.targets.iter().filter_map(|&target| inside(target)).chain(falls) {
                let to = block_of(index);
                if !successors[block].contains(&to) {
                    successors[block].push(to);
                }
            }
        }
        let graph = FlowGraph::new(successors, leaves);
        let post_dominator = graph.post_dominators();
        let pc = |index: usize| Pc::from_index(first.index() + index);
        let blocks = ranges.into_iter().map(|(s, e)| BasicBlock { start: pc(s), end: pc(e) }).collect();
        Self { blocks, post_dominator, graph }
    }

    /// Returns the terminator of a block.
    pub fn last<'p>(&self, program: &'p KernelCode, block: usize) -> &'p Instr {
        &program.instrs[self.blocks[block].end.index() - 1]
    }

    /// Returns the block that contains an instruction.
    pub fn block_of(&self, pc: Pc) -> usize {
        self.blocks.partition_point(|block| block.start <= pc) - 1
    }

    /// Returns the reconvergence point of the branch that terminates the block of `pc`.
    pub fn reconvergence(&self, pc: Pc) -> Option<Pc> {
        self.post_dominator[self.block_of(pc)].map(|block| self.blocks[block].start)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn branch(target: u32, conditional: bool) -> Successors {
        Successors { falls_through: conditional, targets: vec![Pc::new(target)], ..Successors::next() }
    }

    fn ret() -> Successors {
        Successors { falls_through: false, leaves: true, ..Successors::next() }
    }

    #[test]
    fn if_else_joins_after_both_arms() {
        // 0: bra 3; 1: then; 2: bra 4; 3: else; 4: ret
        let flow = [branch(3, true), Successors::next(), branch(4, false), Successors::next(), ret()];
        let cfg = Cfg::new(Pc::new(0), &flow);
        assert_eq!(cfg.reconvergence(Pc::new(0)), Some(Pc::new(4)));
        assert_eq!(cfg.blocks.len(), 4);
    }

    #[test]
    fn early_return_leaves_no_join() {
        // 10: bra 12; 11: ret; 12: ret
        let flow = [branch(12, true), ret(), ret()];
        assert_eq!(Cfg::new(Pc::new(10), &flow).reconvergence(Pc::new(10)), None);
    }

    #[test]
    fn loop_with_break_joins_at_its_exit() {
        // 0: body; 1: bra 4 (break); 2: bra 0 (again); 3: bra 4; 4: ret
        let flow = [Successors::next(), branch(4, true), branch(0, true), branch(4, false), ret()];
        let cfg = Cfg::new(Pc::new(0), &flow);
        assert_eq!(cfg.reconvergence(Pc::new(1)), Some(Pc::new(4)));
        // another iteration may still break, so even the loop's back edge reconverges only at the
        // exit
        assert_eq!(cfg.reconvergence(Pc::new(2)), Some(Pc::new(4)));
    }

    #[test]
    fn a_branch_into_another_function_leaves_this_one() {
        // 5: bra 2, 6: bra 30, 7: ret
        let flow = [branch(2, true), branch(30, false), ret()];
        let cfg = Cfg::new(Pc::new(5), &flow);
        assert_eq!(cfg.blocks.len(), 3);
        assert!((0..3).all(|block| cfg.graph.leaves(block)));
        assert_eq!(cfg.graph.successors(0), [1]);
    }

    #[test]
    fn code_without_an_exit_has_no_post_dominators() {
        let flow = [Successors::next(), branch(0, false)];
        assert_eq!(Cfg::new(Pc::new(0), &flow).reconvergence(Pc::new(1)), None);
    }
}
