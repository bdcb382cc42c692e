//! The rates at which tests reject true hypotheses and false hypotheses.

use warpbound::base::ProgressMonitor;
use warpbound::pwcet::Sample;
use warpbound::pwcet::autocorrelation::Autocorrelation;
use warpbound::pwcet::bds::bds;
use warpbound::pwcet::kpss::{Bandwidth, Kpss, Regression, stationarity};

use super::data::{Source, binomial};

const REPEATS: usize = 300;

fn sample(values: Vec<f64>) -> Sample {
    Sample::new(values).expect("a sample")
}

fn tests(values: Vec<f64>) -> Vec<Kpss> {
    stationarity(&sample(values), 0.05).tests
}

#[test]
fn kpss_keeps_independent_and_hardly_dependent_times() {
    let mut source = Source::new(21);
    let mut rejected = [0; 6];
    for repeat in 0..REPEATS {
        let correlation = if repeat % 2 == 0 { 0.0 } else { 0.2 };
        for (count, test) in rejected.iter_mut().zip(tests(source.ar(correlation, 100.0, 500))) {
            *count += usize::from(!test.passed);
        }
    }
    let limits = binomial(REPEATS, 0.05);
    assert!(rejected.iter().all(|count| limits.contains(count)), "{rejected:?} {limits:?}");
}

#[test]
fn kpss_finds_drift_and_trend() {
    let mut source = Source::new(22);
    let mut found = 0;
    for _ in 0..20 {
        let mut walk = 1000.0;
        let values = (0..500)
            .map(|_| {
                walk += source.normal();
                walk
            })
            .collect();
        let walks = tests(values);
        found += walks.iter().filter(|test| test.bandwidth == Bandwidth::Short && !test.passed).count();
        let rising = (0..500).map(|t| 100.0 + 0.01 * f64::from(t) + source.normal()).collect();
        for test in tests(rising) {
            match test.regression {
                Regression::Level => assert!(!test.passed, "{test:?}"),
                Regression::Trend => assert!(test.p_value > 1e-3, "{test:?}"),
            }
        }
    }
    // of 20 random walks, around a level and around a line
    assert!(found >= 36, "{found}");
}

#[test]
fn bds_keeps_independent_times_and_finds_hidden_dependence() {
    let mut source = Source::new(23);
    let monitor = ProgressMonitor::new();
    let (mut rejected, mut together) = ([0; 4], 0);
    for _ in 0..REPEATS {
        let found = bds(&sample(source.ar(0.0, 100.0, 500)), 0.05, 1, &monitor).expect("not stopped");
        let middle = found.tests.iter().filter(|test| test.epsilon == 1.5);
        for (count, test) in rejected.iter_mut().zip(middle) {
            *count += usize::from(test.p_value < 0.05);
        }
        together += usize::from(!found.passed);
    }
    // at 500 points the test rejects slightly more often than stated (Kanzler 1999, table 2)
    let limits = *binomial(REPEATS, 0.05).start()..=*binomial(REPEATS, 0.07).end();
    assert!(rejected.iter().all(|count| limits.contains(count)), "{rejected:?} {limits:?}");
    assert!(limits.contains(&together), "{together} {limits:?}");
    // noise whose size depends on the previous value: no correlation, but no independence
    let (mut hidden, mut seen) = (0, 0);
    for _ in 0..20 {
        let mut value = 0.0_f64;
        let values = (0..800)
            .map(|_| {
                value = source.normal() * (0.2 + 0.8 * value * value).min(50.0).sqrt();
                1000.0 + value
            })
            .collect();
        let sample = sample(values);
        hidden += usize::from(!bds(&sample, 0.01, 1, &monitor).expect("not stopped").passed);
        seen += usize::from(!stationarity(&sample, 0.01).decisive.passed);
    }
    assert!(hidden >= 19 && seen <= 2, "{hidden} {seen}");
}

#[test]
fn ljung_box_keeps_independent_times_and_finds_correlation() {
    let mut source = Source::new(24);
    let (mut rejected, mut found) = ([0; 3], [0; 3]);
    for _ in 0..REPEATS {
        for (counts, correlation) in [(&mut rejected, 0.0), (&mut found, 0.4)] {
            let tests = Autocorrelation::of(&sample(source.ar(correlation, 100.0, 400)), 0.05).ljung_box;
            counts.iter_mut().zip(tests).for_each(|(count, test)| *count += usize::from(!test.passed));
        }
    }
    let limits = binomial(REPEATS, 0.05);
    assert!(rejected.iter().all(|count| limits.contains(count)), "{rejected:?} {limits:?}");
    assert!(found.iter().all(|&count| count > REPEATS * 9 / 10), "{found:?}");
}
