//! Block maxima, for comparison with peaks over a threshold.

use serde::Serialize;

use super::bootstrap::{Use, percentiles, stream, uniform};
use super::gev::Gev;
use super::gpd_fit::Method;
use super::interval::Interval;
use super::parallel;
use super::probability::Probability;
use super::sample::Sample;
use warpbound_core::base::ProgressMonitor;

/// The smallest number of blocks for a fit.
pub const MIN_BLOCKS: usize = 10;

/// The distribution of the largest time of a block of runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct BlockMaxima {
    /// The number of runs in a block. Unless it is given, it is about the square root of the number
    /// of all runs, so that there are as many blocks as runs in a block.
    pub block: usize,
    /// The number of complete blocks.
    pub blocks: usize,
    /// The fit by maximum likelihood.
    pub maximum_likelihood: Gev,
    /// The fit by L-moments.
    pub l_moments: Gev,
    /// The times that runs exceed, in the order of the requested probabilities.
    pub times: Vec<BlockTime>,
    /// The shape's percentile interval, from a parametric bootstrap of the fit by L-moments.
    pub xi: Interval,
}

/// The time that one run exceeds with a given probability, according to the block maxima, in the
/// unit of time. If runs are independent, the share (1 - probability)^block of all block maxima is
/// at most this time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct BlockTime {
    /// The exceedance probability of one run.
    pub probability: Probability,
    /// The time by the fit by maximum likelihood.
    pub maximum_likelihood: f64,
    /// The time by the fit by L-moments.
    pub l_moments: f64,
}

/// Returns the largest values of complete blocks of this many runs.
pub fn maxima(sample: &Sample, block: usize) -> Vec<f64> {
    let largest = |block: &[f64]| block.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    sample.values().chunks_exact(block.max(1)).map(largest).collect()
}

/// Returns the block maxima of a sample, or `None` if there are fewer than [`MIN_BLOCKS`], if they
/// are all the same, or if the analysis was stopped.
pub fn block_maxima(
    sample: &Sample,
    block: Option<usize>,
    probabilities: &[Probability],
    level: f64,
    (replicates, seed): (usize, u64),
    (threads, monitor): (usize, &ProgressMonitor),
) -> Option<BlockMaxima> {
    let block = block.unwrap_or_else(|| (sample.len() as f64).sqrt().round() as usize).max(1);
    let mut maxima = maxima(sample, block);
    let blocks = maxima.len();
    if blocks < MIN_BLOCKS {
        return None;
    }
    maxima.sort_unstable_by(f64::total_cmp);
    let l_moments = Gev::fit(&maxima, Method::LMoments)?;
    let replicate = |index: usize| {
        let mut rng = stream(seed, Use::Blocks, index);
        let draw = |_| l_moments.at_hazard(-libm::log(uniform(&mut rng)).min(-f64::MIN_POSITIVE));
        let mut maxima: Vec<f64> = (0..blocks).map(draw).collect();
        maxima.sort_unstable_by(f64::total_cmp);
        Gev::fit(&maxima, Method::LMoments).map(|gev| gev.xi)
    };
    let mut xis: Vec<f64> =
        parallel::map(replicates, threads, monitor, replicate)?.into_iter().flatten().collect();
    let maximum_likelihood = Gev::fit(&maxima, Method::MaximumLikelihood)?;
    let time = |&probability: &Probability| {
        // a heavy tail can exceed an `f64`; the lower end of a fit can be below 0, but times are
        // not negative
        let by = |gev: Gev| gev.run_exceeded_with(probability.get(), block).clamp(0.0, f64::MAX);
        BlockTime { probability, maximum_likelihood: by(maximum_likelihood), l_moments: by(l_moments) }
    };
    Some(BlockMaxima {
        block,
        blocks,
        maximum_likelihood,
        l_moments,
        times: probabilities.iter().map(time).collect(),
        xi: percentiles(&mut xis, level),
    })
}
