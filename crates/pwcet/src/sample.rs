//! Validated execution times.

use std::fmt;

use serde::Serialize;

/// The smallest number of points for an analysis. The p-values of KPSS and BDS are those of long
/// samples and are inaccurate below that, and a tail of
/// [`MIN_EXCEEDANCES`](super::gpd_fit::MIN_EXCEEDANCES) points has to be less than half of the
/// sample.
pub const MIN_POINTS: usize = 100;

/// The limits of the largest time of a sample, in its unit, chosen so that the square of a time
/// does not exceed an `f64`.
pub const SCALES: (f64, f64) = (1e-100, 1e100);

/// The first integer that an `f64` cannot distinguish from its successor.
const FIRST_INEXACT: u64 = 1 << 53;

/// Execution times of runs, in the order in which they were measured, in any single unit; the unit
/// is cycles if they are integers.
///
/// All are finite and not negative, not all are the same, and there are at least [`MIN_POINTS`].
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    values: Vec<f64>,
    sorted: Vec<f64>,
    ties: Ties,
}

/// Values that occur more than once.
///
/// A continuous distribution has no ties, but times in whole cycles have. No jitter is added to the
/// values. A time `t` that is measured in steps of `resolution` represents the interval of that
/// width around it. A threshold therefore lies half a step above a value, and bootstrap samples are
/// rounded to the same grid before they are fitted. [`TailTies`](super::threshold::TailTies)
/// reports the cases for which this is not sufficient: a tail that has few distinct values, or is
/// about as wide as a step.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Ties {
    /// The number of distinct values.
    pub distinct: usize,
    /// The number of points that share their value with another point.
    pub tied: usize,
    /// The number of occurrences of the most frequent value.
    pub largest: usize,
    /// The step of the measurements, 1 or more for whole cycles. It is the smallest distance
    /// between neighbouring distinct values. If each value occurs at least twice on average, it is
    /// the first decile of these distances instead, so that a few odd values between steps do not
    /// count.
    pub resolution: f64,
}

/// The reason why numbers are not a valid sample.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SampleError {
    /// There are only this many points; [`MIN_POINTS`] are needed.
    TooFew(usize),
    /// The point at this index, from 0, is not a number.
    NotANumber(usize),
    /// The point at this index, from 0, is infinite.
    Infinite(usize),
    /// The point at this index, from 0, is negative.
    Negative(usize, f64),
    /// The point at this index, from 0, is above 2^53 cycles, from where an `f64` skips integers.
    TooLarge(usize, u64),
    /// All points have this value.
    Constant(f64),
    /// The largest value is outside of [`SCALES`].
    OutOfScale(f64),
}

impl fmt::Display for SampleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::TooFew(count) => write!(
                f,
                "{count} measurements are too few: at least {MIN_POINTS} are needed, since the p-values of the tests hold for \
                 long samples only and a tail needs {} points that are the smaller part of all",
                super::gpd_fit::MIN_EXCEEDANCES
            ),
            Self::NotANumber(index) => write!(f, "measurement {} is not a number", index + 1),
            Self::Infinite(index) => write!(f, "measurement {} is infinite", index + 1),
            Self::Negative(index, value) => {
                write!(f, "measurement {} is negative: {value}", index + 1)
            }
            Self::TooLarge(index, value) => {
                write!(f, "measurement {} is beyond 2^53 cycles: {value}", index + 1)
            }
            Self::Constant(value) if value >= 1e15 => {
                write!(f, "all measurements are {value:e}: without variability there is no tail to model")
            }
            Self::Constant(value) => {
                write!(f, "all measurements are {value}: without variability there is no tail to model")
            }
            Self::OutOfScale(largest) => write!(
                f,
                "the largest measurement is {largest:e}: choose a unit of time in which it is between {:e} and {:e}",
                SCALES.0, SCALES.1
            ),
        }
    }
}

impl std::error::Error for SampleError {}

