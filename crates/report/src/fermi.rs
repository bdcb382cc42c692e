//! The report of the finishing time of the template kernels of Raravi and Andersson, 2010, over all
//! schedules.

use std::fmt::Write;

use serde::Serialize;

use super::Fraction;
use super::output::{Output, Report, Stopped};
use super::style::Style;
use super::table::Table;
use super::verdict::Status;
use warpbound_core::base::Cycles;
use warpbound_judge::check::{Verdict, overestimation};
use warpbound_judge::explore::fermi::{CycleUse, Fairness, FermiBound, FermiMachine, Finishing};

/// The output of `fermi`. Times are in cycles.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct FermiResult {
    /// The machine.
    pub machine: String,
    /// Whether repetition k has priority over repetition k+1.
    pub fairness: bool,
    /// The result, whose form depends on the options.
    #[serde(flatten)]
    pub result: FermiOutcome,
    /// The bounds, and for each the reason why it does not apply, if it does not.
    #[serde(skip)]
    premises: Vec<(FermiBound, Option<&'static str>)>,
}

/// The result, in one of three forms.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum FermiOutcome {
    /// A cell of the table: one number of warps and repetitions.
    Cell(Cell),
    /// A cell with a worst and a best schedule.
    Witness(Witness),
    /// The bounds on a kernel over all SMs.
    Kernel(OfKernel),
}

/// The worst case for some number of warps.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Cell {
    /// The number of warps on an SM.
    pub warps: usize,
    /// The number of repetitions of the template.
    pub rep: usize,
    /// Whether every schedule was followed to its end.
    pub complete: bool,
    /// The longest finishing time, if the search was complete.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worst: Option<u64>,
    /// The shortest finishing time, if the search was complete.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub best: Option<u64>,
    /// The number of states visited, if the search was complete.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub states: Option<usize>,
    /// The bounds.
    pub bounds: Vec<Judged>,
}

/// A bound, judged against the worst case.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Judged {
    /// The name of the bound.
    pub name: &'static str,
    /// The value of the bound.
    pub value: u64,
    /// The verdict.
    pub status: Status,
    /// Why the bound neither holds nor is violated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Whether the worst case equals the bound.
    pub exact: bool,
    /// Whether the worst case exceeds the bound, regardless of the premises of the bound.
    pub exceeded: bool,
    /// (bound - worst) / worst.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overestimation: Option<Fraction>,
}

/// A worst and a best schedule.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Witness {
    /// The number of warps on an SM.
    pub warps: usize,
    /// The number of repetitions of the template.
    pub rep: usize,
    /// The longest finishing time.
    pub worst: u64,
    /// The shortest finishing time.
    pub best: u64,
    /// The bounds.
    pub bounds: Vec<Judged>,
    /// A longest schedule: one string per warp with its instruction in each cycle, `.` for none.
    pub worst_schedule: Vec<String>,
    /// A shortest schedule, in the same form.
    pub best_schedule: Vec<String>,
    #[serde(skip)]
    warp_threads: u32,
}

/// The bounds on a kernel.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct OfKernel {
    /// The number of threads on each SM.
    pub threads: Vec<u32>,
    /// The number of warps on each SM.
    pub warps: Vec<u32>,
    /// The number of repetitions of the template.
    pub rep: usize,
    /// Each bound, with its largest value over the SMs.
    pub bounds: Vec<KernelBound>,
}

/// A bound on a kernel.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct KernelBound {
    /// The name of the bound.
    pub name: &'static str,
    /// The value of the bound, if it applies.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<u64>,
    /// Why the bound does not apply.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<&'static str>,
}

impl FermiResult {
    /// Returns the report of a result on this machine.
    pub fn new(machine: &FermiMachine, fairness: Fairness, result: FermiOutcome) -> Self {
        let premise = |bound: FermiBound| (bound, bound.applicable(machine, fairness).err());
        Self {
            machine: machine.name.clone(),
            fairness: fairness == Fairness::SubBlock,
            result,
            premises: FermiBound::ALL.into_iter().map(premise).collect(),
        }
    }

