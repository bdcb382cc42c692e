//! The generalized extreme value distribution, and its fits to block maxima.

use serde::Serialize;

use super::gpd_fit::Method;
use super::optimise::{root, simplex};

/// The generalized extreme value distribution, P(B <= b) = `exp(-(1+xi*(b-mu)/sigma)^(-1/xi))`, and
/// `exp(-exp(-(b-mu)/sigma))` for xi = 0 (Gumbel).
///
/// The Fisher-Tippett-Gnedenko theorem, section 2.1 of the paper. scipy's `genextreme` has c = -xi,
/// like Hosking's k.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Gev {
    /// The location, in the unit of time.
    pub mu: f64,
    /// The scale, in the unit of time; positive.
    pub sigma: f64,
    /// The shape, the same as that of the excesses over a high threshold.
    pub xi: f64,
}

/// The absolute value of a shape below which it is treated as 0.
const NO_SHAPE: f64 = 1e-9;

/// Euler's constant, the mean of a standard Gumbel variable.
const EULER: f64 = 0.577_215_664_901_532_9;

impl Gev {
    /// Returns -ln P(B <= b): 0 above a finite upper end, infinite below a finite lower end.
    pub fn hazard(&self, b: f64) -> f64 {
        let scaled = (b - self.mu) / self.sigma;
        if self.xi.abs() < NO_SHAPE {
            return libm::exp(-scaled);
        }
        let inner = 1.0 + self.xi * scaled;
        if inner > 0.0 {
            libm::exp(-libm::log(inner) / self.xi)
        } else if self.xi > 0.0 {
            f64::INFINITY
        } else {
            0.0
        }
    }

    /// Returns P(B <= b).
    pub fn cdf(&self, b: f64) -> f64 {
        libm::exp(-self.hazard(b))
    }

    /// Returns P(B > b).
    pub fn sf(&self, b: f64) -> f64 {
        -libm::expm1(-self.hazard(b))
    }

    /// Returns the b with this [`hazard`](Self::hazard), which must be positive.
    pub fn at_hazard(&self, hazard: f64) -> f64 {
        let log = -libm::log(hazard);
        let scaled = if self.xi.abs() < NO_SHAPE { log } else { libm::expm1(self.xi * log) / self.xi };
        self.mu + self.sigma * scaled
    }

    /// Returns the b that a maximum exceeds with probability `exceedance` in (0, 1).
    pub fn exceeded_with(&self, exceedance: f64) -> f64 {
        self.at_hazard(-libm::log1p(-exceedance))
    }

    /// Returns the time that one run of a block of `block` exceeds with probability `exceedance`,
    /// if runs are independent.
    pub fn run_exceeded_with(&self, exceedance: f64, block: usize) -> f64 {
        self.at_hazard(-libm::log1p(-exceedance) * block as f64)
    }

    /// Returns the log-likelihood of maxima; minus infinity if one is impossible.
    pub fn log_likelihood(&self, maxima: &[f64]) -> f64 {
        if !(self.sigma > 0.0 && self.sigma.is_finite()) {
            return f64::NEG_INFINITY;
        }
        let each = |&b: &f64| {
            let scaled = (b - self.mu) / self.sigma;
            if self.xi.abs() < NO_SHAPE {
                return -scaled - libm::exp(-scaled);
            }
            let inner = 1.0 + self.xi * scaled;
            if inner <= 0.0 {
                return f64::NEG_INFINITY;
            }
            let log = libm::log(inner) / self.xi;
            -(1.0 + self.xi) * log - libm::exp(-log)
        };
        let sum = maxima.iter().map(each).sum::<f64>() - maxima.len() as f64 * libm::log(self.sigma);
        if sum.is_nan() { f64::NEG_INFINITY } else { sum }
    }

