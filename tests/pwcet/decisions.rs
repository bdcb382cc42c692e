//! The decisions of the analysis for samples of known nature, and that no sample causes a failure.

use warpbound::base::ProgressMonitor;
use warpbound::pwcet::analysis::{MAX_BOOTSTRAPS, NoAnalysis};
use warpbound::pwcet::curve::{SUPPORTED, Support};
use warpbound::pwcet::decision::{Advice, Question};
use warpbound::pwcet::gpd::Gpd;
use warpbound::pwcet::gpd_fit::MIN_EXCEEDANCES;
use warpbound::pwcet::sample::{MIN_POINTS, SampleError};
use warpbound::pwcet::threshold::Rule;
use warpbound::pwcet::{Analysis, Options, Probability, Sample, analyse};

use super::data::Source;
use super::plots::is_finite;

fn analysed(values: Vec<f64>, options: &Options) -> Analysis {
    let sample = Sample::new(values).expect("a sample");
    analyse(&sample, options, 2, &ProgressMonitor::new()).expect("an analysis")
}

fn few() -> Options {
    // enough that a p-value below the significance is possible
    Options { bootstraps: 119, ..Options::default() }
}

/// Returns the answers, in order.
fn answers(analysis: &Analysis) -> Vec<(Question, bool)> {
    analysis.decision.steps.iter().map(|step| (step.question, step.yes)).collect()
}

#[test]
fn independent_times_are_reliable_and_their_quantiles_near() {
    let truth = Gpd { xi: -0.1, alpha: 1000.0 };
    let values = Source::new(31).gpd(truth, 20_000).into_iter().map(|y| (50_000.0 + y).floor()).collect();
    let analysis = analysed(values, &few());
    let all = [(Question::Stationary, true), (Question::Independent, true), (Question::Fits, true)];
    assert_eq!(answers(&analysis), all);
    assert!(analysis.decision.reliable && analysis.decision.advice.is_empty(), "{:?}", analysis.decision);
    let confidence = analysis.decision.confidence;
    let either = confidence.bds.max(confidence.extremal_index);
    assert_eq!(confidence.overall, confidence.kpss.min(either), "{confidence:?}");
    assert_eq!(confidence.as_in_paper, either.min(0.99), "{confidence:?}");
    for point in &analysis.pwcet.points {
        let time = 50_000.0 + truth.exceeded_with(point.probability.get());
        if let Some(intervals) = point.intervals {
            assert!(intervals.profile.contains(time), "{point:?} {time}");
        }
        assert_ne!(point.support, Support::Unsupported, "{point:?}");
    }
    let end = analysis.pwcet.end_point.expect("xi < 0");
    assert!(analysis.pwcet.points.iter().all(|point| point.time < end));
    let a = analysis.pwcet.accuracy;
    let ninth = analysis.pwcet.points.iter().find(|point| point.probability == Probability::decade(9));
    let ninth = ninth.expect("asked for").time;
    assert!((a.best - (ninth - a.maximum) / ninth).abs() < 1e-12);
    // an exponential tail is rejected, and its time at 10^-9 would be longer
    assert!(analysis.tail.exponential.p_value < 0.01 && a.exponential > a.best);
}

#[test]
fn the_threshold_is_above_what_is_no_tail() {
    // some runs miss a cache: the tail consists of these only
    let mixed = || {
        let mut source = Source::new(32);
        let time = |_| {
            if source.uniform() < 0.04 {
                1200.0 - 30.0 * source.uniform().ln()
            } else {
                1000.0 + 40.0 * source.normal().abs().min(3.0)
            }
        };
        (0..20_000).map(time).collect()
    };
    let analysis = analysed(mixed(), &few());
    assert!(analysis.threshold.threshold > 1195.0, "{}", analysis.threshold.threshold);
    assert!(analysis.threshold.rejected > 0 && !analysis.threshold.all_rejected());
    assert!(analysis.decision.reliable, "{:?}", analysis.decision);
    // a threshold at the upper half gives no fit, and the advice is a threshold that has one
    let analysis = analysed(mixed(), &Options { threshold: Rule::Exceedances(8000), ..few() });
    assert_eq!(answers(&analysis).last(), Some(&(Question::Fits, false)));
    assert!(!analysis.decision.reliable);
    let higher = analysis.decision.advice.iter().find_map(|advice| match advice {
        Advice::HigherThreshold { threshold, .. } => *threshold,
        _ => None,
    });
    assert!(higher.is_some_and(|higher| higher > 1195.0), "{:?}", analysis.decision.advice);
}

