//! Table 3: overestimation over a suite, by latency and policy.

use super::published::{LATENCIES, TABLE_3};
use super::{BOUNDS, Measured, Number, ReproduceResult, over, table};
use crate::style::Style;

const FIGURES: [&str; 4] = ["mean", "max", "weighted-mean", "std-dev"];
/// The policies in the order of the paper's rows.
const POLICIES: [&str; 3] = ["lrr", "gto", SINGLE];
const SINGLE: &str = "single-warp";

pub const NOTES: &[&str] = &[
    "the paper runs 583 calls of the 58 kernels of Rodinia, each with one block only. We run the kernels of the embedded \
     suite once each, with their blocks one after the other",
    "causes of the differences: `reproduce table3 --compiler nvrtc` prints the same table for another compiler, which \
     changes no mean by more than 1.5 points. `reproduce table3-calls` counts every launch of programs as the paper \
     counts calls; its means at 400, 200 and 100 are within 3 points of the paper's. `plans/README.md` compares these \
     numbers",
    WEIGHTS,
    SINGLE_WARPS,
];

/// The notes for the table over the launches of programs.
pub const NOTES_OF_CALLS: &[&str] = &[
    "the paper runs 583 calls of the 58 kernels of Rodinia, each with one block only. We run all 150 launches of eleven \
     embedded programs that do what programs of that suite do, with their blocks one after the other",
    "for latencies up to 50 our means are below the paper's. `plans/README.md` has the means over the launches of 256 \
     threads or more only, which show how much the choice of launches matters",
    WEIGHTS,
    SINGLE_WARPS,
];

const WEIGHTS: &str = "the weighted mean has the simulated cycles as weights, so it is the overestimation of all runs \
    one after the other; the standard deviation is that of the sample";
const SINGLE_WARPS: &str = "single-warp: every warp was analysed and simulated alone and compared event by event; a \
    difference makes the point fail. The paper's differences come from setp, whose latency varies by a cycle there but not \
    here";

pub fn numbers(runs: &[Measured]) -> Vec<Number> {
    let mut numbers = Vec::new();
    for (latency, published) in LATENCIES.into_iter().zip(&TABLE_3) {
        for (policy, published) in POLICIES.into_iter().zip(published) {
            let of_latency = || runs.iter().filter(|run| run.mem_latency == latency);
            if policy == SINGLE && of_latency().any(|run| run.makespan.is_none()) {
                // a point without a makespan may have failed because of a difference
                continue;
            }
            if policy == SINGLE && of_latency().next().is_some() {
                // every warp was compared event by event
                numbers.extend(FIGURES.into_iter().zip(published).map(|(figure, paper)| {
                    Number::of_bound(latency, policy, "alone", Number::new(figure, 0.0, Some(*paper)))
                }));
                continue;
            }
            for (bound, value) in BOUNDS {
                let of_point = of_latency().filter(|run| run.policy == policy);
                let pairs: Vec<(u64, u64)> = of_point.filter_map(|run| run.against(value)).collect();
                let Some(ours) = figures(&pairs) else { continue };
                for (index, figure) in FIGURES.into_iter().enumerate() {
                    let paper = (bound == "gub").then_some(published[index]);
                    let number = Number::new(figure, ours[index], paper);
                    numbers.push(Number::of_bound(latency, policy, bound, number));
                }
            }
        }
    }
    numbers
}

/// Returns the mean, maximum, weighted mean and standard deviation of the overestimation, over
/// pairs of makespan and bound.
fn figures(pairs: &[(u64, u64)]) -> Option<[f64; 4]> {
    let overs: Vec<f64> = pairs.iter().map(|pair| over(*pair)).collect();
    let number = overs.len() as f64;
    let mean = overs.iter().sum::<f64>() / number;
    let most = overs.iter().copied().reduce(f64::max)?;
    let sums = pairs.iter().fold((0, 0), |(makespans, bounds), pair| (makespans + pair.0, bounds + pair.1));
    let squares: f64 = overs.iter().map(|over| (over - mean).powi(2)).sum();
    let deviation = if overs.len() > 1 { (squares / (number - 1.0)).sqrt() } else { 0.0 };
    Some([mean, most, over(sums), deviation])
}

pub fn text(result: &ReproduceResult, style: Style) -> String {
    let number = |latency: u64, policy: &str, bound: &str, figure: &str| {
        result.find(|number| number.is_of(latency, policy, bound) && number.figure == figure)
    };
    let mut heading = vec!["latency".to_owned(), "policy".to_owned()];
    for figure in ["mean", "max", "wgt. mean", "std dev"] {
        heading.extend([figure.to_owned(), "paper".to_owned()]);
    }
    let mut published = table(&heading, 2);
    let mut heading = vec!["latency".to_owned(), "policy".to_owned()];
    heading.extend(BOUNDS.iter().flat_map(|(bound, _)| [format!("{bound} mean"), "max".to_owned()]));
    let mut bounds = table(&heading, 2);
    for latency in LATENCIES {
        for policy in POLICIES {
            let bound = if policy == SINGLE { "alone" } else { "gub" };
            let mut row = vec![latency.to_string(), policy.to_owned()];
            for figure in FIGURES {
                let none = || ["-".to_owned(), "-".to_owned()];
                row.extend(number(latency, policy, bound, figure).map_or_else(none, Number::cells));
            }
            published.row(row);
            if policy != SINGLE {
                let mut row = vec![latency.to_string(), policy.to_owned()];
                for (bound, _) in BOUNDS {
                    for figure in ["mean", "max"] {
                        let shown = number(latency, policy, bound, figure);
                        row.push(shown.map_or("-".to_owned(), |number| format!("{:.2}", number.ours.0)));
                    }
                }
                bounds.row(row);
            }
        }
    }
    let mut text = published.render(2, style.width);
    text.push_str("\nevery bound, ours\n\n");
    text.push_str(&bounds.render(2, style.width));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_those_worked_out_by_hand() {
        // 10 % of 100 and 40 % of 300: mean 25, weighted 130/400 = 32.5, deviation 30 / sqrt 2
        let [mean, most, weighted, deviation] = figures(&[(100, 110), (300, 420)]).expect("there are some");
        assert_eq!((mean, most, weighted), (25.0, 40.0, 32.5));
        assert!((deviation - 30.0 / 2f64.sqrt()).abs() < 1e-12);
        assert_eq!(figures(&[]), None);
    }
}
