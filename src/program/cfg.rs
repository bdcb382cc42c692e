//! Control flow of a program: basic blocks and immediate post-dominators.
//!
//! A divergent branch reconverges at the immediate post-dominator of its block. Front ends call
//! [`Cfg::reconvergence`] once per function; leaving the function is one virtual exit node, and a
//! branch whose only post-dominator that is reconverges nowhere.

use super::graph::FlowGraph;
use super::sem::Sem;
use super::{Flow, Instr, Program};
use crate::base::Pc;

/// Where control can go from an instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Successors {
    /// Whether it may go on to the next instruction.
    pub falls_through: bool,
    /// Branch targets.
    pub targets: Vec<Pc>,
    /// Whether lanes may leave the function here.
    pub leaves: bool,
    /// Whether other code may run before the next instruction: that of a function which is called.
    pub calls: bool,
}

impl Successors {
    /// An instruction that only goes on.
    pub fn next() -> Self {
        Self { falls_through: true, targets: Vec::new(), leaves: false, calls: false }
    }

    /// Those of an instruction. A call goes on behind it.
    pub fn of(instr: &Instr) -> Self {
        let guarded = instr.guard.is_some();
        let (targets, ends) = match &instr.sem {
            Sem::Branch { target, .. } => (vec![*target], false),
            Sem::BranchTable { targets, .. } => (targets.clone(), false),
            // a trap ends the run with an error, so where lanes would go is of no interest; counting it
            // as a way out would take the join from every branch around an assertion
            Sem::Exit | Sem::Return => {
                return Self { falls_through: guarded, leaves: true, ..Self::next() };
            }
            // straight-line code without meaning
            Sem::None if instr.flow == Flow::Exit => {
                return Self { falls_through: false, leaves: true, ..Self::next() };
            }
            _ => (Vec::new(), true),
        };
        let calls = matches!(instr.sem, Sem::Call(_) | Sem::CallPointer(_));
        Self { falls_through: guarded || ends, targets, leaves: false, calls }
    }

    fn ends_block(&self) -> bool {
        !self.falls_through || !self.targets.is_empty() || self.leaves || self.calls
    }
}

/// A maximal run of instructions entered only at its first and left only after its last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BasicBlock {
    /// First instruction.
    pub start: Pc,
    /// One past the last instruction.
    pub end: Pc,
}

/// Blocks of one function and their immediate post-dominators.
#[derive(Clone, Debug)]
pub struct Cfg {
    /// By ascending start.
    pub blocks: Vec<BasicBlock>,
    /// Index of each block's immediate post-dominator; `None` if that is the exit.
    pub post_dominator: Vec<Option<usize>>,
    /// Where control goes from each block, by index.
    pub graph: FlowGraph,
}

impl Cfg {
    /// Analyses the function whose instructions are `first ..`, one entry of `flow` each.
    pub fn new(first: Pc, flow: &[Successors]) -> Self {
        let mut leader = vec![false; flow.len()];
        if let Some(start) = leader.first_mut() {
            *start = true;
        }
        for (index, successors) in flow.iter().enumerate() {
            if successors.ends_block() && index + 1 < flow.len() {
                leader[index + 1] = true;
            }
            for target in &successors.targets {
                leader[target.index() - first.index()] = true;
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
            leaves[block] = last.leaves || last.falls_through && end == flow.len();
            for index in last.targets.iter().map(|t| t.index() - first.index()).chain(falls) {
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

    /// The last instruction of a block.
    pub fn last<'p>(&self, program: &'p Program, block: usize) -> &'p Instr {
        &program.instrs[self.blocks[block].end.index() - 1]
    }

    /// The block that holds an instruction.
    pub fn block_of(&self, pc: Pc) -> usize {
        self.blocks.partition_point(|block| block.start <= pc) - 1
    }

    /// Where the branch that ends the block of `pc` reconverges.
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
        // going round again may still break, so even the loop's own branch joins only at the exit
        assert_eq!(cfg.reconvergence(Pc::new(2)), Some(Pc::new(4)));
    }

    #[test]
    fn code_without_an_exit_has_no_post_dominators() {
        let flow = [Successors::next(), branch(0, false)];
        assert_eq!(Cfg::new(Pc::new(0), &flow).reconvergence(Pc::new(1)), None);
    }
}
