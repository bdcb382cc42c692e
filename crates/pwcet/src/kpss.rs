//! The KPSS test of stationarity.
//!
//! D. Kwiatkowski, P. C. B. Phillips, P. Schmidt, Y. Shin, "Testing the null hypothesis of
//! stationarity against the alternative of a unit root", J. Econometrics 54, 1992. The statistic is
//! that of their equation 13: sums of residuals, squared, over n² times a long-run variance with
//! Bartlett weights.

use serde::Serialize;

use super::critical::CriticalValue;
use super::kpss_limit::{Bridge, exceedance};
use super::sample::Sample;
use super::special::mean;

/// The function of time around which a series is stationary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Regression {
    /// A constant level; eta_mu in the paper.
    Level,
    /// A linear trend; eta_tau in the paper.
    Trend,
}

/// The rule for the number of lags of the long-run variance. With more lags, the test mistakes
/// dependence for a trend less often, but also finds fewer trends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Bandwidth {
    /// floor(4 (n/100)^(1/4)): l4 of Kwiatkowski et al.
    Short,
    /// ceil(12 (n/100)^(1/4)): l12, rounded up as statsmodels does ("legacy").
    Long,
    /// The number depends on the series: B. Hobijn, P. H. Franses, M. Ooms, "Generalizations of the
    /// KPSS-test for stationarity", Statistica Neerlandica 58, 2004; "auto" in statsmodels.
    Automatic,
}

/// An interval that contains a p-value; both limits are equal if the p-value is known.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Bounds {
    /// The lower limit.
    pub lower: f64,
    /// The upper limit.
    pub upper: f64,
}

/// A test of stationarity.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Kpss {
    /// The function of time around which the series is stationary under the hypothesis.
    pub regression: Regression,
    /// The rule by which the number of lags was chosen.
    pub bandwidth: Bandwidth,
    /// The number of lags.
    pub lags: usize,
    /// The statistic.
    pub statistic: f64,
    /// Its critical values at 10, 5, 2.5 and 1 percent: table 1 of Kwiatkowski et al.
    pub critical_values: [CriticalValue; 4],
    /// The interval of the p-value by that table, which ends at 0.01 and 0.1.
    pub p_table: Bounds,
    /// The p-value from the limit distribution of the statistic, rounded to 5 decimal places.
    pub p_value: f64,
    /// Whether the hypothesis of stationarity is kept at the significance of the analysis.
    pub passed: bool,
}

/// The tests of stationarity.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Stationarity {
    /// The tests of every regression with every bandwidth.
    pub tests: Vec<Kpss>,
    /// The test that decides: level, automatic bandwidth.
    pub decisive: Kpss,
}

/// Table 1 of Kwiatkowski et al.: the critical values at 10, 5, 2.5 and 1 percent.
const LEVEL: [f64; 4] = [0.347, 0.463, 0.574, 0.739];
const TREND: [f64; 4] = [0.119, 0.146, 0.176, 0.216];
const P: [f64; 4] = [0.1, 0.05, 0.025, 0.01];

/// Performs all tests of a sample.
pub fn stationarity(sample: &Sample, significance: f64) -> Stationarity {
    let both =
        [Regression::Level, Regression::Trend].map(|regression| (regression, residuals(sample, regression)));
    let with = |bandwidth| {
        both.iter().map(move |(regression, residuals)| test(residuals, *regression, bandwidth, significance))
    };
    let all = [Bandwidth::Automatic, Bandwidth::Short, Bandwidth::Long];
    Stationarity { tests: all.into_iter().flat_map(with).collect(), decisive: decisive(sample, significance) }
}

/// Performs the test that decides.
pub(super) fn decisive(sample: &Sample, significance: f64) -> Kpss {
    test(&residuals(sample, Regression::Level), Regression::Level, Bandwidth::Automatic, significance)
}

fn test(residuals: &[f64], regression: Regression, bandwidth: Bandwidth, significance: f64) -> Kpss {
    let n = residuals.len() as f64;
    let lags = lags(residuals, bandwidth);
    let mut so_far = 0.0;
    let squares: f64 = residuals
        .iter()
        .map(|residual| {
            so_far += residual;
            so_far * so_far
        })
        .sum();
    let weight = |lag: usize| 1.0 - lag as f64 / (lags as f64 + 1.0);
    let later: f64 = (1..=lags).map(|lag| weight(lag) * product(residuals, lag)).sum();
    let long_run = (product(residuals, 0) + 2.0 * later) / n;
    // a sample that is exactly a line has no residuals
    let statistic = if long_run > 0.0 { squares / (n * n) / long_run } else { 0.0 };
    let (critical, bridge) = match regression {
        Regression::Level => (LEVEL, Bridge::First),
        Regression::Trend => (TREND, Bridge::Second),
    };
    let p_value = exceedance(statistic, bridge);
    Kpss {
        regression,
        bandwidth,
        lags,
        statistic,
        critical_values: std::array::from_fn(|at| CriticalValue {
            significance: P[at],
            statistic: critical[at],
        }),
        p_table: in_table(statistic, critical),
        p_value,
        passed: p_value >= significance,
    }
}

/// Returns the residuals of the values after fitting a constant, or a line by least squares.
fn residuals(sample: &Sample, regression: Regression) -> Vec<f64> {
    let values = sample.values();
    let level = mean(values);
    let middle = (values.len() as f64 - 1.0) / 2.0;
    let time = |index: usize| index as f64 - middle;
    let slope = match regression {
        Regression::Level => 0.0,
        Regression::Trend => {
            let both: f64 =
                values.iter().enumerate().map(|(index, value)| time(index) * (value - level)).sum();
            both / (0..values.len()).map(|index| time(index) * time(index)).sum::<f64>()
        }
    };
    values.iter().enumerate().map(|(index, value)| value - level - slope * time(index)).collect()
}

/// Returns the sum of products of values that are `lag` apart.
fn product(values: &[f64], lag: usize) -> f64 {
    values.iter().zip(values.iter().skip(lag)).map(|(before, after)| before * after).sum()
}

fn lags(residuals: &[f64], bandwidth: Bandwidth) -> usize {
    let n = residuals.len() as f64;
    let lags = match bandwidth {
        Bandwidth::Short => (4.0 * libm::pow(n / 100.0, 0.25)).floor(),
        Bandwidth::Long => (12.0 * libm::pow(n / 100.0, 0.25)).ceil(),
        Bandwidth::Automatic => {
            let (mut sum, mut weighted) = (product(residuals, 0) / n, 0.0);
            for lag in 1..=libm::pow(n, 2.0 / 9.0) as usize {
                let both = product(residuals, lag) / (n / 2.0);
                sum += both;
                weighted += lag as f64 * both;
            }
            (1.1447 * libm::cbrt((weighted / sum) * (weighted / sum)) * libm::cbrt(n)).floor()
        }
    };
    // casting saturates, and NaN becomes 0
    (lags as usize).min(residuals.len().saturating_sub(1))
}

/// Returns the range of a p-value, interpolated linearly between the table's columns.
fn in_table(statistic: f64, critical: [f64; 4]) -> Bounds {
    if statistic < critical[0] {
        return Bounds { lower: P[0], upper: 1.0 };
    }
    for column in 0..3 {
        let (low, high) = (critical[column], critical[column + 1]);
        if statistic <= high {
            let p = P[column] + (statistic - low) / (high - low) * (P[column + 1] - P[column]);
            return Bounds { lower: p, upper: p };
        }
    }
    Bounds { lower: 0.0, upper: P[3] }
}
