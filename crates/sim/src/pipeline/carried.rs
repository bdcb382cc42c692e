//! The state that a launch leaves on a GPU for the next launch.

use serde::{Deserialize, Serialize};

use super::memory::CarriedMemory;

/// The state that the launches of an application have left so far, on a machine whose launches
/// start from it ([`Start`](warpbound_core::machine::memory::Start)). It is empty before the first
/// launch, and on all other machines.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CarriedState(pub(super) Option<OnGpu>);

/// The state that a completed launch leaves.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct OnGpu {
    /// The SM that got a block last.
    pub(super) last_served: usize,
    /// The state of the memory behind the SMs, if that is simulated.
    pub(super) memory: Option<CarriedMemory>,
}
