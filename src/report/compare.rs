//! Every bound beside what was simulated and what was explored, a line per kernel.

use serde::Serialize;

use super::output::{Origin, Output, Report};
use super::style::Style;
use super::table::Table;
use crate::base::Cycles;
use crate::bound::Standing;
use crate::check::{BoundRow, Checked, Verdict};
use crate::exec::races::TimeDependences;
use crate::machine::Machine;

/// A kernel, or a program with its launches added up. Times are cycles.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CompareResult {
    /// The kernel or program.
    pub kernel: String,
    /// The machine.
    #[serde(flatten)]
    pub origin: Origin,
    /// Blocks, or launches of a program.
    pub blocks: usize,
    /// Warp executions of instructions.
    pub warp_instructions: u64,
    /// Under gto.
    pub makespan_gto: u64,
    /// Under lrr.
    pub makespan_lrr: u64,
    /// The worst case over all work-conserving schedules, where it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub explored_worst: Option<u64>,
    /// Where it is not: what it is at least.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub explored_worst_at_least: Option<u64>,
    /// Every bound.
    pub bounds: Vec<Value>,
    /// The proved bound with the smallest value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tightest_proved: Option<&'static str>,
}

/// A bound's value.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Value {
    /// The bound.
    pub name: &'static str,
    /// Cycles, where it applies.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<u64>,
}

/// The worst case of a launch as far as exploration came: blocks add up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Explored {
    /// Exactly this.
    Exactly(Cycles),
    /// At least this; some block has more states than the fuel allows, or somebody ended the command.
    AtLeast(Cycles),
    /// Some block, or the machine, is of a kind that exploration does not handle.
    NotHandled,
}

impl Explored {
    /// The schedules of a path that depends on the schedule say nothing.
    #[must_use]
    pub fn of_paths(self, dependences: &TimeDependences) -> Self {
        if dependences.is_empty() { self } else { Self::NotHandled }
    }

    /// One after the other.
    #[must_use]
    pub fn and(self, next: Self) -> Self {
        match (self, next) {
            (Self::NotHandled, _) | (_, Self::NotHandled) => Self::NotHandled,
            (Self::Exactly(sum), Self::Exactly(worst)) => Self::Exactly(sum + worst),
            (Self::Exactly(sum) | Self::AtLeast(sum), Self::Exactly(worst) | Self::AtLeast(worst)) => {
                Self::AtLeast(sum + worst)
            }
        }
    }
}

impl CompareResult {
    /// From runs under gto and lrr.
    pub fn new(kernel: String, machine: &Machine, [gto, lrr]: &[Checked; 2], explored: Explored) -> Self {
        let (exactly, at_least) = match explored {
            Explored::Exactly(worst) => (Some(worst.get()), None),
            Explored::AtLeast(worst) => (None, Some(worst.get())),
            Explored::NotHandled => (None, None),
        };
        let value =
            |row: &BoundRow| Value { name: row.name, value: row.value.as_ref().ok().map(|v| v.get()) };
        Self {
            kernel,
            origin: Origin::new(machine),
            blocks: gto.blocks.len(),
            warp_instructions: gto.warp_instructions,
            makespan_gto: gto.makespan.get(),
            makespan_lrr: lrr.makespan.get(),
            explored_worst: exactly,
            explored_worst_at_least: at_least,
            bounds: gto.judged().map(value).collect(),
            tightest_proved: tightest(&gto.bounds),
        }
    }
}

/// The proved bound with the smallest value.
fn tightest(rows: &[BoundRow]) -> Option<&'static str> {
    let proved =
        rows.iter().filter(|row| row.standing == Standing::Proved && row.verdict() == Verdict::Holds);
    proved
        .filter_map(|row| Some((row.value.as_ref().ok()?, row.name)))
        .min_by_key(|(value, _)| *value)
        .map(|(_, name)| name)
}

impl Report for Output<CompareResult> {
    fn text(&self, style: Style) -> String {
        let Some(first) = self.results.first() else { return self.batch.text() };
        let names: Vec<&str> = first.bounds.iter().map(|bound| bound.name).collect();
        // instructions and blocks go first, then bounds from the right
        let expendable: Vec<usize> = [2, 1].into_iter().chain((6..6 + names.len()).rev()).collect();
        let heading = ["kernel", "blocks", "warp insts", "gto", "lrr", "explored worst"];
        let heading = heading.into_iter().chain(names).chain(["tightest proved"]);
        let mut table = Table::new(heading, &[0]).expendable(expendable);
        for row in &self.results {
            let explored = match (row.explored_worst, row.explored_worst_at_least) {
                (Some(worst), _) => worst.to_string(),
                (None, Some(worst)) => format!(">= {worst}"),
                (None, None) => "-".to_owned(),
            };
            let numbers = [
                row.kernel.clone(),
                row.blocks.to_string(),
                row.warp_instructions.to_string(),
                row.makespan_gto.to_string(),
                row.makespan_lrr.to_string(),
                explored,
            ];
            let value = |bound: &Value| bound.value.map_or_else(|| "-".to_owned(), |value| value.to_string());
            let tightest = row.tightest_proved.unwrap_or("-").to_owned();
            table.row(numbers.into_iter().chain(row.bounds.iter().map(value)).chain([tightest]));
        }
        table.render(0, style.width) + &self.batch.text()
    }
}
