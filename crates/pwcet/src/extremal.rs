//! The extremal index, which measures how strongly large values cluster.
//!
//! The index, theta, is 1 if large values occur alone, as in independent data, and about 1/m if
//! they occur in clusters of m. It is p_EI in section 3.1 of the paper ("Extremal independence").
//! The paper names no estimator.
//!
//! # Accuracy of the interval
//!
//! A sample of 1,000 runs, the default of `reproduce diagxtrm`, has about 100 values above the
//! threshold. The table has the results for 500 simulated series of 1,000 values each, for each of
//! five values of theta (`tests/pwcet/extremal_index.rs`). The series are X_t = max(a X_{t-1}, (1 -
//! a) Z_t) with Fréchet Z; they have theta = 1 - a and are independent for a = 0. The interval has
//! the level 95 percent.
//!
//! | theta | intervals that contain it | median width | estimates of at least 0.9 | estimate and interval below 0.9 |
//! |---|---|---|---|---|
//! | 1 | 99 % | 0.13 | 87 % | 0 % |
//! | 0.9 | 90 % | 0.23 | 59 % | 1 % |
//! | 0.8 | 88 % | 0.31 | 20 % | 9 % |
//! | 0.5 | 92 % | 0.31 | 0 % | 98 % |
//! | 0.2 | 92 % | 0.22 | 0 % | 100 % |
//!
//! Where large values cluster, the interval is too narrow: it misses theta in 8 to 12 of 100
//! series instead of 5, mostly because its lower limit is above theta. It distinguishes clusters of
//! two or more from values that occur alone, but not weaker clusters: an estimate of at least 0.9
//! is no proof that theta is not 0.8. If each series has 4,000 values and theta is 0.8, the
//! interval misses theta in 8 of 100 series, and estimate and interval are below 0.9 in 52 of 100.
//! With 10,000 values, these numbers are 6 and 93.

use rand::RngExt;
use serde::Serialize;

use super::bootstrap::{Use, percentiles, stream};
use super::interval::Interval;
use super::parallel;
use super::sample::Sample;
use warpbound_core::base::ProgressMonitor;

/// The extremal index from which large values count as occurring alone. The paper requires "theta
/// close to 1".
pub const ALONE: f64 = 0.9;

/// The numbers of smaller values that end a cluster, for the runs estimator.
const RUN_LENGTHS: [usize; 4] = [1, 2, 5, 10];

/// The extremal index of the values above a threshold.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct ExtremalIndex {
    /// The threshold, in the unit of time.
    pub threshold: f64,
    /// The number of values above it.
    pub exceedances: usize,
    /// The intervals estimator: C. A. T. Ferro and J. Segers, "Inference for clusters of extreme
    /// values", J. R. Stat. Soc. B 65, 2003, equation 5.
    pub theta: f64,
    /// Its percentile interval, by their bootstrap of clusters (section 4). It has no limits
    /// without a bootstrap.
    pub interval: Interval,
    /// The value that theta has to reach: [`ALONE`].
    pub critical: f64,
    /// Whether theta reaches it.
    pub passed: bool,
    /// The runs estimator, for several lengths: R. L. Smith and I. Weissman, "Estimating the
    /// Extremal Index", J. R. Stat. Soc. B 56, 1994.
    pub runs: Vec<Runs>,
    /// The number of clusters by the intervals estimator.
    pub clusters: usize,
    /// The largest distance between two exceedances of one cluster, according to the intervals
    /// estimator.
    pub run_length: usize,
}

/// The runs estimator with one length.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Runs {
    /// The number of consecutive values below the threshold that ends a cluster.
    pub run_length: usize,
    /// The number of clusters divided by the number of exceedances.
    pub theta: f64,
}

/// The positions at which a sample exceeds a threshold.
#[derive(Clone, Debug)]
pub struct Exceedances {
    threshold: f64,
    /// The indices of the values.
    at: Vec<usize>,
    /// The distances between consecutive indices.
    gaps: Vec<usize>,
}

/// The sums over distances that the intervals estimator needs.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    count: f64,
    once: f64,
    twice: f64,
    largest: usize,
}

impl Sums {
    fn of(gaps: &[usize]) -> Self {
        gaps.iter().fold(Self::default(), |sums, &gap| sums.with(Self::one(gap)))
    }

    fn one(gap: usize) -> Self {
        let long = gap as f64;
        Self { count: 1.0, once: long, twice: long * long, largest: gap }
    }

    fn with(self, other: Self) -> Self {
        Self {
            count: self.count + other.count,
            once: self.once + other.once,
            twice: self.twice + other.twice,
            largest: self.largest.max(other.largest),
        }
    }

    /// Returns the estimate of Ferro and Segers, equations 3 and 5; 1 if there are no distances.
    fn theta(self) -> f64 {
        let Self { count, once, twice, largest } = self;
        let (above, below) = if largest <= 2 {
            (once, twice)
        } else {
            // the sums of T - 1 and of (T - 1)(T - 2)
            (once - count, twice - 3.0 * once + 2.0 * count)
        };
        let theta = 2.0 * above * above / (count * below);
        if theta.is_nan() { 1.0 } else { theta.min(1.0) }
    }
}

