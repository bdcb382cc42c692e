//! Copies of many bytes that one instruction starts.

use super::{Address, AtomOp, Operand, ValueTy};
use crate::isa::Space;

/// A copy that proceeds asynchronously.
#[derive(Clone, Debug, PartialEq)]
pub enum Bulk {
    /// A copy of contiguous bytes (`cp.async.bulk`, `cp.reduce.async.bulk`).
    Bytes(BulkCopy),
    /// A copy of a box of a tensor (`cp.async.bulk.tensor`, `cp.reduce.async.bulk.tensor`).
    Tensor(TensorCopy),
    /// A store or a reduction of a lane's registers (`st.async`, `red.async`).
    Store(BulkStore),
}

/// A store to the shared memory of a block of the cluster that signals an mbarrier object there.
#[derive(Clone, Debug, PartialEq)]
pub struct BulkStore {
    /// The type of each value; its bits are what counts for a store.
    pub ty: ValueTy,
    /// The values.
    pub srcs: Vec<Operand>,
    /// The address of the first one.
    pub dst: Address,
    /// The operation that combines the values with those at the address; without it they are
    /// overwritten.
    pub reduce: Option<(AtomOp, ValueTy)>,
    /// The mbarrier object whose current phase receives the bytes.
    pub signal: Address,
}

/// A copy of contiguous bytes.
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
    /// The blocks of the cluster, a bit for each, to whose shared memory it goes; without it to the
    /// block in which the address lies.
    pub multicast: Option<Operand>,
    /// Whether the warp copies once, as in machine code. Otherwise each lane copies.
    pub by_warp: bool,
}

/// A copy of a box of a tensor between global and shared memory, where the box is contiguous.
#[derive(Clone, Debug, PartialEq)]
pub struct TensorCopy {
    /// The space of the tensor map.
    pub space: Space,
    /// The address of the [map](crate::program::tensor_map::TensorMap).
    pub map: Address,
    /// The position of the first element of the box, for each axis; signed.
    pub position: Vec<Operand>,
    /// The first byte of the box in shared memory.
    pub shared: Address,
    /// Whether the tensor is written; it is read otherwise.
    pub stores: bool,
    /// The operation that combines the elements of a tensor that is written.
    pub reduce: Option<AtomOp>,
    /// The mbarrier object whose current phase receives the bytes of the whole box.
    pub signal: Option<Address>,
    /// The blocks of the cluster to whose shared memory it goes, as for [`BulkCopy`].
    pub multicast: Option<Operand>,
    /// Whether the warp copies once; otherwise each lane copies.
    pub by_warp: bool,
}

impl BulkCopy {
    /// The number of bytes of which addresses and lengths are multiples.
    pub const UNIT: u64 = 16;
}

impl TensorCopy {
    /// The number of bytes of which the address in shared memory is a multiple.
    pub const UNIT: u64 = 128;
}

impl Bulk {
    /// Returns whether elements are combined with those of the destination.
    pub fn reduces(&self) -> bool {
        match self {
            Self::Bytes(copy) => copy.reduce.is_some(),
            Self::Tensor(copy) => copy.reduce.is_some(),
            Self::Store(store) => store.reduce.is_some(),
        }
    }

    /// Returns whether the warp copies once. Otherwise each lane copies.
    pub fn by_warp(&self) -> bool {
        match self {
            Self::Bytes(copy) => copy.by_warp,
            Self::Tensor(copy) => copy.by_warp,
            Self::Store(_) => false,
        }
    }

    /// Returns the blocks of the cluster to which it goes, if it names them.
    pub fn multicast(&self) -> Option<Operand> {
        match self {
            Self::Bytes(copy) => copy.multicast,
            Self::Tensor(copy) => copy.multicast,
            Self::Store(_) => None,
        }
    }

    /// Returns the address of the mbarrier object that it signals when it is complete, if it does.
    pub fn signal(&self) -> Option<Address> {
        match self {
            Self::Bytes(copy) => copy.signal,
            Self::Tensor(copy) => copy.signal,
            Self::Store(store) => Some(store.signal),
        }
    }

    /// Returns all operands that it reads.
    pub fn operands(&self) -> impl Iterator<Item = Operand> {
        let (bases, further): (_, &[Operand]) = match self {
            Self::Bytes(copy) => {
                ([Some(copy.src.base), Some(copy.dst.base)], std::slice::from_ref(&copy.bytes))
            }
            Self::Tensor(copy) => ([Some(copy.map.base), Some(copy.shared.base)], &copy.position),
            Self::Store(store) => ([Some(store.dst.base), None], &store.srcs),
        };
        let signal = self.signal().map(|signal| signal.base);
        bases.into_iter().flatten().chain(further.iter().copied()).chain(signal).chain(self.multicast())
    }
}
