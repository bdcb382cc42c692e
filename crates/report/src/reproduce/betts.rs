//! Table II of Betts and Donaldson, "Estimating the WCET of GPU-Accelerated Applications using
//! Hybrid Analysis", ECRTS 2013: 25 kernels of the CUDA SDK 4.0 on GPGPU-Sim's Tesla C2050, and our
//! launches of the same kind.
//!
//! The paper distinguishes the kernels of an application by number only. Ours are numbered in the
//! usual order of the algorithms: from the sort in shared memory to the merge, and from the plain
//! version to the optimised one. They are smaller and have our own code: a row has a kernel of the
//! same kind, not the same program.

use std::fmt::Write;

use serde::Serialize;

use crate::Fraction;
use crate::style::Style;
use crate::table::Table;
use warpbound_core::base::Cycles;
use warpbound_hybrid::{Estimate, Estimates, Observed};

use Printed::{BelowOne, Percent};

/// The paper.
pub const PAPER: &str = "Betts and Donaldson, ECRTS 2013";

/// A difference from the high-water mark as the paper prints it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Printed {
    /// A whole percentage. The paper says "rounded up"; all but two are rounded to the nearest (see
    /// [`MISPRINTED`]).
    Percent(u64),
    /// "< 1%".
    BelowOne,
}

/// A row of Table II. Times are in cycles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// The name of the kernel in the paper.
    pub kernel: &'static str,
    /// Our embedded launch of this kind.
    pub launch: &'static str,
    /// The longest of the 1000 runs, end to end.
    pub high_water: u64,
    /// The estimate for a warp alone, `Z_warp`.
    pub warp: u64,
    /// `Z_dynamic` (equation 1): `Z_warp` plus the longest observed delay of a last warp.
    pub dynamic: u64,
    /// `dynamic` above `high_water`.
    pub dynamic_overestimation: Printed,
    /// `Z_hybrid` (equation 2), in which warps are delayed one after the other, in waves.
    pub hybrid: u64,
    /// `hybrid` above `high_water`.
    pub hybrid_overestimation: Printed,
}

/// Returns a row; the times are high-water mark, warp, dynamic and hybrid.
const fn row(kernel: &'static str, launch: &'static str, times: [u64; 4], over: [Printed; 2]) -> Row {
    let [high_water, warp, dynamic, hybrid] = times;
    let [dynamic_overestimation, hybrid_overestimation] = over;
    Row { kernel, launch, high_water, warp, dynamic, dynamic_overestimation, hybrid, hybrid_overestimation }
}

