//! The front ends, which translate the inputs of a user to programs or paths.
//!
//! * [`ptx`]: PTX modules.
//! * [`sass`]: machine code in cubins.
//! * [`micro`]: tiny kernels written by hand.
//! * [`accelsim`]: traces in the format of Accel-Sim.

pub mod accelsim;
pub mod micro;
pub mod ptx;
mod runtime;
pub mod sass;
