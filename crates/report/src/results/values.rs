//! What is drawn of the values at one place, or of all values of a line.

use super::formula::Summary;
use crate::plot::{Shown, Spread};

/// The most steps of a distribution that are drawn.
const STEPS: usize = 1000;
/// The most values of a spread that are kept, because they may be drawn themselves.
const KEPT: usize = 100;

/// The values at one place.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// Their sum and number.
    Sum(f64, u64),
    /// All of them.
    All(Vec<f64>),
}

/// Returns what is drawn of a line.
pub fn shown(summary: Summary, placed: Vec<(f64, Values)>) -> Shown {
    match summary {
        Summary::Mean => {
            let mean = |(x, values)| match values {
                Values::Sum(sum, count) => (x, sum / count as f64),
                Values::All(all) => (x, spread(all).mean),
            };
            Shown::Points(placed.into_iter().map(mean).collect())
        }
        Summary::Box => {
            let of = |(x, values)| match values {
                Values::All(all) => Some((x, spread(all))),
                Values::Sum(..) => None,
            };
            Shown::Spreads(placed.into_iter().filter_map(of).collect())
        }
        Summary::Ecdf => {
            let all = placed.into_iter().flat_map(|(_, values)| match values {
                Values::All(all) => all,
                Values::Sum(..) => Vec::new(),
            });
            Shown::Corners(distribution(all.collect()))
        }
    }
}

/// Returns the spread of values, of which there is at least one.
fn spread(mut all: Vec<f64>) -> Spread {
    all.sort_by(f64::total_cmp);
    let mean = all.iter().sum::<f64>() / all.len() as f64;
    // between two values, as R and NumPy do by default
    let quantile = |share: f64| {
        let at = share * (all.len() - 1) as f64;
        let (below, above) = (all[at.floor() as usize], all[at.ceil() as usize]);
        below + (above - below) * at.fract()
    };
    let five = [0.0, 0.25, 0.5, 0.75, 1.0].map(quantile);
    let values = if all.len() > KEPT { Vec::new() } else { all };
    Spread { five, mean, values }
}

/// Returns the corners of the cumulative distribution of values.
fn distribution(mut all: Vec<f64>) -> Vec<(f64, f64)> {
    all.sort_by(f64::total_cmp);
    let count = all.len() as f64;
    let mut corners: Vec<(f64, f64)> = all.first().map(|first| (*first, 0.0)).into_iter().collect();
    let mut share = 0.0;
    for (index, value) in all.iter().enumerate() {
        let is_last = index + 1 == all.len();
        // equal values make one step, and of very many values some steps are enough
        let here = (index + 1) as f64 / count;
        let is_step = is_last || all[index + 1] > *value && (here - share) * STEPS as f64 >= 1.0;
        if is_step {
            corners.extend([(*value, share), (*value, here)]);
            share = here;
        }
    }
    corners.dedup();
    corners
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_values_take_few_steps() {
        let many = distribution((0..100_000).map(f64::from).collect());
        assert!(many.len() < 2 * STEPS + 10 && many.last() == Some(&(99_999.0, 1.0)), "{}", many.len());
        let equal = distribution(vec![3.0, 1.0, 3.0, 3.0]);
        assert_eq!(equal, [(1.0, 0.0), (1.0, 0.25), (3.0, 0.25), (3.0, 1.0)]);
    }

    #[test]
    fn quartiles_are_those_of_r() {
        // quantile(c(1, 2, 4, 8)) in R
        let of_four = spread(vec![8.0, 1.0, 4.0, 2.0]);
        assert_eq!((of_four.five, of_four.mean), ([1.0, 1.75, 3.0, 5.0, 8.0], 3.75));
        assert!(spread((0..1000).map(f64::from).collect()).values.is_empty());
    }
}
