//! The report of the divergence of branches.

use std::fmt::Write;

use serde::Serialize;

use super::Fraction;
use super::source_line::{self, MadeFrom, SourceLine};
use super::style::Style;
use super::table::Table;
use warpbound_core::base::Pc;
use warpbound_exec::divergence::{BranchUse, Divergence};

/// The divergence of a launch.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct DivergenceReport {
    /// Thread instructions divided by 32 times warp instructions.
    pub simd_efficiency: Fraction,
    /// Warp instructions with 0, 1, .. 32 active lanes.
    pub active_lanes: Vec<u64>,
    /// The executed conditional branches and branch tables, in program order.
    pub branches: Vec<Branch>,
}

/// A branch.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Branch {
    /// Its line in the source.
    pub line: u32,
    /// The text of the line.
    pub text: String,
    /// The line of CUDA C++ from which a compiler made the branch, if the PTX states it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<MadeFrom>,
    /// Its index in the program.
    pub pc: u32,
    /// Executions, counted once per warp.
    pub executions: u64,
    /// Executions in which the lanes diverged.
    pub diverged: u64,
    /// Lanes that took the branch, summed over executions.
    pub taken_lanes: u64,
    /// Lanes that did not take it, summed over executions.
    pub not_taken_lanes: u64,
    /// Executions with 0, 1, .. 32 active lanes.
    pub active_lanes: Vec<u64>,
}

impl DivergenceReport {
    /// Returns the report, or `None` if the launch has no conditional branches. `place` returns the
    /// place of an instruction.
    pub fn new(divergence: &Divergence, place: &dyn Fn(Pc) -> SourceLine) -> Option<Self> {
        let branch = |(b, SourceLine { line, text, source, .. }): (&BranchUse, SourceLine)| Branch {
            line,
            text,
            source,
            pc: b.pc.get(),
            executions: b.executions,
            diverged: b.diverged,
            taken_lanes: b.taken_lanes,
            not_taken_lanes: b.not_taken_lanes,
            active_lanes: b.active.counts().to_vec(),
        };
        let branches: Vec<Branch> = divergence.branches().map(|b| (b, place(b.pc))).map(branch).collect();
        (!branches.is_empty()).then(|| Self {
            simd_efficiency: Fraction(divergence.simd_efficiency()),
            active_lanes: divergence.active().counts().to_vec(),
            branches,
        })
    }

    /// Returns a table of the `most` branches that were executed most often.
    pub fn table(&self, most: usize, style: Style) -> String {
        let mut rows: Vec<&Branch> = self.branches.iter().collect();
        // the sort is stable: equals stay in program order
        rows.sort_by_key(|branch| std::cmp::Reverse(branch.executions));
        let mut table =
            Table::new(["executed", "diverged", "lanes taken", "not taken", "line: branch"], &[4]);
        for branch in rows.iter().take(most) {
            table.row([
                branch.executions.to_string(),
                branch.diverged.to_string(),
                branch.taken_lanes.to_string(),
                branch.not_taken_lanes.to_string(),
                source_line::shown(branch.line, &branch.text, branch.source.as_ref()),
            ]);
        }
        let mut shown = format!("\n{}", table.render(2, style.width));
        if rows.len() > most {
            let _ = writeln!(shown, "  ... and {} more branches (-v lists all)", rows.len() - most);
        }
        let _ = writeln!(shown, "  SIMD efficiency {:.1} %", self.simd_efficiency.0 * 100.0);
        shown
    }
}
