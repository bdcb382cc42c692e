//! The timing engines: when each instruction of a launch issues, starts and is done.
//!
//! Input is what each warp executed ([`crate::path`]), the machine's timing of it
//! ([`crate::program::TimingTable`]) and a policy; output is when everything happened. There are two
//! engines, for two kinds of machines; with nothing of a pipeline switched on they agree event by event.
//! * `paper/`: [the model](crate::model), sections 1 to 7, as a discrete-event simulation. It takes a
//!   [`PaperMachine`] only, which a machine beyond the paper model does not give.
//! * `pipeline/`: cycle by cycle, for machines that say more of their SM.
//!
//! An engine keeps time, and says what happened when. What follows is decided once for both:
//! * `supply.rs`: which block an SM gets next, and how many it has room for.
//! * `blocks/`: the life of a block on an SM. Its place and slots, its age, its barriers, which warps they let
//!   go when, when it ends.
//! * `idle.rs`: which reason an idle issue slot has.
//! * [`policy`]: which warp issues.
//!
//! # The engine of the paper model
//! Because units serve in first-in first-out order, an instruction's start and result are known
//! when it issues, and with them the cycle in which its warp is ready again. So every warp is
//! either ready, or waits at a barrier, or stands in a timing wheel under the cycle it becomes
//! ready, and time jumps from one event to the next. Nothing is allocated once a launch runs,
//! nothing is hashed, and time is integer.
//!
//! # Several sub-cores
//! On a machine with n sub-cores ([`crate::machine::SubCores`]) a warp stays on sub-core `s mod n`,
//! where s is its slot on the SM; where one block is resident at a time, that is its id.
//! * Each sub-core has an issue slot of its own, one instruction per cycle, and a policy of its
//!   own, which sees only the warps of its sub-core and restarts with each block like any other.
//!   Work conserving means: on each sub-core, if one of its warps is ready, one of them issues.
//!   `random` draws from a ChaCha stream per sub-core; a replay file has the issues of all
//!   sub-cores, each takes those of its warps.
//! * Each sub-core has each unit for itself; a *shared* unit exists once. It serves in the order of
//!   issue like any unit; instructions of the same issue cycle are served by sub-core index. (The
//!   start does not rotate: nothing known of the hardware asks for it.)
//! * Barriers, the end of warps and of blocks are the block's, whatever the sub-cores.
//! * Every idle issue slot of every sub-core has a reason, the first that fits a live warp of that
//!   sub-core: *per sub-core* issues and idle cycles add up to the makespan of the SM. A sub-core
//!   without a warp that has an instruction left drains, also while others go on.
//!
//! Invariants:
//! * Nothing here knows of bounds; [`crate::bound`] and this module never import each other.
//! * Issues and idle cycles by reason add up to the makespan, on every sub-core.
//! * Same paths, table and policy: same events, whoever observes.

mod blocks;
mod error;
#[cfg(test)]
mod fields;
mod idle;
mod launch;
mod ops;
mod paper;
mod pipeline;
pub mod policy;
mod result;
mod supply;
mod wheel;

pub use crate::trace::{CacheStats, DramStats};
pub use error::{BeyondPaper, Deadlock, RunError, SimError};
pub use launch::{simulate, simulate_after};
pub use paper::{Engine, PaperMachine};
pub use pipeline::Left;
pub use policy::PolicySetup;
pub use result::{BlockResult, LowerStats, MemoryStats, SimSummary, SubCoreResult, WarpResult};

/// Warp slots of the SM: sets of warps are 64-bit masks.
pub const SLOTS: usize = 64;
