//! The decision whether extreme-value statistics apply, and advice if they do not.

use std::fmt;

use serde::Serialize;

use super::autocorrelation::Autocorrelation;
use super::bds::Bds;
use super::extremal::ExtremalIndex;
use super::kpss::{Stationarity, decisive};
use super::sample::Sample;
use super::tail::Tail;
use super::threshold::Choice;

/// The number of exceedances with which the extremal index of independent times is rarely
/// below [`ALONE`](super::extremal::ALONE).
pub const ENOUGH: usize = 400;

/// The decision of the paper's figure 1, and the confidence in the pWCET estimates.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Decision {
    /// The questions in order, up to the one that decided.
    pub steps: Vec<Step>,
    /// Whether the pWCET estimates are reliable.
    pub reliable: bool,
    /// The confidence in the pWCET estimates, computed from the tests.
    pub confidence: Confidence,
    /// Advice on how to improve the measurements. It is empty if the answer to all questions is
    /// yes.
    pub advice: Vec<Advice>,
}

/// A question of the decision, and its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Step {
    /// The question.
    pub question: Question,
    /// Whether the answer is yes.
    pub yes: bool,
}

/// A question of the decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Question {
    /// Does the KPSS test accept a constant level? If not, the measurements do not have one
    /// distribution, and no estimate is reliable.
    Stationary,
    /// Does the BDS test accept independence? If so, the next question is not needed.
    Independent,
    /// Is the extremal index at least [`ALONE`](super::extremal::ALONE)? If not, no estimate is
    /// reliable.
    ExtremallyIndependent,
    /// Do the tests of Kolmogorov-Smirnov and Anderson-Darling accept the fit?
    Fits,
}

/// Equation 2 of the paper, section 3.1: p = min(p_KPSS, max(p_BDS, p_EI)).
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Confidence {
    /// The p-value of KPSS (level, automatic bandwidth).
    pub kpss: f64,
    /// The p-value of BDS.
    pub bds: f64,
    /// theta of the intervals estimator at the threshold.
    pub extremal_index: f64,
    /// Equation 2 with these.
    pub overall: f64,
    /// Equation 2 as the paper's section 3.1 and table 1 read it: p_KPSS is 0.99 if the statistic
    /// is below the critical value at 1 percent (0.739), and 0 otherwise. It is given for
    /// comparison only: a test that does not reject is not evidence of that strength.
    pub as_in_paper: f64,
}

/// Advice on how to improve the measurements.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Advice {
    /// The sample is stationary without this number of first measurements. Leave them out (a
    /// warm-up), and measure as many again.
    DropFirst(usize),
    /// No part from any point to the end is stationary. The cause of the change during the
    /// measurement has to be found; more measurements of the same kind show the drift more clearly.
    FindDrift,
    /// Keep one measurement of every `every`, so that they are no longer correlated, and take
    /// `measurements` in total to have as many as now.
    Thin {
        /// The number of measurements of which one is kept.
        every: usize,
        /// The total number of measurements.
        measurements: usize,
    },
    /// Keep the largest measurement of each cluster, and take `measurements` in total to have as
    /// many clusters as there are exceedances now.
    Decluster {
        /// The largest distance of two exceedances in one cluster.
        run_length: usize,
        /// The present number of clusters.
        clusters: usize,
        /// The total number of measurements.
        measurements: usize,
    },
    /// The interval of the extremal index includes 1. With `measurements` in total there would be
    /// [`ENOUGH`] exceedances, and its standard error would be 0.05: it is about the reciprocal of
    /// the square root of their number.
    MoreExceedances {
        /// The total number of measurements.
        measurements: usize,
    },
    /// A higher threshold has to be tried.
    HigherThreshold {
        /// A threshold that [`Rule::Automatic`](super::threshold::Rule::Automatic) keeps; none if
        /// there is none.
        threshold: Option<f64>,
        /// The total number of measurements: ten times the present number, so that a tenth of the
        /// present share of runs gives as many exceedances as now.
        measurements: usize,
    },
    /// The tail has few distinct values or wide steps: measure with a finer clock.
    FinerClock,
    /// The tail has few distinct values or wide steps although times are exact: runs have to differ
    /// in more respects, or be longer.
    MoreVariation,
}

impl Advice {
    /// Returns the advice for a tail with few distinct times.
    pub fn against_few_times(exact_clock: bool) -> Self {
        if exact_clock { Self::MoreVariation } else { Self::FinerClock }
    }
}

