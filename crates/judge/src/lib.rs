//! Everything that needs a simulation and bounds at once.
//!
//! * [`load`]: finds, reads and prepares what a user names: launches, machines, traces.
//! * [`compile`]: makes PTX of CUDA C++ with a compiler of the user.
//! * [`check`]: executes launches, simulates them, and compares makespans with bounds.
//! * [`explore`]: searches for the worst schedule, and for launches that exceed a bound.
//! * [`sweep`]: plans of many runs.

pub mod check;
pub mod compile;
pub mod explore;
pub mod load;
pub mod sweep;
