//! Atomic operations on memory.

use super::{Address, AtomOp, Operand, ValueTy};
use crate::base::RegId;
use crate::isa::Space;

/// An atomic operation.
#[derive(Clone, Debug, PartialEq)]
pub struct Atomic {
    /// Where.
    pub space: Space,
    /// What.
    pub op: AtomOp,
    /// Type of the memory cell.
    pub ty: ValueTy,
    /// Gets the old value; `None` for `red`.
    pub dst: Option<RegId>,
    /// The cell.
    pub addr: Address,
    /// Operand (for `cas` what to compare with).
    pub b: Operand,
    /// What `cas` stores.
    pub c: Operand,
    /// Of a vector, the cells that follow. Each is done by itself, except that `cas` compares and stores all of them.
    pub more: Vec<AtomicPart>,
}

/// One more cell of an atomic operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AtomicPart {
    /// Gets the old value.
    pub dst: Option<RegId>,
    /// Operand, as of the first cell.
    pub b: Operand,
    /// What `cas` stores.
    pub c: Operand,
}

impl Atomic {
    /// All cells, in the order of their addresses.
    pub fn parts(&self) -> impl Iterator<Item = AtomicPart> + '_ {
        std::iter::once(AtomicPart { dst: self.dst, b: self.b, c: self.c }).chain(self.more.iter().copied())
    }

    /// The registers that get old values.
    pub fn dsts(&self) -> impl Iterator<Item = RegId> + '_ {
        self.parts().filter_map(|part| part.dst)
    }

    /// What is read besides the address.
    pub fn operands(&self) -> impl Iterator<Item = Operand> + '_ {
        self.parts().flat_map(|part| [part.b, part.c])
    }

    /// Bytes that each lane accesses.
    pub fn bytes(&self) -> usize {
        self.ty.bytes() * (1 + self.more.len())
    }
}
