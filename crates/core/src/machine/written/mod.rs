//! The content of a machine file. Every setting is optional, and nothing is validated except that
//! the file has a name and the form of a machine.

mod drawn;
mod machine;
pub mod memory;
pub mod pipeline;
mod policy;
mod shared_memory;

/// Returns whether a setting has the default value of its type, so that a file may omit it.
fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

fn is_one<T: From<u8> + PartialEq>(value: &T) -> bool {
    *value == T::from(1)
}

pub use drawn::Random;
pub use machine::{
    Dependences, Hazard, LimitsSpec, MachineSpec, OpSpec, Reconvergence, TimedOpSpec, UnitSpec,
};
pub use memory::MemorySpec;
pub use pipeline::PipelineSpec;
pub use policy::{FORMER_POLICY_SETTING, ParsePolicyError, PolicyKind};
pub use shared_memory::{AtomicRule, BankRule, SharedMemorySpec};
