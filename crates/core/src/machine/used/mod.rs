//! The validated machine that the rest of the program uses.

mod features;
mod machine;
mod occupancy;

pub use features::{Feature, Features};
pub use machine::Machine;
pub use occupancy::{BlockNeeds, Occupancy};
