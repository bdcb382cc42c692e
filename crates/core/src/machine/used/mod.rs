//! The validated machine that the rest of the program uses.

mod features;
mod index;
mod machine;
mod mapping;
mod occupancy;

pub use features::{Feature, Features};
pub use index::place_of;
pub use machine::Machine;
pub use mapping::Mapping;
pub use occupancy::{BlockNeeds, Occupancy};