    /// Returns the fit to at least 3 maxima that are not all the same, from the smallest to the
    /// largest. Probability-weighted moments are treated as L-moments here.
    pub fn fit(sorted: &[f64], method: Method) -> Option<Self> {
        let start = Self::l_moments(sorted)?;
        match method {
            Method::LMoments | Method::ProbabilityWeightedMoments => Some(start),
            Method::MaximumLikelihood => Some(Self::maximum_likelihood(sorted, start)),
        }
    }

    /// Fits by L-moments. J. R. M. Hosking, "L-Moments", J. R. Stat. Soc. B 52, 1990, table 1: the
    /// shape is the root of its equation, not the usual approximation of that root.
    fn l_moments(sorted: &[f64]) -> Option<Self> {
        let n = sorted.len() as f64;
        let (mut b0, mut b1, mut b2) = (0.0, 0.0, 0.0);
        // values relative to the smallest: a large location would cost digits of the scale
        let from = sorted.first().copied().unwrap_or_default();
        for (value, j) in sorted.iter().map(|value| value - from).zip(0_u32..) {
            let j = f64::from(j);
            b0 += value / n;
            b1 += value * j / (n * (n - 1.0));
            b2 += value * j * (j - 1.0) / (n * (n - 1.0) * (n - 2.0));
        }
        let (l2, l3) = (2.0 * b1 - b0, 6.0 * b2 - 6.0 * b1 + b0);
        let skewness = l3 / l2;
        if !(l2 > 0.0 && skewness.abs() < 1.0 && sorted.len() >= 3) {
            return None;
        }
        // (1 - base^(-k)) / k; its limit for k = 0 is the logarithm
        let part = |base: f64, k: f64| {
            let log = libm::log(base);
            if k.abs() < 1e-12 { log } else { -libm::expm1(-k * log) / k }
        };
        let too_skew = |k: f64| skewness - (2.0 * part(3.0, k) / part(2.0, k) - 3.0);
        let (low, high) = (-0.99, 20.0);
        let k = root(too_skew, (low, too_skew(low)), (high, too_skew(high)), 1e-13);
        if k.abs() < NO_SHAPE {
            let sigma = l2 / std::f64::consts::LN_2;
            return Some(Self { mu: from + b0 - EULER * sigma, sigma, xi: 0.0 });
        }
        let gamma = libm::tgamma(1.0 + k);
        let sigma = l2 / (part(2.0, k) * gamma);
        let gev = Self { mu: from + b0 - sigma * (1.0 - gamma) / k, sigma, xi: -k };
        (gev.sigma > 0.0 && gev.mu.is_finite()).then_some(gev)
    }

    /// Fits by maximum likelihood near `start`, by the simplex method in units of its scale.
    fn maximum_likelihood(sorted: &[f64], start: Self) -> Self {
        let at = |[mu, sigma, xi]: [f64; 3]| Self {
            mu: start.mu + mu * start.sigma,
            sigma: start.sigma * libm::exp(sigma),
            xi,
        };
        // another shape whose end includes all points, if the fit by L-moments excludes some
        let possible = start.log_likelihood(sorted) > f64::NEG_INFINITY;
        let from = [0.0, 0.0, if possible { start.xi } else { 0.1 }];
        let cost = |point: [f64; 3]| {
            if point[2] < super::gpd_fit::SMALLEST_XI {
                return f64::INFINITY;
            }
            -at(point).log_likelihood(sorted)
        };
        at(simplex(cost, from, [0.1, 0.1, 0.1]).0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_invert() {
        for xi in [-0.4, 0.0, 0.2] {
            let gev = Gev { mu: 10.0, sigma: 2.0, xi };
            for exceedance in [0.5, 1e-3, 1e-9] {
                let back = gev.sf(gev.exceeded_with(exceedance));
                assert!((back / exceedance - 1.0).abs() < 1e-6, "{xi} {exceedance} {back}");
            }
        }
        assert_eq!(Gev::fit(&[1.0, 1.0, 1.0, 1.0], Method::LMoments), None);
        assert_eq!(Gev::fit(&[1.0], Method::MaximumLikelihood), None);
    }
}
