//! Every block of a small grammar against the bounds.

use std::fmt::Write;

use serde::Serialize;

use super::output::{Output, Report, Stopped};
use super::style::Style;
use super::table::Table;
use crate::explore::grammar::{Grammar, Summary, Tally};

/// What the blocks show. Times are cycles.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct EvidenceResult {
    /// Warps of a block.
    pub warps: usize,
    /// Instructions of a warp.
    pub instructions: usize,
    /// Blocks looked at.
    pub blocks: u64,
    /// Blocks that were to be looked at.
    pub all_blocks: u64,
    /// Blocks they stand for, renamings of units included. All counts below are of these.
    pub stands_for: u64,
    /// Schedules followed to their end, of the blocks looked at.
    pub schedules: u64,
    /// Sum of the worst makespans.
    pub worst_sum: u64,
    /// Each bound.
    pub bounds: Vec<Judged>,
}

/// What became of a bound.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Judged {
    /// The bound.
    pub name: &'static str,
    /// Blocks whose worst case exceeds it.
    pub violated: u64,
    /// Blocks in which a warp exceeds what the bound says of it.
    pub warp_violated: u64,
    /// Blocks whose worst case it is, to the cycle.
    pub exact: u64,
    /// Sum of its values.
    pub sum: u64,
    /// The block that comes closest.
    pub closest: Closest,
    /// The first blocks that violate it.
    pub first_violations: Vec<Violation>,
}

/// A block and how close it comes.
#[derive(Clone, Copy, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Closest {
    /// Its worst makespan.
    pub makespan: u64,
    /// The bound.
    pub value: u64,
    /// Its number.
    pub block: u64,
}

/// A block that violates a bound.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Violation {
    /// Its number.
    pub block: u64,
    /// What it is.
    pub is: String,
}

impl EvidenceResult {
    /// What was found in `all_blocks` blocks of a grammar, or as many of them as were looked at.
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
                let _ = write!(text, "\n{} is broken first by\n{}\n", bound.name, found.is);
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
