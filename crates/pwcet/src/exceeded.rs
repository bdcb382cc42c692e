//! The comparison of a curve with runs that were not used to compute it.

use serde::Serialize;
use statrs::function::beta::checked_beta_reg;

use super::probability::Probability;

/// The p-value below which runs contradict a time and its probability.
pub const CONTRADICTED: f64 = 0.001;

/// The number of further runs that took longer than the time with an exceedance probability.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Exceeded {
    /// The exceedance probability of one run.
    pub probability: Probability,
    /// The runs that took longer than the time by the curve.
    #[serde(flatten)]
    pub by_curve: Longer,
    /// The runs that took longer than the upper limit of the curve's interval; none where there is
    /// no such limit. The curve itself is an estimate: even if it is right on average, half of such
    /// curves are a little too low, which enough runs show.
    pub by_upper_limit: Option<Longer>,
}

/// The runs that took longer than a time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Longer {
    /// The time.
    pub time: f64,
    /// The number of runs that are expected to take longer.
    pub expected: f64,
    /// The number of runs that took longer.
    pub runs: u64,
    /// The probability of at least so many such runs, if runs are independent and the exceedance
    /// probability is not larger.
    pub p_value: f64,
    /// Whether the p-value is less than [`CONTRADICTED`], which means that the time is too short
    /// for its probability.
    pub contradicted: bool,
}

impl Longer {
    /// Creates the comparison for `of` runs, `runs` of which took longer.
    pub fn new(probability: Probability, time: f64, of: u64, runs: u64) -> Self {
        let p_value = at_least(runs, of, probability.get());
        let expected = of as f64 * probability.get();
        Self { time, expected, runs, p_value, contradicted: p_value < CONTRADICTED }
    }
}

/// Returns P(X >= k) of a binomial variable: the regularized incomplete beta function I_p(k, n -
/// k + 1).
fn at_least(k: u64, n: u64, p: f64) -> f64 {
    match k {
        0 => 1.0,
        k if k > n => 0.0,
        k => checked_beta_reg(k as f64, (n - k + 1) as f64, p).map_or(1.0, |p| p.clamp(0.0, 1.0)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tails_of_the_binomial_distribution_are_sums() {
        let (n, p) = (12u64, 0.2f64);
        let choose = |k: u64| (0..k).fold(1.0, |all, i| all * (n - i) as f64 / (i + 1) as f64);
        let mass = |k: u64| choose(k) * p.powi(k as i32) * (1.0 - p).powi((n - k) as i32);
        for k in 0..=n {
            let sum: f64 = (k..=n).map(mass).sum();
            assert!((at_least(k, n, p) - sum).abs() < 1e-12, "{k}");
        }
        assert_eq!(at_least(13, 12, 0.2), 0.0);
        // one run in a million takes longer than the time with the exceedance probability 1e-9
        assert!((at_least(1, 1_000_000, 1e-9) - 0.000_999_5).abs() < 1e-7);
    }

    #[test]
    fn runs_contradict_a_time_that_is_too_short() {
        let at = |exponent, runs| Longer::new(Probability::decade(exponent), 5.0, 100_000, runs);
        assert!(!at(3, 100).contradicted && !at(3, 80).contradicted && !at(3, 120).contradicted);
        assert!(at(3, 140).contradicted && at(9, 1).contradicted && !at(5, 3).contradicted);
    }
}
