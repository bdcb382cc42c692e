//! The complete analysis of the fit above one threshold.

use serde::Serialize;

use super::bootstrap::{Model, Replicates};
use super::extremal::Exceedances;
use super::goodness::FitTests;
use super::gpd::Gpd;
use super::gpd_fit::{Excesses, MIN_EXCEEDANCES, Method, StandardErrors};
use super::interval::{Interval, Profile};
use super::sample::Sample;
use super::special::chi_square_sf;
use super::threshold::TailTies;
use warpbound_core::base::ProgressMonitor;

/// The tail of a sample: the fit that is used, and other fits for comparison.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Tail {
    /// The threshold at which the tail begins, in the unit of time.
    pub threshold: f64,
    /// The number of values above the threshold.
    pub exceedances: usize,
    /// The share of these values: P(C > threshold).
    pub rate: f64,
    /// The best fit, by maximum likelihood, from which intervals and the pWCET are computed.
    pub best: Gpd,
    /// The standard errors of the best fit; none if xi <= -1/2.
    pub standard_errors: Option<StandardErrors>,
    /// The intervals of its shape.
    pub xi: Intervals,
    /// The intervals of its scale, in the unit of time.
    pub alpha: Intervals,
    /// The tests of the fit.
    pub tests: FitTests,
    /// The fit by probability-weighted moments.
    pub probability_weighted_moments: Gpd,
    /// The fit by L-moments.
    pub l_moments: Gpd,
    /// The exponential tail, xi = 0, which the paper calls the Gumbel case.
    pub exponential: Exponential,
    /// The fit to the largest value of each cluster; none if every cluster has one value, or if
    /// there are too few clusters.
    pub declustered: Option<Declustered>,
    /// The effect of ties on the tail.
    pub ties: TailTies,
}

/// Two confidence intervals of the same value.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Intervals {
    /// The interval by profile likelihood.
    pub profile: Interval,
    /// The percentile interval of the parametric bootstrap; without limits if there was no
    /// bootstrap.
    pub bootstrap: Interval,
}

/// The exponential tail, which has no shape parameter.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Exponential {
    /// The fit by maximum likelihood: xi is 0, and alpha the mean excess.
    pub gpd: Gpd,
    /// The tests of the fit.
    pub tests: FitTests,
    /// Twice the log-likelihood that the best fit gains: chi-square with 1 degree of freedom if xi
    /// is 0.
    pub likelihood_ratio: f64,
    /// The p-value of the likelihood ratio; a small one contradicts xi = 0.
    pub p_value: f64,
}

/// The fit to cluster maxima.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Declustered {
    /// The largest distance of two exceedances in one cluster.
    pub run_length: usize,
    /// The number of clusters.
    pub clusters: usize,
    /// The fit by maximum likelihood.
    pub gpd: Gpd,
    /// The profile likelihood interval of its shape, which holds for clusters that are independent
    /// of each other.
    pub xi: Interval,
}

/// The settings of the analysis of a tail.
#[derive(Clone, Copy, Debug)]
pub(super) struct TailSettings<'a> {
    pub significance: f64,
    pub level: f64,
    pub bootstraps: usize,
    pub seed: u64,
    pub threads: usize,
    pub monitor: &'a ProgressMonitor,
}

/// A tail, with the data that later steps need.
pub(super) struct Analysed {
    pub tail: Tail,
    pub excesses: Excesses,
    pub replicates: Replicates,
}

/// Analyses the tail above a threshold, with these excesses; returns `None` if it was stopped.
pub(super) fn analyse(
    sample: &Sample,
    exceedances: &Exceedances,
    (threshold, excesses): (f64, Excesses),
    settings: TailSettings<'_>,
) -> Option<Analysed> {
    let resolution = sample.ties().resolution;
    let best = excesses.fit(Method::MaximumLikelihood);
    let draw = |gpd: Gpd| {
        let model = Model { gpd, count: excesses.count(), resolution };
        Replicates::draw(model, settings.bootstraps, settings.seed, settings.threads, settings.monitor)
    };
    let replicates = draw(best)?;
    let profile = Profile::new(&excesses, best, settings.level);
    let (xi, alpha) = std::thread::scope(|scope| {
        // both take equally long
        let xi = (settings.threads > 1).then(|| scope.spawn(|| profile.xi()));
        let alpha = profile.alpha();
        (xi.and_then(|xi| xi.join().ok()).unwrap_or_else(|| profile.xi()), alpha)
    });
    let bootstrap = |value: fn(Gpd) -> f64| replicates.interval(settings.level, value);
    let exponential = excesses.exponential();
    let gained = excesses.log_likelihood(best) - excesses.log_likelihood(exponential);
    let likelihood_ratio = (2.0 * gained).max(0.0);
    let tail = Tail {
        threshold,
        exceedances: excesses.count(),
        rate: excesses.count() as f64 / sample.len() as f64,
        best,
        standard_errors: StandardErrors::of(best, excesses.count()),
        xi: Intervals { profile: xi, bootstrap: bootstrap(|gpd| gpd.xi) },
        alpha: Intervals { profile: alpha, bootstrap: bootstrap(|gpd| gpd.alpha) },
        tests: FitTests::of(&excesses, best, resolution, &replicates, settings.significance),
        probability_weighted_moments: excesses.fit(Method::ProbabilityWeightedMoments),
        l_moments: excesses.fit(Method::LMoments),
        exponential: Exponential {
            gpd: exponential,
            tests: FitTests::of(
                &excesses,
                exponential,
                resolution,
                &draw(exponential)?,
                settings.significance,
            ),
            likelihood_ratio,
            p_value: chi_square_sf(likelihood_ratio, 1),
        },
        declustered: declustered(sample, exceedances, threshold, settings.level),
        ties: TailTies::of(&excesses, best, resolution),
    };
    Some(Analysed { tail, excesses, replicates })
}

fn declustered(
    sample: &Sample,
    exceedances: &Exceedances,
    threshold: f64,
    level: f64,
) -> Option<Declustered> {
    let run_length = exceedances.run_length();
    let maxima = exceedances.maxima(sample, run_length);
    if run_length == 0 || maxima.len() < MIN_EXCEEDANCES {
        return None;
    }
    let excesses = Excesses::new(maxima.into_iter().map(|value| value - threshold).collect())?;
    let gpd = excesses.fit(Method::MaximumLikelihood);
    let xi = Profile::new(&excesses, gpd, level).xi();
    Some(Declustered { run_length, clusters: excesses.count(), gpd, xi })
}
