//! The parts of the smallest proved bound of a run beside the causes of its makespan.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::style::Style;
use super::table::Table;
use super::verdict::{Bound, BoundPart, smallest_proved};
use warpbound_bound::Part;
use warpbound_judge::check::JudgedLaunch;
use warpbound_trace::why::Kind;

/// The smallest proved bound of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct BoundOfRun {
    /// The name of the bound.
    pub name: String,
    /// The value in cycles: the sum of `parts`.
    pub cycles: u64,
    /// The parts that the value consists of.
    pub parts: Vec<BoundPart>,
}

/// What cycles are spent on, in a run or in a bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Cause {
    /// The instructions of the warps on the path, and their waits for results.
    Own,
    /// Functional units and other stages that serve other instructions.
    Busy,
    Slots,
    Fetch,
    Launch,
    /// What no run needs, and the bound adds because it does not know the schedule.
    OnlyInBounds,
}

impl Cause {
    fn of_kind(kind: Kind) -> Self {
        match kind {
            Kind::Latency
            | Kind::Memory
            | Kind::Initiation
            | Kind::Issue
            | Kind::Turn
            | Kind::Barrier
            | Kind::Held => Self::Own,
            Kind::Unit | Kind::UnitFull | Kind::Dispatch => Self::Busy,
            Kind::Slot => Self::Slots,
            Kind::Fetch => Self::Fetch,
            Kind::Launch => Self::Launch,
        }
    }

    fn of_part(part: Part) -> Self {
        match part {
            Part::Alone | Part::Latency | Part::Memory | Part::Dram | Part::Misses => Self::Own,
            Part::Units | Part::ExecPhases | Part::LoadStore | Part::Operands | Part::Results => Self::Busy,
            Part::Slots => Self::Slots,
            Part::Fetch | Part::InstructionCache => Self::Fetch,
            Part::Launch => Self::Launch,
            Part::SubCores | Part::LastBlocks => Self::OnlyInBounds,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Own => "own time",
            Self::Busy => "busy stages",
            Self::Slots => "issue slots",
            Self::Fetch => "fetch",
            Self::Launch => "launch",
            Self::OnlyInBounds => "bound only",
        }
    }
}

/// The cycles of a run and of its bound that have the same cause.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Beside {
    /// The cause.
    pub cause: &'static str,
    /// The cycles of the critical path of the run.
    pub run: u64,
    /// The cycles of the bound.
    pub bound: u64,
    /// The parts of the bound, with their cycles.
    pub parts: String,
    /// The kinds of the path, with their cycles.
    pub kinds: String,
}

impl Beside {
    /// Returns by how many cycles the bound exceeds the run.
    pub fn over(&self) -> i64 {
        i64::try_from(i128::from(self.bound) - i128::from(self.run)).unwrap_or(i64::MAX)
    }
}

impl BoundOfRun {
    /// Returns the smallest proved bound of a run, if there is one whose parts are known.
    pub fn smallest(checked: &JudgedLaunch) -> Option<Self> {
        let bounds: Vec<Bound> = checked.judged().map(|row| Bound::of_run(row, checked.makespan)).collect();
        let bound = smallest_proved(&bounds)?;
        let cycles = bound.value.filter(|_| !bound.parts.is_empty())?;
        Some(Self { name: bound.name.to_owned(), cycles, parts: bound.parts.clone() })
    }

    /// Returns whether the parts add up to the bound.
    pub fn adds_up(&self) -> bool {
        let sum = self.parts.iter().try_fold(0u64, |sum, part| sum.checked_add(part.cycles));
        sum == Some(self.cycles)
    }

    /// Returns the rows of a table: the cycles of each cause in the run and in the bound.
    pub fn beside(&self, kinds: &[(Kind, u64)]) -> Vec<Beside> {
        let mut rows: BTreeMap<Cause, Beside> = BTreeMap::new();
        let blank = |cause: Cause| Beside {
            cause: cause.name(),
            run: 0,
            bound: 0,
            parts: String::new(),
            kinds: String::new(),
        };
        let list = |text: &mut String, name: &str, cycles: u64| {
            let comma = if text.is_empty() { "" } else { ", " };
            text.push_str(&format!("{comma}{name} {cycles}"));
        };
        for &(kind, cycles) in kinds {
            let cause = Cause::of_kind(kind);
            let row = rows.entry(cause).or_insert_with(|| blank(cause));
            row.run = row.run.saturating_add(cycles);
            list(&mut row.kinds, kind.name(), cycles);
        }
        for part in &self.parts {
            let known = Part::ALL.into_iter().find(|known| known.name() == part.part);
            let cause = known.map_or(Cause::OnlyInBounds, Cause::of_part);
            let row = rows.entry(cause).or_insert_with(|| blank(cause));
            row.bound = row.bound.saturating_add(part.cycles);
            list(&mut row.parts, &part.name(), part.cycles);
        }
        rows.into_values().collect()
    }

    /// Returns the text for people.
    pub fn text(&self, kinds: &[(Kind, u64)], style: Style) -> String {
        let heading = format!("the run beside the bound {} of {} cycles", self.name, self.cycles);
        let columns = ["cycles of", "run", "bound", "difference", "parts of the bound", "kinds in the run"];
        let mut table = Table::new(columns, &[0, 4, 5]).expendable([5, 4, 3]);
        let rows = self.beside(kinds);
        for row in &rows {
            table.row([
                row.cause.to_owned(),
                row.run.to_string(),
                row.bound.to_string(),
                format!("{:+}", row.over()),
                row.parts.clone(),
                row.kinds.clone(),
            ]);
        }
        format!("\n  {}\n{}", style.strong(&heading), table.render(2, style.width))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every cycle of the run and of the bound is in one row.
    #[test]
    fn rows_contain_all_cycles() {
        let kinds: Vec<(Kind, u64)> =
            Kind::ALL.iter().enumerate().map(|(bit, &kind)| (kind, 1 << bit)).collect();
        let parts: Vec<BoundPart> = Part::ALL
            .iter()
            .enumerate()
            .map(|(bit, part)| BoundPart { part: part.name().into(), unit: None, cycles: 1 << bit })
            .collect();
        let bound = BoundOfRun { name: "b".to_owned(), cycles: (1 << Part::ALL.len()) - 1, parts };
        assert!(bound.adds_up());
        assert!(!BoundOfRun { cycles: 1, ..bound.clone() }.adds_up());
        let rows = bound.beside(&kinds);
        assert_eq!(rows.iter().map(|row| row.run).sum::<u64>(), (1 << Kind::ALL.len()) - 1);
        assert_eq!(rows.iter().map(|row| row.bound).sum::<u64>(), bound.cycles);
        let slots = rows.iter().find(|row| row.cause == "issue slots").expect("both have slots");
        assert_eq!((slots.parts.as_str(), slots.kinds.as_str()), ("slots 4", "issue-slot 32"));
        assert_eq!(slots.over(), 4 - 32);
    }
}
