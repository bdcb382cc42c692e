//! The data that an analysis gives a report: series of plots, and JSON.

use std::collections::BTreeSet;

use serde_json::Value;
use warpbound::base::ProgressMonitor;
use warpbound::pwcet::diagnostics::Banded;
use warpbound::pwcet::gpd::Gpd;
use warpbound::pwcet::threshold::Rule;
use warpbound::pwcet::{Analysis, Options, Probability, Sample, analyse};

use super::data::Source;

const TRUTH: Gpd = Gpd { xi: -0.15, alpha: 100.0 };

fn analysed(count: usize, options: &Options) -> (Sample, Analysis) {
    let values = Source::new(51).gpd(TRUTH, count).into_iter().map(|y| 1000.0 + y).collect();
    let sample = Sample::new(values).expect("a sample");
    let analysis = analyse(&sample, options, 2, &ProgressMonitor::new()).expect("an analysis");
    (sample, analysis)
}

/// Returns the share of points with bands that contain the truth.
fn held(points: &[Banded], truth: impl Fn(f64) -> f64) -> f64 {
    let holds = points.iter().filter(|point| point.band.contains(truth(point.threshold)));
    holds.count() as f64 / points.len() as f64
}

#[test]
fn series_are_short_and_show_what_is_known() {
    let (sample, analysis) = analysed(20_000, &Options { bootstraps: 99, ..Options::default() });
    let plots = &analysis.diagnostics;
    let lengths = [
        plots.mean_residual_life.len(),
        plots.xi_stability.len(),
        plots.alpha_stability.len(),
        plots.quantiles.len(),
        plots.exceedance.len(),
        analysis.pwcet.curve.len(),
        analysis.autocorrelation.correlations.len(),
    ];
    assert!(lengths.iter().all(|length| (20..=200).contains(length)), "{lengths:?}");
    // above every threshold u, counted from 1000, xi is the same and the mean excess is (alpha + xi
    // u) / (1 - xi); most bands contain the true value, but adjacent bands share points
    let mean = |u: f64| (TRUTH.alpha + TRUTH.xi * (u - 1000.0)) / (1.0 - TRUTH.xi);
    assert!(held(&plots.mean_residual_life, mean) > 0.8);
    assert!(held(&plots.xi_stability, |_| TRUTH.xi) > 0.8);
    assert!(held(&plots.alpha_stability, |_| TRUTH.alpha - TRUTH.xi * 1000.0) > 0.8);
    assert!(held(&plots.mean_residual_life, |u| mean(u) + 30.0) < 0.5, "a band that holds anything");
    let middle = &plots.mean_residual_life[20];
    let above: Vec<f64> = sample.values().iter().copied().filter(|&value| value > middle.threshold).collect();
    let by_hand = above.iter().sum::<f64>() / above.len() as f64 - middle.threshold;
    assert!((middle.value - by_hand).abs() < 1e-9 * by_hand, "{middle:?} {by_hand}");
    let squares = above.iter().map(|value| (value - middle.threshold - by_hand).powi(2)).sum::<f64>();
    let count = above.len() as f64;
    let half = 1.959_964 * (squares / (count - 1.0) / count).sqrt();
    let upper = middle.band.upper.expect("a band");
    assert!(((upper - middle.value) / half - 1.0).abs() < 1e-3, "{middle:?} {half}");
    for pair in &plots.quantiles {
        assert!((pair.fitted / pair.observed - 1.0).abs() < 0.02, "{pair:?}");
    }
    for point in &plots.exceedance {
        let above = sample.values().iter().filter(|&&value| value > point.time).count();
        assert_eq!(point.share, above as f64 / 20_000.0);
    }
    assert!(plots.exceedance.is_sorted_by(|left, right| left.time < right.time));
    assert_eq!(plots.exceedance.last().map(|point| point.time), Some(sample.max()));
}

#[test]
fn the_fitted_curve_continues_beyond_the_sample() {
    let (_, analysis) = analysed(20_000, &Options { bootstraps: 99, ..Options::default() });
    let curve = &analysis.pwcet.curve;
    assert!(
        curve.is_sorted_by(|left, right| left.probability > right.probability && left.time <= right.time)
    );
    assert!(curve.first().is_some_and(|point| point.probability.get() < analysis.tail.rate));
    let last = curve.last().expect("points").probability.get();
    assert!((last / 1e-15 - 1.0).abs() < 1e-9, "{last}");
    for point in curve {
        let time = 1000.0 + TRUTH.exceeded_with(point.probability.get());
        let band = point.intervals.expect("above the threshold").profile;
        assert!(band.contains(time) && band.contains(point.time), "{point:?} {time}");
    }
    // where the sample has points, curve and sample are near
    for point in &analysis.diagnostics.exceedance {
        if point.share < analysis.tail.rate / 2.0 && point.share > 20.0 / 20_000.0 {
            let near = curve.iter().min_by(|left, right| {
                let far = |probability: Probability| (probability.get() / point.share).ln().abs();
                far(left.probability).total_cmp(&far(right.probability))
            });
            let ratio = near.expect("points").time / point.time;
            assert!((ratio - 1.0).abs() < 0.03, "{point:?} {ratio}");
        }
    }
}