impl fmt::Display for Advice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::DropFirst(count) => write!(
                f,
                "the first {count} measurements differ from the rest, which is stationary: leave them out and measure as many \
                 again"
            ),
            Self::FindDrift => f.write_str(
                "the measurements drift, and no final part of them is stationary: find what changes between runs, since more runs will \
                 not help",
            ),
            Self::Thin { every, measurements } => write!(
                f,
                "correlation fades after {every} runs: keep one run of {every}, and measure {measurements} in all"
            ),
            Self::Decluster { run_length, clusters, measurements } => write!(
                f,
                "large times come in {clusters} clusters: keep the largest of those at most {run_length} runs apart, and measure \
                 {measurements} runs in all"
            ),
            Self::MoreExceedances { measurements } => write!(
                f,
                "large times may come alone, but there are too few of them to decide this: measure {measurements} runs in all"
            ),
            Self::HigherThreshold { threshold: Some(threshold), .. } => {
                write!(f, "no distribution fits above this threshold: one may fit above {threshold}")
            }
            Self::HigherThreshold { threshold: None, measurements } => {
                write!(f, "no distribution fits above any threshold: measure {measurements} runs in all for a higher one")
            }
            Self::FinerClock => {
                f.write_str("there are few distinct times: measure with a finer clock, or longer runs")
            }
            Self::MoreVariation => f.write_str(
                "there are few distinct times, and they are exact: let more differ between runs, or make the runs longer",
            ),
        }
    }
}

/// The tests on which a decision is based.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tests<'a> {
    pub stationarity: &'a Stationarity,
    pub bds: &'a Bds,
    pub extremal_index: &'a ExtremalIndex,
    pub autocorrelation: &'a Autocorrelation,
    pub tail: &'a Tail,
    pub choice: &'a Choice,
}

/// Returns the decision for a sample.
pub(super) fn decide(sample: &Sample, tests: Tests<'_>, significance: f64, exact_clock: bool) -> Decision {
    let kpss = &tests.stationarity.decisive;
    let theta = tests.extremal_index.theta;
    let fits = tests.tail.tests.passed();
    let independent = tests.bds.passed;
    let alone = tests.extremal_index.passed;
    let step = |question, yes| Step { question, yes };
    let mut steps = vec![step(Question::Stationary, kpss.passed)];
    if kpss.passed {
        steps.push(step(Question::Independent, independent));
        if !independent {
            steps.push(step(Question::ExtremallyIndependent, alone));
        }
        if independent || alone {
            steps.push(step(Question::Fits, fits));
        }
    }
    let either = tests.bds.p_value.max(theta);
    let in_paper = if kpss.statistic < kpss.critical_values[3].statistic { 0.99 } else { 0.0_f64 };
    let mut advice = Vec::new();
    if !kpss.passed {
        advice.push(without_start(sample, significance));
    }
    if !independent && !alone {
        advice.extend(against_dependence(sample, tests));
    }
    if !fits {
        advice.push(Advice::HigherThreshold {
            threshold: tests.choice.kept_above(tests.tail.threshold),
            measurements: sample.len().saturating_mul(10),
        });
    }
    if tests.tail.ties.doubtful {
        advice.push(Advice::against_few_times(exact_clock));
    }
    Decision {
        reliable: kpss.passed && (independent || alone) && fits,
        steps,
        confidence: Confidence {
            kpss: kpss.p_value,
            bds: tests.bds.p_value,
            extremal_index: theta,
            overall: kpss.p_value.min(either),
            as_in_paper: in_paper.min(either),
        },
        advice,
    }
}

/// Returns advice on whether omitting some first measurements makes the rest stationary.
fn without_start(sample: &Sample, significance: f64) -> Advice {
    let n = sample.len();
    let kept = [20, 10, 4, 2].map(|part| n / part).into_iter().find(|&dropped| {
        let rest = sample.values().get(dropped..).unwrap_or_default();
        Sample::new(rest.to_vec()).is_ok_and(|rest| decisive(&rest, significance).passed)
    });
    kept.map_or(Advice::FindDrift, Advice::DropFirst)
}

fn against_dependence(sample: &Sample, tests: Tests<'_>) -> Vec<Advice> {
    let n = sample.len();
    let index = tests.extremal_index;
    let decluster = Advice::Decluster {
        run_length: index.run_length,
        clusters: index.clusters,
        measurements: (n as f64 * index.exceedances as f64 / index.clusters.max(1) as f64).ceil() as usize,
    };
    let more = index.interval.contains(1.0) && index.exceedances < ENOUGH;
    let more = more.then(|| Advice::MoreExceedances {
        measurements: n.saturating_mul(ENOUGH).div_ceil(index.exceedances.max(1)),
    });
    let every = tests.autocorrelation.fades_at().filter(|&every| every > 1);
    let thin = every.map(|every| Advice::Thin { every, measurements: n.saturating_mul(every) });
    [more, Some(decluster), thin].into_iter().flatten().collect()
}
