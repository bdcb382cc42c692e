//! The complete analysis of a sample.

use std::fmt;

use serde::Serialize;

use super::autocorrelation::Autocorrelation;
use super::bds::{Bds, bds};
use super::blocks::{BlockMaxima, block_maxima};
use super::curve::{Pwcet, pwcet};
use super::decision::{Decision, Tests, decide};
use super::diagnostics::Diagnostics;
use super::extremal::{Exceedances, ExtremalIndex};
use super::gpd_fit::{Excesses, MIN_EXCEEDANCES};
use super::kpss::{Stationarity, stationarity};
use super::probability::Probability;
use super::sample::{Sample, Ties};
use super::special::{mean, variance};
use super::tail::{self, Tail, TailSettings};
use super::threshold::{self, Choice, Rule};
use warpbound_core::base::ProgressMonitor;

/// The largest number of replicates of a bootstrap.
pub const MAX_BOOTSTRAPS: usize = 1_000_000;

/// The options of an analysis.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Options {
    /// The p-value below which a test rejects. The paper uses 0.01.
    pub significance: f64,
    /// The probability with which a confidence interval contains the true value.
    pub level: f64,
    /// The rule by which the threshold is chosen.
    pub threshold: Rule,
    /// The number of runs in a block, for block maxima; without it, about the square root of the
    /// number of all runs.
    pub block: Option<usize>,
    /// The number of replicates of each bootstrap, at most [`MAX_BOOTSTRAPS`]; 0 for no bootstrap.
    pub bootstraps: usize,
    /// The seed of the random numbers (ChaCha8).
    pub seed: u64,
    /// The exceedance probabilities for which the pWCET is computed.
    pub probabilities: Vec<Probability>,
    /// Whether times are exact, as simulated cycles are. A finer clock would then show the same
    /// times.
    pub exact_clock: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            significance: 0.01,
            level: 0.95,
            threshold: Rule::Automatic,
            block: None,
            bootstraps: 1000,
            seed: 1,
            probabilities: (3..=15).map(Probability::decade).collect(),
            exact_clock: false,
        }
    }
}

/// The complete result. The series of times is not repeated here: it is the sample.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Analysis {
    /// The options of the analysis.
    pub options: Options,
    /// The sample in numbers.
    pub sample: Summary,
    /// The tests of stationarity (KPSS).
    pub kpss: Stationarity,
    /// The tests of independence (BDS).
    pub bds: Bds,
    /// The autocorrelation, with the Ljung-Box tests.
    pub autocorrelation: Autocorrelation,
    /// The extremal index at the threshold, which measures extremal independence.
    pub extremal_index: ExtremalIndex,
    /// The extremal index at thresholds that about 10, 5, 2 and 1 percent of the times exceed,
    /// without intervals; thresholds that no run exceeds because of ties are left out.
    pub extremal_indices: Vec<ExtremalIndex>,
    /// The threshold and how it was chosen.
    pub threshold: Choice,
    /// The fits to the times above the threshold.
    pub tail: Tail,
    /// The analysis of block maxima, for comparison; none if there are too few blocks.
    pub block_maxima: Option<BlockMaxima>,
    /// The pWCET curve: times and their exceedance probabilities.
    pub pwcet: Pwcet,
    /// The decision whether the estimates are reliable.
    pub decision: Decision,
    /// The series of the diagnostic plots.
    pub diagnostics: Diagnostics,
}

/// The summary of a sample, in its unit of time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Summary {
    /// The number of measurements.
    pub measurements: usize,
    /// The shortest time.
    pub minimum: f64,
    /// The mean time.
    pub mean: f64,
    /// The standard deviation, with the divisor n - 1.
    pub standard_deviation: f64,
    /// The longest time, which is the high-water mark.
    pub maximum: f64,
    /// Values that occur more than once.
    pub ties: Ties,
}

/// The reason why there is no analysis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum NoAnalysis {
    /// The analysis was stopped.
    Stopped,
    /// The given number of values is above the threshold, which is fewer than [`MIN_EXCEEDANCES`],
    /// or all of them.
    Threshold(usize),
    /// So many of the largest measurements have the same value that no threshold has
    /// [`MIN_EXCEEDANCES`] measurements above it and most measurements below it.
    Tied,
    /// The given number of replicates exceeds [`MAX_BOOTSTRAPS`].
    Bootstraps(usize),
    /// The significance or the level is not more than 0 and less than 1.
    NoShare(f64),
}

impl fmt::Display for NoAnalysis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stopped => f.write_str("the analysis was stopped"),
            Self::Threshold(exceedances) => write!(
                f,
                "{exceedances} measurements are above the threshold: a fit needs at least {MIN_EXCEEDANCES}, and some measurements below the threshold"
            ),
            Self::Tied => write!(
                f,
                "too many of the largest measurements are the same: no threshold has {MIN_EXCEEDANCES} measurements above it and most measurements below it"
            ),
            Self::Bootstraps(count) => {
                write!(f, "{count} bootstrap replicates are more than {MAX_BOOTSTRAPS}")
            }
            Self::NoShare(share) => {
                write!(f, "a significance and a level are more than 0 and less than 1, not {share}")
            }
        }
    }
}