#[test]
fn a_warm_up_is_found_and_a_drift_is_not_one() {
    let mut source = Source::new(33);
    let warm: Vec<f64> =
        (0..2000).map(|t| 1000.0 + source.normal() + if t < 90 { 8.0 } else { 0.0 }).collect();
    let analysis = analysed(warm, &few());
    assert_eq!(answers(&analysis), [(Question::Stationary, false)]);
    assert!(!analysis.decision.reliable);
    assert!(analysis.decision.advice.contains(&Advice::DropFirst(100)), "{:?}", analysis.decision.advice);
    assert_eq!(analysis.decision.confidence.as_in_paper, 0.0);
    let drift = (0..2000).map(|t| 1000.0 + source.normal() + 0.01 * f64::from(t)).collect();
    let analysis = analysed(drift, &few());
    assert!(analysis.decision.advice.contains(&Advice::FindDrift), "{:?}", analysis.decision.advice);
}

#[test]
fn dependence_is_reliable_only_where_extremes_are_alone() {
    let mut source = Source::new(34);
    // each large value lasts for five runs
    let mut held = (0.0, 0);
    let values = (0..6000)
        .map(|_| {
            held = if held.1 == 0 { (-100.0 * source.uniform().ln(), 4) } else { (held.0, held.1 - 1) };
            5000.0 + held.0 + source.uniform()
        })
        .collect();
    let analysis = analysed(values, &few());
    let asked = [Question::Stationary, Question::Independent, Question::ExtremallyIndependent];
    assert_eq!(answers(&analysis), asked.into_iter().zip([true, false, false]).collect::<Vec<_>>());
    assert!(!analysis.decision.reliable);
    assert!(analysis.extremal_index.theta < 0.35, "{}", analysis.extremal_index.theta);
    let thin = analysis.decision.advice.iter().find_map(|advice| match advice {
        Advice::Thin { every, measurements } => Some((*every, *measurements)),
        _ => None,
    });
    assert_eq!(thin, Some((5, 30_000)), "{:?}", analysis.decision.advice);
    assert!(analysis.decision.advice.iter().any(|advice| matches!(advice, Advice::Decluster { .. })));
    let declustered = analysis.tail.declustered.expect("clusters");
    assert!(declustered.clusters * 3 < analysis.tail.exceedances);
    // small values that depend on each other, and large ones that occur alone
    let mut base = 0.0;
    let values = (0..20_000)
        .map(|_| {
            base = 0.6 * base + 15.0 * source.normal();
            let large = if source.uniform() < 0.1 { 100.0 - 40.0 * source.uniform().ln() } else { 0.0 };
            1000.0 + base + large
        })
        .collect();
    let analysis = analysed(values, &few());
    let all = [asked[0], asked[1], asked[2], Question::Fits];
    assert_eq!(answers(&analysis), all.into_iter().zip([true, false, true, true]).collect::<Vec<_>>());
    assert!(analysis.decision.reliable);
}

