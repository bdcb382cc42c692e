//! Atomic memory operations.

use super::{Address, AtomOp, Operand, ValueTy};
use crate::base::RegId;
use crate::isa::Space;

/// An atomic memory operation.
#[derive(Clone, Debug, PartialEq)]
pub struct Atomic {
    /// The space of the memory cell.
    pub space: Space,
    /// The operation.
    pub op: AtomOp,
    /// The type of the memory cell.
    pub ty: ValueTy,
    /// The register that receives the old value; `None` for `red`.
    pub dst: Option<RegId>,
    /// The address of the cell.
    pub addr: Address,
    /// The operand (for `cas`, the value to compare with).
    pub b: Operand,
    /// The value that `cas` stores.
    pub c: Operand,
    /// The following cells of a vector operation. Each is updated separately, except that `cas`
    /// compares and stores all of them.
    pub more: Vec<AtomicPart>,
}

/// A further cell of a vector operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AtomicPart {
    /// The register that receives the old value.
    pub dst: Option<RegId>,
    /// The operand, as for the first cell.
    pub b: Operand,
    /// The value that `cas` stores.
    pub c: Operand,
}

impl Atomic {
    /// Returns all cells in the order of their addresses.
    pub fn parts(&self) -> impl Iterator<Item = AtomicPart> + '_ {
        std::iter::once(AtomicPart { dst: self.dst, b: self.b, c: self.c }).chain(self.more.iter().copied())
    }

    /// Returns the registers that receive old values.
    pub fn dsts(&self) -> impl Iterator<Item = RegId> + '_ {
        self.parts().filter_map(|part| part.dst)
    }

    /// Returns the operands other than the address.
    pub fn operands(&self) -> impl Iterator<Item = Operand> + '_ {
        self.parts().flat_map(|part| [part.b, part.c])
    }

    /// Returns the number of bytes that each lane accesses.
    pub fn bytes(&self) -> usize {
        self.ty.bytes() * (1 + self.more.len())
    }
}