impl std::error::Error for NoAnalysis {}

/// Analyses a sample on this many threads. The result is the same, bit by bit, for any number of
/// threads.
///
/// # Errors
/// Returns an error if an option is out of range, if a threshold has too few exceedances, or if
/// `monitor` is stopped.
pub fn analyse(
    sample: &Sample,
    options: &Options,
    threads: usize,
    monitor: &ProgressMonitor,
) -> Result<Analysis, NoAnalysis> {
    check(options)?;
    let Options { significance, level, bootstraps, seed, .. } = *options;
    let settings = TailSettings { significance, level, bootstraps, seed, threads, monitor };
    let choice =
        threshold::choose(sample, options.threshold).map_err(|exceedances| match options.threshold {
            Rule::Automatic => NoAnalysis::Tied,
            _ => NoAnalysis::Threshold(exceedances),
        })?;
    let exceedances = Exceedances::of(sample, choice.threshold);
    let extremal_index = exceedances.index(level, bootstraps, seed, threads, monitor);
    let extremal_index = extremal_index.ok_or(NoAnalysis::Stopped)?;
    let extremal_indices = extremal_indices(sample, settings);
    let excesses = Excesses::new(sample.excesses(choice.threshold));
    let excesses = excesses.ok_or(NoAnalysis::Threshold(choice.exceedances))?;
    let analysed = tail::analyse(sample, &exceedances, (choice.threshold, excesses), settings);
    let analysed = analysed.ok_or(NoAnalysis::Stopped)?;
    let pwcet = pwcet(sample, &analysed, &options.probabilities, level, (threads, monitor));
    let pwcet = pwcet.ok_or(NoAnalysis::Stopped)?;
    let block_maxima = block_maxima(
        sample,
        options.block,
        &options.probabilities,
        level,
        (bootstraps, seed),
        (threads, monitor),
    );
    let kpss = stationarity(sample, significance);
    let bds = bds(sample, significance, threads, monitor).ok_or(NoAnalysis::Stopped)?;
    if monitor.is_stopped() {
        return Err(NoAnalysis::Stopped);
    }
    let autocorrelation = Autocorrelation::of(sample, significance);
    let tests = Tests {
        stationarity: &kpss,
        bds: &bds,
        extremal_index: &extremal_index,
        autocorrelation: &autocorrelation,
        tail: &analysed.tail,
        choice: &choice,
    };
    let tail = &analysed.tail;
    Ok(Analysis {
        options: options.clone(),
        sample: Summary::of(sample.values()),
        decision: decide(sample, tests, options.significance, options.exact_clock),
        diagnostics: Diagnostics::of(
            sample,
            &choice.candidates,
            tail.threshold,
            &analysed.excesses,
            tail.best,
            level,
        ),
        extremal_indices: extremal_indices.ok_or(NoAnalysis::Stopped)?,
        kpss,
        bds,
        autocorrelation,
        extremal_index,
        threshold: choice,
        tail: analysed.tail,
        block_maxima,
        pwcet,
    })
}

/// Checks that the options are in range.
fn check(options: &Options) -> Result<(), NoAnalysis> {
    for share in [options.significance, options.level] {
        if !(share > 0.0 && share < 1.0) {
            return Err(NoAnalysis::NoShare(share));
        }
    }
    if options.bootstraps > MAX_BOOTSTRAPS {
        return Err(NoAnalysis::Bootstraps(options.bootstraps));
    }
    Ok(())
}

/// Returns the extremal index at thresholds that about 10, 5, 2 and 1 percent of the times exceed,
/// or `None` if it was stopped.
fn extremal_indices(sample: &Sample, settings: TailSettings) -> Option<Vec<ExtremalIndex>> {
    let thresholds = [10, 20, 50, 100].map(|share| sample.threshold_for(sample.len() / share));
    let some_above = thresholds.into_iter().filter(|&threshold| sample.above(threshold) > 1);
    let index = |threshold: f64| {
        Exceedances::of(sample, threshold).index(
            settings.level,
            0,
            settings.seed,
            settings.threads,
            settings.monitor,
        )
    };
    some_above.map(index).collect()
}

impl Summary {
    /// Summarises times that are finite, whether they form a [`Sample`] or not. Without times every
    /// number is 0.
    pub fn of(values: &[f64]) -> Self {
        let mut sorted = values.to_vec();
        sorted.sort_unstable_by(f64::total_cmp);
        let (minimum, maximum) = (sorted.first().copied(), sorted.last().copied());
        Self {
            measurements: sorted.len(),
            minimum: minimum.unwrap_or_default(),
            mean: mean(values),
            standard_deviation: variance(values, 1).sqrt(),
            maximum: maximum.unwrap_or_default(),
            ties: Ties::of(&sorted),
        }
    }
}