#[test]
fn uncertain_clusters_need_more_measurements() {
    let (mut uncertain, mut certain) = (0, 0);
    for seed in 0..30 {
        let mut source = Source::new(100 + seed);
        let mut base = 0.0;
        let count: usize = if seed < 20 { 1000 } else { 4000 };
        // values that depend on the previous one, and large ones of which three in ten last for
        // another run
        let mut held = 0.0;
        let values = (0..count)
            .map(|_| {
                base = 0.6 * base + source.normal();
                let lasts = source.uniform() < 0.3;
                held = if lasts { held } else { -10.0 * source.uniform().ln() };
                1000.0 + base + held
            })
            .collect();
        let analysis = analysed(values, &few());
        let index = &analysis.extremal_index;
        if analysis.bds.passed || index.passed {
            continue;
        }
        let asked = analysis.decision.advice.iter().find_map(|advice| match advice {
            Advice::MoreExceedances { measurements } => Some(*measurements),
            _ => None,
        });
        let few = index.interval.contains(1.0) && index.exceedances < 400;
        let needed = (count * 400).div_ceil(index.exceedances);
        assert_eq!(asked, few.then_some(needed), "{:?}", analysis.decision.advice);
        uncertain += usize::from(few);
        certain += usize::from(!few);
    }
    assert!(uncertain > 0 && certain > 0, "{uncertain} {certain}");
}

#[test]
fn a_few_values_and_a_heavy_tail_are_reported_as_doubtful() {
    let mut source = Source::new(35);
    let coarse = (0..3000).map(|_| (20.0 - 2.0 * source.uniform().ln()).floor()).collect();
    let analysis = analysed(coarse, &few());
    assert!(analysis.tail.ties.doubtful && analysis.decision.advice.contains(&Advice::FinerClock));
    let heavy = source.gpd(Gpd { xi: 0.4, alpha: 100.0 }, 500);
    let analysis = analysed(heavy, &few());
    let last = analysis.pwcet.points.last().expect("points");
    assert_eq!(last.support, Support::Unsupported);
    assert!(last.decades_beyond > 12.0, "{last:?}");
    let mut needed = 0;
    for point in &analysis.pwcet.points {
        let upper = point.intervals.and_then(|intervals| intervals.profile.upper);
        let width = upper.map_or(0.0, |upper| (upper - point.time) / point.time);
        if width > SUPPORTED {
            // an interval narrows with the square root of the number of measurements
            let expected = 500.0 * (width / SUPPORTED).powi(2);
            match point.measurements_needed {
                Some(ours) => {
                    assert!((ours as f64 / expected - 1.0).abs() < 0.01, "{point:?} {expected}");
                }
                // an infeasible number of measurements is not given
                None => assert!(expected > 1e12, "{point:?} {expected}"),
            }
            needed += 1;
        }
    }
    assert!(needed > 0);
    let within = analysis.pwcet.points.iter().filter(|point| point.support != Support::Unsupported);
    assert!(
        within.into_iter().all(|point| point.measurements_needed.is_none() && point.decades_beyond < 3.0)
    );
}

#[test]
fn invalid_samples_are_reported_with_their_place() {
    let good: Vec<f64> = (0..200).map(f64::from).collect();
    let with = |value: f64| {
        let mut values = good.clone();
        values[17] = value;
        Sample::new(values).expect_err("no sample")
    };
    assert!(matches!(with(f64::NAN), SampleError::NotANumber(17)));
    assert_eq!(with(f64::INFINITY), SampleError::Infinite(17));
    assert_eq!(with(-3.0), SampleError::Negative(17, -3.0));
    assert_eq!(Sample::new(vec![5.0; 200]), Err(SampleError::Constant(5.0)));
    assert_eq!(Sample::new(good[..MIN_POINTS - 1].to_vec()), Err(SampleError::TooFew(MIN_POINTS - 1)));
    assert_eq!(Sample::new(Vec::new()), Err(SampleError::TooFew(0)));
    assert_eq!(with(1e101), SampleError::OutOfScale(1e101));
    let tiny = good.iter().map(|value| value * 1e-103).collect();
    assert!(matches!(Sample::new(tiny), Err(SampleError::OutOfScale(_))));
    assert_eq!(Sample::from_cycles(&[1, 1 << 60]), Err(SampleError::TooLarge(1, 1 << 60)));
    assert!(with(-3.0).to_string().contains("measurement 18"));
    assert!(Sample::new(good[..50].to_vec()).expect_err("few").to_string().contains("at least 100"));
}