impl Exceedances {
    /// Finds the exceedances of a sample above a threshold.
    pub fn of(sample: &Sample, threshold: f64) -> Self {
        let above = sample.values().iter().enumerate().filter(|&(_, &value)| value > threshold);
        let at: Vec<usize> = above.map(|(index, _)| index).collect();
        let gaps = at.iter().zip(at.iter().skip(1)).map(|(before, after)| after - before).collect();
        Self { threshold, at, gaps }
    }

    /// Returns the intervals estimator.
    pub fn theta(&self) -> f64 {
        Sums::of(&self.gaps).theta()
    }

    /// Returns the runs estimator: the number of clusters that this many smaller values separate,
    /// divided by the number of exceedances.
    pub fn runs(&self, run_length: usize) -> Runs {
        let theta = self.clusters(run_length) as f64 / self.at.len().max(1) as f64;
        Runs { run_length, theta }
    }

    /// Returns the number of clusters, if distances of at most `within` are within one.
    pub fn clusters(&self, within: usize) -> usize {
        self.gaps.iter().filter(|&&gap| gap > within).count() + usize::from(!self.at.is_empty())
    }

    /// Returns the largest distance within a cluster according to the intervals estimator; 0 if
    /// there is none.
    ///
    /// Ferro and Segers, section 4: of N exceedances, the floor(theta N) largest distances are
    /// between clusters; fewer if there are ties.
    pub fn run_length(&self) -> usize {
        let mut sorted = self.gaps.clone();
        sorted.sort_unstable_by(|left, right| right.cmp(left));
        let between = (self.theta() * self.at.len() as f64) as usize;
        sorted.get(between).copied().unwrap_or_default()
    }

    /// Returns the largest value of each cluster, if distances of at most `within` are within one.
    pub fn maxima(&self, sample: &Sample, within: usize) -> Vec<f64> {
        let value = |index: usize| sample.values().get(index).copied().unwrap_or_default();
        let mut maxima: Vec<f64> = self.at.first().map(|&first| value(first)).into_iter().collect();
        for (&gap, &index) in self.gaps.iter().zip(self.at.iter().skip(1)) {
            match maxima.last_mut() {
                Some(largest) if gap <= within => *largest = largest.max(value(index)),
                _ => maxima.push(value(index)),
            }
        }
        maxima
    }

    /// Returns all results about the exceedances, with an interval from this many replicates;
    /// `None` if it was stopped.
    pub fn index(
        &self,
        level: f64,
        replicates: usize,
        seed: u64,
        threads: usize,
        monitor: &ProgressMonitor,
    ) -> Option<ExtremalIndex> {
        let run_length = self.run_length();
        let (between, within): (Vec<usize>, Vec<&[usize]>) = (
            self.gaps.iter().copied().filter(|&gap| gap > run_length).collect(),
            self.gaps.split(|&gap| gap > run_length).collect(),
        );
        let within: Vec<Sums> = within.into_iter().map(Sums::of).collect();
        let replicate = |index: usize| {
            let mut rng = stream(seed, Use::ExtremalIndex, index);
            let mut sums = Sums::default();
            for _ in 0..between.len() {
                let gap = between.get(rng.random_range(0..between.len())).copied();
                sums = gap.map_or(sums, |gap| sums.with(Sums::one(gap)));
            }
            for _ in 0..within.len() {
                let cluster = within.get(rng.random_range(0..within.len())).copied();
                sums = sums.with(cluster.unwrap_or_default());
            }
            sums.theta()
        };
        let mut thetas = parallel::map(replicates, threads, monitor, replicate)?;
        let theta = self.theta();
        Some(ExtremalIndex {
            threshold: self.threshold,
            exceedances: self.at.len(),
            theta,
            critical: ALONE,
            passed: theta >= ALONE,
            interval: percentiles(&mut thetas, level),
            runs: RUN_LENGTHS.map(|length| self.runs(length)).to_vec(),
            clusters: self.clusters(run_length),
            run_length,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(large: &[usize]) -> Sample {
        let value = |index: usize| if large.contains(&index) { 10 + index as u64 } else { 1 };
        Sample::from_cycles(&(0..200).map(value).collect::<Vec<_>>()).expect("a sample")
    }

    #[test]
    fn clusters_of_two_have_an_index_of_a_half() {
        let large: Vec<usize> = [3, 40, 61, 90, 133, 150, 188].iter().flat_map(|&at| [at, at + 1]).collect();
        let sample = sample(&large);
        let exceedances = Exceedances::of(&sample, 5.0);
        assert_eq!(exceedances.clusters(1), 7);
        assert_eq!(exceedances.runs(1).theta, 0.5);
        // seven distances of 1, and 36, 20, 28, 42, 16, 37: 2 * 173² / (13 * 5344), too regular for
        // clusters of two
        assert!((exceedances.theta() - 59858.0 / 69472.0).abs() < 1e-12, "{}", exceedances.theta());
        assert_eq!(exceedances.maxima(&sample, 1), [14.0, 51.0, 72.0, 101.0, 144.0, 161.0, 199.0]);
    }

    #[test]
    fn none_and_one_exceedance_have_no_clusters() {
        let sample = sample(&[7]);
        assert_eq!(
            (Exceedances::of(&sample, 50.0).theta(), Exceedances::of(&sample, 50.0).clusters(3)),
            (1.0, 0)
        );
        assert_eq!(
            (Exceedances::of(&sample, 5.0).theta(), Exceedances::of(&sample, 5.0).clusters(3)),
            (1.0, 1)
        );
    }
}
