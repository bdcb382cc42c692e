//! The control flow between machine instructions.

use warpbound_core::base::Pc;
use warpbound_core::program::cfg::Successors;
use warpbound_core::program::sem::{Sem, jump, straight};
use warpbound_core::program::{Instr, KernelCode, MachineCode};

/// A way from an instruction to the next one that a warp executes. Instructions are numbered in the
/// order of the code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Edge {
    /// To an instruction of the same function.
    To(usize),
    /// To the first instruction of a function, which returns to another instruction.
    Call { function: usize, back: usize },
    /// Back to the caller.
    Return,
}

/// The control flow of a kernel.
pub(super) struct Flow {
    /// The ways from each instruction.
    pub edges: Vec<Vec<Edge>>,
    /// Whether an instruction begins a block: warps come to it from elsewhere than from the
    /// instruction before it, or the instruction before it can go elsewhere.
    pub starts: Vec<bool>,
}

impl Flow {
    pub(super) fn of(program: &KernelCode, code: &MachineCode) -> Self {
        let count = code.instructions.len();
        let number =
            |instr: &Instr| code.number(instr).map(|number| number as usize).filter(|&at| at < count);
        let at = |pc: usize| program.instrs.get(pc).and_then(number);
        let mut edges = vec![Vec::new(); count];
        for (pc, instr) in program.instrs.iter().enumerate() {
            let Some(here) = number(instr) else { continue };
            let next = Successors::of(instr);
            // the operations of one instruction are a single step
            let following = at(pc + 1).filter(|&following| following != here);
            let mut add = |edge: Edge| {
                if !edges[here].contains(&edge) {
                    edges[here].push(edge);
                }
            };
            let called = called(program, &instr.sem);
            if let Some(back) = following.filter(|_| !called.is_empty()) {
                let functions = called.iter().filter_map(|function| at(function.index()));
                functions.for_each(|function| add(Edge::Call { function, back }));
                if instr.guard.is_none() {
                    continue;
                }
            }
            if matches!(instr.sem, Sem::Return { .. }) {
                add(Edge::Return);
            }
            let targets = next.targets.iter().filter_map(|target| at(target.index()));
            let falls = following.filter(|_| next.falls_through);
            targets.chain(falls).for_each(|to| add(Edge::To(to)));
        }
        without_return(&mut edges);
        let starts = starts(&edges);
        Self { edges, starts }
    }

    /// Returns the next instruction if a warp always continues with it in the same block.
    pub(super) fn within_block(&self, here: usize) -> Option<usize> {
        match self.edges[here][..] {
            [Edge::To(next)] if next == here + 1 && !self.starts[next] => Some(next),
            _ => None,
        }
    }
}

/// Returns the first instructions of the functions that an instruction may call.
fn called(program: &KernelCode, sem: &Sem) -> Vec<Pc> {
    match sem {
        Sem::Call(call) => vec![call.target],
        Sem::CallPointer(call) => {
            let may = |address: u64| call.targets.as_ref().is_none_or(|targets| targets.contains(&address));
            let functions = program.functions.iter().filter(|function| may(function.address));
            functions.map(|function| function.first).collect()
        }
        straight!() | jump!() => Vec::new(),
    }
}

/// Replaces each call of code that never returns by a jump, which the compiler writes as a call where
/// the end of a kernel is far away. Followed as calls, such jumps would keep every way to them apart.
fn without_return(edges: &mut [Vec<Edge>]) {
    let returns = returning(edges);
    for edge in edges.iter_mut().flatten() {
        if let Edge::Call { function, .. } = *edge
            && !returns[function]
        {
            *edge = Edge::To(function);
        }
    }
}

/// Returns for each instruction whether a way from it returns on which all called functions return.
fn returning(edges: &[Vec<Edge>]) -> Vec<bool> {
    let mut before = vec![Vec::new(); edges.len()];
    for (here, ways) in edges.iter().enumerate() {
        for way in ways {
            match *way {
                Edge::To(to) => before[to].push(here),
                Edge::Call { function, back } => {
                    [function, back].into_iter().for_each(|to| before[to].push(here))
                }
                Edge::Return => {}
            }
        }
    }
    let mut returns = vec![false; edges.len()];
    let mut open: Vec<usize> = (0..edges.len()).filter(|&here| edges[here].contains(&Edge::Return)).collect();
    while let Some(here) = open.pop() {
        if std::mem::replace(&mut returns[here], true) {
            continue;
        }
        let continues = |way: &Edge| match *way {
            Edge::To(to) => returns[to],
            Edge::Call { function, back } => returns[function] && returns[back],
            Edge::Return => true,
        };
        open.extend(before[here].iter().filter(|&&earlier| edges[earlier].iter().any(continues)));
    }
    returns
}

fn starts(edges: &[Vec<Edge>]) -> Vec<bool> {
    let mut starts = vec![false; edges.len()];
    let mut set = |index: usize| {
        if let Some(start) = starts.get_mut(index) {
            *start = true;
        }
    };
    set(0);
    for (here, ways) in edges.iter().enumerate() {
        if ways[..] != [Edge::To(here + 1)] {
            set(here + 1);
        }
        for way in ways {
            match *way {
                Edge::To(to) if to != here + 1 => set(to),
                Edge::To(_) | Edge::Return => {}
                Edge::Call { function, back } => {
                    set(function);
                    set(back);
                }
            }
        }
    }
    starts
}