/// Table II, in its order.
pub const TABLE_II: [Row; 25] = [
    row(
        "BitonicSort-1",
        "bitonic_shared_waves",
        [1_045_259, 173_548, 1_186_941, 6_929_575],
        [Percent(14), Percent(563)],
    ),
    row(
        "BitonicSort-2",
        "bitonic_step_waves",
        [101_582, 7769, 107_222, 1_438_780],
        [Percent(6), Percent(1316)],
    ),
    row(
        "BitonicSort-3",
        "bitonic_merge_waves",
        [264_934, 39_091, 296_152, 2_448_819],
        [Percent(12), Percent(824)],
    ),
    row(
        "BlackScholes",
        "blackscholes",
        [793_333, 408_700, 1_080_880, 2_138_670],
        [Percent(36), Percent(170)],
    ),
    row(
        "EigenValues-1",
        "eigen_intervals",
        [1_143_429, 2_801_330, 2_801_337, 2_801_337],
        [Percent(145), Percent(145)],
    ),
    row(
        "EigenValues-2",
        "eigen_single",
        [1_811_709, 4_190_040, 4_190_047, 4_190_047],
        [Percent(131), Percent(131)],
    ),
    row(
        "EigenValues-3",
        "eigen_cluster",
        [2_576_497, 10_292_800, 10_292_807, 10_292_807],
        [Percent(299), Percent(299)],
    ),
    row(
        "Histogram-1",
        "histogram64_partial",
        [181_164, 1_274_430, 1_274_469, 1_274_469],
        [Percent(603), Percent(603)],
    ),
    row(
        "Histogram-2",
        "histogram64_merge_waves",
        [1_220_518, 69_455, 1_266_381, 2_884_400],
        [Percent(4), Percent(136)],
    ),
    row("MatrixMultiply", "sgemm_naive", [3642, 4678, 4680, 4680], [Percent(29), Percent(29)]),
    row(
        "MatrixTranspose-1",
        "transpose_naive_waves",
        [97_303, 23_364, 117_330, 2_661_646],
        [Percent(21), Percent(2635)],
    ),
    row(
        "MatrixTranspose-2",
        "transpose_conflict_waves",
        [40_621, 6734, 44_747, 1_314_576],
        [Percent(10), Percent(3136)],
    ),
    row(
        "MatrixTranspose-3",
        "transpose_padded_waves",
        [39_671, 6406, 43_268, 898_864],
        [Percent(9), Percent(2166)],
    ),
    row(
        "MatrixTranspose-4",
        "transpose_diagonal_waves",
        [27_807, 6276, 32_282, 371_462],
        [Percent(16), Percent(1236)],
    ),
    row("Reduction-1", "reduce0", [2158, 4548, 4555, 4555], [Percent(111), Percent(111)]),
    row("Reduction-2", "reduce1", [2407, 6442, 6449, 6449], [Percent(168), Percent(168)]),
    row("Reduction-3", "reduce2", [2625, 4583, 4590, 4590], [Percent(75), Percent(75)]),
    row("Reduction-4", "reduce3", [1947, 3906, 3913, 3913], [Percent(101), Percent(101)]),
    row("Reduction-5", "reduce4", [1880, 2580, 2587, 2587], [Percent(38), Percent(38)]),
    row("Reduction-6", "reduce5", [1645, 2196, 2203, 2203], [Percent(34), Percent(34)]),
    row(
        "ScalarProduct",
        "dotprod_waves",
        [107_625, 684_002, 744_425, 1_378_438],
        [Percent(591), Percent(1181)],
    ),
    row("Scan-1", "scan_naive_waves", [98_838, 52_350, 146_603, 4_097_887], [Percent(48), Percent(4064)]),
    row("Scan-2", "scan_blelloch", [34_116, 50_886, 50_893, 50_893], [Percent(49), Percent(49)]),
    row("Scan-3", "scan_padded_waves", [46_328, 2417, 47_940, 373_170], [Percent(3), Percent(705)]),
    row("VectorAdd", "vecadd", [656, 652, 659, 659], [BelowOne, BelowOne]),
];

/// The means of both differences over all rows, in percent, as the paper's text states them.
pub const MEANS: [u64; 2] = [102, 796];

/// The printed percentages that are not the nearest to those computed from the times beside them:
/// the kernel, the printed value and the computed one. The first is truncated. In the second, two
/// digits must have been swapped: only 4046 yields the mean that the text states.
pub const MISPRINTED: [(&str, u64, u64); 2] = [("ScalarProduct", 591, 592), ("Scan-1", 4064, 4046)];

/// Table II with our numbers.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct BettsResult {
    /// The name of the table.
    pub table: &'static str,
    /// The paper.
    pub paper: &'static str,
    /// The machine of our runs.
    pub machine: &'static str,
    /// The number of runs of each kernel, each with its own random data.
    pub runs: u64,
    /// The kernels.
    pub rows: Vec<BettsRow>,
    /// The means of our `dynamic_overestimation`, `hybrid_overestimation`, `blocks_overestimation` and `sections_overestimation`, in
    /// percent.
    pub means: [Fraction; 4],
    /// The first two of these means in the paper.
    pub published_means: [u64; 2],
    /// Differences from the paper that matter for the comparison.
    pub notes: Vec<&'static str>,
}

/// A kernel. Times are in cycles, differences in percent of the longest run.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct BettsRow {
    /// The name of the kernel in the paper.
    pub kernel: &'static str,
    /// Our launch.
    pub launch: &'static str,
    /// Every executed instruction of all runs, counted once per warp that executed it.
    pub warp_instructions: u64,
    /// The longest run.
    pub high_water: u64,
    /// The estimate Z_warp.
    pub z_warp: u64,
    /// The estimate Z_dynamic.
    pub z_dynamic: u64,
    /// Z_dynamic above the longest run.
    pub dynamic_overestimation: Fraction,
    /// The paper's difference; 1 stands for a difference below 1.
    pub published_dynamic_overestimation: u64,
    /// The estimate Z_hybrid.
    pub z_hybrid: u64,
    /// Z_hybrid above the longest run.
    pub hybrid_overestimation: Fraction,
    /// The paper's difference; 1 stands for a difference below 1.
    pub published_hybrid_overestimation: u64,
    /// Our own estimate, with waves of blocks as the block scheduler made them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hybrid_blocks: Option<u64>,
    /// `hybrid_blocks` above the longest run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blocks_overestimation: Option<Fraction>,
    /// Our own estimate, with waves of blocks and sections between barriers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hybrid_sections: Option<u64>,
    /// `hybrid_sections` above the longest run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sections_overestimation: Option<Fraction>,
    /// The number of waves by the paper's rule, and the most blocks that a CTA slot of an SM held
    /// one after the other.
    pub waves: [u64; 2],
    /// The names of the estimates that are less than the longest run.
    pub below_high_water: Vec<&'static str>,
}

