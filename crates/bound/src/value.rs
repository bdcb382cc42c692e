//! The value of a bound.

use std::fmt;

use warpbound_core::base::Cycles;

/// The value of a bound: a claim about a time, not a time that was observed. It meets makespans
/// only in `check`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BoundValue(Cycles);

impl BoundValue {
    /// Creates the claim that something takes at most this many cycles.
    pub const fn new(cycles: Cycles) -> Self {
        Self(cycles)
    }

    /// Returns the number of cycles of the claim.
    pub const fn cycles(self) -> Cycles {
        self.0
    }
}

impl fmt::Display for BoundValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
