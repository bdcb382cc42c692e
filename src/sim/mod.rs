//! The timing engine: MODEL.md section 1 as a discrete-event simulation.
//!
//! Input is what each warp executed ([`crate::path`]), the machine's timing of it
//! ([`crate::program::TimingTable`]) and a policy; output is when everything happened.
//!
//! Because units serve in first-in first-out order, an instruction's start and result are known
//! when it issues, and with them the cycle in which its warp is ready again. So every warp is
//! either ready, or waits at a barrier, or stands in a timing wheel under the cycle it becomes
//! ready, and time jumps from one event to the next. Nothing is allocated once a launch runs,
//! nothing is hashed, and time is integer.
//!
//! Invariants:
//! * Nothing here knows of bounds; [`crate::bound`] and this module never import each other.
//! * Issues and idle cycles by reason add up to the makespan.
//! * Same paths, table and policy: same events, whoever observes.

mod barrier;
mod error;
mod launch;
mod ops;
mod pipeline;
pub mod policy;
mod sm;
mod wheel;

pub use error::{Deadlock, RunError, SimError};
pub use launch::{BlockResult, Engine, SimSummary, WarpResult, simulate};
pub use pipeline::memory::{CacheStats, DramStats, LowerStats, MemoryStats};
pub use policy::PolicySetup;

/// Warp slots of the SM: sets of warps are 64-bit masks.
pub const SLOTS: usize = 64;
