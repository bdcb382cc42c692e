//! The statistics of errors.

/// Returns the mean, or `None` of no numbers.
pub fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// Returns the median, or `None` of no numbers.
pub fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => None,
        even if even.is_multiple_of(2) => Some(f64::midpoint(sorted[middle - 1], sorted[middle])),
        _ => Some(sorted[middle]),
    }
}

/// Returns Pearson's coefficient of correlation, or `None` if one of the two does not vary.
pub fn pearson(pairs: &[(f64, f64)]) -> Option<f64> {
    let (a, b): (Vec<f64>, Vec<f64>) = pairs.iter().copied().unzip();
    let (of_a, of_b) = (mean(&a)?, mean(&b)?);
    let (mut both, mut square_a, mut square_b) = (0.0, 0.0, 0.0);
    for (a, b) in pairs {
        let (a, b) = (a - of_a, b - of_b);
        both += a * b;
        square_a += a * a;
        square_b += b * b;
    }
    (square_a > 0.0 && square_b > 0.0).then(|| both / (square_a * square_b).sqrt())
}

/// Returns the correlation of ranks (Spearman), or `None` if one of the two does not vary.
pub fn rank_correlation(pairs: &[(f64, f64)]) -> Option<f64> {
    let (a, b): (Vec<f64>, Vec<f64>) = pairs.iter().copied().unzip();
    pearson(&ranks(&a).into_iter().zip(ranks(&b)).collect::<Vec<_>>())
}

/// Returns the rank of each number; equal numbers have the mean of their ranks.
fn ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&i, &j| values[i].total_cmp(&values[j]));
    let mut ranks = vec![0.0; values.len()];
    let mut from = 0;
    while from < order.len() {
        let same = order[from..].iter().take_while(|&&i| values[i] == values[order[from]]).count();
        for &i in &order[from..from + same] {
            ranks[i] = from as f64 + (same as f64 - 1.0) / 2.0;
        }
        from += same;
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statistics_of_small_sets_are_those_computed_by_hand() {
        assert_eq!(
            (mean(&[]), median(&[]), pearson(&[]), rank_correlation(&[(1.0, 2.0)])),
            (None, None, None, None)
        );
        assert_eq!((median(&[3.0, 1.0, 2.0]), median(&[4.0, 1.0, 3.0, 2.0])), (Some(2.0), Some(2.5)));
        // deviations -1, 0, 1 and -2, 1, 1: 3 / (sqrt 2 * sqrt 6)
        let r = pearson(&[(1.0, 0.0), (2.0, 3.0), (3.0, 3.0)]).unwrap();
        assert!((r - 3.0 / 12f64.sqrt()).abs() < 1e-12);
        assert_eq!(ranks(&[5.0, 1.0, 5.0, 7.0]), [1.5, 0.0, 1.5, 3.0]);
        // monotone, but not linear
        let pairs = [(1.0, 1.0), (2.0, 10.0), (3.0, 1000.0)];
        assert_eq!(rank_correlation(&pairs), Some(1.0));
        assert!(pearson(&pairs).unwrap() < 0.95);
        assert_eq!(pearson(&[(1.0, 2.0), (2.0, 2.0)]), None);
    }
}
