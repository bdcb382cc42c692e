//! The control flow graph of warps: the control flow of lanes, calls included, and the additional
//! edges that a warp can take because its lanes diverge.
//!
//! Machine code whose threads are scheduled independently has only the edges of lanes, and PTX in which
//! lanes wait at `bar.warp.sync` for lanes on the other side of a branch may leave the graph there.
//! For other code, every path of a warp is a walk in [`WarpCfg::warps`], but not necessarily in [`WarpCfg::lanes`],
//! the control flow of single lanes (Betts and Donaldson, "Estimating the WCET of GPU-Accelerated
//! Applications using Hybrid Analysis", ECRTS 2013, section IV). Loops are detected per function,
//! before divergence edges make its graph irreducible; a call counts as a step that falls through.

use super::KernelCode;
use super::cfg::{BasicBlock, Cfg, Successors};
use super::graph::{DivergentEdge, FlowGraph, Irreducible, LoopTree, divergent_edges, published_edges};
use super::joins::Joins;
use super::sem::{Sem, jump, straight};
use super::uniform::Uniformity;
use crate::base::Pc;
use crate::diag::Diagnostic;
use crate::path::Step;

/// The algorithm that adds the edges of divergence.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Divergence {
    /// From the ends of each side of a branch to the other sides: [`divergent_edges`].
    #[default]
    Sides,
    /// The published algorithm: [`published_edges`].
    Published,
}

/// The code of one function.
#[derive(Clone, Debug)]
pub struct FunctionCfg {
    /// The name; for the kernel, that of the program.
    pub name: String,
    /// The index of its first block in [`WarpCfg::blocks`].
    pub first: usize,
    /// The blocks of the function, numbered from 0.
    pub cfg: Cfg,
    /// The loops, in terms of the function's own block numbers.
    pub loops: LoopTree,
    /// Where lanes reconverge, in terms of the function's own block numbers.
    pub joins: Joins,
}

/// The control flow of a program's warps. Blocks are numbered across all functions, starting with
/// the kernel.
#[derive(Clone, Debug)]
pub struct WarpCfg {
    /// The blocks in ascending order of address.
    pub blocks: Vec<BasicBlock>,
    /// The kernel, followed by the functions that it may call.
    pub functions: Vec<FunctionCfg>,
    /// The control flow of lanes. A call leads into the function, whose exits lead to the block
    /// after the call.
    pub lanes: FlowGraph,
    /// The edges that divergence adds.
    pub added: Vec<DivergentEdge>,
    /// The control flow of warps: [`lanes`](Self::lanes) with the [added](Self::added) edges.
    pub warps: FlowGraph,
    /// For each block, whether the lanes of a warp may diverge at its end.
    pub diverges: Vec<bool>,
}

/// An irreducible cycle: a function has a cycle that is not a natural loop, so results about loops
/// do not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IrreducibleCode {
    /// The name of the function.
    pub function: String,
    /// The branch that closes the cycle.
    pub from: Pc,
    /// The target of that branch.
    pub to: Pc,
}

impl IrreducibleCode {
    /// Returns a diagnostic for the user.
    pub fn problem(&self, program: &KernelCode) -> Diagnostic {
        let line = |pc: Pc| program.instrs[pc.index()].line;
        let message = format!(
            "the control flow of `{}` is irreducible: line {} leads into a cycle that is entered at line {}, too",
            self.function,
            line(self.from),
            line(self.to)
        );
        Diagnostic::general(program.file.clone(), message)
            .hint("a cycle with two entries has no header, so nothing can be said about its iterations")
    }
}

impl WarpCfg {
    /// Builds the control flow of a program. `block` is the size of a thread block if it is known.
    ///
    /// # Errors
    /// The control flow of a function is irreducible.
    pub fn new(
        program: &KernelCode,
        block: Option<[u32; 3]>,
        divergence: Divergence,
    ) -> Result<Self, Box<IrreducibleCode>> {
        let functions = functions(program)?;
        let kernel = &functions[0];
        let uniformity = Uniformity::new(program, &kernel.cfg, &kernel.joins, block);
        let independent = program.has_independent_threads();
        let mut blocks = Vec::new();
        let mut diverges = Vec::new();
        let mut added = Vec::new();
        for (number, FunctionCfg { first, cfg, loops, .. }) in functions.iter().enumerate() {
            let is_uniform = |block: usize| {
                let last = cfg.last(program, block);
                let may_vary = last.guard.is_some() || last.sem.selects_targets();
                !may_vary || number == 0 && !uniformity.branch_varies(program, cfg, block)
            };
            diverges.extend((0..cfg.blocks.len()).map(|block| {
                !is_uniform(block) || matches!(cfg.last(program, block).sem, Sem::CallPointer(_))
            }));
            blocks.extend_from_slice(&cfg.blocks);
            if independent {
                continue;
            }
            let edges = match divergence {
                Divergence::Sides => divergent_edges(&cfg.graph, is_uniform),
                Divergence::Published => published_edges(&cfg.graph, loops, is_uniform),
            };
            added.extend(edges.into_iter().map(|edge| DivergentEdge {
                from: edge.from + first,
                to: edge.to + first,
                branch: edge.branch + first,
            }));
        }
        let lanes = lanes(program, &functions);
        added.retain(|edge| !lanes.has_edge(edge.from, edge.to));
        let warps = lanes.with_edges(added.iter().map(|edge| (edge.from, edge.to)));
        Ok(Self { blocks, functions, lanes, added, warps, diverges })
    }

    /// Returns the block that contains an instruction.
    pub fn block_of(&self, pc: Pc) -> usize {
        self.blocks.partition_point(|block| block.start <= pc) - 1
    }

