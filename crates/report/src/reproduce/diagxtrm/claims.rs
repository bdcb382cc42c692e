//! The statements of the paper about its results, whether these statements hold here, and the
//! reasons for differences.

use super::published::TABLE_1;
use super::{Extremes, TraceRow};
use crate::reproduce::figure::Statement;
use warpbound_pwcet::extremal::ALONE;

/// The place in the paper.
const SECTION: &str = "section 4.2";

/// Returns the numbers of blocks in ascending order.
pub(super) fn block_counts() -> Vec<u32> {
    let mut counts: Vec<u32> = TABLE_1.iter().map(|trace| trace.blocks).collect();
    counts.sort_unstable();
    counts.dedup();
    counts
}

/// Returns the numbers of blocks for which every run takes the same time with each size of L1.
pub(super) fn same_with_each_l1(traces: &[(TraceRow, Vec<u64>)]) -> Vec<u32> {
    let is_same = |blocks: &u32| {
        let with = |l1: u32| {
            let wanted = |row: &TraceRow| row.blocks == *blocks && row.l1_percent == l1;
            traces.iter().find(|(row, _)| wanted(row)).map(|(_, makespans)| makespans)
        };
        let of_paper = TABLE_1.iter().filter(|trace| trace.blocks == *blocks);
        let all: Option<Vec<_>> = of_paper.map(|trace| with(trace.l1_percent)).collect();
        all.is_some_and(|all| all.windows(2).all(|pair| pair[0] == pair[1]))
    };
    block_counts().into_iter().filter(is_same).collect()
}

/// Returns the times at 1e-9 by the best fit for one size of L1, by number of blocks.
/// Configurations without a curve are left out.
fn by_blocks(rows: &[TraceRow], l1_percent: u32) -> Vec<(u32, f64)> {
    let of = |blocks: u32| {
        let row = rows.iter().find(|row| (row.blocks, row.l1_percent) == (blocks, l1_percent))?;
        Some((blocks, row.ours?.best))
    };
    block_counts().into_iter().filter_map(of).collect()
}

fn listed(counts: &[u32]) -> String {
    counts.iter().map(u32::to_string).collect::<Vec<_>>().join(", ")
}

/// Returns the statements of the paper, judged by our numbers. Configurations without a curve are
/// not considered.
pub(super) fn statements(rows: &[TraceRow], same: &[u32]) -> Vec<Statement> {
    let curves: Vec<(&TraceRow, super::Entry)> =
        rows.iter().filter_map(|row| Some((row, row.ours?))).collect();
    if curves.is_empty() {
        return Vec::new();
    }
    let with = |blocks: u32, l1: u32| {
        curves.iter().find(|(row, _)| (row.blocks, row.l1_percent) == (blocks, l1)).map(|(_, ours)| ours.best)
    };
    let effect = |blocks: &u32| Some((*blocks, with(*blocks, 75)? - with(*blocks, 25)?));
    let effects: Vec<(u32, f64)> = block_counts().iter().filter_map(effect).collect();
    let which = |wanted: fn(f64) -> bool| -> Vec<u32> {
        effects.iter().filter(|(_, more)| wanted(*more)).map(|(blocks, _)| *blocks).collect()
    };
    let (helps, harms) = (which(|more| more < 0.0), which(|more| more > 0.0));
    let seen = match (same.is_empty(), helps.is_empty() && harms.is_empty()) {
        (false, true) => format!("every run takes the same time with each L1 ({} blocks)", listed(same)),
        _ => format!("75 % against 25 % helps {} blocks, harms {}", counted(&helps), counted(&harms)),
    };
    let l1 = Statement {
        claim: "depending on the number of thread blocks [...] a bigger L1 may have either a positive or a negative effect",
        place: SECTION,
        holds: !helps.is_empty() && !harms.is_empty(),
        seen,
    };
    let times = by_blocks(rows, 25);
    let is_monotonic = times.is_sorted_by(|a, b| a.1 <= b.1) || times.is_sorted_by(|a, b| a.1 >= b.1);
    let shown: Vec<String> = times.iter().map(|(blocks, time)| format!("{blocks}: {time:.0}")).collect();
    let monotonic = Statement {
        claim: "there is no monotonic trade-off with the number of thread blocks",
        place: SECTION,
        holds: !is_monotonic,
        seen: format!("1e-9 with 25 % L1, by blocks: {}", shown.join(", ")),
    };
    let least = curves.iter().map(|(_, ours)| ours.best).fold(f64::INFINITY, f64::min);
    let best: Vec<&TraceRow> =
        curves.iter().filter(|(_, ours)| ours.best <= least).map(|(row, _)| *row).collect();
    let shown: Vec<String> =
        best.iter().map(|row| format!("{} TBs and {} %", row.blocks, row.l1_percent)).collect();
    let best = Statement {
        claim: "if the exceedance probability of interest is 1e-9, the best-performing configuration is 1024 TBs and 25% L1",
        place: SECTION,
        holds: best.iter().any(|row| (row.blocks, row.l1_percent) == (1024, 25)),
        seen: format!("{} ({least:.0} cycles)", shown.join(", ")),
    };
    let negative = curves.iter().filter(|(_, ours)| ours.xi.0 < 0.0).count();
    let shape = Statement {
        claim: "most of the xi resulting from the best-fit algorithm are negatives",
        place: SECTION,
        holds: 2 * negative > curves.len(),
        seen: format!("{negative} of {}", curves.len()),
    };
    let counted_as = |wanted: Extremes| rows.iter().filter(|row| row.extremes == Some(wanted)).count();
    let (alone, clusters) = (counted_as(Extremes::Alone), counted_as(Extremes::InClusters));
    let undecided = counted_as(Extremes::Undecided);
    let extremes = Statement {
        claim: "the extremal independence of the execution times is guaranteed for all traces investigated",
        place: "section 4.1",
        holds: alone == curves.len(),
        seen: format!(
            "theta is at least {ALONE} in {alone} of {}, below it with its 95 % interval in {clusters}, and undecided in {undecided}, \
             whose interval reaches {ALONE}",
            curves.len()
        ),
    };
    vec![l1, monotonic, best, shape, extremes]
}

