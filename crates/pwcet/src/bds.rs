//! The BDS test of independence.
//!
//! W. A. Broock, J. A. Scheinkman, W. D. Dechert, B. LeBaron, "A Test for Independence Based on the
//! Correlation Dimension", Econometric Reviews 15, 1996. In independent data, histories of m points
//! are close to each other as often as m independent points are: C_m = C_1^m, except for chance.
//! The statistic is then standard normal. L. Kanzler, "Very Fast and Correctly Sized Estimation of
//! the BDS Statistic", 1999, defines the points over which each C is computed, and the sample sizes
//! for which the statistic is standard normal.

use std::f64::consts::PI;

use serde::Serialize;

use super::bds_counts::{Counts, DIMENSIONS, count};
use super::critical::{CriticalValue, at_significances};
use super::sample::Sample;
use super::special::{mean, normal_two_sided, two_sided_z, variance};
use warpbound_core::base::ProgressMonitor;

/// The distances that are tested, in standard deviations of the sample.
pub const EPSILONS: [f64; 4] = [0.5, 1.0, 1.5, 2.0];

/// The smallest average number of neighbours of a history, if points are independent, with which a
/// test counts. With fewer, the statistic is not normal and rejects too often (Kanzler 1999,
/// section 5).
const NEIGHBOURS: f64 = 10.0;

/// The tests of independence.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Bds {
    /// The tests, one for each distance and embedding dimension.
    pub tests: Vec<BdsTest>,
    /// The critical values of the absolute value of each statistic.
    pub critical_values: [CriticalValue; 3],
    /// The p-value that decides. It combines the p-values of all tests that count, by the mean of
    /// tan(pi (1/2 - p)): this is a Cauchy variable even if the tests depend on each other (Y. Liu
    /// and J. Xie, "Cauchy Combination Test", JASA 115, 2020). The paper does not state the
    /// distance and dimension of its p_BDS.
    pub p_value: f64,
    /// Whether the hypothesis of independence is kept at the significance of the analysis.
    pub passed: bool,
}

/// The test for one distance and embedding dimension.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct BdsTest {
    /// The distance below which points are close, in standard deviations of the sample.
    pub epsilon: f64,
    /// The embedding dimension, which is the number of points of a history.
    pub dimension: usize,
    /// The statistic; none if it has no variance because all points are close, or none are.
    pub statistic: Option<f64>,
    /// Whether histories have enough others close to them for the test to count.
    pub enough_neighbours: bool,
    /// The two-sided p-value. It is 1 without a statistic, because nothing contradicts
    /// independence.
    pub p_value: f64,
}

/// Performs all tests of a sample; returns `None` if it was stopped. The time grows with the square
/// of the number of points: 50,000 points take about half a second on two cores, 200,000 seven
/// seconds.
pub fn bds(sample: &Sample, significance: f64, threads: usize, monitor: &ProgressMonitor) -> Option<Bds> {
    let deviation = variance(sample.values(), 1).sqrt();
    let distances = EPSILONS.map(|epsilon| epsilon * deviation);
    let counts = count(sample.values(), &distances, threads, monitor)?;
    let at = |(&epsilon, counts): (&f64, &Counts)| {
        let test = |dimension: usize| {
            let statistic = statistic(counts, sample.len(), dimension);
            let p_value = statistic.map_or(1.0, normal_two_sided);
            let enough_neighbours =
                statistic.is_some() && neighbours(counts, sample.len(), dimension) >= NEIGHBOURS;
            BdsTest { epsilon, dimension, statistic, enough_neighbours, p_value }
        };
        (2..=DIMENSIONS).map(test).collect::<Vec<_>>()
    };
    let tests: Vec<BdsTest> = EPSILONS.iter().zip(&counts).flat_map(at).collect();
    let p_value = combined(tests.iter().filter(|test| test.enough_neighbours).map(|test| test.p_value));
    let critical_values = at_significances(|significance| two_sided_z(1.0 - significance));
    Some(Bds { tests, critical_values, p_value, passed: p_value >= significance })
}

/// Combines several p-values into one; returns 1 if there are none.
fn combined(p_values: impl Iterator<Item = f64>) -> f64 {
    // a p-value of 1 would outweigh any other, and is no stronger evidence than one near 1
    let all: Vec<f64> = p_values.map(|p| libm::tan(PI * (0.5 - p.clamp(1e-15, 0.99)))).collect();
    if all.is_empty() { 1.0 } else { (0.5 - libm::atan(mean(&all)) / PI).clamp(0.0, 1.0) }
}

/// Returns the number of other histories that are close to one, on average, if points are
/// independent.
fn neighbours(counts: &Counts, points: usize, dimension: usize) -> f64 {
    let n = points as f64;
    let share = counts.singles(0) as f64 / (n * (n - 1.0) / 2.0);
    n * libm::pow(share, dimension as f64)
}

/// Returns the statistic of one dimension: Broock et al., equations 2.5 to 2.8.
fn statistic(counts: &Counts, points: usize, dimension: usize) -> Option<f64> {
    let n = points as f64;
    let pairs = |points: f64| points * (points - 1.0) / 2.0;
    let c = counts.singles(0) as f64 / pairs(n);
    // triples of which one point is close to both others; rows count each point as close to itself
    let k = (counts.squares - 3.0 * counts.sum + 2.0 * n) / (n * (n - 1.0) * (n - 2.0));
    let m = i32::try_from(dimension).ok()?;
    let mixed: f64 = (1..m).map(|j| k.powi(m - j) * c.powi(2 * j)).sum();
    let less = f64::from(m - 1);
    let more = f64::from(m);
    let variance =
        4.0 * (k.powi(m) + 2.0 * mixed + less * less * c.powi(2 * m) - more * more * k * c.powi(2 * m - 2));
    // histories begin at all points but the last ones, and single points are all but the first ones
    let left = n - less;
    let joint = counts.joint(dimension) as f64 / pairs(left);
    let single = counts.singles(dimension - 1) as f64 / pairs(left);
    let statistic = left.sqrt() * (joint - single.powi(m)) / variance.sqrt();
    (variance > 1e-15 && statistic.is_finite()).then_some(statistic)
}
