//! The verdict on a bound, for scripts and for people.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::Fraction;
use super::style::Style;
use super::table::Table;
use warpbound_bound::{Guarantee, Standing};
use warpbound_core::base::Cycles;
use warpbound_judge::check::{BoundRow, PartRow, Verdict, overestimation};

/// A verdict without its reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// The makespan is at most the bound.
    Holds,
    /// The makespan exceeds the bound.
    Violated,
    /// A premise of the bound does not hold.
    NotApplicable,
    /// The bound applies, but the analysis done does not suffice for a verdict.
    Undecided,
}

impl Status {
    /// Returns the status of a verdict.
    pub fn of(verdict: &Verdict) -> Self {
        match verdict {
            Verdict::Holds => Self::Holds,
            Verdict::Violated => Self::Violated,
            Verdict::NotApplicable(_) => Self::NotApplicable,
            Verdict::Undecided(_) => Self::Undecided,
        }
    }

    /// Returns the status as coloured text.
    pub fn text(self, style: Style) -> String {
        match self {
            Self::Holds => style.paint("32", "holds"),
            Self::Violated => style.paint("1;31", "VIOLATED"),
            Self::NotApplicable => style.paint("33", "not-applicable"),
            Self::Undecided => style.paint("33", "undecided"),
        }
    }
}

/// A bound and its verdict.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Bound {
    /// The name of the bound.
    pub name: &'static str,
    /// The value in cycles; absent if the bound does not apply.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<u64>,
    /// The verdict.
    pub status: Status,
    /// Why the bound has no value or no verdict. Only the bounds on the whole run state the reason.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// (bound - makespan) / makespan.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overestimation: Option<Fraction>,
    /// The parts that the value consists of; absent if they are not known.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<BoundPart>,
    /// Whether the bound decides the exit code; absent if it does.
    #[serde(skip_serializing_if = "is_true")]
    pub gates: bool,
    /// Whether the bound is proved.
    #[serde(skip)]
    pub proved: bool,
}

/// A part of a bound.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct BoundPart {
    /// What the cycles are counted for: `alone` (the time that the warps which decide the bound take
    /// alone), `units` (initiations in functional units; beside `alone`, those of other warps),
    /// `slots` (issue slots of other warps), `exec-phases` (of other warps), `sub-cores` (changes of
    /// the sub-core), `latency` (latencies of the longest path of each block; beside `alone`, those
    /// of the blocks that were on the SM before), `last-blocks` (the initiations of the blocks that
    /// an SM receives last), `launch` (costs of launching), `load-store` (transactions), `memory`
    /// (crossbar and slices), `dram`, `misses` (waits until a cache can track another fetch),
    /// `operands` (reads of the operand collector), `results` (results that leave together),
    /// `fetch`, or `instruction-cache` (cold misses).
    pub part: Cow<'static, str>,
    /// The unit of the initiations, if they are listed by unit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
    /// The number of cycles.
    pub cycles: u64,
}

impl BoundPart {
    /// Returns the part of a bound.
    pub fn new(part: &PartRow) -> Self {
        Self { part: part.part.name().into(), unit: part.unit.clone(), cycles: part.cycles.get() }
    }

    /// Returns the name of the part, with that of the unit.
    pub fn name(&self) -> Cow<'_, str> {
        match &self.unit {
            Some(unit) => format!("{} {unit}", self.part).into(),
            None => self.part.as_ref().into(),
        }
    }
}

impl Bound {
    /// Returns the bound on a whole run.
    pub fn of_run(row: &BoundRow, makespan: Cycles) -> Self {
        let part = Self::of_part(row, row.value.as_ref().ok().map(|value| value.cycles()), makespan);
        Self {
            status: Status::of(&row.verdict()),
            reason: row.value.as_ref().err().cloned(),
            gates: row.gates,
            proved: row.standing == Standing::Proved,
            parts: row.parts.iter().map(BoundPart::new).collect(),
            ..part
        }
    }

    /// Returns the bound on a part of a run.
    pub fn of_part(row: &BoundRow, value: Option<Cycles>, makespan: Cycles) -> Self {
        Self {
            name: row.name,
            value: value.map(Cycles::get),
            status: match value {
                None => Status::NotApplicable,
                Some(value) if makespan > value => Status::Violated,
                Some(_) => Status::Holds,
            },
            reason: None,
            overestimation: value.and_then(|value| overestimation(value, makespan)).map(Fraction),
            parts: Vec::new(),
            gates: true,
            proved: false,
        }
    }

