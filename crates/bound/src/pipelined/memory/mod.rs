//! The memory system behind the load/store unit: an L1, a crossbar, slices of an L2, and DRAM.
//!
//! `path` adds up the cycles that a request takes if nothing else is there. `request` states what a
//! request costs others, and `dram` what it costs others of its channel. `launch` records the
//! requests of a launch and what each of them costs. It keeps the lines that they touch (`lines`),
//! what loads count behind the L1 (`behind_l1`), what the L2 fetches if an L1 asks for parts of what
//! loads need (`partial`), what waits at the same time (`outstanding`), and what the caches for
//! constants look up (`constants`). `elsewhere` adds up requests whose places depend on data.
//! `untracked` counts how often a cache cannot track another fetch, and `totals` what all requests
//! cost together. `at_start` describes what a launch finds in the L2. The lemmas are those of
//! [`crate::proofs::memory`].

mod at_start;
mod behind_l1;
mod constants;
mod dram;
mod elsewhere;
mod launch;
mod lines;
mod outstanding;
mod partial;
mod path;
mod request;
mod totals;
mod untracked;

pub(super) use at_start::Stays;
pub use at_start::{AtStart, MemoryLeft};
pub(super) use elsewhere::{SentElsewhere, Unplaced};
pub(super) use launch::LaunchMemory;
pub(super) use path::{Path, greatest_common_divisor, longest_jitter};