    fn rule(&self) -> &'static str {
        if self.fairness { "repetition k before k+1" } else { "no fairness rule" }
    }
}

impl Witness {
    /// Returns the cell for what was found.
    pub fn new(
        machine: &FermiMachine,
        warps: usize,
        rep: usize,
        found: &Finishing,
        bounds: Vec<Judged>,
    ) -> Self {
        Self {
            warps,
            rep,
            worst: found.worst.get(),
            best: found.best.get(),
            bounds,
            worst_schedule: rows(&found.worst_schedule, warps),
            best_schedule: rows(&found.best_schedule, warps),
            warp_threads: machine.warp_threads,
        }
    }
}

/// Returns one string per warp with its instruction in each cycle.
fn rows(schedule: &[CycleUse], warps: usize) -> Vec<String> {
    let letter = |warp: usize, used: &CycleUse| {
        used.iter().find(|(w, _)| *w == warp).map_or('.', |(_, op)| op.letter())
    };
    (0..warps).map(|warp| schedule.iter().map(|used| letter(warp, used)).collect()).collect()
}

/// Judges every bound against the worst case, if that is known.
pub fn judge(
    machine: &FermiMachine,
    fairness: Fairness,
    warps: usize,
    rep: usize,
    worst: Option<Cycles>,
) -> Vec<Judged> {
    let of_bound = |bound: FermiBound| {
        let value = bound.value(warps, rep);
        let verdict = match (bound.applicable(machine, fairness), worst) {
            (Ok(()), None) => Verdict::Undecided("the exploration is incomplete".to_owned()),
            (Ok(()), Some(worst)) => {
                if worst <= value {
                    Verdict::Holds
                } else {
                    Verdict::Violated
                }
            }
            (Err(reason), _) => Verdict::NotApplicable(reason.to_owned()),
        };
        Judged {
            name: bound.name(),
            value: value.get(),
            status: Status::of(&verdict),
            reason: verdict.why().map(str::to_owned),
            exact: worst == Some(value),
            exceeded: worst.is_some_and(|worst| worst > value),
            overestimation: worst.and_then(|worst| overestimation(value, worst)).map(Fraction),
        }
    };
    FermiBound::ALL.into_iter().map(of_bound).collect()
}

impl Judged {
    fn verdict_text(&self, style: Style) -> String {
        match (self.status, self.exact, self.exceeded) {
            (Status::Violated, ..) => "TOO LOW".to_owned(),
            (Status::Holds, true, _) => "exact".to_owned(),
            (Status::NotApplicable, _, true) => "n/a, exceeded".to_owned(),
            (Status::NotApplicable, ..) => "n/a".to_owned(),
            (status, ..) => status.text(Style { colour: false, ..style }),
        }
    }
}

impl Report for Output<FermiResult> {
    fn text(&self, style: Style) -> String {
        let Some(first) = self.results.first() else { return String::new() };
        let (mut cells, mut kernels) = (Vec::new(), Vec::new());
        for result in &self.results {
            match &result.result {
                FermiOutcome::Cell(cell) => cells.push(cell),
                FermiOutcome::Kernel(kernel) => kernels.push(kernel),
                FermiOutcome::Witness(_) => {}
            }
        }
        match &first.result {
            FermiOutcome::Cell(_) => table_text(first, &cells, self.batch.stopped, style),
            FermiOutcome::Witness(witness) => witness_text(first, witness, style),
            FermiOutcome::Kernel(_) => kernels_text(first, &kernels, style),
        }
    }
}

