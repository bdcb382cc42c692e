//! The statistics of Kolmogorov-Smirnov and Anderson-Darling.

use serde::Serialize;

use super::ad_table;
use super::gpd::Gpd;
use super::gpd_fit::{Excesses, Method};

/// How far a distribution is from the points that it was fitted to.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Distances {
    /// D of Kolmogorov and Smirnov: the largest distance of both distribution functions.
    pub kolmogorov_smirnov: f64,
    /// A² of Anderson and Darling, which weighs both tails more.
    pub anderson_darling: f64,
}

impl Distances {
    /// Computes the distances of excesses from a distribution, in one pass.
    pub fn of(excesses: &Excesses, gpd: Gpd) -> Self {
        let n = excesses.count() as f64;
        let (mut largest, mut sum) = (0.0_f64, 0.0);
        for (y, i) in excesses.iter().zip(0_u32..) {
            let (i, hazard) = (f64::from(i), gpd.cumulative_hazard(y));
            let below = -libm::expm1(-hazard);
            largest = largest.max((i + 1.0) / n - below).max(below - i / n);
            sum += (2.0 * i + 1.0) * libm::log(below) - (2.0 * (n - i) - 1.0) * hazard;
        }
        let squared = -n - sum / n;
        let anderson_darling = if squared.is_nan() { f64::MAX } else { squared.min(f64::MAX) };
        Self { kolmogorov_smirnov: largest, anderson_darling }
    }
}

/// A² of a fit, and its p-value by a table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ByTable {
    /// A².
    pub anderson_darling: f64,
    /// The p-value.
    pub p_value: f64,
}

/// Performs the Anderson-Darling test by the table of [`ad_table`], with points that are spread
/// over steps of `resolution`, and the fit to them by maximum likelihood.
pub fn by_table(excesses: &Excesses, resolution: f64) -> ByTable {
    let even = excesses.spread(resolution);
    let gpd = even.fit(Method::MaximumLikelihood);
    let anderson_darling = Distances::of(&even, gpd).anderson_darling;
    ByTable { anderson_darling, p_value: ad_table::p_value(gpd.xi, anderson_darling) }
}
