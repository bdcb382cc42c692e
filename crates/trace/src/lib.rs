//! The events of a simulated run, and the explanation that is computed from them.
//!
//! * [`trace`]: the events, the trait of their observers, and the formats they are written in.
//! * [`why`]: the critical path of a run.
//!
//! The simulation depends on this crate. The explanation therefore cannot use its code: a critical
//! path that is computed by the code that produced the times would not explain them.

pub mod trace;
pub mod why;
