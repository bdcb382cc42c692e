//! Comparison with statsmodels, scipy, arch, lmoments3 and pyextremes (`scripts/pwcet-reference.py`
//! generates the numbers), and R's evd (`scripts/pwcet-reference.R`).
//!
//! Deviations that are not errors:
//! - scipy's `genextreme` has the shape c = -xi, and so has lmoments3; the script changes the sign.
//! - statsmodels' KPSS p-values are those of the table, `p_table` here; `p_value` is compared with
//!   scipy's limit distribution of Cramér and von Mises, which is that of a level, and with arch's,
//!   which are simulated.
//! - lmoments3 finds the shape of a GEV from a rational approximation with an error of 1e-6; here
//!   the shape is the root of the equation.
//! - `kstest` has no p-values for fitted parameters, so only its statistics are compared.

use std::fs;

use serde_json::Value;
use warpbound::pwcet::autocorrelation::Autocorrelation;
use warpbound::pwcet::bds::bds;
use warpbound::pwcet::blocks::maxima;
use warpbound::pwcet::distances::Distances;
use warpbound::pwcet::extremal::Exceedances;
use warpbound::pwcet::gev::Gev;
use warpbound::pwcet::gpd::Gpd;
use warpbound::pwcet::gpd_fit::{Excesses, Method};
use warpbound::pwcet::interval::{Interval, Profile};
use warpbound::pwcet::kpss::stationarity;
use warpbound::{base::ProgressMonitor, pwcet::Sample};

const SETS: [&str; 5] = ["heavy", "bounded", "dependent", "drifting", "tied"];

/// A data set, and the results of other programs for it.
struct Set {
    name: &'static str,
    sample: Sample,
    published: Value,
}

