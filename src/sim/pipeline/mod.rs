//! The SM as it is: the engine for machines with a `pipeline`.
//!
//! The paper model knows when an instruction starts and ends as soon as it issues. Here it does
//! not: instructions wait in registers between stages, share register banks, result buses and the
//! load/store unit, and memory answers when it likes. So this engine goes cycle by cycle (and jumps
//! over cycles in which nothing can happen). A cycle runs through the stages from the back to the
//! front, so that what a stage lets go is free for the one before it in the same cycle:
//!
//! ```text
//!  replies of memory          load_store.rs
//!  write-back                 results reach registers, hazards are lifted   (hazards.rs)
//!  units                      instructions start                            (dispatch.rs, load_store.rs)
//!  blocks                     end, and make room                            (blocks.rs, ../blocks/)
//!  operand collector          operands are read                             (collector.rs)
//!  issue                      each sub-core's policy decides                (issue.rs)
//!  fetch                      instruction buffers are filled                (front_end.rs)
//! ```
//!
//! With every part off, the cycles are those of the paper model; `tests/engine/against_reference.rs`
//! compares event by event. The structure with everything on is that of GPGPU-Sim 4.2's
//! shader core, as read from its sources ([`crate::model`], section 15); `tests/engine/accelsim.rs` compares cycles.

mod blocks;
mod code;
mod collector;
mod completions;
mod cores;
mod dispatch;
mod first_level;
mod flight;
mod front_end;
mod gpu;
mod hazards;
mod idle;
mod issue;
mod latch;
mod load_store;
mod log;
pub mod memory;
mod samples;
mod sm;
mod units;

pub(in crate::sim) use gpu::launch;