#[test]
fn no_sample_causes_a_panic() {
    let mut source = Source::new(36);
    let mut one_differs = vec![7.0; 300];
    one_differs[100] = 9.0;
    let samples: Vec<Vec<f64>> = vec![
        one_differs,
        (0..300).map(|t| f64::from(t % 2)).collect(),
        (0..300).map(f64::from).collect(),
        (0..300).map(|t| f64::from(300 - t)).collect(),
        (0..300).map(|_| 1e300 * source.uniform()).collect(),
        (0..300).map(|_| 1e-300 * source.uniform()).collect(),
        (0..300).map(|_| f64::MIN_POSITIVE * (source.uniform() * 20.0).floor()).collect(),
        (0..300).map(|_| f64::MAX * source.uniform()).collect(),
        (0..300).map(|_| (700.0 * source.normal()).exp().min(1e308)).collect(),
        (0..300).map(|_| 1e15 + source.uniform()).collect(),
        (0..300).map(|t| if t < 150 { 0.0 } else { source.uniform() }).collect(),
        (0..100).map(|_| source.uniform()).collect(),
        (0..300).map(|_| if source.uniform() < 0.2 { 5.0 } else { source.uniform() }).collect(),
        // near the limits of what is allowed
        (0..300).map(|_| 1e100 * source.uniform()).collect(),
        (0..300).map(|_| 1e-99 * source.uniform()).collect(),
        (0..300).map(|_| (60.0 * source.normal()).exp().min(1e100)).collect(),
        (0..300).map(|t| if t == 7 { 5e-324 } else { f64::from(t) }).collect(),
        (0..300).map(|t| 1e16 + 2.0 * f64::from(t % 60)).collect(),
        (0..300).map(|t| f64::from(t / 150)).collect(),
    ];
    let rules = [
        Rule::Automatic,
        Rule::At(0.5),
        Rule::At(f64::NAN),
        Rule::Exceedances(50),
        Rule::Exceedances(usize::MAX),
    ];
    let (mut analyses, all) = (0, samples.len());
    for values in samples {
        let Ok(sample) = Sample::new(values) else { continue };
        for threshold in rules {
            let options = Options { threshold, bootstraps: 5, ..Options::default() };
            match analyse(&sample, &options, 2, &ProgressMonitor::new()) {
                Ok(analysis) => {
                    analyses += 1;
                    assert!(analysis.tail.exceedances >= MIN_EXCEEDANCES);
                    is_finite(&analysis);
                }
                Err(error) => assert_ne!(error, NoAnalysis::Stopped, "{threshold:?}"),
            }
        }
    }
    assert!(analyses > 2 * all, "{analyses} of {all}");
}

#[test]
fn the_analysis_can_be_stopped_and_refuses_invalid_options() {
    let sample = Sample::new(Source::new(37).gpd(Gpd { xi: 0.0, alpha: 1.0 }, 500)).expect("a sample");
    let monitor = ProgressMonitor::new();
    monitor.stop();
    assert_eq!(analyse(&sample, &few(), 2, &monitor), Err(NoAnalysis::Stopped));
    let options = Options { level: 1.0, ..few() };
    assert_eq!(analyse(&sample, &options, 2, &ProgressMonitor::new()), Err(NoAnalysis::NoShare(1.0)));
    let options = Options { bootstraps: MAX_BOOTSTRAPS + 1, ..few() };
    assert_eq!(
        analyse(&sample, &options, 2, &ProgressMonitor::new()),
        Err(NoAnalysis::Bootstraps(MAX_BOOTSTRAPS + 1))
    );
    let options = Options { threshold: Rule::Exceedances(MIN_EXCEEDANCES - 1), ..few() };
    assert_eq!(analyse(&sample, &options, 2, &ProgressMonitor::new()), Err(NoAnalysis::Threshold(29)));
    // half of all have the largest value
    let two = Sample::new((0..300).map(|t| f64::from(t % 2)).collect()).expect("a sample");
    assert_eq!(analyse(&two, &few(), 2, &ProgressMonitor::new()), Err(NoAnalysis::Tied));
    assert!(
        Probability::new(0.0).is_err()
            && Probability::new(f64::NAN).is_err()
            && Probability::new(0.5).is_ok()
    );
}
