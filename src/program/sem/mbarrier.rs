//! Mbarrier objects: barriers that live in shared memory and count arrivals of threads.

use super::{Address, Operand};
use crate::base::RegId;
use crate::isa::Space;

/// An operation on an mbarrier object.
#[derive(Clone, Debug, PartialEq)]
pub struct Mbarrier {
    /// What is done.
    pub op: MbarrierOp,
    /// [`Space::Shared`] or [`Space::Generic`].
    pub space: Space,
    /// The object, 8 bytes.
    pub addr: Address,
}

/// What is done to an mbarrier object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MbarrierOp {
    /// Makes one whose phases complete after so many arrivals.
    Init {
        /// The number.
        count: Operand,
    },
    /// Ends its life; the memory may be used otherwise.
    Inval,
    /// Threads arrive.
    Arrive(MbarrierArrive),
    /// The running phase waits for so many bytes more.
    ExpectTx {
        /// Bytes.
        bytes: Operand,
    },
    /// So many bytes have come.
    CompleteTx {
        /// Bytes.
        bytes: Operand,
    },
    /// The asynchronous copies of the thread so far arrive once they are done; unless `counted`
    /// they raise the number of arrivals that the phase waits for by one first.
    CopiesArrive {
        /// The arrival is among those that the object was made for.
        counted: bool,
    },
    /// Whether a phase has completed.
    Wait {
        /// Gets the answer, a predicate.
        done: RegId,
        /// The state that an arrival gave, or the parity of the phase.
        phase: Operand,
        /// It is the parity.
        parity: bool,
        /// The warp is suspended until the phase completes, or for some time.
        suspends: bool,
    },
}

/// An arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MbarrierArrive {
    /// Gets the state of the object before.
    pub state: Option<RegId>,
    /// How many arrive.
    pub count: Operand,
    /// Bytes that the running phase waits for besides, expected before the arrival.
    pub expect: Operand,
    /// Those who arrive are not expected in later phases.
    pub drops: bool,
    /// The arrival may complete the phase.
    pub completes: bool,
}

impl Mbarrier {
    /// Bits of a state that hold the arrivals which the phase still waits for, from bit 0 on.
    pub const PENDING_BITS: u32 = 20;
}
