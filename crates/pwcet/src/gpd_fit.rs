//! Fits of the generalized Pareto distribution to excesses.

use serde::Serialize;

use super::gpd::Gpd;
use super::optimise::minimum_near;
use super::special::mean;

/// The smallest shape that is fitted. Below it the likelihood grows without limit as the end point
/// approaches the largest value, so that it has no maximum (Grimshaw 1993, section 2).
pub const SMALLEST_XI: f64 = -1.0;

/// The smallest number of exceedances for a fit: with fewer, maximum likelihood is far from its
/// behaviour for long samples (Hosking and Wallis 1987, section 5) and the tests detect nothing.
pub const MIN_EXCEEDANCES: usize = 30;

/// The number of factors that are multiplied before a logarithm is taken.
const TOGETHER: usize = 8;

/// Excesses over a threshold, from the smallest to the largest, all positive, at least one.
///
/// The values are stored in units of their mean, so that results do not depend on the unit of time.
#[derive(Clone, Debug)]
pub struct Excesses {
    scaled: Vec<f64>,
    mean: f64,
    largest: f64,
}

/// How a distribution was fitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// Maximum likelihood.
    MaximumLikelihood,
    /// Probability-weighted moments with plotting positions (j - 0.35) / n.
    ProbabilityWeightedMoments,
    /// L-moments, from unbiased probability-weighted moments.
    LMoments,
}

impl Excesses {
    /// Creates the excesses from values in any order; returns `None` if there are none or if one is
    /// not positive and finite.
    pub fn new(mut excesses: Vec<f64>) -> Option<Self> {
        if !excesses.iter().all(|&y| y > 0.0 && y.is_finite()) || excesses.is_empty() {
            return None;
        }
        if !excesses.is_sorted() {
            excesses.sort_unstable_by(f64::total_cmp);
        }
        let mean = mean(&excesses);
        if !(mean > 0.0 && mean.is_finite()) {
            return None;
        }
        excesses.iter_mut().for_each(|y| *y /= mean);
        let largest = excesses.last().copied().unwrap_or(1.0);
        Some(Self { scaled: excesses, mean, largest })
    }

    /// Returns the excesses with tied ones spread evenly over the step of `resolution` that they
    /// represent; those without ties do not change. This removes the effect of the steps from a
    /// distance of distribution functions, without random numbers.
    #[must_use]
    pub fn spread(&self, resolution: f64) -> Self {
        let step = resolution / self.mean;
        let even = |run: &[f64]| -> Vec<f64> {
            let place = |index: usize| (index as f64 + 0.5) / run.len() as f64 - 0.5;
            run.iter().enumerate().map(|(index, y)| y + step * place(index)).collect()
        };
        let scaled: Vec<f64> = self.scaled.chunk_by(|left, right| left == right).flat_map(even).collect();
        let largest = scaled.last().copied().unwrap_or(self.largest);
        let possible = scaled.iter().all(|&y| y > 0.0);
        if possible { Self { scaled, mean: self.mean, largest } } else { self.clone() }
    }

    /// Returns the number of distinct excesses.
    pub fn distinct(&self) -> usize {
        self.scaled.chunk_by(|left, right| left == right).count()
    }

    /// Returns the number of excesses.
    pub fn count(&self) -> usize {
        self.scaled.len()
    }

    /// Returns their mean, in the unit of time.
    pub fn mean(&self) -> f64 {
        self.mean
    }

    /// Returns the largest excess, in the unit of time.
    pub fn largest(&self) -> f64 {
        self.largest * self.mean
    }

