//! What the launches of an application leave for the next one.

use serde::{Deserialize, Serialize};
use warpbound_bound::MemoryLeft;
use warpbound_core::machine::Machine;
use warpbound_sim::CarriedState;

/// What the launches of an application have left so far: in the simulated machine, and what is known
/// of its L2 whatever the schedule was.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Left {
    pub(super) simulated: CarriedState,
    pub(super) lines: MemoryLeft,
}

impl Left {
    /// Returns whether no launch has left anything.
    pub fn is_first(&self) -> bool {
        self.simulated == CarriedState::default()
    }

    /// Returns whether a launch on this machine can have left this.
    pub fn fits(&self, machine: &Machine) -> bool {
        self.simulated.fits(machine)
    }
}
