//! The invariants of every curve, for any sample: no negative time, no limit below the observed
//! times, and nothing that falls as the probability falls.

use warpbound::base::ProgressMonitor;
use warpbound::pwcet::curve::{Point, Pwcet};
use warpbound::pwcet::gpd::Gpd;
use warpbound::pwcet::interval::Interval;
use warpbound::pwcet::threshold::Rule;
use warpbound::pwcet::{Analysis, Options, Probability, Sample, analyse};

use super::data::Source;

/// A number of measurements that is not feasible.
const TOO_MANY: u64 = 1_000_000_000_000_000;

/// The names of the kinds of samples that `values` generates.
const KINDS: [&str; 12] = [
    "constant",
    "two values",
    "few values",
    "whole cycles",
    "light tail",
    "heavy tail",
    "negative shape",
    "near 2^53",
    "near 2^63",
    "tiny times",
    "one outlier",
    "mostly zero",
];

fn values(kind: &str, source: &mut Source, count: usize) -> Vec<f64> {
    let shape = source.uniform();
    let mut each = |time: &mut dyn FnMut(&mut Source) -> f64| (0..count).map(|_| time(source)).collect();
    let excess = |source: &mut Source, xi: f64, alpha: f64| source.gpd(Gpd { xi, alpha }, 1)[0];
    match kind {
        "constant" => vec![shape * 1e6; count],
        "two values" => each(&mut |source| if source.uniform() < 0.2 * shape { 577.0 } else { 478.0 }),
        "few values" => each(&mut |source| (100.0 + 8.0 * source.uniform() * source.uniform()).floor()),
        "whole cycles" => each(&mut |source| (1e4 + excess(source, 0.0, 1.0 + 500.0 * shape)).floor()),
        "light tail" => each(&mut |source| excess(source, 0.0, 3.0)),
        "heavy tail" => each(&mut |source| 5.0 + excess(source, 0.3 + 4.0 * shape, 2.0)),
        "negative shape" => each(&mut |source| 10.0 + excess(source, -0.1 - 1.2 * shape, 4.0)),
        "near 2^53" => each(&mut |source| (2f64.powi(53) - 1e3 * source.uniform()).floor()),
        "near 2^63" => each(&mut |source| 2f64.powi(63) - (1e7 * source.uniform()).floor() * 1024.0),
        "tiny times" => each(&mut |source| 1e-90 * excess(source, 0.1, 1.0)),
        "one outlier" => {
            let mut values: Vec<f64> = each(&mut |source| 1000.0 + source.normal().abs());
            if let Some(last) = values.last_mut() {
                *last = 1e9;
            }
            values
        }
        _ => each(&mut |source| if source.uniform() < 0.9 { 0.0 } else { excess(source, 1.0, 1e-3) }),
    }
}

fn options(source: &mut Source, repeat: usize, sample: &Sample) -> Options {
    let probabilities = match repeat % 3 {
        0 => Options::default().probabilities,
        // unordered, close to each other, and some above the share of runs in the tail
        _ => {
            let draw = |_| Probability::new(10f64.powf(-12.0 * source.uniform() * source.uniform()));
            (0..40).map(draw).filter_map(Result::ok).collect()
        }
    };
    let levels = [0.5, 0.95, 0.999_999];
    let threshold = match repeat % 5 {
        0 => Rule::Exceedances(30 + (source.uniform() * 60.0) as usize),
        1 => Rule::At(sample.min() + (sample.max() - sample.min()) * source.uniform() * 0.5),
        _ => Rule::Automatic,
    };
    Options {
        probabilities,
        threshold,
        level: levels[repeat % levels.len()],
        bootstraps: 30,
        ..Options::default()
    }
}

