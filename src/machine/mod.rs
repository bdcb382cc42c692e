//! The machine: functional units with their timing, the policy, the limits of the SM.
//!
//! What is parsed ([`MachineSpec`]) is not what is used ([`Machine`]): a `Machine` exists only
//! validated, so nothing downstream has a path for a bad configuration.

mod feature;
mod idle;
mod limits;
pub mod memory;
mod merge;
mod model;
pub mod pipeline;
mod scheduler;
mod setting;
mod shared_memory;
mod spec;
mod sub_cores;
#[cfg(test)]
mod tests;
mod validate;

pub use feature::{Feature, Features};
pub use idle::IdleSetting;
pub use limits::{BlockNeeds, Limits, Occupancy};
pub use memory::MemorySystem;
pub use model::{Hazards, Machine, OpTiming, Unit};
pub use pipeline::Pipeline;
pub use scheduler::{ParseSchedulerError, SchedulerKind};
pub use setting::Setting;
pub use shared_memory::{BankRule, BankTiming, Banks, SharedMemory, SharedMemorySpec};
pub use spec::{MachineSpec, OpSpec, Reconvergence};
pub use sub_cores::SubCores;
