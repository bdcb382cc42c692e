//! The front ends: each makes programs or paths of what a user has.
//!
//! * [`ptx`]: PTX modules.
//! * [`sass`]: machine code in cubins.
//! * [`micro`]: tiny kernels written by hand.
//! * [`accelsim`]: traces in the format of Accel-Sim.

pub mod accelsim;
pub mod micro;
pub mod ptx;
pub mod sass;
