//! The machine description: functional units with their timing, the scheduling policy, and the
//! limits of the SM.
//!
//! A machine passes through the following stages, each of which is a folder:
//!
//! * `written`: the content of a machine file as it is read ([`MachineSpec`] and its parts);
//! * `layered`: the combination of a file with those it extends and with the settings of the
//!   command line;
//! * `checked`: the validation of each setting by itself and together with the others, and the
//!   validated parts of a machine ([`Checked`], [`Limits`], [`SharedMemory`], [`SubCores`]);
//! * `used`: the [`Machine`], which consists only of validated parts, so that later code need not
//!   handle a bad configuration.
//!
//! [`gpgpusim`] converts the configuration of another simulator to the content of a machine file.
//!
//! `layered` and `checked` depend on `written` but not on each other, `used` depends on `written`
//! and `checked`, and `written` depends on none of them.

mod checked;
pub mod gpgpusim;
mod layered;
#[cfg(test)]
mod tests;
mod used;
mod written;

pub use checked::{
    BankTiming, Banks, Checked, Hazards, IdleSetting, Limits, MAX_DETAILED_UNITS, MemorySystem, OpTiming,
    Pipeline, SharedMemory, SubCores, Unit,
};
pub use layered::Setting;
pub use used::{BlockNeeds, Feature, Features, Machine, Mapping, Occupancy, place_of};
pub use written::{
    AtomicRule, BankRule, Dependences, FORMER_POLICY_SETTING, MachineSpec, MemorySpec, OpSpec,
    ParsePolicyError, PipelineSpec, PolicyKind, Random, Reconvergence, SharedMemorySpec, memory, pipeline,
};
