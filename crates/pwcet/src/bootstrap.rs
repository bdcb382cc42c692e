//! The parametric bootstrap of a fit.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::distances::Distances;
use super::gpd::Gpd;
use super::gpd_fit::{Excesses, Method};
use super::interval::Interval;
use super::parallel;
use super::special::quantile;
use warpbound_core::base::ProgressMonitor;

/// The purpose of random numbers; each has its own streams of the generator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Use {
    Fit,
    Exponential,
    ExtremalIndex,
    Blocks,
}

/// The limit of steps: below 2^52, an `f64` can represent every whole number and a half.
const MAX_STEPS: f64 = (1_u64 << 52) as f64;

/// Returns random numbers by seed, purpose and index: replicate `index` is the same on any thread.
pub(super) fn stream(seed: u64, of: Use, index: usize) -> ChaCha8Rng {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream((of as u64) << 32 | index as u64 & 0xffff_ffff);
    rng
}

/// Draws a number in (0, 1].
pub(super) fn uniform(rng: &mut ChaCha8Rng) -> f64 {
    1.0 - rng.random::<f64>()
}

/// Draws `count` excesses of a distribution, from the smallest to the largest, measured in steps of
/// `resolution` (0 for no rounding); `None` if one exceeds an `f64`.
///
/// The hazards of sorted points are sums of exponential variables (A. Rényi, 1953), which makes
/// sorting unnecessary. A step that begins at the threshold is measured as its middle, like the
/// data: see [`Ties`](super::Ties).
pub fn draw(gpd: Gpd, count: usize, resolution: f64, rng: &mut ChaCha8Rng) -> Option<Excesses> {
    let mut hazard = 0.0;
    let point = |left: usize| {
        hazard -= libm::log(uniform(rng)) / left as f64;
        let y = gpd.at_hazard(hazard);
        let steps = y / resolution;
        // if steps are finer than an `f64`, the point is not rounded
        if steps < MAX_STEPS { (steps.floor() + 0.5) * resolution } else { y }
    };
    Excesses::new((1..=count).rev().map(point).collect())
}

/// The distribution from which replicates are drawn, and the parameters of the draw.
#[derive(Clone, Copy, Debug)]
pub struct Model {
    /// The distribution.
    pub gpd: Gpd,
    /// The number of excesses of each replicate.
    pub count: usize,
    /// The steps in which excesses are measured; 0 for none.
    pub resolution: f64,
}

/// Fits of samples that were drawn from a fit.
#[derive(Clone, Debug, Default)]
pub struct Replicates {
    fits: Vec<(Gpd, Distances)>,
}

impl Replicates {
    /// Draws replicates; they are the same for a seed on any number of threads, because replicate i
    /// has stream i of the generator. A model without a shape is fitted without one. Returns `None`
    /// if it was stopped.
    pub fn draw(
        model: Model,
        replicates: usize,
        seed: u64,
        threads: usize,
        monitor: &ProgressMonitor,
    ) -> Option<Self> {
        let exponential = model.gpd.is_exponential();
        let purpose = if exponential { Use::Exponential } else { Use::Fit };
        let fit = |index: usize| {
            let mut rng = stream(seed, purpose, index);
            let excesses = draw(model.gpd, model.count, model.resolution, &mut rng)?;
            let fitted =
                if exponential { excesses.exponential() } else { excesses.fit(Method::MaximumLikelihood) };
            Some((fitted, Distances::of(&excesses, fitted)))
        };
        let fits = parallel::map(replicates, threads, monitor, fit)?;
        Some(Self { fits: fits.into_iter().flatten().collect() })
    }

    /// Returns one statistic of each replicate.
    pub(super) fn statistics(&self, which: impl Fn(&Distances) -> f64) -> Vec<f64> {
        self.fits.iter().map(|(_, distances)| which(distances)).collect()
    }

    /// Returns the interval between the quantiles of `value` that cut off (1 - level) / 2 on each
    /// side (B. Efron's percentile interval); it has no limits if there are no replicates.
    pub fn interval(&self, level: f64, value: impl Fn(Gpd) -> f64) -> Interval {
        let mut values: Vec<f64> = self.fits.iter().map(|&(gpd, _)| value(gpd)).collect();
        percentiles(&mut values, level)
    }
}

/// Returns the percentile interval of values in any order; it has no limits if there are no values.
pub(super) fn percentiles(values: &mut [f64], level: f64) -> Interval {
    if values.is_empty() {
        return Interval::default();
    }
    values.sort_unstable_by(f64::total_cmp);
    let tail = (1.0 - level) / 2.0;
    let finite = |value: f64| value.is_finite().then_some(value);
    Interval { lower: finite(quantile(values, tail)), upper: finite(quantile(values, 1.0 - tail)) }
}