fn table_text(result: &FermiResult, cells: &[&Cell], stopped: Option<Stopped>, style: Style) -> String {
    let mut text = style.fill(&format!(
        "{}: finishing time in cycles over every work-conserving schedule, {}\n\n",
        result.machine,
        result.rule()
    ));
    let names = FermiBound::ALL.map(FermiBound::name);
    let heading =
        ["warps", "rep", "worst", "best"].into_iter().chain(names.into_iter().flat_map(|n| [n, ""]));
    let mut table = Table::new(heading.chain(["states"]), &[5, 7, 9]).expendable([3]);
    let number = |value: Option<u64>| value.map_or_else(|| "?".to_owned(), |v| v.to_string());
    for cell in cells {
        let start = [cell.warps.to_string(), cell.rep.to_string(), number(cell.worst), number(cell.best)];
        let bounds =
            cell.bounds.iter().flat_map(|bound| [bound.value.to_string(), bound.verdict_text(style)]);
        table.row(start.into_iter().chain(bounds).chain([number(cell.states.map(|s| s as u64))]));
    }
    text.push_str(&table.render(2, style.width));
    text.push('\n');
    for (bound, reason) in &result.premises {
        let premise = reason.map_or_else(String::new, |reason| format!("  not applicable: {reason}"));
        let line = format!("  {:<12} {:<28}{premise}", bound.name(), bound.formula());
        let _ = writeln!(text, "{}", line.trim_end());
    }
    if cells.iter().any(|cell| !cell.complete) {
        let reason = match stopped {
            None | Some(Stopped::MaxStates) => "--max-states did not suffice",
            Some(stopped) => stopped.text(),
        };
        let _ = writeln!(text, "  ? INCOMPLETE: {reason}; nothing is claimed of these cells");
    }
    if cells.iter().any(|cell| cell.bounds.iter().any(|bound| bound.exceeded)) {
        text.push_str("  --witness W,R prints a schedule that takes the worst case\n");
    }
    text
}

fn witness_text(result: &FermiResult, witness: &Witness, style: Style) -> String {
    let mut text = format!(
        "{}: {} warps, rep {}, {}; C CUDA, L LOAD, S STORE\n",
        result.machine,
        witness.warps,
        witness.rep,
        result.rule()
    );
    for (title, time, schedule) in
        [("worst", witness.worst, &witness.worst_schedule), ("best", witness.best, &witness.best_schedule)]
    {
        let _ = writeln!(text, "\n{title}: {time} cycles");
        let cycles = schedule.first().map_or(0, |row| row.chars().count());
        let heading = (1..=cycles).map(|cycle| cycle.to_string());
        let mut table = Table::new(["threads".to_owned()].into_iter().chain(heading), &[0]);
        for (warp, row) in schedule.iter().enumerate() {
            let first = warp as u64 * u64::from(witness.warp_threads) + 1;
            let last = first + u64::from(witness.warp_threads) - 1;
            let letters = row.chars().map(|c| if c == '.' { String::new() } else { c.to_string() });
            table.row([format!("{first}-{last}")].into_iter().chain(letters));
        }
        text.push_str(&table.render(2, style.width));
    }
    text.push('\n');
    for bound in &witness.bounds {
        let reason = bound.reason.as_ref().map_or_else(String::new, |reason| format!("   {reason}"));
        let verdict = bound.verdict_text(style);
        let _ = writeln!(text, "  {:<12} {:>4}  {verdict}{reason}", bound.name, bound.value);
    }
    text
}

fn kernels_text(result: &FermiResult, kernels: &[&OfKernel], style: Style) -> String {
    let mut text = format!(
        "{}: bounds on the finishing time of a kernel, the largest over {} SMs; {}\n\n",
        result.machine,
        kernels.first().map_or(0, |kernel| kernel.threads.len()),
        result.rule()
    );
    let mut table = Table::new(["rep"].into_iter().chain(FermiBound::ALL.map(FermiBound::name)), &[]);
    for kernel in kernels {
        let values =
            kernel.bounds.iter().map(|b| b.value.map_or_else(|| "n/a".to_owned(), |v| v.to_string()));
        table.row([kernel.rep.to_string()].into_iter().chain(values));
    }
    text.push_str(&table.render(2, style.width));
    text.push_str(
        "\n  ft is as published, and too low for an SM with one warp from rep 2 on; ft-corrected is proved\n",
    );
    text
}
