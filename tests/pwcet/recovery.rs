//! Fits of data whose distribution is known: parameters, coverage of intervals, sizes of tests.

use warpbound::base::ProgressMonitor;
use warpbound::pwcet::bootstrap::{Model, Replicates};
use warpbound::pwcet::distances::by_table;
use warpbound::pwcet::extremal::Exceedances;
use warpbound::pwcet::gev::Gev;
use warpbound::pwcet::goodness::FitTests;
use warpbound::pwcet::gpd::Gpd;
use warpbound::pwcet::gpd_fit::{Excesses, Method, StandardErrors};
use warpbound::pwcet::interval::Profile;
use warpbound::pwcet::threshold::Rule;
use warpbound::pwcet::{
    Options, Probability, Sample, analyse, autocorrelation::Autocorrelation, blocks::block_maxima,
};

use super::data::{Source, binomial};

const XIS: [f64; 3] = [-0.3, 0.0, 0.25];

fn excesses(source: &mut Source, gpd: Gpd, count: usize) -> Excesses {
    Excesses::new(source.gpd(gpd, count)).expect("excesses")
}

fn mean_and_error(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (n - 1.0);
    (mean, variance.sqrt())
}

#[test]
fn every_method_finds_the_parameters() {
    let (count, repeats) = (1000, 200_u32);
    for xi in XIS {
        let truth = Gpd { xi, alpha: 50.0 };
        for method in [Method::MaximumLikelihood, Method::ProbabilityWeightedMoments, Method::LMoments] {
            let mut source = Source::new(11);
            let fits: Vec<Gpd> =
                (0..repeats).map(|_| excesses(&mut source, truth, count).fit(method)).collect();
            let (shape, spread) = mean_and_error(&fits.iter().map(|fit| fit.xi).collect::<Vec<_>>());
            let (scale, scale_spread) = mean_and_error(&fits.iter().map(|fit| fit.alpha).collect::<Vec<_>>());
            // bias falls with 1 / count
            assert!((shape - xi).abs() < 0.01, "{method:?} {xi}: {shape}");
            assert!((scale / 50.0 - 1.0).abs() < 0.01, "{method:?} {xi}: {scale}");
            if method == Method::MaximumLikelihood {
                let errors = StandardErrors::of(truth, count).expect("regular");
                // 200 repetitions determine a spread to a twentieth
                assert!((spread / errors.xi - 1.0).abs() < 0.16, "{xi}: {spread} is not {errors:?}");
                assert!(
                    (scale_spread / errors.alpha - 1.0).abs() < 0.16,
                    "{xi}: {scale_spread} is not {errors:?}"
                );
                let products = fits.iter().map(|fit| (fit.xi - shape) * (fit.alpha - scale)).sum::<f64>();
                let correlation = products / (f64::from(repeats) - 1.0) / (spread * scale_spread);
                let expected = errors.covariance / (errors.xi * errors.alpha);
                assert!((correlation - expected).abs() < 0.16, "{xi}: {correlation} is not {expected}");
            }
        }
    }
}

#[test]
fn intervals_cover_the_truth_as_often_as_they_say() {
    let (count, repeats) = (300, 200);
    for xi in XIS {
        let truth = Gpd { xi, alpha: 50.0 };
        let mut source = Source::new(12);
        let mut covered = [0; 5];
        for repeat in 0..repeats {
            let excesses = excesses(&mut source, truth, count);
            let best = excesses.fit(Method::MaximumLikelihood);
            let profile = Profile::new(&excesses, best, 0.9);
            let model = Model { gpd: best, count, resolution: 0.0 };
            let replicates =
                Replicates::draw(model, 99, repeat, 2, &ProgressMonitor::new()).expect("not stopped");
            let far = truth.exceeded_with(1e-4);
            let holds = [
                profile.xi().contains(xi),
                profile.alpha().contains(truth.alpha),
                profile.excess(1e-4).contains(far),
                replicates.interval(0.9, |gpd| gpd.xi).contains(xi),
                replicates.interval(0.9, |gpd| gpd.alpha).contains(truth.alpha),
            ];
            covered.iter_mut().zip(holds).for_each(|(covered, holds)| *covered += usize::from(holds));
        }
        let limits = binomial(repeats as usize, 0.9);
        assert!(covered[..3].iter().all(|covered| limits.contains(covered)), "{xi}: {covered:?} {limits:?}");
        // percentiles are less accurate at this size: the shape's bias counts twice
        let limits = *binomial(repeats as usize, 0.86).start()..=*limits.end();
        assert!(covered[3..].iter().all(|covered| limits.contains(covered)), "{xi}: {covered:?} {limits:?}");
    }
}