fn counted(counts: &[u32]) -> String {
    if counts.is_empty() { "none".to_owned() } else { listed(counts) }
}

/// Returns the differences from the paper that matter for the comparison.
pub(super) fn notes(rows: &[TraceRow], runs: u64, same: &[u32]) -> Vec<String> {
    let mut notes = vec![
        "the paper measures a GK104 board, with 50000 runs a trace, each after a cold reboot. We simulate a machine with \
         the same units, L1 and L2; its latencies, cache lines and ways are chosen here, and the kernel is our own. \
         Cycles are therefore not comparable"
            .to_owned(),
    ];
    let spread = rows.iter().map(|row| above(row.longest as f64, row.shortest as f64)).fold(0.0, f64::max);
    let papers = || TABLE_1.iter().map(|trace| above(trace.entry.longest, trace.entry.threshold));
    notes.push(format!(
        "random in each of our runs: points and colours, the SM of each block, and the lines that caches replace. What \
         else varies on a board (clocks, DRAM refresh, driver) does not vary here. Our longest run is at most \
         {spread:.1} % above the shortest; the paper's is {:.0} to {:.0} % above the threshold",
        papers().fold(f64::INFINITY, f64::min),
        papers().fold(0.0, f64::max),
    ));
    if same.len() == block_counts().len() {
        notes.push(
            "every run takes the same time with each L1: the kernel reads 384 bytes, which the smallest L1 keeps, and \
             data that it stores do not stay in the L1. Replacement has no effect either, because the whole image fits \
             in the L2. The paper suspects the hit rate of the L2, and does not state what else its kernel keeps in memory"
                .to_owned(),
        );
    }
    let fixed = [
        "our p_KPSS and p_BDS are p-values. In p, p_KPSS counts as 0.99 if the test accepts stationarity, because \
         otherwise the paper's p could not be 0.99 with the p_KPSS of its table",
        "a is relative to the longest run, as it is in the paper's table (for row 512, 50 % this gives 0.368, and the table \
         prints 0.365); the paper's equation 3 divides by the time at 1e-9, and so does `warpbound pwcet`",
        "p_EI of rows 512, 25 % and 64, 25 % is not legible in our copy of the paper",
    ];
    notes.extend(fixed.map(str::to_owned));
    if rows.iter().any(|row| row.ours.is_some()) {
        notes.push(
            "`against` lists our tests that reject: KPSS, BDS, EI (theta below 0.9), the fit, or ties in the tail. A \
             rejection by BDS matters only if EI is rejected as well. `upper` is the upper 95 % limit of the time at \
             1e-9 by profile likelihood; - means that there is none"
                .to_owned(),
        );
        notes.push(
            "for simulated series with 100 of 1000 runs above the threshold, the 95 % interval of theta contains the \
             true value in 88 to 99 % of the cases. It is 0.1 to 0.3 wide. It distinguishes clusters of two from large \
            times that occur \
             alone, but it does not distinguish an index of 0.8 from 1"
                .to_owned(),
        );
    }
    let most = rows.iter().filter_map(|row| row.exceedances).max().unwrap_or(0) as u64;
    if most * 5 > runs {
        notes.push(format!(
            "up to {most} of {runs} runs exceed u. With so few runs the \"tail\" is {:.0} % of them, and tests reject \
             little. With --runs 1000, the default, or more runs, the tail is a tenth of them; figures 3 and 4 of the \
             paper show its k",
            100.0 * most as f64 / runs as f64
        ));
    }
    notes
}

/// Returns by how many percent a time exceeds another.
fn above(time: f64, other: f64) -> f64 {
    if other > 0.0 { 100.0 * (time - other) / other } else { 0.0 }
}
