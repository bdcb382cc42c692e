//! The choice of the threshold at which the tail begins.

use serde::Serialize;

use super::distances::{ByTable, by_table};
use super::extremal::{ALONE, Exceedances};
use super::gpd::Gpd;
use super::gpd_fit::{Excesses, MIN_EXCEEDANCES, Method};
use super::sample::Sample;

/// The number of thresholds that are tried.
const CANDIDATES: u32 = 30;

/// The share of thresholds rejected in error that [`Rule::Automatic`] allows.
pub const FALSE_DISCOVERY_RATE: f64 = 0.05;

/// The number of distinct values below which a tail is doubtful, and the fraction of its scale
/// above which steps are too wide. A step of a quarter makes the mean excess half a percent larger.
const FEW_DISTINCT: usize = 20;
const WIDE_STEP: f64 = 0.25;

/// The rule by which the threshold is chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Rule {
    /// The lowest threshold above which a generalized Pareto distribution is not rejected.
    ///
    /// Let p_1, p_2, ... be the Anderson-Darling p-values from the lowest threshold on. The first k
    /// thresholds are rejected, for the largest k at which the mean of -ln(1 - p_i), i <= k, is at
    /// most [`FALSE_DISCOVERY_RATE`] (ForwardStop, M. G. G'Sell et al. 2016). B. Bader, J. Yan, X.
    /// Zhang, "Automated threshold selection for extreme value analysis via ordered goodness-of-fit
    /// tests with adjustment for false discovery rate", Ann. Appl. Stat. 12, 2018.
    #[default]
    Automatic,
    /// The given time; if times are tied, it is moved by at most half a step to lie between steps.
    At(f64),
    /// The threshold that this number of values exceeds.
    Exceedances(usize),
}

/// A threshold and the fit above it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Candidate {
    /// The threshold, in the unit of time.
    pub threshold: f64,
    /// The number of values above it.
    pub exceedances: usize,
    /// The fit to all of them by maximum likelihood.
    pub gpd: Gpd,
    /// The number of points that were tested: all exceedances or, if they occur in clusters, the
    /// largest of each cluster.
    pub tested: usize,
    /// A² of the fit to the tested points; tied points are spread over their steps.
    pub anderson_darling: f64,
    /// Its p-value, from [`ad_table`](super::ad_table).
    pub p_value: f64,
    /// The mean of -ln(1 - p) of this and all lower thresholds.
    pub forward_stop: f64,
}

/// The chosen threshold, and how it was chosen.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Choice {
    /// The rule by which it was chosen.
    pub rule: Rule,
    /// The threshold, in the unit of time.
    pub threshold: f64,
    /// The number of values above it.
    pub exceedances: usize,
    /// All thresholds that were tried, in ascending order.
    pub candidates: Vec<Candidate>,
    /// The number of thresholds, from the lowest on, that the criterion rejects.
    pub rejected: usize,
}

impl Choice {
    /// Returns whether the criterion rejects every threshold; the highest one is used then.
    pub fn all_rejected(&self) -> bool {
        self.rejected >= self.candidates.len()
    }

    /// Returns the lowest threshold above this one that the criterion accepts.
    pub fn kept_above(&self, threshold: f64) -> Option<f64> {
        let kept = self.candidates.iter().skip(self.rejected).map(|candidate| candidate.threshold);
        kept.into_iter().find(|&kept| kept > threshold)
    }
}

/// The effect of ties on a tail.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct TailTies {
    /// The number of distinct values above the threshold.
    pub distinct: usize,
    /// The step in which times are measured, divided by the scale alpha.
    pub step_over_alpha: f64,
    /// Whether a continuous distribution is a doubtful model because there are so few values, or
    /// because the steps are so wide.
    pub doubtful: bool,
}

impl TailTies {
    /// Computes the effect of ties on a tail and the fit to it.
    pub fn of(excesses: &Excesses, gpd: Gpd, resolution: f64) -> Self {
        let (distinct, step_over_alpha) = (excesses.distinct(), resolution / gpd.alpha);
        Self {
            distinct,
            step_over_alpha,
            doubtful: distinct < FEW_DISTINCT.min(excesses.count()) || step_over_alpha > WIDE_STEP,
        }
    }
}

/// Chooses the threshold of a sample by a rule.
///
/// # Errors
/// Returns the number of values above the threshold, if there are fewer than [`MIN_EXCEEDANCES`] of
/// them or if all values are above it.
pub fn choose(sample: &Sample, rule: Rule) -> Result<Choice, usize> {
    let candidates = candidates(sample);
    let rejected = candidates
        .iter()
        .rposition(|candidate| candidate.forward_stop <= FALSE_DISCOVERY_RATE)
        .map_or(0, |last| last + 1);
    let threshold = match rule {
        Rule::At(time) => sample.between_steps(time),
        Rule::Exceedances(count) => sample.threshold_for(count),
        Rule::Automatic => {
            let kept = candidates.get(rejected).or(candidates.last());
            kept.ok_or(0_usize)?.threshold
        }
    };
    let exceedances = sample.above(threshold);
    if exceedances < MIN_EXCEEDANCES || exceedances >= sample.len() || !threshold.is_finite() {
        return Err(exceedances);
    }
    Ok(Choice { rule, threshold, exceedances, candidates, rejected })
}

/// Returns the thresholds to try. The number of values above them falls from a tenth of the sample,
/// or 100 for a small sample, to [`MIN_EXCEEDANCES`], in equal ratios.
fn candidates(sample: &Sample) -> Vec<Candidate> {
    let n = sample.len();
    let most = (n / 10).max((n / 2).min(100)) as f64;
    let ratio = MIN_EXCEEDANCES as f64 / most;
    let exceedances = (0..CANDIDATES)
        .map(|step| most * libm::pow(ratio, f64::from(step) / f64::from(CANDIDATES - 1)))
        .map(|exceedances| exceedances.round() as usize);
    let mut found: Vec<Candidate> = Vec::new();
    let mut sum = 0.0;
    for exceedances in exceedances {
        let threshold = sample.threshold_for(exceedances);
        let excesses = sample.excesses(threshold);
        // ties make some thresholds the same, and some tails too small
        if excesses.len() < MIN_EXCEEDANCES || found.last().is_some_and(|last| last.threshold >= threshold) {
            continue;
        }
        let Some(excesses) = Excesses::new(excesses) else { continue };
        let tested = independent(sample, threshold, &excesses);
        let ByTable { anderson_darling, p_value } = by_table(&tested, sample.ties().resolution);
        sum -= libm::log1p(-p_value.min(1.0 - 1e-12));
        let forward_stop = sum / (found.len() + 1) as f64;
        found.push(Candidate {
            threshold,
            exceedances: excesses.count(),
            gpd: excesses.fit(Method::MaximumLikelihood),
            tested: tested.count(),
            anderson_darling,
            p_value,
            forward_stop,
        });
    }
    found
}

/// Returns the excesses or, if they occur in clusters and there are enough of these, the largest of
/// each cluster, because the test is for independent points.
fn independent(sample: &Sample, threshold: f64, excesses: &Excesses) -> Excesses {
    let exceedances = Exceedances::of(sample, threshold);
    let maxima = || {
        let maxima = exceedances.maxima(sample, exceedances.run_length());
        Excesses::new(maxima.into_iter().map(|value| value - threshold).collect())
    };
    let alone = exceedances.theta() >= ALONE;
    let maxima = (!alone).then(maxima).flatten().filter(|maxima| maxima.count() >= MIN_EXCEEDANCES);
    maxima.unwrap_or_else(|| excesses.clone())
}
