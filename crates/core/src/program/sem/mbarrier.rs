//! Operations on mbarrier objects, which are barriers in shared memory that count arrivals of
//! threads.

use super::{Address, Operand};
use crate::base::RegId;
use crate::isa::Space;

/// An operation on an mbarrier object.
#[derive(Clone, Debug, PartialEq)]
pub struct Mbarrier {
    /// The operation.
    pub op: MbarrierOp,
    /// [`Space::Shared`] or [`Space::Generic`].
    pub space: Space,
    /// The address of the object, which has 8 bytes.
    pub addr: Address,
}

/// The kind of an operation on an mbarrier object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MbarrierOp {
    /// Initialises an object whose phases complete after a number of arrivals.
    Init {
        /// The number of arrivals.
        count: Operand,
    },
    /// Invalidates the object, so that its memory can be used for other data.
    Inval,
    /// Arrives at the object.
    Arrive(MbarrierArrive),
    /// Increases the number of bytes that the current phase waits for.
    ExpectTx {
        /// The number of bytes.
        bytes: Operand,
    },
    /// Decreases the number of bytes that the current phase waits for.
    CompleteTx {
        /// The number of bytes.
        bytes: Operand,
    },
    /// Makes the thread's preceding asynchronous copies arrive on completion. Unless `counted`,
    /// this first increases the number of arrivals that the phase waits for by one.
    CopiesArrive {
        /// Whether the arrival is included in the number that the object was initialised with.
        counted: bool,
    },
    /// Tests whether a phase has completed.
    Wait {
        /// The predicate that receives the result.
        done: RegId,
        /// The state that an arrival returned, or the parity of the phase.
        phase: Operand,
        /// Whether `phase` is the parity.
        parity: bool,
        /// Whether the warp is suspended until the phase completes or a time limit expires.
        suspends: bool,
    },
}

/// An arrival at an mbarrier object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MbarrierArrive {
    /// The register that receives the state of the object before the arrival.
    pub state: Option<RegId>,
    /// The number of arrivals.
    pub count: Operand,
    /// The number of bytes that are added to the expectation of the current phase before the
    /// arrival.
    pub expect: Operand,
    /// Whether later phases expect fewer arrivals by this number.
    pub drops: bool,
    /// Whether the arrival may complete the phase.
    pub completes: bool,
}

impl Mbarrier {
    /// The lowest bit of a state that holds the number of pending arrivals, subtracted from
    /// 2^[`Self::PENDING_BITS`].
    pub const PENDING_AT: u32 = 43;

    /// The number of these bits.
    pub const PENDING_BITS: u32 = 20;
}