#[test]
fn intervals_of_times_cover_those_near_the_threshold_and_far_from_it() {
    let (repeats, truth) = (200, Gpd { xi: -0.1, alpha: 100.0 });
    let probabilities = [0.08, 0.03, 1e-3, 1e-5].map(|p| Probability::new(p).expect("a probability"));
    let options = Options {
        level: 0.9,
        bootstraps: 0,
        threshold: Rule::Exceedances(150),
        probabilities: probabilities.to_vec(),
        ..Options::default()
    };
    let mut source = Source::new(19);
    let mut covered = [0; 4];
    for _ in 0..repeats {
        let sample = Sample::new(source.gpd(truth, 1500)).expect("a sample");
        let analysis = analyse(&sample, &options, 1, &ProgressMonitor::new()).expect("an analysis");
        for (covered, point) in covered.iter_mut().zip(&analysis.pwcet.points) {
            let profile = point.intervals.expect("above the threshold").profile;
            *covered += usize::from(profile.contains(truth.exceeded_with(point.probability.get())));
        }
    }
    let limits = binomial(repeats, 0.9);
    assert!(covered.iter().all(|covered| limits.contains(covered)), "{covered:?} {limits:?}");
}

#[test]
fn bootstrap_p_values_reject_as_often_as_they_say_and_agree_with_the_table() {
    let (count, repeats) = (200, 300);
    let truth = Gpd { xi: 0.1, alpha: 50.0 };
    let mut source = Source::new(13);
    let (mut ks, mut ad, mut table, mut apart) = (0, 0, 0, 0.0_f64);
    for repeat in 0..repeats {
        let excesses = excesses(&mut source, truth, count);
        let gpd = excesses.fit(Method::MaximumLikelihood);
        let model = Model { gpd, count, resolution: 0.0 };
        let replicates =
            Replicates::draw(model, 199, repeat, 2, &ProgressMonitor::new()).expect("not stopped");
        let tests = FitTests::of(&excesses, gpd, 0.0, &replicates, 0.1);
        ks += usize::from(tests.kolmogorov_smirnov.passed == Some(false));
        ad += usize::from(tests.anderson_darling.passed == Some(false));
        let p = tests.anderson_darling.p_table.expect("a table");
        table += usize::from(p < 0.1);
        apart += (p - tests.anderson_darling.p_value.expect("a bootstrap")).abs();
    }
    let limits = binomial(repeats as usize, 0.1);
    for rejected in [ks, ad, table] {
        assert!(limits.contains(&rejected), "{ks} {ad} {table} {limits:?}");
    }
    // the standard error of a p-value from 199 replicates is largest near 1/2, where it is 0.035
    assert!(apart / (repeats as f64) < 0.03, "{apart}");
}