impl BettsRow {
    /// Returns the results for a kernel.
    pub fn new(published: &Row, warp_instructions: u64, observed: &Observed, found: &Estimates) -> Self {
        let over = |value: Cycles| {
            let mark = found.high_water.get() as f64;
            Fraction(if mark > 0.0 { 100.0 * (value.get() as f64 - mark) / mark } else { 0.0 })
        };
        let printed = |printed| match printed {
            Percent(percent) => percent,
            BelowOne => 1,
        };
        let mut below = Vec::new();
        let blocks = found.blocks;
        let sections = found.sections.as_ref().ok().map(|sections| sections.hybrid);
        let named: [(&'static str, Option<Estimate>); 5] = [
            ("z_warp", Some(found.warp)),
            ("z_dynamic", Some(found.dynamic)),
            ("z_hybrid", Some(found.hybrid)),
            ("hybrid_blocks", blocks),
            ("hybrid_sections", sections),
        ];
        for (name, estimate) in named {
            if estimate.is_some_and(|estimate| estimate.below_high_water) {
                below.push(name);
            }
        }
        Self {
            kernel: published.kernel,
            launch: published.launch,
            warp_instructions,
            high_water: found.high_water.get(),
            z_warp: found.warp.value.get(),
            z_dynamic: found.dynamic.value.get(),
            dynamic_overestimation: over(found.dynamic.value),
            published_dynamic_overestimation: printed(published.dynamic_overestimation),
            z_hybrid: found.hybrid.value.get(),
            hybrid_overestimation: over(found.hybrid.value),
            published_hybrid_overestimation: printed(published.hybrid_overestimation),
            hybrid_blocks: blocks.map(|estimate| estimate.value.get()),
            blocks_overestimation: blocks.map(|estimate| over(estimate.value)),
            hybrid_sections: sections.map(|estimate| estimate.value.get()),
            sections_overestimation: sections.map(|estimate| over(estimate.value)),
            waves: [observed.waves.waves, observed.blocks.map_or(0, |blocks| blocks.waves)],
            below_high_water: below,
        }
    }
}

impl BettsResult {
    /// Returns the table of these kernels.
    pub fn new(machine: &'static str, runs: u64, rows: Vec<BettsRow>) -> Self {
        let mean = |of: fn(&BettsRow) -> Option<Fraction>| {
            let values: Vec<f64> = rows.iter().filter_map(of).map(|value| value.0).collect();
            Fraction(values.iter().sum::<f64>() / values.len().max(1) as f64)
        };
        Self {
            table: "Table II",
            paper: PAPER,
            machine,
            runs,
            means: [
                mean(|row| Some(row.dynamic_overestimation)),
                mean(|row| Some(row.hybrid_overestimation)),
                mean(|row| row.blocks_overestimation),
                mean(|row| row.sections_overestimation),
            ],
            published_means: MEANS,
            notes: NOTES.to_vec(),
            rows,
        }
    }

