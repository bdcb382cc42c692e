//! Critical values of tests.

use serde::Serialize;

/// The value of a statistic from which on a test rejects at a significance.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct CriticalValue {
    /// The probability that a sample for which the hypothesis is true has a statistic beyond it.
    pub significance: f64,
    /// The statistic.
    pub statistic: f64,
}

/// The significances at which critical values are given if no table determines them.
pub(super) const SIGNIFICANCES: [f64; 3] = [0.1, 0.05, 0.01];

/// Returns critical values at [`SIGNIFICANCES`].
pub(super) fn at_significances(statistic: impl Fn(f64) -> f64) -> [CriticalValue; 3] {
    SIGNIFICANCES.map(|significance| CriticalValue { significance, statistic: statistic(significance) })
}