    /// Returns the excesses in the unit of time.
    pub fn iter(&self) -> impl Iterator<Item = f64> + '_ {
        self.scaled.iter().map(|y| y * self.mean)
    }

    /// Returns the mean of ln(1 + theta y) with y in units of the mean; minus infinity if an
    /// argument is not positive.
    fn mean_log(&self, theta: f64) -> f64 {
        if 1.0 + theta * self.largest <= 0.0 {
            return f64::NEG_INFINITY;
        }
        // a small theta would lose its digits in 1 + theta y
        if theta.abs() < 1e-4 {
            return self.scaled.iter().map(|y| libm::log1p(theta * y)).sum::<f64>() / self.count() as f64;
        }
        let mut sum = 0.0;
        for some in self.scaled.chunks(TOGETHER) {
            let product: f64 = some.iter().map(|y| 1.0 + theta * y).product();
            sum += if product > 1e-290 && product < 1e290 {
                libm::log(product)
            } else {
                some.iter().map(|y| libm::log(1.0 + theta * y)).sum()
            };
        }
        sum / self.count() as f64
    }

    /// Returns the log-likelihood of a distribution; minus infinity if an excess is impossible.
    pub fn log_likelihood(&self, gpd: Gpd) -> f64 {
        let alpha = gpd.alpha / self.mean;
        let each = if gpd.is_exponential() {
            1.0 / alpha
        } else {
            let mean_log = self.mean_log(gpd.xi / alpha);
            if mean_log == f64::NEG_INFINITY {
                return f64::NEG_INFINITY;
            }
            (1.0 + 1.0 / gpd.xi) * mean_log
        };
        let sum = -(self.count() as f64) * (libm::log(gpd.alpha) + each);
        if sum.is_nan() { f64::NEG_INFINITY } else { sum }
    }

    /// Returns the fit by this method.
    pub fn fit(&self, method: Method) -> Gpd {
        match method {
            Method::MaximumLikelihood => self.maximum_likelihood(),
            Method::ProbabilityWeightedMoments => self.weighted_moments(),
            Method::LMoments => self.l_moments(),
        }
    }

    /// Returns the exponential distribution of maximum likelihood.
    pub fn exponential(&self) -> Gpd {
        Gpd::exponential(self.mean)
    }

    /// Fits by maximum likelihood among xi >= [`SMALLEST_XI`].
    ///
    /// S. D. Grimshaw, "Computing Maximum Likelihood Estimates for the Generalized Pareto
    /// Distribution", Technometrics 35, 1993: with theta = xi / alpha the best xi is the mean of
    /// ln(1 + theta y), which leaves one variable.
    fn maximum_likelihood(&self) -> Gpd {
        // 1 + theta * largest = exp(s), so that any s is allowed
        let theta = |s: f64| libm::expm1(s) / self.largest;
        let shape = |theta: f64| self.mean_log(theta);
        let cost = |s: f64| {
            let theta = theta(s);
            let xi = shape(theta);
            if xi < SMALLEST_XI {
                return f64::INFINITY;
            }
            let alpha = if theta == 0.0 { 1.0 } else { xi / theta };
            libm::log(alpha) + xi
        };
        let start = self.l_moments();
        let s = libm::log1p((start.xi / start.alpha * self.mean * self.largest).max(-0.9));
        let (s, _) = minimum_near(cost, s, 0.3, 1e-9);
        let theta = theta(s);
        let xi = shape(theta);
        if theta == 0.0 || !xi.is_finite() {
            return self.exponential();
        }
        Gpd { xi, alpha: xi / theta * self.mean }
    }

    /// Fits by probability-weighted moments. J. R. M. Hosking and J. R. Wallis, "Parameter and
    /// Quantile Estimation for the Generalized Pareto Distribution", Technometrics 29, 1987,
    /// section 4.
    fn weighted_moments(&self) -> Gpd {
        let n = self.count() as f64;
        let weighted = self.scaled.iter().zip(1_u32..).map(|(y, j)| y * (1.0 - (f64::from(j) - 0.35) / n));
        self.by_moment(weighted.sum::<f64>() / n)
    }

    /// Fits by L-moments. The second L-moment is 1 - 2 a with the unbiased a: J. R. M. Hosking,
    /// "L-Moments", J. R. Stat. Soc. B 52, 1990.
    fn l_moments(&self) -> Gpd {
        let n = self.count() as f64;
        let weighted = self.scaled.iter().zip(1_u32..).map(|(y, j)| y * (n - f64::from(j)));
        self.by_moment(if n > 1.0 { weighted.sum::<f64>() / (n * (n - 1.0)) } else { 0.0 })
    }

    /// Returns the fit from the mean `a` of Y (1 - F(Y)), if the mean of Y is 1: k = 1 / (1 - 2
    /// a) - 2 and alpha = 2 a / (1 - 2 a).
    fn by_moment(&self, a: f64) -> Gpd {
        let second = 1.0 - 2.0 * a;
        if !(a > 0.0 && second > 0.0) {
            return self.exponential();
        }
        Gpd { xi: 2.0 - 1.0 / second, alpha: 2.0 * a / second * self.mean }
    }
}

/// Standard errors of maximum likelihood, and the covariance of both, from the expected
/// information.
///
/// R. L. Smith, "Estimating tails of probability distributions", Ann. Statist. 15, 1987; only for
/// xi > -1/2, below which the estimates are not normal.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct StandardErrors {
    /// The standard error of the shape.
    pub xi: f64,
    /// The standard error of the scale, in the unit of time.
    pub alpha: f64,
    /// The covariance of both.
    pub covariance: f64,
}

impl StandardErrors {
    /// Returns the standard errors of a fit to this many excesses; `None` if xi <= -1/2.
    pub fn of(gpd: Gpd, count: usize) -> Option<Self> {
        let (shape, n) = (1.0 + gpd.xi, count as f64);
        (gpd.xi > -0.5 && count > 0).then(|| Self {
            xi: shape / n.sqrt(),
            alpha: gpd.alpha * (2.0 * shape / n).sqrt(),
            covariance: -gpd.alpha * shape / n,
        })
    }
}
