//! Copies of many bytes that one instruction starts.

use super::{Address, AtomOp, Operand, ValueTy};
use crate::isa::Space;

/// A bulk copy, which proceeds asynchronously (`cp.async.bulk`, `cp.reduce.async.bulk`).
#[derive(Clone, Debug, PartialEq)]
pub struct BulkCopy {
    /// The space of the source, [`Space::Global`] or [`Space::Shared`].
    pub from: Space,
    /// The first byte of the source.
    pub src: Address,
    /// The space of the destination.
    pub to: Space,
    /// The first byte of the destination.
    pub dst: Address,
    /// The number of bytes, a multiple of 16.
    pub bytes: Operand,
    /// The operation that combines the elements of source and destination; without it the
    /// destination is overwritten.
    pub reduce: Option<(AtomOp, ValueTy)>,
    /// The mbarrier object in shared memory whose current phase receives the bytes when they have
    /// been copied.
    pub signal: Option<Address>,
    /// Whether the warp copies once, as in machine code. Otherwise each lane copies.
    pub by_warp: bool,
}

impl BulkCopy {
    /// The number of bytes of which addresses and lengths are multiples.
    pub const UNIT: u64 = 16;

    /// Returns all operands that it reads.
    pub fn operands(&self) -> impl Iterator<Item = Operand> {
        [self.src.base, self.dst.base, self.bytes].into_iter().chain(self.signal.map(|signal| signal.base))
    }
}