#[test]
fn without_a_bootstrap_its_verdicts_are_missing() {
    let (_, analysis) = analysed(500, &Options { bootstraps: 0, ..Options::default() });
    let tests = analysis.tail.tests;
    assert_eq!((tests.kolmogorov_smirnov.p_value, tests.kolmogorov_smirnov.passed), (None, None));
    assert!(tests.anderson_darling.p_table.is_some_and(|p| p > 0.01));
    assert_eq!(tests.anderson_darling.passed, Some(true));
    // the smallest p-value of 99 replicates is the significance, so they cannot reject
    let (_, few) = analysed(500, &Options { bootstraps: 99, ..Options::default() });
    assert!(few.tail.tests.kolmogorov_smirnov.p_value.is_some());
    assert_eq!(few.tail.tests.kolmogorov_smirnov.passed, None);
    let (_, more) = analysed(500, &Options { bootstraps: 119, ..Options::default() });
    assert_eq!(more.tail.tests.kolmogorov_smirnov.passed, Some(true));
    assert_eq!(analysis.tail.exponential.tests.anderson_darling.passed, None);
    assert_eq!(analysis.tail.xi.bootstrap.lower, None);
    assert!(analysis.tail.xi.profile.lower.is_some());
}

/// Collects the names of fields that are null somewhere.
fn nulls(value: &Value, name: &str, found: &mut BTreeSet<String>) {
    match value {
        Value::Null => {
            found.insert(name.to_owned());
        }
        Value::Array(values) => values.iter().for_each(|value| nulls(value, name, found)),
        Value::Object(fields) => fields.iter().for_each(|(name, value)| nulls(value, name, found)),
        _ => {}
    }
}

/// Checks that only optional fields are null in JSON, as an infinite number or NaN would be.
pub fn is_finite(analysis: &Analysis) {
    let mut found = BTreeSet::new();
    let json = serde_json::to_value(analysis).expect("JSON");
    nulls(&json, "", &mut found);
    let optional = [
        "block",
        "block_maxima",
        "critical_values",
        "declustered",
        "end_point",
        "intervals",
        "lower",
        "measurements_needed",
        "p_table",
        "p_value",
        "passed",
        "standard_errors",
        "upper",
    ];
    // a BDS statistic may have no variance, and a threshold that would help may not exist
    let elsewhere = ["statistic", "threshold"];
    let allowed = |name: &String| optional.contains(&name.as_str()) || elsewhere.contains(&name.as_str());
    assert!(found.iter().all(allowed), "{found:?}");
    // p_value is null only without a bootstrap
    let bds = &json["bds"]["tests"];
    assert!(bds.as_array().expect("tests").iter().all(|test| test["p_value"].is_number()), "{bds}");
    assert!(json["threshold"]["threshold"].is_number() && json["tail"]["threshold"].is_number());
}

#[test]
fn a_requested_threshold_lies_between_the_steps_of_times() {
    let mut source = Source::new(52);
    let stepped: Vec<f64> =
        (0..2000).map(|_| (1000.0 - 40.0 * source.uniform().ln() / 5.0).floor() * 5.0).collect();
    let sample = Sample::new(stepped).expect("a sample");
    assert_eq!(sample.ties().resolution, 5.0);
    for (asked, taken) in [(5030.0, 5032.5), (5032.5, 5032.5), (5034.0, 5032.5)] {
        assert_eq!(sample.between_steps(asked), taken);
        assert_eq!(sample.above(taken), sample.values().iter().filter(|&&value| value > asked).count());
        let options = Options { threshold: Rule::At(asked), bootstraps: 9, ..Options::default() };
        let analysis = analyse(&sample, &options, 1, &ProgressMonitor::new()).expect("an analysis");
        assert_eq!(analysis.tail.threshold, taken);
        is_finite(&analysis);
    }
    // a single odd value does not change the step
    let mut odd = sample.values().to_vec();
    odd[3] = 5001.0;
    assert_eq!(Sample::new(odd).expect("a sample").ties().resolution, 5.0);
    // a threshold does not change if there are no ties
    let free = Sample::new(source.gpd(TRUTH, 300)).expect("a sample");
    assert_eq!(free.between_steps(50.0), 50.0);
}
