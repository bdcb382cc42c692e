//! Kolmogorov-Smirnov and Anderson-Darling tests of a fit.

use serde::Serialize;

use super::bootstrap::Replicates;
use super::critical::{CriticalValue, at_significances};
use super::distances::{Distances, by_table};
use super::gpd::Gpd;
use super::gpd_fit::Excesses;

/// A test whether points can come from the distribution that was fitted to them.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct FitTest {
    /// The statistic.
    pub statistic: f64,
    /// The p-value for fitted parameters from the parametric bootstrap: (1 + replicates with a
    /// statistic at least as large) / (1 + replicates), each of them fitted again. It is none
    /// without a bootstrap.
    pub p_value: Option<f64>,
    /// The p-value for fitted parameters by [`by_table`]; only for the Anderson-Darling test of a
    /// fit with a shape.
    pub p_table: Option<f64>,
    /// Critical values of the statistic, from the same bootstrap.
    pub critical_values: Option<[CriticalValue; 3]>,
    /// Whether the fit is kept at the significance of the analysis. The bootstrap decides this. If
    /// it has too few replicates to reject any fit, the table decides; without a table, the result
    /// is none.
    pub passed: Option<bool>,
}

/// Both tests of a fit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct FitTests {
    /// The test of Kolmogorov and Smirnov.
    pub kolmogorov_smirnov: FitTest,
    /// The test of Anderson and Darling.
    pub anderson_darling: FitTest,
}

impl FitTests {
    /// Tests a distribution that was fitted by maximum likelihood to these excesses, measured in
    /// steps of `resolution`, by comparison with replicates of it.
    ///
    /// The usual tables of both tests are for known parameters and accept fitted ones far too
    /// often; scipy's `kstest` gives those p-values.
    pub fn of(
        excesses: &Excesses,
        gpd: Gpd,
        resolution: f64,
        replicates: &Replicates,
        significance: f64,
    ) -> Self {
        let distances = Distances::of(excesses, gpd);
        let table = (!gpd.is_exponential()).then(|| by_table(excesses, resolution).p_value);
        let ks = |each: &Distances| each.kolmogorov_smirnov;
        let ad = |each: &Distances| each.anderson_darling;
        Self {
            kolmogorov_smirnov: judge(ks(&distances), None, replicates.statistics(ks), significance),
            anderson_darling: judge(ad(&distances), table, replicates.statistics(ad), significance),
        }
    }

    /// Returns whether neither test rejects the fit.
    pub fn passed(&self) -> bool {
        self.kolmogorov_smirnov.passed != Some(false) && self.anderson_darling.passed != Some(false)
    }
}

fn judge(statistic: f64, p_table: Option<f64>, mut others: Vec<f64>, significance: f64) -> FitTest {
    others.sort_unstable_by(f64::total_cmp);
    let larger = others.len() - others.partition_point(|&other| other < statistic);
    let known = !others.is_empty();
    let p_value = known.then(|| (1 + larger) as f64 / (1 + others.len()) as f64);
    let critical_values =
        known.then(|| at_significances(|significance| super::special::quantile(&others, 1.0 - significance)));
    // the smallest p-value that this many replicates can give
    let least = 1.0 / (1 + others.len()) as f64;
    let passed = p_value.filter(|_| least < significance).or(p_table).map(|p| p >= significance);
    FitTest { statistic, p_value, p_table, critical_values, passed }
}