#[test]
fn whole_cycles_do_not_make_a_fit_wrong() {
    const FEWER: u64 = 30;
    let (count, repeats, resolution) = (1000, 100, 4.0);
    let truth = Gpd { xi: -0.1, alpha: 20.0 };
    let mut source = Source::new(14);
    let (mut rejected, mut untreated, mut spread) = (0, 0, 0);
    for repeat in 0..repeats {
        let stepped = |y: f64| ((y / resolution).floor() + 0.5) * resolution;
        let whole = source.gpd(truth, count).into_iter().map(stepped).collect();
        let excesses = Excesses::new(whole).expect("excesses");
        let gpd = excesses.fit(Method::MaximumLikelihood);
        let p = |resolution: f64| {
            let model = Model { gpd, count, resolution };
            let replicates =
                Replicates::draw(model, 99, repeat, 2, &ProgressMonitor::new()).expect("not stopped");
            let test = FitTests::of(&excesses, gpd, resolution, &replicates, 0.05).anderson_darling;
            test.p_value.expect("a bootstrap")
        };
        rejected += usize::from(p(resolution) < 0.05);
        spread += usize::from(by_table(&excesses, resolution).p_value < 0.05);
        if repeat < FEWER {
            untreated += usize::from(p(0.0) < 0.05);
        }
    }
    assert!(binomial(100, 0.05).contains(&rejected), "{rejected}");
    assert!(*binomial(100, 0.05).end() >= spread, "{spread}");
    assert!(untreated as u64 > FEWER * 9 / 10, "steps of a fifth of the scale have to matter: {untreated}");
}

#[test]
fn block_maxima_have_the_shape_of_their_excesses() {
    let mut source = Source::new(15);
    for xi in [-0.2, 0.0, 0.2] {
        let (mut moments, mut likelihood, mut covered, mut far) = (Vec::new(), Vec::new(), 0, Vec::new());
        for seed in 0..100 {
            // maxima of Pareto blocks of 50 are within a fiftieth of a GEV
            let sample = Sample::new(source.gpd(Gpd { xi, alpha: 10.0 }, 5000)).expect("a sample");
            let (asked, monitor) = ([Probability::decade(4)], ProgressMonitor::new());
            let found =
                block_maxima(&sample, Some(50), &asked, 0.9, (99, seed), (1, &monitor)).expect("blocks");
            let truth = Gpd { xi, alpha: 10.0 }.exceeded_with(1e-4);
            far.push([found.times[0].maximum_likelihood / truth, found.times[0].l_moments / truth]);
            moments.push(found.l_moments.xi);
            likelihood.push(found.maximum_likelihood.xi);
            covered += usize::from(found.xi.contains(xi));
        }
        for (name, shapes) in [("L-moments", &moments), ("likelihood", &likelihood)] {
            let (mean, error) = mean_and_error(shapes);
            assert!((mean - xi).abs() < 4.0 * error / 10.0 + 0.02, "{name} {xi}: {mean} {error}");
        }
        assert!(binomial(100, 0.9).contains(&covered), "{xi}: {covered}");
        for which in 0..2 {
            let mut ratios: Vec<f64> = far.iter().map(|ratios| ratios[which]).collect();
            ratios.sort_unstable_by(f64::total_cmp);
            let median = ratios[50];
            assert!((median - 1.0).abs() < 0.07, "{xi} {which}: {median}");
        }
    }
}

#[test]
fn gev_fits_find_the_parameters() {
    let mut source = Source::new(16);
    for xi in [-0.2, 0.0, 0.2] {
        let truth = Gev { mu: 100.0, sigma: 5.0, xi };
        for method in [Method::MaximumLikelihood, Method::LMoments] {
            let fits: Vec<Gev> = (0..60)
                .map(|_| {
                    let mut maxima: Vec<f64> =
                        (0..500).map(|_| truth.at_hazard(-source.uniform().ln())).collect();
                    maxima.sort_unstable_by(f64::total_cmp);
                    Gev::fit(&maxima, method).expect("a fit")
                })
                .collect();
            let mean = |value: fn(&Gev) -> f64| mean_and_error(&fits.iter().map(value).collect::<Vec<_>>()).0;
            assert!((mean(|fit| fit.xi) - xi).abs() < 0.02, "{method:?} {xi}");
            assert!((mean(|fit| fit.mu) - 100.0).abs() < 0.2, "{method:?} {xi}");
            assert!((mean(|fit| fit.sigma) - 5.0).abs() < 0.1, "{method:?} {xi}");
        }
    }
}

