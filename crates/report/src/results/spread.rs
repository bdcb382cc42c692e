//! The distribution of overestimations: exact sums and ends, and quantiles to within a
//! sixty-fourth.

use std::collections::BTreeMap;

/// The number of fraction bits of bound / makespan that are kept, which gives 64 steps from one
/// power of two to the next.
const KEPT_BITS: u32 = 6;
const DROPPED_BITS: u32 = 52 - KEPT_BITS;

/// The distribution of overestimations, (bound - makespan) / makespan, over some points.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spread {
    /// The number of points.
    pub points: u64,
    /// The number of points at which the bound is exceeded.
    pub violated: u64,
    sum: f64,
    ends: Option<(f64, f64)>,
    /// The number of points by the leading bits of bound / makespan.
    steps: BTreeMap<u64, u64>,
}

impl Spread {
    /// Adds a point.
    pub fn add(&mut self, over: f64, violated: bool) {
        self.points += 1;
        self.violated += u64::from(violated);
        self.sum += over;
        let (least, most) = self.ends.unwrap_or((over, over));
        self.ends = Some((least.min(over), most.max(over)));
        // the bits of positive floating-point numbers are ordered like the numbers
        *self.steps.entry((over + 1.0).max(0.0).to_bits() >> DROPPED_BITS).or_default() += 1;
    }

    /// Returns the mean, or `None` without points.
    pub fn mean(&self) -> Option<f64> {
        (self.points > 0).then(|| self.sum / self.points as f64)
    }

    /// Returns the minimum.
    pub fn least(&self) -> Option<f64> {
        self.ends.map(|(least, _)| least)
    }

    /// Returns the maximum.
    pub fn most(&self) -> Option<f64> {
        self.ends.map(|(_, most)| most)
    }

    /// Returns the quantile of this share of the points, to within 1/64 of bound / makespan.
    pub fn quantile(&self, share: f64) -> Option<f64> {
        let (least, most) = self.ends?;
        let rank = ((self.points as f64 * share).ceil() as u64).clamp(1, self.points);
        let mut below = 0;
        let step = self.steps.iter().find(|(_, points)| {
            below += **points;
            below >= rank
        })?;
        let [from, to] = [*step.0, step.0 + 1].map(|bits| f64::from_bits(bits << DROPPED_BITS) - 1.0);
        Some(f64::midpoint(from, to).clamp(least, most))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_near_the_exact_ones() {
        let mut spread = Spread::default();
        let all: Vec<f64> = (0..1000u32).map(|i| f64::from(i * i % 1009) / 100.0 - 0.2).collect();
        all.iter().for_each(|over| spread.add(*over, *over < 0.0));
        let mut sorted = all.clone();
        sorted.sort_by(f64::total_cmp);
        for share in [0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0] {
            let exact = sorted[((1000.0 * share) as usize).clamp(1, 1000) - 1];
            let near = spread.quantile(share).unwrap();
            assert!((near - exact).abs() <= (exact + 1.0) / 64.0, "{share}: {near} for {exact}");
        }
        assert_eq!((spread.least(), spread.most()), (sorted.first().copied(), sorted.last().copied()));
        assert_eq!(spread.violated, sorted.iter().filter(|over| **over < 0.0).count() as u64);
        assert!((spread.mean().unwrap() - all.iter().sum::<f64>() / 1000.0).abs() < 1e-9);
        assert_eq!(Spread::default().quantile(0.5), None);
    }
}
