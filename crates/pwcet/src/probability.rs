//! Validated probabilities.

use std::fmt;

use serde::Serialize;

/// A probability of a run, more than 0 and less than 1.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct Probability(f64);

/// The error for a number that is not more than 0 and less than 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NoProbability(pub f64);

impl fmt::Display for NoProbability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is not more than 0 and less than 1", self.0)
    }
}

impl std::error::Error for NoProbability {}

impl Probability {
    /// Creates a probability.
    ///
    /// # Errors
    /// Returns an error if the number is not more than 0 and less than 1.
    pub fn new(probability: f64) -> Result<Self, NoProbability> {
        let possible = probability > 0.0 && probability < 1.0;
        possible.then_some(Self(probability)).ok_or(NoProbability(probability))
    }

    /// Returns 10^-exponent; the exponent is limited to the range from 1 to 300.
    pub fn decade(exponent: u32) -> Self {
        Self(libm::pow(10.0, -f64::from(exponent.clamp(1, 300))))
    }

    /// Returns the number.
    pub fn get(self) -> f64 {
        self.0
    }
}
