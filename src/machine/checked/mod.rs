//! Every check of a written machine: of a setting by itself, and of what settings have to do with each
//! other. All problems are reported at once, each at its place in the file.
//!
//! What passes are [`Parts`]. A part is of a type that only its checks can make: [`Checked`] for what is
//! used as it was written, a type of its own for what is not.

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
pub use units::{MOST_DETAILED_UNITS, OpTiming, Unit};
pub use value::Checked;