    /// Returns the block of the kernel whose first step on a path is at this instruction: before it, the
    /// block has only instructions that are parts of others. Returns `None` for other instructions, and
    /// in the functions that the kernel calls.
    pub fn kernel_block_entered_at(&self, program: &KernelCode, pc: Pc) -> Option<usize> {
        let block = self.block_of(pc);
        let before = self.blocks[block].start.index()..pc.index();
        let is_entered = program.instrs[before].iter().all(|instr| instr.folded);
        (is_entered && block < self.functions[0].cfg.blocks.len()).then_some(block)
    }

    /// Returns the function that contains a block.
    pub fn function_of(&self, block: usize) -> &FunctionCfg {
        &self.functions[self.functions.partition_point(|function| function.first <= block) - 1]
    }

    /// Returns the loop nesting depth of a block in its function.
    pub fn depth(&self, block: usize) -> usize {
        let FunctionCfg { first, loops, .. } = self.function_of(block);
        loops.innermost(block - first).map_or(0, |index| loops.loops[index].depth)
    }

    /// Returns the index of the first step of a warp's path that cannot follow the step before it
    /// in any walk. A path must begin at the start of a block.
    pub fn first_impossible(&self, steps: &[Step]) -> Option<usize> {
        let starts = |pc: Pc| self.blocks[self.block_of(pc)].start == pc;
        if steps.first().is_some_and(|step| !starts(step.pc())) {
            return Some(0);
        }
        let follows = |a: Pc, b: Pc| {
            let (from, to) = (self.block_of(a), self.block_of(b));
            let within = from == to && b.get() == a.get() + 1;
            let between = self.blocks[from].end.get() == a.get() + 1
                && self.blocks[to].start == b
                && self.warps.has_edge(from, to);
            within || between
        };
        steps.windows(2).position(|pair| !follows(pair[0].pc(), pair[1].pc())).map(|index| index + 1)
    }
}

/// Builds the control flow of each function separately.
fn functions(program: &KernelCode) -> Result<Vec<FunctionCfg>, Box<IrreducibleCode>> {
    let mut starts: Vec<(Pc, &str)> = vec![(Pc::new(0), &program.name)];
    starts.extend(program.functions.iter().map(|function| (function.first, function.name.as_str())));
    starts.sort_unstable_by_key(|&(first, _)| first);
    let ends = starts.iter().skip(1).map(|&(next, _)| next.index()).chain([program.instrs.len()]);
    let mut functions: Vec<FunctionCfg> = Vec::new();
    for (&(start, name), end) in starts.iter().zip(ends) {
        let flow: Vec<Successors> = program.instrs[start.index()..end].iter().map(Successors::of).collect();
        let cfg = Cfg::new(start, &flow);
        let loops = LoopTree::new(&cfg.graph).map_err(|Irreducible { edge: (from, to) }| {
            let pc = |block: usize| cfg.blocks[block].start;
            let last = Pc::new(cfg.blocks[from].end.get() - 1);
            Box::new(IrreducibleCode { function: name.to_owned(), from: last, to: pc(to) })
        })?;
        let first = functions.last().map_or(0, |before| before.first + before.cfg.blocks.len());
        let joins = Joins::new(program, &cfg);
        functions.push(FunctionCfg { name: name.to_owned(), first, cfg, loops, joins });
    }
    Ok(functions)
}

/// Combines the edges of all functions with the call and return edges.
fn lanes(program: &KernelCode, functions: &[FunctionCfg]) -> FlowGraph {
    let count = functions.last().map_or(0, |last| last.first + last.cfg.blocks.len());
    let mut successors: Vec<Vec<usize>> = Vec::with_capacity(count);
    let mut leaves = Vec::with_capacity(count);
    for FunctionCfg { first, cfg, .. } in functions {
        for block in 0..cfg.blocks.len() {
            successors.push(cfg.graph.successors(block).iter().map(|to| to + first).collect());
            leaves.push(cfg.graph.leaves(block));
        }
    }
    let at = |pc: Pc| {
        functions.iter().position(|function| function.cfg.blocks.first().is_some_and(|b| b.start == pc))
    };
    for caller in functions {
        for index in 0..caller.cfg.blocks.len() {
            let call = caller.cfg.last(program, index);
            let callees: Vec<usize> = match &call.sem {
                Sem::Call(call) => at(call.target).into_iter().collect(),
                Sem::CallPointer(_) => (1..functions.len()).collect(),
                straight!() | jump!() => continue,
            };
            let (from, after_call) = (caller.first + index, caller.first + index + 1);
            if call.guard.is_none() && !callees.is_empty() {
                successors[from].retain(|&to| to != after_call);
            }
            let entries: Vec<usize> = callees.iter().map(|&callee| functions[callee].first).collect();
            connect(&mut successors, from, &entries);
            for &callee in &callees {
                let FunctionCfg { first, cfg, .. } = &functions[callee];
                for end in (0..cfg.blocks.len()).filter(|&block| cfg.graph.leaves(block)) {
                    if after_call < caller.first + caller.cfg.blocks.len() {
                        connect(&mut successors, first + end, &[after_call]);
                    }
                    // lanes that hold different pointers execute the functions one after the other
                    let others: Vec<usize> =
                        entries.iter().copied().filter(|&entry| entry != *first).collect();
                    connect(&mut successors, first + end, &others);
                }
            }
        }
    }
    FlowGraph::new(successors, leaves)
}

fn connect(successors: &mut [Vec<usize>], from: usize, to: &[usize]) {
    for &to in to {
        if !successors[from].contains(&to) {
            successors[from].push(to);
        }
    }
}
