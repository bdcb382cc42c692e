//! What a launch leaves on a GPU for the next one.

use serde::{Deserialize, Serialize};

use super::memory::MemoryLeft;

/// What the launches of an application so far have left on a machine whose launches find it there
/// ([`Start`](crate::machine::memory::Start)); nothing before the first launch, and on other machines.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Left(pub(super) Option<OnGpu>);

/// What a launch leaves that came to its end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct OnGpu {
    /// The SM that got a block last.
    pub(super) last_served: usize,
    /// What is behind the SMs, if that is simulated.
    pub(super) memory: Option<MemoryLeft>,
}