    /// Returns the bound on every possible makespan. The verdict is the one on the worst case;
    /// `worst` is the makespan of the worst case, if it is known.
    pub fn of_worst_case(
        name: &'static str,
        value: Option<Guarantee>,
        verdict: &Verdict,
        worst: Option<Cycles>,
    ) -> Self {
        let value = value.map(Guarantee::cycles);
        let over = value.zip(worst).and_then(|(value, worst)| overestimation(value, worst));
        Self {
            name,
            value: value.map(Cycles::get),
            status: Status::of(verdict),
            reason: verdict.why().map(str::to_owned),
            overestimation: over.map(Fraction),
            parts: Vec::new(),
            gates: true,
            proved: false,
        }
    }

    /// Returns the value as text for a table.
    pub fn value_text(&self) -> String {
        self.value.map_or_else(|| "-".to_owned(), |value| value.to_string())
    }

    /// Returns the overestimation as text for a table.
    pub fn overestimation_text(&self) -> String {
        self.overestimation.map_or_else(|| "-".to_owned(), |over| format!("{:+.1} %", over.0 * 100.0))
    }
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
fn is_true(gates: &bool) -> bool {
    *gates
}

/// Returns the table of bounds, one per line. Premises that do not fit a line have a table of their
/// own below it.
pub fn table(bounds: &[Bound], style: Style) -> String {
    table_with_parts(bounds, smallest_proved(bounds), style)
}

/// Returns the same table with the parts of this bound.
pub fn table_with_parts(bounds: &[Bound], of: Option<&Bound>, style: Style) -> String {
    let mut table = Table::new(["bound", "cycles", "overestimation", "status", ""], &[0, 3, 4]);
    for (index, bound) in bounds.iter().enumerate() {
        // a long reason is printed only once
        let printed = bounds[..index].iter().find(|before| before.reason == bound.reason);
        let more = match (&bound.reason, printed) {
            (Some(reason), _) if is_list(reason) => String::new(),
            (Some(_), Some(before)) => format!("as {}", before.name),
            (Some(reason), None) => reason.clone(),
            (None, _) if !bound.gates => "(does not gate)".to_owned(),
            (None, _) => String::new(),
        };
        let row = [
            bound.name.to_owned(),
            bound.value_text(),
            bound.overestimation_text(),
            bound.status.text(style),
            more,
        ];
        table.row(row);
    }
    table.render(2, style.width)
        + &premises(bounds, style)
        + &of.map_or_else(String::new, |bound| parts(bound, style))
}

/// Reasons longer than this are not shown in the line of a bound if they consist of several parts.
const LONG: usize = 80;

fn is_list(reason: &str) -> bool {
    reason.len() > LONG && reason.contains("; ")
}

/// Returns a table of the premises that each bound does not account for, if the reasons are lists.
fn premises(bounds: &[Bound], style: Style) -> String {
    let mut rows: Vec<(&str, Vec<&str>)> = Vec::new();
    for bound in bounds {
        for part in bound.reason.iter().filter(|reason| is_list(reason)).flat_map(|reason| reason.split("; "))
        {
            match rows.iter_mut().find(|(printed, _)| *printed == part) {
                Some((_, names)) => names.push(bound.name),
                None => rows.push((part, vec![bound.name])),
            }
        }
    }
    if rows.is_empty() {
        return String::new();
    }
    let mut table = Table::new(["not accounted for", "by"], &[0, 1]);
    for (part, names) in rows {
        table.row([part.to_owned(), names.join(" ")]);
    }
    format!("\n{}", table.render(2, style.width))
}

/// Returns the smallest proved bound that applies; it limits every run.
pub fn smallest_proved(bounds: &[Bound]) -> Option<&Bound> {
    let proved = bounds.iter().filter(|bound| bound.proved && bound.status != Status::NotApplicable);
    proved.filter(|bound| bound.value.is_some()).min_by_key(|bound| bound.value)
}

/// Returns a table of the parts of the smallest proved bound, if they are known.
fn parts(bound: &Bound, style: Style) -> String {
    if bound.parts.is_empty() {
        return String::new();
    }
    let mut table = Table::new(["part of bound", "cycles", "share"], &[0]);
    let whole = bound.value.unwrap_or(0).max(1);
    for part in &bound.parts {
        let share = part.cycles as f64 / whole as f64 * 100.0;
        table.row([
            format!("{} {}", bound.name, part.name()),
            part.cycles.to_string(),
            format!("{share:.1} %"),
        ]);
    }
    format!("\n{}", table.render(2, style.width))
}

/// Returns the values of these bounds, for the columns of a table.
pub fn values<'a>(names: &'a [&str], bounds: &'a [Bound]) -> impl Iterator<Item = String> + 'a {
    let of = |name: &&str| bounds.iter().find(|bound| bound.name == *name);
    names.iter().map(move |name| of(name).map_or_else(|| "-".to_owned(), Bound::value_text))
}
