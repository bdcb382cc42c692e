//! Confidence intervals of a generalized Pareto fit by profile likelihood.

use serde::Serialize;

use super::gpd::Gpd;
use super::gpd_fit::{Excesses, SMALLEST_XI};
use super::optimise::{minimum_near, root};
use super::special::two_sided_z;

/// The number of times that a step away from the estimate is doubled before the interval counts as
/// unlimited on that side.
const DOUBLINGS: usize = 40;

/// A confidence interval; a side without a limit is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Interval {
    /// The lower limit.
    pub lower: Option<f64>,
    /// The upper limit.
    pub upper: Option<f64>,
}

impl Interval {
    /// Returns the interval from `half` below a value to `half` above.
    pub fn around(value: f64, half: f64) -> Self {
        Self { lower: Some(value - half), upper: Some(value + half) }
    }

    /// Returns the interval with an additional independent error of `half` on each side of an
    /// estimate.
    #[must_use]
    pub fn widened(self, estimate: f64, half: f64) -> Self {
        let side = |limit: f64, sign: f64| estimate + sign * libm::hypot(limit - estimate, half);
        let finite = |limit: &f64| limit.is_finite();
        Self {
            lower: self.lower.map(|lower| side(lower, -1.0)).filter(finite),
            upper: self.upper.map(|upper| side(upper, 1.0)).filter(finite),
        }
    }

    /// Returns this interval, adjusted so that it is an interval of `time`; `before` is the
    /// interval of a time that is not longer. Then no limit is negative or below the one in
    /// `before`, the time lies within the limits, and the upper limit is at least `seen`. An
    /// interval without limits does not change.
    #[must_use]
    pub fn beyond(self, before: Self, time: f64, seen: f64) -> Self {
        if self == Self::default() && before == self {
            return self;
        }
        let lower = self.lower.into_iter().chain(before.lower).reduce(f64::max);
        // a missing limit means that the interval is unlimited
        let upper = self.upper.zip(before.upper).map(|(upper, before)| upper.max(before).max(time).max(seen));
        Self { lower: lower.map(|lower| lower.min(time).max(0.0)), upper }
    }

    /// Returns whether the interval contains this value.
    pub fn contains(&self, value: f64) -> bool {
        self.lower.is_none_or(|lower| lower <= value) && self.upper.is_none_or(|upper| value <= upper)
    }

    /// Returns the interval with an increasing function applied to its limits; a limit that exceeds
    /// an `f64` becomes `None`.
    #[must_use]
    pub fn map(self, change: impl Fn(f64) -> f64) -> Self {
        let limit = |limit: Option<f64>| limit.map(&change).filter(|limit| limit.is_finite());
        Self { lower: limit(self.lower), upper: limit(self.upper) }
    }
}

/// The likelihood around a fit of maximum likelihood.
///
/// S. Coles, *An Introduction to Statistical Modeling of Extreme Values*, 2001, sections 2.6.6 and
/// 4.3.3: a value is in the interval if the best log-likelihood with it is at most half a quantile
/// of chi-square (1 degree) below the maximum.
#[derive(Clone, Debug)]
pub struct Profile<'a> {
    excesses: &'a Excesses,
    best: Gpd,
    /// The largest log-likelihood.
    maximum: f64,
    /// The distance below it at which the interval ends.
    drop: f64,
}

impl<'a> Profile<'a> {
    /// Creates the profile around the fit `best`, for intervals that contain the true value with
    /// probability `level`.
    pub fn new(excesses: &'a Excesses, best: Gpd, level: f64) -> Self {
        let z = two_sided_z(level);
        Self { excesses, best, maximum: excesses.log_likelihood(best), drop: z * z / 2.0 }
    }

    /// Returns the interval of the shape. It does not go below [`SMALLEST_XI`].
    pub fn xi(&self) -> Interval {
        let alpha_of = |xi: f64, free: f64| Gpd { xi, alpha: libm::exp(free) };
        self.interval(self.best.xi, self.error(), libm::log(self.best.alpha), alpha_of)
    }

    /// Returns the interval of the scale, in the unit of time.
    pub fn alpha(&self) -> Interval {
        let with = |log_alpha: f64, xi: f64| Gpd { xi, alpha: libm::exp(log_alpha) };
        self.interval(libm::log(self.best.alpha), self.error(), self.best.xi, with).map(libm::exp)
    }

    /// Returns the interval of the amount that an excess exceeds with probability `exceedance`, in
    /// the unit of time.
    pub fn excess(&self, exceedance: f64) -> Interval {
        let hazard = -libm::log(exceedance);
        let estimate = self.best.at_hazard(hazard);
        if !(estimate > 0.0 && estimate.is_finite()) {
            return Interval::default();
        }
        let with = |log_excess: f64, xi: f64| {
            let unit = Gpd { xi, alpha: 1.0 };
            Gpd { xi, alpha: libm::exp(log_excess) / unit.at_hazard(hazard) }
        };
        self.interval(libm::log(estimate), self.error(), self.best.xi, with).map(libm::exp)
    }

    /// Returns a step of about one standard error of the shape, and of the scale's logarithm.
    fn error(&self) -> f64 {
        (1.0 + self.best.xi).max(0.1) / (self.excesses.count() as f64).sqrt()
    }

    /// Returns the interval of a quantity whose estimate is `estimate`. The distribution has one
    /// more parameter, whose estimate is `other`; `with` returns the distribution for a value of
    /// the quantity and a value of that parameter.
    fn interval(&self, estimate: f64, step: f64, other: f64, with: impl Fn(f64, f64) -> Gpd) -> Interval {
        Interval {
            lower: self.limit(estimate, -step, other, &with),
            upper: self.limit(estimate, step, other, &with),
        }
    }

    fn limit(&self, estimate: f64, step: f64, other: f64, with: &impl Fn(f64, f64) -> Gpd) -> Option<f64> {
        // each search for the other parameter begins where the last one ended
        let mut near = other;
        let mut beyond = |value: f64| {
            let cost = |free: f64| {
                let gpd = with(value, free);
                let allowed = gpd.xi >= SMALLEST_XI && gpd.alpha > 0.0 && gpd.alpha.is_finite();
                if allowed { -self.excesses.log_likelihood(gpd) } else { f64::INFINITY }
            };
            let (free, lowest) = minimum_near(cost, near, step.abs() / 2.0, 1e-6);
            if lowest.is_finite() {
                near = free;
            }
            self.maximum + lowest - self.drop
        };
        let (mut inside, mut stride) = ((estimate, -self.drop), step);
        for _ in 0..DOUBLINGS {
            let next = inside.0 + stride;
            let value = beyond(next);
            if value >= 0.0 {
                return Some(root(beyond, inside, (next, value), 1e-7));
            }
            if value.is_nan() {
                return None;
            }
            (inside, stride) = ((next, value), stride * 1.5);
        }
        None
    }
}
