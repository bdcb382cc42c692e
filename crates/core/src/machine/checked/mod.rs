//! The validation of a machine: checks of single settings and of combinations of settings. All
//! problems are reported at once, each with its location in the file.
//!
//! The result is [`Parts`]. A part has a type that only its checks can construct: [`Checked`] for a
//! part that is used as it was written, and a type of its own for other parts.

mod hazards;
mod idle;
mod limits;
mod memory;
mod parts;
mod pipeline;
mod range;
mod shared_memory;
mod sub_cores;
mod units;
mod value;

pub use hazards::Hazards;
pub use idle::IdleSetting;
pub use limits::Limits;
pub use memory::MemorySystem;
pub use parts::Parts;
pub use pipeline::Pipeline;
pub use shared_memory::{BankTiming, Banks, SharedMemory};
pub use sub_cores::SubCores;
pub use units::{MAX_DETAILED_UNITS, OpTiming, Unit};
pub use value::Checked;