    /// Returns the table as text for people.
    pub fn text(&self, style: Style) -> String {
        let heading = format!(
            "{}, {}: estimates above the longest of {} random runs, ours and the paper's\n\n",
            self.table, self.paper, self.runs
        );
        let mut text = style.fill(&style.strong(&heading));
        let columns = [
            "kernel",
            "launch",
            "longest",
            "z_warp",
            "z_dynamic",
            "overestimation",
            "paper",
            "z_hybrid",
            "overestimation",
            "paper",
            "waves",
            "by blocks",
            "overestimation",
            "waves",
            "by sections",
            "overestimation",
        ];
        let mut table = Table::new(columns, &[0, 1]).expendable([14, 13, 10, 3, 1]);
        let percent = |value: Fraction| format!("{:.0} %", value.0);
        let whole = |value: u64| format!("{value} %");
        for row in &self.rows {
            table.row([
                row.kernel.to_owned(),
                row.launch.to_owned(),
                row.high_water.to_string(),
                row.z_warp.to_string(),
                row.z_dynamic.to_string(),
                percent(row.dynamic_overestimation),
                whole(row.published_dynamic_overestimation),
                row.z_hybrid.to_string(),
                percent(row.hybrid_overestimation),
                whole(row.published_hybrid_overestimation),
                row.waves[0].to_string(),
                row.hybrid_blocks.map_or_else(|| "-".to_owned(), |value| value.to_string()),
                row.blocks_overestimation.map_or_else(|| "-".to_owned(), percent),
                row.waves[1].to_string(),
                row.hybrid_sections.map_or_else(|| "-".to_owned(), |value| value.to_string()),
                row.sections_overestimation.map_or_else(|| "-".to_owned(), percent),
            ]);
        }
        text.push_str(&table.render(0, style.width));
        let [dynamic, hybrid, blocks, sections] = self.means;
        let [published_dynamic, published_hybrid] = self.published_means;
        let _ = writeln!(
            text,
            "\nmeans: z_dynamic {} (the paper's {published_dynamic} %), z_hybrid {} (the paper's {published_hybrid} %), by blocks {}, by sections {}",
            percent(dynamic),
            percent(hybrid),
            percent(blocks),
            percent(sections)
        );
        for row in self.rows.iter().filter(|row| row.below_high_water.iter().any(|name| *name != "z_warp")) {
            let _ =
                writeln!(text, "{}: below the longest run: {}", row.kernel, row.below_high_water.join(", "));
        }
        for note in &self.notes {
            text.push_str(&style.fill(&format!("note: {note}\n")));
        }
        text
    }
}

/// Differences from the paper that matter for the comparison.
const NOTES: &[&str] = &[
    "our kernels are of the same kind, but smaller and with our own code: the rows are not the paper's programs",
    "the paper runs GPGPU-Sim; our times are those of the machine fermi-c2050, whose latencies are chosen here",
    "z_warp is for one warp and need not exceed the longest run; `by blocks` counts waves from the starts and ends of blocks, `by sections` leaves out the time for which warps wait for others at barriers",
];

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the differences computed from the times of a row: dynamic and hybrid above the
    /// high-water mark, in percent.
    fn computed(row: &Row) -> [f64; 2] {
        [row.dynamic, row.hybrid].map(|z| 100.0 * (z - row.high_water) as f64 / row.high_water as f64)
    }

    #[test]
    fn percentages_are_those_of_the_times() {
        let mut misprinted = Vec::new();
        for row in TABLE_II {
            for (computed, printed) in
                computed(&row).into_iter().zip([row.dynamic_overestimation, row.hybrid_overestimation])
            {
                match printed {
                    BelowOne => assert!(computed < 1.0, "{}", row.kernel),
                    Percent(printed) if computed.round() as u64 == printed => {}
                    Percent(printed) => misprinted.push((row.kernel, printed, computed.round() as u64)),
                }
            }
        }
        assert_eq!(misprinted, MISPRINTED);
    }

    #[test]
    fn the_means_of_the_text_are_those_of_the_times() {
        for (at, mean) in MEANS.into_iter().enumerate() {
            let sum: f64 = TABLE_II.iter().map(|row| computed(row)[at]).sum();
            assert_eq!((sum / TABLE_II.len() as f64).round() as u64, mean);
        }
        // with the misprinted value, the mean would be different
        let sum: f64 = TABLE_II.iter().map(|row| computed(row)[1]).sum();
        assert_ne!(((sum + 4064.0 - 4046.0) / TABLE_II.len() as f64).round() as u64, MEANS[1]);
    }

    /// Every estimate includes a warp's time, and more waves only increase it.
    #[test]
    fn estimates_are_ordered() {
        for Row { kernel, warp, high_water, dynamic, hybrid, .. } in TABLE_II {
            assert!(warp < dynamic && high_water < dynamic && dynamic <= hybrid, "{kernel}");
        }
    }

    #[test]
    fn every_row_has_a_launch_of_its_own() {
        for of in [|row: &Row| row.kernel, |row: &Row| row.launch] {
            let names: std::collections::BTreeSet<_> = TABLE_II.iter().map(of).collect();
            assert_eq!(names.len(), TABLE_II.len());
        }
    }
}
