//! The interval of the extremal index at the default size of `reproduce diagxtrm`, on series whose
//! index is known. The documentation of `pwcet::extremal` has these figures.

use warpbound::base::ProgressMonitor;
use warpbound::pwcet::extremal::{ALONE, Exceedances};
use warpbound::pwcet::threshold::choose;
use warpbound::pwcet::{Options, Sample};

use super::data::{Source, binomial};
use crate::campaign::in_full;

/// The documented figures for the series with an extremal index.
struct Documented {
    /// The number of values of a series.
    runs: usize,
    theta: f64,
    /// The share of intervals that contain it.
    covered: f64,
    /// The median width of the intervals.
    width: f64,
    /// The share of estimates that are at least [`ALONE`].
    alone: f64,
    /// The share of series whose estimate and interval are below [`ALONE`].
    clusters: f64,
}

const fn documented(runs: usize, theta: f64, [covered, width, alone, clusters]: [f64; 4]) -> Documented {
    Documented { runs, theta, covered, width, alone, clusters }
}

const TABLE: [Documented; 7] = [
    documented(1000, 1.0, [0.99, 0.13, 0.87, 0.0]),
    documented(1000, 0.9, [0.90, 0.23, 0.59, 0.01]),
    documented(1000, 0.8, [0.88, 0.31, 0.20, 0.09]),
    documented(1000, 0.5, [0.92, 0.31, 0.0, 0.98]),
    documented(1000, 0.2, [0.92, 0.22, 0.0, 1.0]),
    documented(4000, 0.8, [0.92, 0.19, 0.04, 0.52]),
    documented(10_000, 0.8, [0.94, 0.12, 0.0, 0.93]),
];

/// The documentation has two digits.
const ROUNDED: f64 = 0.0051;

/// The campaign has 500 series for each index, and its figures are those of the documentation. The
/// default run has the first 100 of 1,000 values each.
#[test]
fn the_interval_of_the_extremal_index_is_as_good_as_documented() {
    let series = if in_full() { 500 } else { 100 };
    let options = Options::default();
    for documented in TABLE.iter().filter(|documented| documented.runs == 1000 || in_full()) {
        let mut source = Source::new(17);
        let (mut covered, mut alone, mut clusters) = (0, 0, 0);
        let mut widths = Vec::new();
        for seed in 0..series {
            let sample = Sample::new(source.moving_maximum(1.0 - documented.theta, documented.runs))
                .expect("a sample");
            let threshold = choose(&sample, options.threshold).expect("a threshold").threshold;
            let index = Exceedances::of(&sample, threshold)
                .index(options.level, options.bootstraps, seed as u64, 2, &ProgressMonitor::new())
                .expect("not stopped");
            let (lower, upper) = index.interval.lower.zip(index.interval.upper).expect("an interval");
            covered += usize::from(index.interval.contains(documented.theta));
            alone += usize::from(index.passed);
            clusters += usize::from(!index.passed && upper < ALONE);
            widths.push(upper - lower);
        }
        widths.sort_unstable_by(f64::total_cmp);
        let width = widths[series / 2];
        let counts = [
            ("covered", covered, documented.covered),
            ("alone", alone, documented.alone),
            ("clusters", clusters, documented.clusters),
        ];
        for (what, found, share) in counts {
            let is_said = match in_full() {
                true => (found as f64 / series as f64 - share).abs() <= ROUNDED,
                false => binomial(series, share).contains(&found),
            };
            assert!(is_said, "{} {what}: {found} of {series}, not {share}", documented.theta);
        }
        let most = if in_full() { ROUNDED } else { 0.03 };
        assert!(
            (width - documented.width).abs() <= most,
            "{}: {width}, not {}",
            documented.theta,
            documented.width
        );
    }
}
