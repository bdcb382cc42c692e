//! Atomic operations whose results depend on the order of their execution.

use std::collections::HashMap;

use super::decide::{Deciding, path_depends};
use super::{AccessKind, kind_of};
use warpbound_core::base::Pc;
use warpbound_core::program::sem::{ArgLocation, AtomOp, Operand, ValueTy, jump, straight};
use warpbound_core::program::{KernelCode, Sem};

/// The properties of the atomic operations of a program, by pc.
#[derive(Clone, Debug)]
pub(super) struct Atomics {
    /// The operation and the type of the memory cell; `None` for other instructions.
    ops: Vec<Option<(AtomOp, ValueTy)>>,
    /// Whether the old value reaches a branch, a guard, an address or memory.
    used: Vec<bool>,
    /// The values at which the cells of `inc` and `dec` wrapped; `None` if all `inc` and `dec` of
    /// the program wrap at one constant.
    bounds: Option<HashMap<(bool, u64), Bound>>,
    /// Whether an `inc` or `dec` accessed a cell that wrapped at another value before.
    mixed: Vec<bool>,
}

/// The value at which a cell wraps, and the section in which that was observed.
#[derive(Clone, Copy, Debug)]
struct Bound {
    value: u64,
    section: u64,
}

impl Atomics {
    pub(super) fn new(program: &KernelCode) -> Self {
        // a value that a function returns in a register may be used by any caller
        let handed_back = |instr: &warpbound_core::program::Instr| match &instr.sem {
            Sem::Call(call) => call.give_back.iter().map(|transfer| transfer.from).collect(),
            // `by_pointer` says that there are such calls
            Sem::CallPointer(_) | straight!() | jump!() => Vec::new(),
        };
        let handed_back: Vec<ArgLocation> = program.instrs.iter().flat_map(handed_back).collect();
        let by_pointer = program.instrs.iter().any(|instr| matches!(instr.sem, Sem::CallPointer(_)));
        let decides = Deciding::new(program, |instr, reg| {
            let to_memory = instr.sem.atomic().is_some()
                || matches!(instr.sem, Sem::Surface(_))
                || kind_of(&instr.sem) == AccessKind::Store;
            to_memory || by_pointer || path_depends(instr, Operand::Reg(reg))
        });
        let atomics = || program.instrs.iter().map(|instr| instr.sem.atomic());
        let is_used = |dst| by_pointer || decides.has(dst) || handed_back.contains(&ArgLocation::Reg(dst));
        let mut bounds = atomics().flatten().filter(|atomic| wraps(atomic.op)).map(|atomic| atomic.b);
        let first = bounds.next();
        let vary = |first| !matches!(first, Operand::Imm(_)) || bounds.any(|bound| bound != first);
        Self {
            ops: program.instrs.iter().map(|instr| instr.sem.update()).collect(),
            used: atomics().map(|atomic| atomic.is_some_and(|atomic| atomic.dsts().any(is_used))).collect(),
            bounds: first.is_some_and(vary).then(HashMap::new),
            mixed: vec![false; program.instrs.len()],
        }
    }

    /// Returns whether the old value that this operation returns is used.
    pub(super) fn is_used(&self, pc: Pc) -> bool {
        self.used[pc.index()]
    }

    /// Returns whether the operation may be executed by several warps in any order.
    pub(super) fn is_harmless(&self, pc: u32) -> bool {
        let pc = Pc::new(pc);
        !self.is_used(pc) && self.commute(pc, pc)
    }

    /// Records that an `inc` or `dec` wraps at `value` in a cell. Where sections order accesses,
    /// operations of another section came earlier. Returns false if the limit on recorded cells is
    /// exceeded.
    pub(super) fn wraps_at(
        &mut self,
        pc: Pc,
        cell: (bool, u64),
        value: u64,
        section: u64,
        most: usize,
    ) -> bool {
        let Some(bounds) = &mut self.bounds else { return true };
        if bounds.len() >= most && !bounds.contains_key(&cell) {
            return false;
        }
        let now = Bound { value, section };
        let before = bounds.insert(cell, now).filter(|before| before.section == section);
        if before.is_some_and(|before| before.value != value) {
            self.mixed[pc.index()] = true;
        }
        true
    }

    /// Returns whether two operations on one cell leave the same value in either order. Sums of
    /// floating-point numbers count as such; their last bits are analysed separately
    /// (`varying.rs`).
    pub(super) fn commute(&self, one: Pc, other: Pc) -> bool {
        let (Some((op, ty)), Some((other_op, other_ty))) = (self.ops[one.index()], self.ops[other.index()])
        else {
            return false;
        };
        let same_type = match (ty, other_ty) {
            // the sign only affects the order of numbers
            (ValueTy::Int(ty), ValueTy::Int(other)) if !matches!(op, AtomOp::Min | AtomOp::Max) => {
                ty.bits == other.bits
            }
            _ => ty == other_ty,
        };
        op == other_op
            && same_type
            && match op {
                AtomOp::Exch | AtomOp::Cas => false,
                AtomOp::Inc | AtomOp::Dec => !self.mixed[one.index()] && !self.mixed[other.index()],
                AtomOp::Add | AtomOp::Min | AtomOp::Max | AtomOp::And | AtomOp::Or | AtomOp::Xor => true,
            }
    }
}

/// Returns whether the operation wraps at its operand.
pub(crate) fn wraps(op: AtomOp) -> bool {
    matches!(op, AtomOp::Inc | AtomOp::Dec)
}