fn text(name: &str) -> String {
    let path = format!("{}/tests/data/pwcet/{name}", env!("CARGO_MANIFEST_DIR"));
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn sets() -> impl Iterator<Item = Set> {
    SETS.into_iter().map(|name| {
        let numbers = text(&format!("{name}.txt"));
        let values = numbers.lines().map(|line| line.parse().expect("a number")).collect();
        let published = serde_json::from_str(&text(&format!("{name}.json"))).expect("JSON");
        Set { name, sample: Sample::new(values).expect("a sample"), published }
    })
}

impl Set {
    /// Compares with the number at a pointer into the other results, to a relative tolerance.
    fn agrees(&self, at: &str, ours: f64, tolerance: f64) {
        let theirs = number(&self.published, at);
        let allowed = tolerance * theirs.abs().max(1e-3);
        assert!((ours - theirs).abs() <= allowed, "{} {at}: {ours} is not {theirs}", self.name);
    }

    fn list(&self, at: &str) -> &[Value] {
        self.published.pointer(at).and_then(Value::as_array).unwrap_or_else(|| panic!("no list {at}"))
    }

    fn excesses(&self) -> Excesses {
        let excesses = self.sample.excesses(number(&self.published, "/tail/threshold"));
        Excesses::new(excesses).expect("excesses")
    }
}

fn number(value: &Value, at: &str) -> f64 {
    value.pointer(at).and_then(Value::as_f64).unwrap_or_else(|| panic!("no number {at}"))
}

#[test]
fn kpss_is_that_of_statsmodels_and_arch() {
    for set in sets() {
        let ours = stationarity(&set.sample, 0.01).tests;
        let theirs = set.list("/kpss");
        assert_eq!(ours.len(), theirs.len());
        for (index, their) in theirs.iter().enumerate() {
            let same = |key: &str, name: String| their[key] == name.trim_matches('"');
            let our = ours
                .iter()
                .find(|our| {
                    same("regression", serde_json::to_string(&our.regression).expect("JSON"))
                        && same("bandwidth", serde_json::to_string(&our.bandwidth).expect("JSON"))
                })
                .expect("the same test");
            assert_eq!(their["lags"], our.lags, "{}", set.name);
            set.agrees(&format!("/kpss/{index}/statistic"), our.statistic, 1e-10);
            set.agrees(&format!("/kpss/{index}/arch/statistic"), our.statistic, 1e-10);
            // arch's distributions are simulated, and end at 0.0001
            let p = number(their, "/arch/p_value");
            assert!((p - our.p_value).abs() < 0.0025, "{} {index}: {p} {}", set.name, our.p_value);
            let p = number(their, "/p_table");
            let (low, high) = (our.p_table.lower, our.p_table.upper);
            assert!(low - 1e-12 <= p && p <= high + 1e-12, "{}: {p} {:?}", set.name, our.p_table);
            if their.get("p_value").is_some() {
                assert!(
                    (number(their, "/p_value") - our.p_value).abs() < 5e-6,
                    "{} {}",
                    set.name,
                    our.p_value
                );
            }
        }
    }
}

#[test]
fn bds_is_that_of_statsmodels() {
    for set in sets() {
        let ours = bds(&set.sample, 0.01, 2, &ProgressMonitor::new()).expect("not stopped").tests;
        assert_eq!(ours.len(), set.list("/bds").len());
        for (index, our) in ours.iter().enumerate() {
            set.agrees(&format!("/bds/{index}/epsilon"), our.epsilon, 0.0);
            set.agrees(&format!("/bds/{index}/dimension"), our.dimension as f64, 0.0);
            set.agrees(&format!("/bds/{index}/statistic"), our.statistic.expect("a statistic"), 1e-9);
            set.agrees(&format!("/bds/{index}/p_value"), our.p_value, 1e-9);
        }
    }
}

#[test]
fn autocorrelation_is_that_of_statsmodels() {
    for set in sets() {
        let ours = Autocorrelation::of(&set.sample, 0.01);
        for (lag, our) in ours.correlations.iter().enumerate() {
            set.agrees(&format!("/correlations/{lag}"), *our, 1e-9);
        }
        for (index, our) in ours.ljung_box.iter().enumerate() {
            set.agrees(&format!("/ljung_box/{index}/lags"), our.lags as f64, 0.0);
            set.agrees(&format!("/ljung_box/{index}/statistic"), our.statistic, 1e-10);
            set.agrees(&format!("/ljung_box/{index}/p_value"), our.p_value, 1e-9);
        }
    }
}

#[test]
fn fits_of_excesses_are_those_of_scipy_and_lmoments3() {
    for set in sets() {
        assert_eq!(set.sample.ties().resolution, number(&set.published, "/resolution"), "{}", set.name);
        let excesses = set.excesses();
        set.agrees("/tail/exceedances", excesses.count() as f64, 0.0);
        let best = excesses.fit(Method::MaximumLikelihood);
        set.agrees("/tail/xi", best.xi, 1e-5);
        set.agrees("/tail/alpha", best.alpha, 1e-6);
        set.agrees("/tail/log_likelihood", excesses.log_likelihood(best), 1e-12);
        let list: Vec<f64> = excesses.iter().collect();
        set.agrees("/tail/log_likelihood", best.log_likelihood(&list), 1e-12);
        for (name, method) in [
            ("l_moments", Method::LMoments),
            ("probability_weighted_moments", Method::ProbabilityWeightedMoments),
        ] {
            let fit = excesses.fit(method);
            set.agrees(&format!("/tail/{name}/xi"), fit.xi, 1e-9);
            set.agrees(&format!("/tail/{name}/alpha"), fit.alpha, 1e-10);
        }
        let exponential = excesses.exponential();
        set.agrees("/tail/exponential/alpha", exponential.alpha, 1e-12);
        for (at, gpd, tolerance) in [("/tail", best, 1e-6), ("/tail/exponential", exponential, 1e-10)] {
            let ours = Distances::of(&excesses, gpd);
            set.agrees(&format!("{at}/kolmogorov_smirnov"), ours.kolmogorov_smirnov, tolerance);
            set.agrees(&format!("{at}/anderson_darling"), ours.anderson_darling, tolerance);
        }
    }
}

/// R's evd, with another optimiser: `scripts/pwcet-reference.R`. It includes the extremal index,
/// too.
#[test]
fn fits_and_clusters_are_those_of_evd() {
    let evd: Value = serde_json::from_str(&text("evd.json")).expect("JSON");
    for set in sets() {
        let excesses = set.excesses();
        let published = |key: &str| number(&evd, &format!("/{}/{key}", set.name));
        let near = |key: &str, ours: f64, tolerance: f64| {
            let theirs = published(key);
            assert!(
                (ours - theirs).abs() <= tolerance * theirs.abs().max(0.1),
                "{} {key}: {ours} is not {theirs}",
                set.name
            );
        };
        near("exceedances", excesses.count() as f64, 0.0);
        let best = excesses.fit(Method::MaximumLikelihood);
        near("xi", best.xi, 1e-5);
        near("alpha", best.alpha, 1e-5);
        near("deviance", -2.0 * excesses.log_likelihood(best), 1e-9);
        let exceedances = Exceedances::of(&set.sample, published("threshold"));
        near("theta", exceedances.theta(), 1e-12);
        near("theta_runs_5", exceedances.clusters(5) as f64 / published("exceedances"), 1e-12);
        let mut sorted = maxima(&set.sample, 10);
        sorted.sort_unstable_by(f64::total_cmp);
        let blocks = Gev::fit(&sorted, Method::MaximumLikelihood).expect("a fit");
        near("mu", blocks.mu, 1e-5);
        near("sigma", blocks.sigma, 1e-5);
        near("gev_xi", blocks.xi, 1e-4);
    }
}

#[test]
fn profile_intervals_are_those_of_scipy_and_a_grid() {
    for set in sets() {
        let excesses = set.excesses();
        let best = excesses.fit(Method::MaximumLikelihood);
        let profile = Profile::new(&excesses, best, 0.95);
        let same = |at: &str, ours: Interval| {
            set.agrees(&format!("{at}/0"), ours.lower.expect("a lower limit"), 1e-5);
            set.agrees(&format!("{at}/1"), ours.upper.expect("an upper limit"), 1e-5);
        };
        same("/tail/profile_xi", profile.xi());
        same("/tail/profile_alpha", profile.alpha());
        set.agrees("/tail/quantile", best.exceeded_with(1e-3), 1e-5);
        same("/tail/profile_quantile", profile.excess(1e-3));
    }
}

#[test]
fn clusters_are_those_of_pyextremes_and_the_index_that_of_the_formula() {
    for set in sets() {
        let exceedances = Exceedances::of(&set.sample, number(&set.published, "/tail/threshold"));
        set.agrees("/extremal_index/theta", exceedances.theta(), 1e-12);
        for run_length in [1_usize, 2, 5, 10] {
            let at = format!("/extremal_index/runs/{run_length}");
            set.agrees(&format!("{at}/clusters"), exceedances.clusters(run_length) as f64, 0.0);
            let ours = exceedances.maxima(&set.sample, run_length);
            let theirs: Vec<f64> =
                set.list(&format!("{at}/maxima")).iter().map(|value| number(value, "")).collect();
            assert_eq!(ours, theirs, "{} {run_length}", set.name);
        }
    }
}

#[test]
fn fits_of_block_maxima_are_those_of_scipy_and_lmoments3() {
    for set in sets() {
        let mut maxima = maxima(&set.sample, 10);
        maxima.sort_unstable_by(f64::total_cmp);
        for (name, method, tolerance) in
            [("l_moments", Method::LMoments, 1e-5), ("maximum_likelihood", Method::MaximumLikelihood, 1e-5)]
        {
            let fit = Gev::fit(&maxima, method).expect("a fit");
            set.agrees(&format!("/blocks/{name}/xi"), fit.xi, tolerance);
            set.agrees(&format!("/blocks/{name}/mu"), fit.mu, tolerance);
            set.agrees(&format!("/blocks/{name}/sigma"), fit.sigma, tolerance);
            if method == Method::MaximumLikelihood {
                set.agrees("/blocks/log_likelihood", fit.log_likelihood(&maxima), 1e-10);
            }
        }
    }
}

#[test]
fn distributions_are_those_of_scipy() {
    let published: Value = serde_json::from_str(&text("distributions.json")).expect("JSON");
    let close = |ours: f64, theirs: f64, tolerance: f64, what: &Value| {
        assert!((ours / theirs - 1.0).abs() < tolerance, "{ours} is not {theirs}: {what}");
    };
    for point in published["gpd"].as_array().expect("points") {
        let gpd = Gpd { xi: number(point, "/xi"), alpha: 3.0 };
        let (time, p) = (number(point, "/time"), number(point, "/probability"));
        close(gpd.exceeded_with(p), time, 1e-12, point);
        // near an end point the last bits of a time have a larger effect
        close(gpd.sf(time), number(point, "/sf"), 1e-7, point);
    }
    for point in published["gev"].as_array().expect("points") {
        let gev = Gev { mu: 10.0, sigma: 3.0, xi: number(point, "/xi") };
        let (time, p) = (number(point, "/time"), number(point, "/probability"));
        close(gev.exceeded_with(p), time, 1e-12, point);
        close(gev.sf(time), number(point, "/sf"), 1e-7, point);
    }
}
