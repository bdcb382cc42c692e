//! Autocorrelation, and the Ljung-Box test of it.

use serde::Serialize;

use super::critical::{CriticalValue, at_significances};
use super::sample::Sample;
use super::special::{chi_square_critical, chi_square_sf, mean};

/// The correlations of a sample with itself, shifted by a lag.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Autocorrelation {
    /// The correlations from lag 1 on. The sums of all lags are divided by the variance of the
    /// whole sample, as is usual.
    pub correlations: Vec<f64>,
    /// The largest distance from 0 of 95 percent of the correlations of independent values, which
    /// is 1.96 / sqrt(n).
    pub band: f64,
    /// The tests, for several numbers of lags.
    pub ljung_box: Vec<LjungBox>,
}

/// A test whether the first correlations together are 0.
///
/// G. M. Ljung and G. E. P. Box, "On a measure of lack of fit in time series models", Biometrika
/// 65, 1978.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct LjungBox {
    /// The number of correlations.
    pub lags: usize,
    /// The statistic, which has a chi-square distribution with that many degrees of freedom.
    pub statistic: f64,
    /// The critical values of the statistic.
    pub critical_values: [CriticalValue; 3],
    /// The p-value.
    pub p_value: f64,
    /// Whether the hypothesis of no correlation is kept at the significance of the analysis.
    pub passed: bool,
}

/// The largest number of lags shown.
const SHOWN: usize = 40;

/// The numbers of lags that are tested.
const TESTED: [usize; 3] = [5, 10, 20];

impl Autocorrelation {
    /// Computes the correlations of a sample and tests them.
    pub fn of(sample: &Sample, significance: f64) -> Self {
        let values = sample.values();
        let n = values.len() as f64;
        let level = mean(values);
        let centred: Vec<f64> = values.iter().map(|value| value - level).collect();
        let product =
            |lag: usize| -> f64 { centred.iter().zip(centred.iter().skip(lag)).map(|(a, b)| a * b).sum() };
        let all = product(0);
        let correlations: Vec<f64> = (1..=SHOWN.min(values.len() / 2))
            .map(|lag| if all > 0.0 { product(lag) / all } else { 0.0 })
            .collect();
        let tested = |lags: usize| {
            let terms =
                correlations.iter().zip(1_u32..).take(lags).map(|(r, lag)| r * r / (n - f64::from(lag)));
            let statistic = n * (n + 2.0) * terms.sum::<f64>();
            let p_value = chi_square_sf(statistic, lags);
            let critical_values = at_significances(|significance| chi_square_critical(significance, lags));
            LjungBox { lags, statistic, critical_values, p_value, passed: p_value >= significance }
        };
        let ljung_box = TESTED.map(tested).to_vec();
        Self { correlations, band: 1.96 / n.sqrt(), ljung_box }
    }

    /// Returns the first lag whose correlation could be chance, given those before it; `None` if
    /// there is no such lag.
    ///
    /// M. S. Bartlett, "On the theoretical specification and sampling properties of autocorrelated
    /// time-series", 1946: the variance is that of the band, times 1 plus twice the sum of the
    /// squares of the correlations before.
    pub fn fades_at(&self) -> Option<usize> {
        let mut spread = 1.0;
        let mut outside = |&r: &f64| {
            let outside = r.abs() > self.band * f64::sqrt(spread);
            spread += 2.0 * r * r;
            outside
        };
        let lag = self.correlations.iter().take_while(|r| outside(r)).count();
        (lag < self.correlations.len()).then_some(lag + 1)
    }
}
