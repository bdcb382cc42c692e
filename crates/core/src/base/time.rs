//! Instants and durations, in cycles.

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Mul, Sub};

/// An instant: the number of a cycle, counted from the start of the block (or launch).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cycle(u64);

/// A duration in cycles.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
)]
pub struct Cycles(u64);

impl Cycle {
    /// The first cycle.
    pub const ZERO: Self = Self(0);
    /// An instant that is never reached.
    pub const NEVER: Self = Self(u64::MAX);

    /// Returns the instant with this number.
    #[inline]
    pub const fn new(number: u64) -> Self {
        Self(number)
    }

    /// Returns the number of the cycle.
    #[inline]
    pub const fn get(self) -> u64 {
        self.0
    }

    /// Returns the instant one cycle later.
    #[must_use]
    #[inline]
    pub const fn next(self) -> Self {
        Self(self.0 + 1)
    }

    /// Returns the time since the first cycle.
    #[inline]
    pub const fn since_start(self) -> Cycles {
        Cycles(self.0)
    }
}

impl Cycles {
    /// A duration of zero cycles.
    pub const ZERO: Self = Self(0);
    /// One cycle.
    pub const ONE: Self = Self(1);

    /// Returns a duration of this many cycles.
    #[inline]
    pub const fn new(count: u64) -> Self {
        Self(count)
    }

    /// Returns the number of cycles.
    #[inline]
    pub const fn get(self) -> u64 {
        self.0
    }

    /// Returns the sum of both, or the largest duration if it is larger.
    #[must_use]
    #[inline]
    pub const fn saturating_add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }

    /// Returns the duration minus `other`, or zero if that is negative.
    #[must_use]
    #[inline]
    pub const fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl Add<Cycles> for Cycle {
    type Output = Self;
    #[inline]
    fn add(self, duration: Cycles) -> Self {
        Self(self.0 + duration.0)
    }
}

impl AddAssign<Cycles> for Cycle {
    #[inline]
    fn add_assign(&mut self, duration: Cycles) {
        self.0 += duration.0;
    }
}

impl Sub for Cycle {
    type Output = Cycles;
    #[inline]
    fn sub(self, earlier: Self) -> Cycles {
        Cycles(self.0 - earlier.0)
    }
}

impl Add for Cycles {
    type Output = Self;
    #[inline]
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl AddAssign for Cycles {
    #[inline]
    fn add_assign(&mut self, other: Self) {
        self.0 += other.0;
    }
}

impl Sub for Cycles {
    type Output = Self;
    #[inline]
    fn sub(self, other: Self) -> Self {
        Self(self.0 - other.0)
    }
}

impl Mul<u64> for Cycles {
    type Output = Self;
    #[inline]
    fn mul(self, times: u64) -> Self {
        Self(self.0 * times)
    }
}

impl Sum for Cycles {
    fn sum<I: Iterator<Item = Self>>(durations: I) -> Self {
        durations.fold(Self::ZERO, Add::add)
    }
}

impl fmt::Display for Cycle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for Cycles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
