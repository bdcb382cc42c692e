//! Table 4: overestimation of two matrix products, by latency and number of warps.

use super::published::{LATENCIES, TABLE_4_DOUBLE_BUFFERING, TABLE_4_NAIVE, WARPS};
use super::{BOUNDS, Measured, Number, ReproduceResult, over, table};
use crate::style::Style;

/// The name in the paper, our kernel, and the published numbers.
const PROGRAMS: [(&str, &str, &[[f64; 4]; 7]); 2] =
    [("naive", "sgemm_naive", &TABLE_4_NAIVE), ("double buffering", "sgemm_dbuf", &TABLE_4_DOUBLE_BUFFERING)];
const POLICIES: [&str; 2] = ["lrr", "gto"];

pub const NOTES: &[&str] = &[
    "the paper does not state the policy of its table, so its numbers are compared with those of both policies",
    "the paper's kernels are not public; ours follow its description. A warp computes a row of 32 results, and tiles are \
     32 wide. The factors are 1024 x threads and threads x 1024, so K is 1024, 512, 256 and 128 with 32, 16, 8 and 4 \
     warps. Only one block of the result is run",
    "`reproduce table4 --compiler nvrtc` prints the numbers for the PTX of another compiler. Some of them differ by more \
     than 10 points, under both policies",
];

pub fn numbers(runs: &[Measured]) -> Vec<Number> {
    let mut numbers = Vec::new();
    for (program, kernel, published) in PROGRAMS {
        for (latency, published) in LATENCIES.into_iter().zip(published) {
            for (warps, published) in WARPS.into_iter().zip(published) {
                let name = format!("{kernel}_k{}_w{warps}", 32 * warps);
                for policy in POLICIES {
                    let Some(run) = runs
                        .iter()
                        .find(|run| run.kernel == name && run.mem_latency == latency && run.policy == policy)
                    else {
                        continue;
                    };
                    numbers.extend(BOUNDS.iter().filter_map(|(bound, value)| {
                        let ours = over(run.against(*value)?);
                        let paper = (*bound == "gub").then_some(*published);
                        let number = Number::new("overestimation", ours, paper);
                        let number = Number::of_bound(latency, policy, bound, number);
                        Some(Number { program: Some(program), warps: Some(warps), ..number })
                    }));
                }
            }
        }
    }
    numbers
}

pub fn text(result: &ReproduceResult, style: Style) -> String {
    let mut text = String::new();
    for (program, _, _) in PROGRAMS {
        for policy in POLICIES {
            let mut heading = vec!["latency".to_owned()];
            for warps in WARPS {
                heading.extend([format!("{warps} warps"), "paper".to_owned(), "lwb".to_owned()]);
            }
            let mut rows = table(&heading, 1);
            for latency in LATENCIES {
                let mut row = vec![latency.to_string()];
                for warps in WARPS {
                    let number = |bound: &str| {
                        result.find(|number| {
                            (number.program, number.warps) == (Some(program), Some(warps))
                                && number.is_of(latency, policy, bound)
                        })
                    };
                    let none = || ["-".to_owned(), "-".to_owned()];
                    row.extend(number("gub").map_or_else(none, Number::cells));
                    row.push(number("lwb").map_or("-".to_owned(), |number| format!("{:.2}", number.ours.0)));
                }
                rows.row(row);
            }
            text.push_str(&format!("{program}, {policy}: gub by warps of the block\n"));
            text.push_str(&rows.render(2, style.width));
            text.push('\n');
        }
    }
    text.trim_end_matches('\n').to_owned() + "\n"
}
