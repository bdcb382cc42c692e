//! The generalized Pareto distribution.

use serde::Serialize;

/// The absolute value of a shape below which it is treated as 0: the two formulas then differ by
/// less than the last bits of an `f64`.
const NO_SHAPE: f64 = 1e-12;

/// The generalized Pareto distribution of excesses y over a threshold, P(Y <= y) =
/// `1-(1+xi*y/alpha)^(-1/xi)`, and `1-exp(-y/alpha)` for xi = 0.
///
/// Pickands' theorem, definition 1 in section 2.1 of Berezovskyi et al., "Measurement-Based
/// Probabilistic Timing Analysis for Graphics Processor Units" (DIAGXTRM). Hosking and Wallis write
/// k = -xi; scipy's `genpareto` has c = xi.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Gpd {
    /// The shape: negative where the tail ends at a finite time.
    pub xi: f64,
    /// The scale, in the unit of time; positive.
    pub alpha: f64,
}

impl Gpd {
    /// Creates the exponential distribution of this mean.
    pub fn exponential(mean: f64) -> Self {
        Self { xi: 0.0, alpha: mean }
    }

    /// Returns whether the tail is exponential.
    pub fn is_exponential(&self) -> bool {
        self.xi.abs() < NO_SHAPE
    }

    /// Returns -ln P(Y > y): 0 at the threshold, infinite above the end point.
    pub fn cumulative_hazard(&self, y: f64) -> f64 {
        let scaled = (y / self.alpha).max(0.0);
        if self.is_exponential() {
            return scaled;
        }
        let inner = self.xi * scaled;
        if inner <= -1.0 { f64::INFINITY } else { libm::log1p(inner) / self.xi }
    }

    /// Returns P(Y > y).
    pub fn sf(&self, y: f64) -> f64 {
        libm::exp(-self.cumulative_hazard(y))
    }

    /// Returns P(Y <= y).
    pub fn cdf(&self, y: f64) -> f64 {
        -libm::expm1(-self.cumulative_hazard(y))
    }

    /// Returns the y with the cumulative hazard `hazard`, at least 0: P(Y > y) = exp(-hazard).
    pub fn at_hazard(&self, hazard: f64) -> f64 {
        if self.is_exponential() {
            self.alpha * hazard
        } else {
            self.alpha * libm::expm1(self.xi * hazard) / self.xi
        }
    }

    /// Returns the derivative of that y with respect to the hazard.
    pub fn slope(&self, hazard: f64) -> f64 {
        self.alpha * libm::exp(self.xi * hazard)
    }

    /// Returns the y that is exceeded with probability `exceedance` in (0, 1].
    pub fn exceeded_with(&self, exceedance: f64) -> f64 {
        self.at_hazard(-libm::log(exceedance).min(0.0))
    }

    /// Returns the largest possible y; `None` if there is no limit.
    pub fn end_point(&self) -> Option<f64> {
        (self.xi < -NO_SHAPE).then(|| -self.alpha / self.xi)
    }

    /// Returns the mean, if it is finite: alpha / (1 - xi) for xi < 1.
    pub fn mean(&self) -> Option<f64> {
        (self.xi < 1.0).then(|| self.alpha / (1.0 - self.xi))
    }

    /// Returns the log-likelihood of excesses; minus infinity if one is impossible.
    pub fn log_likelihood(&self, excesses: &[f64]) -> f64 {
        let each = |&y: &f64| -(1.0 + self.xi) * self.cumulative_hazard(y) - libm::log(self.alpha);
        let sum: f64 = excesses.iter().map(each).sum();
        if sum.is_nan() || sum == f64::INFINITY { f64::NEG_INFINITY } else { sum }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_invert_and_no_shape_is_the_limit() {
        for xi in [-0.7, -0.1, -1e-9, 0.0, 1e-9, 0.3, 1.5] {
            let gpd = Gpd { xi, alpha: 3.0 };
            for exceedance in [1.0, 0.3, 1e-6, 1e-15] {
                let back = gpd.sf(gpd.exceeded_with(exceedance));
                // near an end point the last bits of y have that much effect
                assert!((back / exceedance - 1.0).abs() < 1e-5, "{xi} {exceedance} {back}");
            }
        }
        let (near, at) = (Gpd { xi: 1e-9, alpha: 2.0 }, Gpd { xi: 0.0, alpha: 2.0 });
        assert!((near.exceeded_with(1e-9) / at.exceeded_with(1e-9) - 1.0).abs() < 1e-7);
        assert_eq!(Gpd { xi: -0.5, alpha: 2.0 }.end_point(), Some(4.0));
        assert_eq!(Gpd { xi: -0.5, alpha: 2.0 }.log_likelihood(&[1.0, 4.5]), f64::NEG_INFINITY);
    }
}
