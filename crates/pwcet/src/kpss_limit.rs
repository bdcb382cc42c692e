//! The limit distributions of the KPSS statistic.
//!
//! They are the distributions of weighted sums of squared standard normal variables. For a level,
//! the sum is the integral of a squared Brownian bridge, with weights 1/(pi k)². For a trend, it is
//! that of a squared second-level bridge, with weights 1/(2 pi k)² and 1/(2 z)² for the positive
//! roots of tan z = z. The first one is also the limit of the statistic of Cramér and von Mises.

use std::f64::consts::PI;

/// The limit process of the sums of residuals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bridge {
    /// The limit for residuals of a constant.
    First,
    /// The limit for residuals of a line.
    Second,
}

/// The number of weights that are kept; of the others only the sum is used.
const KEPT: usize = 100;

/// The step and the end of the integral, in terms of the root of Imhof's variable.
const STEP: f64 = 0.01;
const END: f64 = 12.0;

/// Returns the probability that such an integral exceeds `x`. The error is less than 5e-6, and
/// mostly due to omitted weights.
///
/// J. P. Imhof, "Computing the distribution of quadratic forms in normal variables", Biometrika 48,
/// 1961, equation 3.2.
pub(super) fn exceedance(x: f64, bridge: Bridge) -> f64 {
    let (weights, all) = match bridge {
        Bridge::First => ((1..=KEPT).map(|k| 1.0 / square(PI * k as f64)).collect::<Vec<_>>(), 1.0 / 6.0),
        Bridge::Second => {
            let pairs = (1..=KEPT / 2).flat_map(|k| [PI * k as f64, root_of_tan(k)]);
            (pairs.map(|z| 1.0 / square(2.0 * z)).collect(), 1.0 / 15.0)
        }
    };
    let largest = weights.first().copied().unwrap_or(1.0);
    // the omitted part hardly varies and is treated as a constant
    let x = (x - (all - weights.iter().sum::<f64>())) / largest;
    if x <= 0.0 {
        return 1.0;
    }
    // the remaining probability is less than exp(-x / 2)
    if x > 50.0 || x.is_nan() {
        return 0.0;
    }
    let weights: Vec<f64> = weights.into_iter().map(|weight| weight / largest).collect();
    let integrand = |v: f64| {
        let (mut angle, mut size) = (0.0, 1.0);
        for four in weights.chunks(4) {
            // the angle of a product is the sum of the angles of its factors 1 + i w u; that of
            // four factors is less than a full turn
            let product = four.iter().fold((1.0, 0.0), |(real, imaginary), weight| {
                let part = weight * v * v;
                (real - imaginary * part, imaginary + real * part)
            });
            angle += libm::atan2(product.1, product.0) + if product.1 < 0.0 { 2.0 * PI } else { 0.0 };
            size *= square(product.0) + square(product.1);
        }
        2.0 * libm::sin((angle - x * v * v) / 2.0) / (v * size.sqrt().sqrt())
    };
    let steps = (END / STEP) as u32;
    let sum: f64 = (1..=steps).map(|at| integrand(f64::from(at) * STEP)).sum();
    // the integrand begins as a line of this slope: the Euler-Maclaurin correction of the
    // trapezoidal rule
    let slope = weights.iter().sum::<f64>() - x;
    (0.5 + (sum * STEP + slope * STEP * STEP / 12.0) / PI).clamp(0.0, 1.0)
}

fn square(x: f64) -> f64 {
    x * x
}

/// Returns the k-th positive root of tan z = z.
fn root_of_tan(k: usize) -> f64 {
    let turns = PI * k as f64;
    (0..30).fold(turns + PI / 2.0, |z, _| turns + libm::atan(z))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_critical_values_of_the_published_tables() {
        // T. W. Anderson and D. A. Darling, 1952, table 1, to its four digits
        for (x, p) in [(0.34730, 0.10), (0.46136, 0.05), (0.74346, 0.01), (1.16786, 0.001)] {
            assert!((exceedance(x, Bridge::First) - p).abs() < 5e-6, "{x}");
        }
        // the same integral with 600 weights and a step of 0.0004
        for (x, p) in [(0.024, 0.944_301_1), (0.064, 0.404_002_8), (0.728_571_43, 2.182_663e-7)] {
            assert!((exceedance(x, Bridge::Second) - p).abs() < 5e-6, "{x}");
        }
        // Kwiatkowski et al., table 1, which was simulated
        for (x, p) in [(0.119, 0.10), (0.146, 0.05), (0.176, 0.025), (0.216, 0.01)] {
            assert!((exceedance(x, Bridge::Second) - p).abs() < 0.003, "{x}");
        }
        assert_eq!(exceedance(1e9, Bridge::First), 0.0);
        assert_eq!(exceedance(0.0, Bridge::Second), 1.0);
    }
}
