//! The value of a bound.

use std::fmt;

use warpbound_core::base::Cycles;

/// The value of a bound: a claim about a time, not a time that was observed. It meets makespans
/// only in `check`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BoundValue(Cycles);

impl BoundValue {
    /// A value that does not fit. It is larger than every other value, and no
    /// [`Guarantee`](super::Guarantee) is made of it.
    pub const TOO_LARGE: Self = Self(Cycles::new(u64::MAX));

    /// Creates the claim that something takes at most this many cycles.
    pub const fn new(cycles: Cycles) -> Self {
        Self(cycles)
    }

    /// Creates the claim that something takes at most this many cycles; a negative number counts
    /// as zero.
    pub fn of(cycles: i128) -> Self {
        u64::try_from(cycles.max(0)).map_or(Self::TOO_LARGE, |cycles| Self(Cycles::new(cycles)))
    }

    /// Returns the claim for two things that happen one after the other.
    pub fn sum(self, next: Self) -> Self {
        Self::of(i128::from(self.0.get()) + i128::from(next.0.get()))
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
