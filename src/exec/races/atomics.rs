//! Which atomic operations notice in what order they are done.

use crate::base::{Pc, RegId};
use crate::program::sem::{AtomOp, Operand, Special};
use crate::program::{Instr, Program, Sem};

/// What is known of the atomic operations of a program, by pc.
#[derive(Clone, Debug)]
pub(super) struct Atomics {
    /// Operation; `None` for other instructions.
    ops: Vec<Option<AtomOp>>,
    /// Whether the old value reaches a branch, a guard, an address or memory.
    used: Vec<bool>,
}

impl Atomics {
    pub(super) fn new(program: &Program) -> Self {
        let decides = Deciding::new(program, |instr, reg| {
            let to_memory = match &instr.sem {
                Sem::Store { .. } | Sem::Surface(_) | Sem::Atomic(_) => true,
                Sem::Matrix(matrix) => matrix.stores(),
                _ => false,
            };
            to_memory || path_depends(instr, reg)
        });
        let op = |sem: &Sem| match sem {
            Sem::Atomic(atomic) => Some(atomic.op),
            _ => None,
        };
        let used = |sem: &Sem| match sem {
            Sem::Atomic(atomic) => atomic.dsts().any(|dst| decides.has(dst)),
            _ => false,
        };
        Self {
            ops: program.instrs.iter().map(|instr| op(&instr.sem)).collect(),
            used: program.instrs.iter().map(|instr| used(&instr.sem)).collect(),
        }
    }

    /// Whether the old value that this operation gives is used.
    pub(super) fn is_used(&self, pc: Pc) -> bool {
        self.used[pc.index()]
    }

    /// Whether the operation may be done by several warps in any order.
    pub(super) fn is_harmless(&self, pc: u32) -> bool {
        let pc = Pc::new(pc);
        !self.is_used(pc) && self.commute(pc, pc)
    }

    /// Whether two operations on one cell leave the same in either order. Sums of floating-point
    /// numbers count as such: their last bits may differ, the path does not.
    pub(super) fn commute(&self, one: Pc, other: Pc) -> bool {
        let (one, other) = (self.ops[one.index()], self.ops[other.index()]);
        one == other && !matches!(one, None | Some(AtomOp::Exch | AtomOp::Cas))
    }
}

/// An instruction that reads the clock and lets that decide where a warp goes or which addresses
/// it accesses, as far as registers show it.
pub(super) fn clock_decides(program: &Program) -> Option<Pc> {
    let reads_clock = |operand: &Operand| *operand == Operand::Special(Special::Clock);
    let reads = |instr: &Instr| match &instr.sem {
        Sem::Mov { src, .. } => reads_clock(src),
        Sem::Moves(moves) => moves.iter().any(|(_, src)| reads_clock(src)),
        Sem::Int { src, .. } => src.iter().any(reads_clock),
        Sem::Convert(convert) => reads_clock(&convert.src),
        Sem::Compare(compare) => reads_clock(&compare.a) || reads_clock(&compare.b),
        _ => false,
    };
    let mut readers = program.instrs.iter().enumerate().filter(|(_, instr)| reads(instr)).peekable();
    readers.peek()?;
    let decides = Deciding::new(program, path_depends);
    let found = readers.find(|(_, instr)| instr.dsts.as_slice().iter().any(|&dst| decides.has(dst)));
    found.map(|(index, _)| Pc::from_index(index))
}

/// Whether where a warp goes, whether it waits, or which addresses it accesses depends on a source
/// of this instruction.
fn path_depends(instr: &Instr, reg: RegId) -> bool {
    let is_base = |base: Operand| base.reg() == Some(reg);
    instr.guard.is_some_and(|guard| guard.reg == reg)
        || match &instr.sem {
            Sem::Branch { .. }
            | Sem::BranchTable { .. }
            | Sem::Barrier(_)
            | Sem::Call(_)
            | Sem::CallPointer(_) => true,
            Sem::Load { addr, .. } | Sem::Store { addr, .. } => is_base(addr.base),
            Sem::Atomic(atomic) => is_base(atomic.addr.base),
            Sem::Fetch(_) | Sem::AsyncCopy { .. } => true,
            Sem::Matrix(matrix) => matrix.place().any(is_base),
            Sem::Surface(access) => {
                [access.surface].iter().chain(&access.coords).chain(&access.layer).any(|&o| is_base(o))
            }
            _ => false,
        }
}

/// The registers whose value may get, through other registers, to an instruction where it counts.
struct Deciding(Vec<bool>);

impl Deciding {
    /// `counts` says whether a source of an instruction does.
    fn new(program: &Program, counts: impl Fn(&Instr, RegId) -> bool) -> Self {
        let sources = |instr: &Instr| {
            let guard = instr.guard.map(|guard| guard.reg);
            instr.srcs.as_slice().iter().copied().chain(guard).collect::<Vec<_>>()
        };
        let mut writers = vec![Vec::new(); program.regs.len()];
        let mut known = vec![false; program.regs.len()];
        let mut left = Vec::new();
        for (index, instr) in program.instrs.iter().enumerate() {
            instr.dsts.as_slice().iter().for_each(|dst| writers[dst.index()].push(index));
            for reg in sources(instr) {
                if counts(instr, reg) && !std::mem::replace(&mut known[reg.index()], true) {
                    left.push(reg);
                }
            }
        }
        while let Some(reg) = left.pop() {
            for index in std::mem::take(&mut writers[reg.index()]) {
                for source in sources(&program.instrs[index]) {
                    if !std::mem::replace(&mut known[source.index()], true) {
                        left.push(source);
                    }
                }
            }
        }
        Self(known)
    }

    fn has(&self, reg: RegId) -> bool {
        self.0[reg.index()]
    }
}