/// Returns every invariant of a curve that is violated.
fn broken(sample: &Sample, pwcet: &Pwcet) -> Vec<String> {
    let mut found = Vec::new();
    let mut points: Vec<&Point> = pwcet.points.iter().chain(&pwcet.curve).collect();
    points.sort_by(|left, right| right.probability.get().total_cmp(&left.probability.get()));
    let mut must = |holds: bool, rule: &str, point: &Point| {
        if !holds {
            found.push(format!("{rule}: {point:?}"));
        }
    };
    for point in &points {
        for time in [point.time, point.exponential] {
            must(time >= 0.0 && time.is_finite(), "a time is finite and not negative", point);
        }
        must(
            point.measurements_needed.is_none_or(|needed| needed < TOO_MANY),
            "an advice can be followed",
            point,
        );
        let Some(both) = point.intervals else { continue };
        for Interval { lower, upper } in [both.profile, both.bootstrap] {
            for limit in [lower, upper].into_iter().flatten() {
                must(limit >= 0.0 && limit.is_finite(), "a limit is finite and not negative", point);
            }
            must(lower.is_none_or(|lower| lower <= point.time), "a lower limit is at most the time", point);
            must(upper.is_none_or(|upper| upper >= point.time), "an upper limit is at least the time", point);
            let beyond = point.probability.get() * sample.len() as f64 <= 1.0;
            let high = upper.is_none_or(|upper| upper >= sample.max());
            must(!beyond || high, "an upper limit is at least the longest run", point);
        }
    }
    for pair in points.windows(2) {
        let (before, after) = (pair[0], pair[1]);
        must(after.time >= before.time, "a time does not fall", after);
        must(after.exponential >= before.exponential, "a time of the exponential tail does not fall", after);
        let (Some(earlier), Some(later)) = (before.intervals, after.intervals) else { continue };
        for (before, limits) in [(earlier.profile, later.profile), (earlier.bootstrap, later.bootstrap)] {
            let infinite = f64::INFINITY;
            let (from, to) = (before.upper.unwrap_or(infinite), limits.upper.unwrap_or(infinite));
            must(to >= from, "an upper limit does not fall", after);
            must(
                limits.lower.unwrap_or(0.0) >= before.lower.unwrap_or(0.0),
                "a lower limit does not fall",
                after,
            );
        }
    }
    if pwcet.end_point.is_some_and(|end| end < sample.max()) {
        found.push(format!(
            "the end of the tail {:?} is below the longest run {}",
            pwcet.end_point,
            sample.max()
        ));
    }
    found
}

fn analysed(kind: &str, source: &mut Source, repeat: usize) -> Option<(Sample, Analysis)> {
    let count = (source.uniform() * source.uniform() * 700.0) as usize;
    let sample = Sample::new(values(kind, source, count)).ok()?;
    let options = options(source, repeat, &sample);
    let analysis = analyse(&sample, &options, 1, &ProgressMonitor::new()).ok()?;
    Some((sample, analysis))
}

#[test]
fn no_sample_gives_an_impossible_curve() {
    let mut source = Source::new(32);
    let mut curves = [0; KINDS.len()];
    for (kind, curves) in KINDS.into_iter().zip(&mut curves) {
        for repeat in 0..60 {
            let Some((sample, analysis)) = analysed(kind, &mut source, repeat) else { continue };
            *curves += 1;
            let broken = broken(&sample, &analysis.pwcet);
            assert!(broken.is_empty(), "{kind}, {repeat}: {} of\n{}", broken.len(), broken.join("\n"));
            let blocks = analysis.block_maxima.iter().flat_map(|blocks| &blocks.times);
            for time in blocks.flat_map(|time| [time.maximum_likelihood, time.l_moments]) {
                assert!(time >= 0.0 && time.is_finite(), "{kind}, {repeat}: {time} by block maxima");
            }
            let json = serde_json::to_string(&analysis).expect("JSON");
            assert!(!json.contains("18446744073709551615"), "{kind}, {repeat}: {json}");
        }
    }
    // a curve of a constant would be wrong as well
    assert_eq!(curves[0], 0);
    // two values and mostly zeros have a curve only if a threshold fits between them
    let often = |kind: &str| !["constant", "two values", "few values", "mostly zero"].contains(&kind);
    for (kind, curves) in KINDS.into_iter().zip(curves).filter(|(kind, _)| often(kind)) {
        assert!(curves >= 15, "{kind} has {curves} curves of 60");
    }
}
