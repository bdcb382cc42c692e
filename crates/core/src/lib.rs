//! The basic types of warpbound, which all other crates use.
//!
//! * [`program`]: decoded kernels and launches, independent of the language they were written in.
//! * [`path`]: the instructions that a warp executed, without times.
//! * [`machine`]: descriptions of machines, read from RON files and checked.
//! * [`isa`]: the op classes of instructions.
//! * [`base`]: time, identifiers, masks, cancellation.
//! * [`diag`]: diagnostics with a location, a message and a hint.
//!
//! Nothing here computes a time, so that the simulation and the bounds can share all of it.

pub mod base;
pub mod diag;
pub mod isa;
pub mod machine;
pub mod path;
pub mod program;