#[test]
fn the_extremal_index_of_a_moving_maximum_is_known() {
    for (a, theta) in [(0.0, 1.0), (0.5, 0.5), (0.8, 0.2)] {
        let mut source = Source::new(17);
        let (mut thetas, mut runs, mut covered) = (Vec::new(), Vec::new(), 0);
        for repeat in 0..40 {
            let sample = Sample::new(source.moving_maximum(a, 10_000)).expect("a sample");
            let exceedances = Exceedances::of(&sample, sample.threshold_for(300));
            let index =
                exceedances.index(0.95, 100, repeat, 1, &ProgressMonitor::new()).expect("not stopped");
            covered += usize::from(index.interval.contains(theta));
            thetas.push(index.theta);
            runs.push(exceedances.runs(5).theta);
        }
        // 3 percent of the values are above the threshold, so that some follow each other by
        // chance: for the runs estimator, about 5 * 0.03 of them
        let (mean, _) = mean_and_error(&thetas);
        assert!((mean - theta).abs() < 0.06, "{a}: {mean}");
        let (mean, _) = mean_and_error(&runs);
        assert!((mean - theta * 0.97_f64.powi(5)).abs() < 0.05, "{a}: {mean}");
        // the bootstrap of clusters is known to be narrow
        assert!(covered >= 32, "{a}: {covered}");
    }
}

#[test]
fn an_autoregressive_series_has_its_correlations_and_the_tail_of_a_normal_variable() {
    let (correlation, repeats) = (0.3, 100);
    let mut source = Source::new(18);
    let (mut first, mut covered, mut index) = (Vec::new(), 0, Vec::new());
    for _ in 0..repeats {
        let sample = Sample::new(source.ar(correlation, 10.0, 3000)).expect("a sample");
        let correlations = Autocorrelation::of(&sample, 0.05).correlations;
        first.push(correlations[0]);
        let threshold = sample.threshold_for(150);
        let exceedances = Exceedances::of(&sample, threshold);
        index.push(exceedances.theta());
        let excesses = Excesses::new(sample.excesses(threshold)).expect("excesses");
        let profile = Profile::new(&excesses, excesses.fit(Method::MaximumLikelihood), 0.9);
        // P(Z > 3.0902) = 0.001 and a twentieth of the values are above the threshold
        covered += usize::from(profile.excess(0.001 / 0.05).contains(10.0 + 3.0902 - threshold));
    }
    let (mean, error) = mean_and_error(&first);
    assert!((mean - correlation).abs() < 3.3 * error / 10.0 + 4.0 * correlation / 3000.0, "{mean}");
    // the values above this threshold cluster more than those of independent times, and less than
    // in clusters of two
    let (theta, _) = mean_and_error(&index);
    assert!((0.6..0.95).contains(&theta), "{theta}");
    // 150 dependent excesses contain at least as much information as theta * 150 independent ones,
    // so that an interval of 90 percent covers at least 80 percent
    assert!(covered >= *binomial(repeats, 0.8).start(), "{covered}");
}

#[test]
fn percentiles_of_many_excesses_are_those_of_standard_errors() {
    let (count, gpd) = (2000, Gpd { xi: 0.1, alpha: 50.0 });
    let replicates =
        Replicates::draw(Model { gpd, count, resolution: 0.0 }, 600, 3, 2, &ProgressMonitor::new());
    let replicates = replicates.expect("not stopped");
    let errors = StandardErrors::of(gpd, count).expect("regular");
    let xi = replicates.interval(0.9, |gpd| gpd.xi);
    let alpha = replicates.interval(0.9, |gpd| gpd.alpha);
    for (limit, estimate, error) in [
        (xi.lower, gpd.xi, -errors.xi),
        (xi.upper, gpd.xi, errors.xi),
        (alpha.lower, gpd.alpha, -errors.alpha),
        (alpha.upper, gpd.alpha, errors.alpha),
    ] {
        let away = (limit.expect("a limit") - estimate) / error;
        // 600 replicates determine it to 0.09, and bias is about 0.1
        assert!((away - 1.645).abs() < 0.4, "{away}");
    }
}
