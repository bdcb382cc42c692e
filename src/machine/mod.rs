//! The machine: functional units with their timing, the policy, the limits of the SM.
//!
//! A machine goes one way, and each folder here is a station of it:
//!
//! * `written`: what a file says, as it is read ([`MachineSpec`] and its parts);
//! * `layered`: a file laid over those it extends, and the settings of the command line over that;
//! * `checked`: every setting by itself and with the others, and the parts of a machine that passed
//!   ([`Checked`], [`Limits`], [`SharedMemory`], [`SubCores`]);
//! * `used`: the [`Machine`], made of such parts and nothing else, so that nothing downstream has a path
//!   for a bad configuration.
//!
//! [`gpgpusim`] makes what is written of another simulator's configuration.
//!
//! `layered` and `checked` know `written` and not each other, `used` knows `written` and `checked`, and
//! `written` knows none of them.

mod checked;
pub mod gpgpusim;
mod layered;
#[cfg(test)]
mod tests;
mod used;
mod written;

pub(crate) use checked::MOST_DETAILED_UNITS;
pub use checked::{
    BankTiming, Banks, Checked, Hazards, IdleSetting, Limits, MemorySystem, OpTiming, Pipeline, SharedMemory,
    SubCores, Unit,
};
pub use layered::Setting;
pub use used::{BlockNeeds, Feature, Features, Machine, Occupancy};
pub use written::{
    BankRule, Dependences, MachineSpec, MemorySpec, OpSpec, ParseSchedulerError, PipelineSpec, Random,
    Reconvergence, SchedulerKind, SharedMemorySpec, memory, pipeline,
};
