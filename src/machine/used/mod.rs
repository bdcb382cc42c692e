//! The machine as everything else knows it: of checked parts alone.

mod features;
mod machine;
mod occupancy;

pub use features::{Feature, Features};
pub use machine::Machine;
pub use occupancy::{BlockNeeds, Occupancy};
