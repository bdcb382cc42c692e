//! Plots like figures 2 to 4 of the paper: measured and fitted times against probabilities.

use super::claims::block_counts;
use super::published::TABLE_1;
use super::{DiagxtrmResult, TraceRow};
use crate::pwcet::{PwcetResult, exceedances};

/// The percentages of the on-chip memory that are L1, in descending order as in the paper.
const L1: [u32; 3] = [75, 50, 25];

/// Returns the file name for figure 2: a single configuration.
fn alone(blocks: u32, l1_percent: u32) -> String {
    format!("fig2-{blocks}-blocks-{l1_percent}.svg")
}

/// Returns the file name for figure 3: each size of L1 with one number of blocks.
fn of_blocks(blocks: u32) -> String {
    format!("fig3-{blocks}-blocks.svg")
}

/// Returns the file name for figure 4: each number of blocks with one size of L1.
fn of_l1(l1_percent: u32) -> String {
    format!("fig4-{l1_percent}.svg")
}

/// Returns the names of all files that may be written.
pub fn names() -> Vec<String> {
    let fig2 = TABLE_1.iter().map(|trace| alone(trace.blocks, trace.l1_percent));
    fig2.chain(block_counts().into_iter().map(of_blocks)).chain(L1.map(of_l1)).collect()
}

impl DiagxtrmResult {
    /// Returns every plot for which there is a curve: the name of its file, and the SVG.
    pub fn plots(&self) -> Vec<(String, String)> {
        let mut plots = Vec::new();
        for row in &self.rows {
            if let Some(result) = &row.analysed {
                plots.push((alone(row.blocks, row.l1_percent), result.exceedance().svg));
            }
        }
        for blocks in block_counts() {
            let times = format!("cycles with {blocks} blocks, by percent of L1");
            let label = |row: &TraceRow| format!("{} %", row.l1_percent);
            plots.extend(self.side_by_side(of_blocks(blocks), &times, |row| row.blocks == blocks, label));
        }
        for l1 in L1 {
            let times = format!("cycles with {l1} % L1, by number of blocks");
            let label = |row: &TraceRow| row.blocks.to_string();
            plots.extend(self.side_by_side(of_l1(l1), &times, |row| row.l1_percent == l1, label));
        }
        plots
    }

    /// Combines equal curves into one with all their labels.
    fn side_by_side(
        &self,
        name: String,
        times: &str,
        wanted: impl Fn(&TraceRow) -> bool,
        label: impl Fn(&TraceRow) -> String,
    ) -> Option<(String, String)> {
        let mut curves: Vec<(String, &PwcetResult)> = Vec::new();
        for row in self.rows.iter().filter(|row| wanted(row)) {
            let Some(result) = row.analysed.as_deref() else { continue };
            match curves.iter_mut().find(|(_, known)| known.analysis == result.analysis) {
                Some((labels, _)) => *labels = format!("{labels}, {}", label(row)),
                None => curves.push((label(row), result)),
            }
        }
        (!curves.is_empty()).then(|| (name, exceedances(times, &curves)))
    }
}
