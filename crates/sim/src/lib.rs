//! The timing simulation: computes when each instruction of a launch issues, starts and completes.
//!
//! The input is the path that each warp executed ([`warpbound_core::path`]), the machine's timing
//! of the program ([`warpbound_core::program::TimingTable`]) and a scheduling policy. The output is
//! the cycle of each event. There are two engines, for two kinds of machines. On a machine without
//! any pipeline feature both produce the same events.
//! * `paper/`: a discrete-event simulation of the model (`warpbound::model`, sections 1 to 7). It
//!   takes a [`PaperMachine`] only, which cannot be built from a machine that goes beyond the paper
//!   model.
//! * `pipeline/`: a cycle-level simulation, for machines that describe more of their SM.
//!
//! An engine advances the time and emits the events. The following parts are shared by both
//! engines:
//! * `supply.rs`: which block an SM gets next, and for how many blocks it has room.
//! * `blocks/`: the life of a block on an SM: its CTA slot, its warp slots, its age, its barriers,
//!   when each barrier releases which warps, and when the block ends.
//! * `idle.rs`: the reason for which an issue slot is idle.
//! * [`policy`]: which warp issues.
//!
//! # The engine of the paper model
//! Because units serve in first-in first-out order, an instruction's start and completion are known
//! when it issues, and so is the cycle in which its warp becomes ready again. Every warp is
//! therefore ready, or waits at a barrier, or stands in a timing wheel under the cycle in which it
//! becomes ready, and time jumps from one event to the next. The inner loop allocates nothing,
//! hashes nothing, and counts time in integers.
//!
//! # Several sub-cores
//! On a machine with n sub-cores ([`warpbound_core::machine::SubCores`]) a warp stays on sub-core
//! `s mod n`, where s is the warp's slot on the SM; where one block is resident at a time, s is the
//! warp's id.
//! * Each sub-core has its own issue slot, which issues one instruction per cycle, and its own
//!   policy. The policy sees only the warps of the sub-core and restarts with each block like any
//!   other policy. A policy is work conserving if each sub-core that has a ready warp issues one.
//!   `random` draws from one ChaCha stream per sub-core. A replay file contains the issues of all
//!   sub-cores, and each sub-core takes those of its own warps.
//! * Each sub-core has its own copy of each unit; a *shared* unit exists once. A shared unit serves
//!   in the order of issue like any unit; instructions that issue in the same cycle are served in
//!   the order of their sub-core indices. (The first index does not rotate: no published
//!   measurement of the hardware calls for it.)
//! * Barriers and the ends of warps and of blocks belong to the block and ignore the sub-cores.
//! * Every idle issue slot of every sub-core has a reason: the first one that fits a live warp of
//!   that sub-core. *Per sub-core*, the issues and the idle cycles add up to the makespan of the
//!   SM. A sub-core whose warps have no instruction left drains, even while other sub-cores still
//!   issue.
//!
//! Invariants:
//! * The simulation is independent of the bounds: neither this crate nor `warpbound_bound`
//!   depends on the other.
//! * Issues and idle cycles by reason add up to the makespan, on every sub-core.
//! * The same paths, table and policy give the same events, whichever observer is attached.

// the tests share a generator of kernels with those of the package `warpbound`
#[cfg(test)]
extern crate warpbound_core as warpbound;

mod blocks;
mod error;
#[cfg(test)]
mod fields;
mod idle;
mod key;
mod launch;
mod ops;
mod paper;
mod pipeline;
pub mod policy;
mod result;
mod supply;
mod wheel;

pub use error::{BeyondPaper, Deadlock, RunError, SimError};
pub use launch::{simulate, simulate_after};
pub use paper::{Engine, PaperMachine};
pub use pipeline::{CarriedState, by_cycle};
pub use policy::PolicySetup;
pub use result::{BlockResult, LowerStats, MemoryStats, SimSummary, SubCoreResult, WarpResult};
pub use warpbound_trace::trace::{CacheStats, DramStats};

/// The number of warp slots of an SM. A set of warps is a 64-bit mask.
pub const SLOTS: usize = 64;
