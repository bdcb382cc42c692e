//! The data of the diagnostic plots of a tail.

use serde::Serialize;

use super::gpd::Gpd;
use super::gpd_fit::{Excesses, StandardErrors};
use super::interval::Interval;
use super::sample::Sample;
use super::special::two_sided_z;
use super::threshold::Candidate;

/// The largest number of points of a plot.
const POINTS: usize = 200;

/// The series of the diagnostic plots, of at most 200 points each. Times are in the unit of the
/// sample.
///
/// The series of times is the sample itself. The correlations are in
/// [`Autocorrelation`](super::autocorrelation::Autocorrelation), and the fitted curve beside
/// `exceedance` is in [`Pwcet`](super::curve::Pwcet).
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Diagnostics {
    /// The mean excess against the threshold. It is a straight line where a generalized Pareto
    /// distribution holds: A. C. Davison and R. L. Smith, "Models for Exceedances over High
    /// Thresholds", J. R. Stat. Soc. B 52, 1990.
    pub mean_residual_life: Vec<Banded>,
    /// xi against the threshold. It is constant where the distribution holds.
    pub xi_stability: Vec<Banded>,
    /// alpha - xi * threshold against the threshold. It is constant where the distribution holds.
    pub alpha_stability: Vec<Banded>,
    /// Observed times above the threshold against those that the fit has at the same probabilities.
    pub quantiles: Vec<QuantilePair>,
    /// The sample, from its shortest time to its longest.
    pub exceedance: Vec<Exceeded>,
}

/// Two times with the same probability.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct QuantilePair {
    /// The time by the best fit.
    pub fitted: f64,
    /// The time in the sample.
    pub observed: f64,
}

/// The share of runs that took longer than a time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Exceeded {
    /// The time.
    pub time: f64,
    /// The share of runs that took longer.
    pub share: f64,
}

/// A value with a confidence band, at a threshold.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Banded {
    /// The threshold.
    pub threshold: f64,
    /// The value.
    pub value: f64,
    /// The confidence band, from a normal distribution with the value's standard error. It has no
    /// limits if there is no standard error (xi <= -1/2).
    pub band: Interval,
}

impl Diagnostics {
    /// Computes the series for a sample, from the fits above several thresholds and the fit to the
    /// excesses of one; bands hold at `level`.
    pub fn of(
        sample: &Sample,
        candidates: &[Candidate],
        threshold: f64,
        excesses: &Excesses,
        gpd: Gpd,
        level: f64,
    ) -> Self {
        let z = two_sided_z(level);
        let stability = |value: &dyn Fn(&Candidate) -> f64,
                         error: &dyn Fn(&Candidate, StandardErrors) -> f64| {
            let point = |candidate: &Candidate| {
                let value = value(candidate);
                let errors = StandardErrors::of(candidate.gpd, candidate.exceedances);
                let band = errors
                    .map(|errors| z * error(candidate, errors))
                    .map_or_else(Interval::default, |half| Interval::around(value, half));
                Banded { threshold: candidate.threshold, value, band }
            };
            candidates.iter().map(point).collect()
        };
        Self {
            mean_residual_life: mean_residual_life(sample, z),
            xi_stability: stability(&|candidate| candidate.gpd.xi, &|_, errors| errors.xi),
            alpha_stability: stability(
                &|candidate| candidate.gpd.alpha - candidate.gpd.xi * candidate.threshold,
                &|candidate, errors| {
                    let u = candidate.threshold;
                    (errors.alpha * errors.alpha + u * u * errors.xi * errors.xi
                        - 2.0 * u * errors.covariance)
                        .sqrt()
                },
            ),
            quantiles: quantiles(excesses, threshold, gpd),
            exceedance: Exceeded::all(sample.sorted()),
        }
    }
}

/// Returns the mean excesses above thresholds, from one that half of the values exceed to one that
/// ten exceed.
fn mean_residual_life(sample: &Sample, z: f64) -> Vec<Banded> {
    let sorted = sample.sorted();
    let n = sorted.len();
    let mut points = Vec::new();
    // the sums over the values above a threshold, beginning with the largest value; they are sums
    // of distances from the largest value and not of the values, so that no digits are lost
    let (top, mut once, mut twice) = (sample.max(), 0.0, 0.0);
    let shown: Vec<usize> = ranks(n / 2, 10).collect();
    for (above, &value) in sorted.iter().rev().enumerate() {
        let count = above as f64;
        if shown.binary_search(&above).is_ok()
            && points.last().is_none_or(|last: &Banded| last.threshold > value)
        {
            let mean = once / count;
            let error = ((twice / count - mean * mean).max(0.0) / (count - 1.0)).sqrt();
            let excess = (top - value) - mean;
            // excesses are positive
            let band = Interval::around(excess, z * error).map(|limit| limit.max(0.0));
            points.push(Banded { threshold: value, value: excess, band });
        }
        once += top - value;
        twice += (top - value) * (top - value);
    }
    points.reverse();
    points
}

/// Returns up to [`POINTS`] different numbers from `least` to `most`, in about equal ratios, from
/// the smallest to the largest.
fn ranks(most: usize, least: usize) -> impl Iterator<Item = usize> {
    let (from, to) = (least.max(1), most.max(least).max(1));
    let ratio = to as f64 / from as f64;
    let rank = move |step: usize| {
        (from as f64 * libm::pow(ratio, step as f64 / (POINTS - 1) as f64)).round() as usize
    };
    let mut before = 0;
    (0..POINTS).map(rank).filter(move |&rank| std::mem::replace(&mut before, rank) < rank)
}

fn quantiles(excesses: &Excesses, threshold: f64, gpd: Gpd) -> Vec<QuantilePair> {
    let n = excesses.count();
    let observed: Vec<f64> = excesses.iter().collect();
    let point = |rank: usize| {
        let observed = observed.get(n.checked_sub(rank)?)?;
        let fitted = gpd.exceeded_with((rank as f64 - 0.5) / n as f64);
        Some(QuantilePair { fitted: (threshold + fitted).min(f64::MAX), observed: threshold + observed })
    };
    let mut points: Vec<QuantilePair> = ranks(n, 1).filter_map(point).collect();
    points.reverse();
    points
}

impl Exceeded {
    /// Returns, for some of these times, the share of times that are longer; the times are from the
    /// shortest to the longest.
    pub fn all(sorted: &[f64]) -> Vec<Self> {
        let n = sorted.len();
        let time = |rank: usize| sorted.get(n.checked_sub(rank)?).copied();
        let above = |time: f64| n - sorted.partition_point(|&value| value <= time);
        let exceeded = |time: f64| Self { time, share: above(time) as f64 / n as f64 };
        let mut points: Vec<Self> = ranks(n, 1).filter_map(time).map(exceeded).collect();
        points.reverse();
        points.dedup();
        points
    }
}
