//! The report of the bounds on every block of a small grammar.

use std::fmt::Write;

use serde::Serialize;

use super::output::{Output, Report, Stopped};
use super::style::Style;
use super::table::Table;
use warpbound_judge::explore::grammar::{Grammar, Summary, Tally};

/// The results over all blocks. Times are in cycles.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct EvidenceResult {
    /// The number of warps per block.
    pub warps: usize,
    /// The most instructions per warp.
    pub instructions: usize,
    /// The number of blocks that were checked.
    pub blocks: u64,
    /// The number of blocks that were to be checked.
    pub all_blocks: u64,
    /// The number of blocks that the checked blocks represent, including the blocks that differ
    /// only by a renaming of units. All counts below except `schedules` refer to these.
    pub stands_for: u64,
    /// The number of schedules followed to their end, for the blocks that were checked.
    pub schedules: u64,
    /// The sum of the worst makespans.
    pub worst_sum: u64,
    /// Each bound.
    pub bounds: Vec<Judged>,
}

/// A bound and its results.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Judged {
    /// The name of the bound.
    pub name: &'static str,
    /// The number of blocks whose worst case exceeds the bound.
    pub violated: u64,
    /// The number of blocks in which a warp exceeds its own bound.
    pub warp_violated: u64,
    /// The number of blocks whose worst case equals the bound.
    pub exact: u64,
    /// The sum of the values of the bound.
    pub sum: u64,
    /// The block whose worst case is closest to the bound.
    pub closest: Closest,
    /// The first blocks that violate the bound.
    pub first_violations: Vec<Violation>,
}

/// A block and its distance from a bound.
#[derive(Clone, Copy, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Closest {
    /// The worst makespan of the block.
    pub makespan: u64,
    /// The value of the bound.
    pub value: u64,
    /// The index of the block in the enumeration.
    pub block: u64,
}

/// A block that violates a bound.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Violation {
    /// The index of the block in the enumeration.
    pub block: u64,
    /// The instructions of the block.
    pub is: String,
}

impl EvidenceResult {
    /// Returns the results for `all_blocks` blocks of a grammar, or for as many of them as were
    /// checked.
    pub fn new(
        grammar: &Grammar,
        warps: usize,
        instructions: usize,
        summary: &Summary,
        all_blocks: u64,
    ) -> Self {
        let judged = |tally: &Tally| Judged {
            name: tally.name,
            violated: tally.violated,
            warp_violated: tally.warp_violated,
            exact: tally.tight,
            sum: tally.sum,
            closest: Closest { makespan: tally.closest.0, value: tally.closest.1, block: tally.closest.2 },
            first_violations: tally
                .first
                .iter()
                .map(|&block| Violation { block, is: grammar.describe(block) })
                .collect(),
        };
        Self {
            warps,
            instructions,
            blocks: summary.blocks,
            all_blocks,
            stands_for: summary.stands_for,
            schedules: summary.schedules,
            worst_sum: summary.worst_sum,
            bounds: summary.bounds.iter().map(judged).collect(),
        }
    }

    fn text(&self, style: Style) -> String {
        let average = |sum: u64| format!("{:.3}", sum as f64 / self.stands_for.max(1) as f64);
        let mut text = style.fill(&format!(
            "{} blocks, standing for {} with units renamed; {} schedules; average worst case {} cycles\n\n",
            self.blocks,
            self.stands_for,
            self.schedules,
            average(self.worst_sum)
        ));
        let heading = ["bound", "average", "exact", "violated", "closest worst/bound", "first violation"];
        let mut table = Table::new(heading, &[0, 5]);
        for bound in &self.bounds {
            table.row([
                bound.name.to_owned(),
                average(bound.sum),
                bound.exact.to_string(),
                bound.violated.max(bound.warp_violated).to_string(),
                format!("{}/{}", bound.closest.makespan, bound.closest.value),
                bound
                    .first_violations
                    .first()
                    .map_or_else(String::new, |found| format!("block {}", found.block)),
            ]);
        }
        text.push_str(&table.render(2, style.width));
        for bound in &self.bounds {
            if let Some(found) = bound.first_violations.first() {
                let _ = write!(text, "\n{} is first violated by\n{}\n", bound.name, found.is);
            }
        }
        text
    }
}

impl Report for Output<EvidenceResult> {
    fn text(&self, style: Style) -> String {
        let mut text: String = self.results.iter().map(|result| result.text(style)).collect();
        for result in self.results.iter().filter(|_| !self.batch.complete) {
            let why = self.batch.stopped.map_or("stopped", Stopped::text);
            let _ = writeln!(text, "\nINCOMPLETE: {} of {} blocks, {why}", result.blocks, result.all_blocks);
        }
        text
    }
}
