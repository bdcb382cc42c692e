//! The memory system behind the load/store unit: an L1, a crossbar, slices of an L2, and DRAM.
//!
//! `path` adds up the cycles that a request takes if nothing else is there. `dram` states what a
//! request costs other requests of its channel. `lines` records which lines of a cache a launch
//! touches, and `launch` what the requests of a launch cost together. The lemmas are those of
//! [`crate::proofs::memory`].

mod dram;
mod launch;
mod lines;
mod outstanding;
mod path;

pub use launch::{AtStart, MemoryLeft};
pub(super) use launch::{LaunchMemory, Stays};
pub(super) use path::{Path, longest_jitter};
