//! The probabilistic worst-case execution time.

use serde::Serialize;

use super::gpd::Gpd;
use super::interval::{Interval, Profile};
use super::parallel;
use super::probability::Probability;
use super::sample::Sample;
use super::special::{quantile, two_sided_z};
use super::tail::{Analysed, Intervals};
use warpbound_core::base::ProgressMonitor;

/// A sample supports a time if the upper limit of the time's interval exceeds the time by at most
/// this fraction.
pub const SUPPORTED: f64 = 0.25;

/// The largest number of measurements that is given as advice, because more are not feasible.
pub const MAX_NEEDED: f64 = 1e12;

/// The probability at which the paper measures accuracy (equation 3).
pub const ACCURACY_AT: f64 = 1e-9;

/// The degree to which a sample supports a time at a probability.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Support {
    /// At least one run in the sample is expected to take longer.
    Observed,
    /// No run in the sample is expected to take longer; the time is extrapolated by the fit, and
    /// its interval is narrow.
    Extrapolated,
    /// The upper limit of the interval is more than [`SUPPORTED`] above the time, or does not
    /// exist. This causes a warning.
    Unsupported,
}

/// The time that a run exceeds with a probability.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Point {
    /// The exceedance probability of one run.
    pub probability: Probability,
    /// The time by the best fit; up to the threshold, the time in the sample.
    pub time: f64,
    /// The time by the exponential tail.
    pub exponential: f64,
    /// The intervals of the time by the best fit; none up to the threshold. They include the
    /// uncertainty of the share of runs above the threshold (binomial, by the delta method: S.
    /// Coles 2001, section 4.3.3), which is added as an independent error.
    pub intervals: Option<Intervals>,
    /// The degree to which the sample supports the time.
    pub support: Support,
    /// The number of powers of ten by which the probability is below 1 / measurements; 0 if it is
    /// not below.
    pub decades_beyond: f64,
    /// The approximate number of measurements that would support the time; an interval narrows with
    /// the square root of their number. None if the present ones support it, if the interval has no
    /// upper limit, or if the number exceeds [`MAX_NEEDED`].
    pub measurements_needed: Option<u64>,
}

impl Point {
    /// Determines how well a sample of this many measurements supports the point.
    fn judge(&mut self, measurements: usize) {
        let Some(intervals) = self.intervals else { return };
        let width = intervals.profile.upper.map(|upper| (upper - self.time) / self.time / SUPPORTED);
        if width.is_some_and(|width| width <= 1.0) {
            return;
        }
        self.support = Support::Unsupported;
        let needed = width.map(|width| (measurements as f64 * width * width).ceil());
        self.measurements_needed = needed.filter(|needed| *needed <= MAX_NEEDED).map(|needed| needed as u64);
    }

    /// Returns the upper limit of the interval by profile likelihood, if it has one.
    pub fn upper_limit(&self) -> Option<f64> {
        self.intervals.and_then(|intervals| intervals.profile.upper)
    }
}

/// The number of points of the curve per power of ten, and the largest number of points.
const PER_DECADE: f64 = 4.0;
const MAX_POINTS: f64 = 120.0;

/// The paper's accuracy (equation 3): the fraction of the largest measurement by which the time at
/// 10^-9 exceeds it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Accuracy {
    /// The largest measurement.
    pub maximum: f64,
    /// The time at 10^-9 by the best fit.
    pub time: f64,
    /// The smallest probability that the sample can show: 1 / measurements.
    pub observable: f64,
    /// `a` of the best fit.
    pub best: f64,
    /// `a` of the exponential tail.
    pub exponential: f64,
}

/// The pWCET curve.
///
/// The points in `points` and `curve` have the properties of every distribution of times. No time
/// and no limit is negative or infinite. The time of a smaller probability is not shorter. A time
/// lies within its intervals. If less than one run of the sample is expected beyond a point, its
/// upper limits are at least the longest run.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Pwcet {
    /// The points in the order of the requested probabilities.
    pub points: Vec<Point>,
    /// The points for a plot, from the threshold's probability to the smallest requested one, in
    /// equal ratios.
    pub curve: Vec<Point>,
    /// The time that no run exceeds according to the best fit, if xi < 0. It is no more certain
    /// than the shape.
    pub end_point: Option<f64>,
    /// The paper's accuracy.
    pub accuracy: Accuracy,
}