impl Sample {
    /// Creates a sample of execution times in one unit.
    ///
    /// # Errors
    /// Returns an error if a value is not a finite number or is negative, if all are the same, if
    /// there are fewer than [`MIN_POINTS`], or if the largest is outside of [`SCALES`].
    pub fn new(mut values: Vec<f64>) -> Result<Self, SampleError> {
        for (index, value) in values.iter_mut().enumerate() {
            if value.is_nan() {
                return Err(SampleError::NotANumber(index));
            }
            if value.is_infinite() {
                return Err(SampleError::Infinite(index));
            }
            if *value < 0.0 {
                return Err(SampleError::Negative(index, *value));
            }
            // -0 becomes 0, so that equal values have equal bits
            *value += 0.0;
        }
        if values.len() < MIN_POINTS {
            return Err(SampleError::TooFew(values.len()));
        }
        let mut sorted = values.clone();
        sorted.sort_unstable_by(f64::total_cmp);
        let ties = Ties::of(&sorted);
        if ties.distinct < 2 {
            return Err(SampleError::Constant(sorted.first().copied().unwrap_or_default()));
        }
        let largest = sorted.last().copied().unwrap_or_default();
        if !(SCALES.0..=SCALES.1).contains(&largest) {
            return Err(SampleError::OutOfScale(largest));
        }
        Ok(Self { values, sorted, ties })
    }

    /// Creates a sample of execution times in cycles.
    ///
    /// # Errors
    /// Returns an error as [`new`](Self::new) does, and if a value is above 2^53.
    pub fn from_cycles(cycles: &[u64]) -> Result<Self, SampleError> {
        if let Some((index, &value)) = cycles.iter().enumerate().find(|&(_, &value)| value > FIRST_INEXACT) {
            return Err(SampleError::TooLarge(index, value));
        }
        Self::new(cycles.iter().map(|&value| value as f64).collect())
    }

    /// Returns the values in the order of measurement.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// Returns the values from the smallest to the largest.
    pub fn sorted(&self) -> &[f64] {
        &self.sorted
    }

    /// Returns the number of values, at least [`MIN_POINTS`].
    #[expect(clippy::len_without_is_empty, reason = "a sample is never empty")]
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Returns the largest value: the high-water mark.
    pub fn max(&self) -> f64 {
        self.sorted.last().copied().unwrap_or_default()
    }

    /// Returns the smallest value.
    pub fn min(&self) -> f64 {
        self.sorted.first().copied().unwrap_or_default()
    }

    /// Returns statistics about values that occur more than once.
    pub fn ties(&self) -> Ties {
        self.ties
    }

    /// Returns the number of values above `threshold`.
    pub fn above(&self, threshold: f64) -> usize {
        self.len() - self.sorted.partition_point(|&value| value <= threshold)
    }

    /// Returns the amounts by which values exceed `threshold`, from the smallest to the largest.
    pub fn excesses(&self, threshold: f64) -> Vec<f64> {
        let from = self.len() - self.above(threshold);
        self.sorted.iter().skip(from).map(|&value| value - threshold).collect()
    }

    /// Returns the threshold that `exceedances` values exceed, or fewer if values are tied: half a
    /// step above the next smaller value ([`Ties`]).
    pub fn threshold_for(&self, exceedances: usize) -> f64 {
        let below = self.len().saturating_sub(exceedances.saturating_add(1));
        let value = self.sorted.get(below).copied().unwrap_or_default();
        value + self.ties.resolution / 2.0
    }

    /// Returns a threshold that the same values exceed: if values are tied, a whole number of steps
    /// and a half above the next smaller one ([`Ties`]), otherwise the threshold itself.
    pub fn between_steps(&self, threshold: f64) -> f64 {
        let exceedances = self.above(threshold);
        let below = self.len().checked_sub(exceedances + 1).and_then(|index| self.sorted.get(index));
        let step = self.ties.resolution;
        let Some(below) = below.filter(|_| self.ties.tied > 0) else { return threshold };
        let between = below + (((threshold - below) / step).floor() + 0.5) * step;
        if self.above(between) == exceedances { between } else { threshold }
    }
}

impl Ties {
    /// Computes the ties of sorted values.
    pub(super) fn of(sorted: &[f64]) -> Self {
        let (mut distinct, mut tied, mut largest) = (0, 0, 0);
        let (mut before, mut steps) = (None, Vec::new());
        for run in sorted.chunk_by(|left, right| left == right) {
            distinct += 1;
            largest = largest.max(run.len());
            tied += if run.len() > 1 { run.len() } else { 0 };
            let value = run.first().copied();
            if let (Some(before), Some(value)) = (before, value) {
                let step: f64 = value - before;
                steps.push(step);
            }
            before = value;
        }
        steps.sort_unstable_by(f64::total_cmp);
        let typical = if distinct * 2 <= sorted.len() { steps.len() / 10 } else { 0 };
        Self { distinct, tied, largest, resolution: steps.get(typical).copied().unwrap_or_default() }
    }
}
