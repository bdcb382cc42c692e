//! The distributions of test statistics, defined for every argument.

use statrs::distribution::{ChiSquared, ContinuousCDF, Normal};

/// Returns P(X > x) of a chi-square variable with this many degrees of freedom, at least 1.
pub(super) fn chi_square_sf(x: f64, freedom: usize) -> f64 {
    match ChiSquared::new(freedom.max(1) as f64) {
        Ok(distribution) if x > 0.0 && x.is_finite() => distribution.sf(x).clamp(0.0, 1.0),
        _ => f64::from(u8::from(x <= 0.0)),
    }
}

/// Returns the x with P(X > x) = `significance` for a chi-square variable with this many degrees of
/// freedom, at least 1.
pub(super) fn chi_square_critical(significance: f64, freedom: usize) -> f64 {
    let quantile = |distribution: ChiSquared| distribution.inverse_cdf(1.0 - significance.clamp(1e-12, 1.0));
    ChiSquared::new(freedom.max(1) as f64).map_or(0.0, quantile)
}

/// Returns P(|Z| > |z|) of a standard normal variable; 0 if `z` is NaN.
pub(super) fn normal_two_sided(z: f64) -> f64 {
    if z.is_nan() { 0.0 } else { libm::erfc(z.abs() / std::f64::consts::SQRT_2) }
}

/// Returns the z with P(|Z| <= z) = `level`, which is limited to values slightly above 0 and below
/// 1.
pub(super) fn two_sided_z(level: f64) -> f64 {
    Normal::standard().inverse_cdf(f64::midpoint(1.0, level.clamp(1e-6, 1.0 - 1e-12)))
}

/// Returns the quantile of sorted values at `at` in [0, 1], linear between points (the usual "type
/// 7"); 0 if there are no values.
pub(super) fn quantile(sorted: &[f64], at: f64) -> f64 {
    let last = sorted.len().saturating_sub(1);
    let place = at.clamp(0.0, 1.0) * last as f64;
    let below = place.floor();
    let value = |index: usize| sorted.get(index).copied().unwrap_or_default();
    let (low, high) = (value(below as usize), value((below as usize + 1).min(last)));
    let part = place - below;
    // this avoids low + part * 0, which is NaN for an infinite value
    if part > 0.0 { low + part * (high - low) } else { low }
}

/// Returns the mean; 0 if there are no values.
pub(super) fn mean(values: &[f64]) -> f64 {
    if values.is_empty() { 0.0 } else { values.iter().sum::<f64>() / values.len() as f64 }
}

/// Returns the variance as a mean over n - `less` terms; 0 if there are too few.
pub(super) fn variance(values: &[f64], less: usize) -> f64 {
    let mean = mean(values);
    let sum: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
    let terms = values.len().saturating_sub(less);
    if terms == 0 { 0.0 } else { sum / terms as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_table_values() {
        assert!((chi_square_sf(3.841_458_820_694_124, 1) - 0.05).abs() < 1e-12);
        assert!((chi_square_critical(0.05, 10) - 18.307_038_053_275_15).abs() < 1e-8);
        assert!((two_sided_z(0.95) - 1.959_963_984_540_054).abs() < 1e-9);
        assert!((normal_two_sided(-1.959_963_984_540_054) - 0.05).abs() < 1e-12);
        assert_eq!(chi_square_sf(-1.0, 3), 1.0);
        assert_eq!(chi_square_sf(f64::INFINITY, 3), 0.0);
        assert_eq!(quantile(&[1.0, 2.0, 4.0], 0.75), 3.0);
    }
}