/// Computes the curve of a tail at these probabilities; returns `None` if it was stopped.
pub(super) fn pwcet(
    sample: &Sample,
    analysed: &Analysed,
    probabilities: &[Probability],
    level: f64,
    (threads, monitor): (usize, &ProgressMonitor),
) -> Option<Pwcet> {
    let (tail, n) = (&analysed.tail, sample.len() as f64);
    let estimator = Estimator {
        sample,
        analysed,
        profile: Profile::new(&analysed.excesses, tail.best, level),
        level,
        error_of_share: ((1.0 - tail.rate) / (n * tail.rate)).sqrt(),
    };
    let all = |probabilities: &[Probability]| -> Option<Vec<Point>> {
        let at = |index| probabilities.get(index).map(|&probability| estimator.point(probability));
        Some(parallel::map(probabilities.len(), threads, monitor, at)?.into_iter().flatten().collect())
    };
    // a heavy tail can exceed an `f64`
    let time =
        |gpd: Gpd| (tail.threshold + gpd.exceeded_with((ACCURACY_AT / tail.rate).min(1.0))).min(f64::MAX);
    let accuracy = |gpd: Gpd| (time(gpd) - sample.max()) / time(gpd);
    let (mut points, mut curve) = (all(probabilities)?, all(&curve_probabilities(tail.rate, probabilities))?);
    let mut together: Vec<&mut Point> = points.iter_mut().chain(&mut curve).collect();
    consistent(&mut together, sample);
    together.into_iter().for_each(|point| point.judge(sample.len()));
    Some(Pwcet {
        points,
        curve,
        // the fit allows the longest run, except for rounding errors of a sum
        end_point: tail.best.end_point().map(|end| (tail.threshold + end).max(sample.max())),
        accuracy: Accuracy {
            maximum: sample.max(),
            time: time(tail.best),
            observable: 1.0 / n,
            best: accuracy(tail.best),
            exponential: accuracy(tail.exponential.gpd),
        },
    })
}

/// Estimates times that are exceeded with given probabilities.
struct Estimator<'a> {
    sample: &'a Sample,
    analysed: &'a Analysed,
    profile: Profile<'a>,
    /// The level of the intervals.
    level: f64,
    /// The standard error of the logarithm of the share of runs above the threshold.
    error_of_share: f64,
}

impl Estimator<'_> {
    /// Returns the point of a probability, before it is made consistent with the others.
    fn point(&self, probability: Probability) -> Point {
        let Analysed { tail, replicates, .. } = self.analysed;
        let expected = probability.get() * self.sample.len() as f64;
        let within = probability.get() / tail.rate;
        // this avoids -0
        let decades_beyond = 0.0 - libm::log10(expected).min(0.0);
        let observed = expected >= 1.0;
        if within >= 1.0 {
            // the quantile lies between two values, and the next larger one may be above the
            // threshold
            let time = quantile(self.sample.sorted(), 1.0 - probability.get()).min(tail.threshold);
            let support = if observed { Support::Observed } else { Support::Unsupported };
            return Point {
                probability,
                time,
                exponential: time,
                intervals: None,
                support,
                decades_beyond,
                measurements_needed: None,
            };
        }
        // a heavy tail can exceed an `f64`
        let above = |excess: f64| (tail.threshold + excess).min(f64::MAX);
        let time = above(tail.best.exceeded_with(within));
        let slope = tail.best.slope(libm::log(tail.rate / probability.get()));
        let share = two_sided_z(self.level) * slope * self.error_of_share;
        let uncertain = |interval: Interval| interval.widened(time, share);
        let replicated = replicates.interval(self.level, |gpd| tail.threshold + gpd.exceeded_with(within));
        let intervals = Intervals {
            profile: uncertain(self.profile.excess(within).map(|excess| tail.threshold + excess)),
            bootstrap: uncertain(replicated),
        };
        Point {
            probability,
            time,
            exponential: above(tail.exponential.gpd.exceeded_with(within)),
            intervals: Some(intervals),
            // preliminary, until the limits are final
            support: if observed { Support::Observed } else { Support::Extrapolated },
            decades_beyond,
            measurements_needed: None,
        }
    }
}

/// Makes points of one curve consistent with each other and with the sample, as [`Pwcet`] requires.
///
/// The errors are added for each point separately, so that an interval can extend below 0, or get
/// narrower faster than the time grows. A lower limit of a time is also a lower limit of each
/// longer time, so it is raised to that of the larger probability if it is below. An upper limit
/// that falls is raised to that of the larger probability, so that no upper limit gets smaller.
fn consistent(points: &mut [&mut Point], sample: &Sample) {
    points.sort_by(|left, right| right.probability.get().total_cmp(&left.probability.get()));
    let (mut time, mut exponential): (f64, f64) = (0.0, 0.0);
    let mut limits: Option<Intervals> = None;
    for point in points {
        time = time.max(point.time);
        exponential = exponential.max(point.exponential);
        (point.time, point.exponential) = (time, exponential);
        let Some(intervals) = &mut point.intervals else { continue };
        // the sample's time with this probability, or the longest run if no run is expected beyond
        // it
        let seen = quantile(sample.sorted(), 1.0 - point.probability.get());
        let seen = if point.probability.get() * sample.len() as f64 > 1.0 { seen } else { sample.max() };
        let before = limits.unwrap_or(*intervals);
        let both = Intervals {
            profile: intervals.profile.beyond(before.profile, time, seen),
            bootstrap: intervals.bootstrap.beyond(before.bootstrap, time, seen),
        };
        *intervals = both;
        limits = Some(both);
    }
}

/// Returns the probabilities of the curve.
fn curve_probabilities(rate: f64, requested: &[Probability]) -> Vec<Probability> {
    let smallest = requested.iter().map(|probability| probability.get()).fold(rate, f64::min);
    let decades = libm::log10(rate / smallest);
    let steps = (decades * PER_DECADE).ceil().clamp(0.0, MAX_POINTS);
    // the threshold itself is omitted, because its time is known
    let probability =
        |step: u32| Probability::new(rate * libm::pow(10.0, -decades * f64::from(step) / steps));
    (1..=steps as u32).filter_map(|step| probability(step).ok()).collect()
}
