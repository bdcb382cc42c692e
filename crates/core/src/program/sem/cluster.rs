//! What the blocks of a cluster do together.

use super::Operand;
use crate::base::RegId;

/// An operation on the cluster of the running block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClusterOp {
    /// `mapa`: the place in the shared memory of the block `rank` that an address has in that of its
    /// own block.
    Map {
        /// The destination.
        dst: RegId,
        /// The address.
        address: Operand,
        /// The number of the block in the cluster.
        rank: Operand,
        /// Whether source and result are generic addresses.
        generic: bool,
    },
    /// `getctarank`: the number in the cluster of the block in whose shared memory an address lies.
    Rank {
        /// The destination.
        dst: RegId,
        /// The address.
        address: Operand,
        /// Whether it is a generic address.
        generic: bool,
    },
    /// `cvta.to.shared::cluster`: the address in shared memory, of any block of the cluster, of a generic
    /// address.
    Resolve {
        /// The destination.
        dst: RegId,
        /// The address.
        address: Operand,
    },
    /// `isspacep.shared::cluster`: tests whether a generic address lies in the shared memory of a block
    /// of the cluster.
    IsShared {
        /// The destination, a predicate.
        dst: RegId,
        /// The address.
        address: Operand,
    },
    /// `barrier.cluster.arrive`: the threads arrive at the barrier of the cluster.
    Arrive,
    /// `barrier.cluster.wait`: waits until all threads of the cluster that have not ended have arrived.
    Wait,
}

impl ClusterOp {
    /// Returns the operands that it reads.
    pub fn operands(self) -> impl Iterator<Item = Operand> {
        match self {
            Self::Map { address, rank, .. } => [Some(address), Some(rank)],
            Self::Rank { address, .. } | Self::Resolve { address, .. } | Self::IsShared { address, .. } => {
                [Some(address), None]
            }
            Self::Arrive | Self::Wait => [None, None],
        }
        .into_iter()
        .flatten()
    }

    /// Returns the register that it writes, if any.
    pub fn dst(self) -> Option<RegId> {
        match self {
            Self::Map { dst, .. }
            | Self::Rank { dst, .. }
            | Self::Resolve { dst, .. }
            | Self::IsShared { dst, .. } => Some(dst),
            Self::Arrive | Self::Wait => None,
        }
    }
}
