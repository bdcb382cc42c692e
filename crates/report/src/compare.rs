//! The report of every bound beside simulated and explored times, one line per kernel.

use serde::Serialize;

use super::grouped;
use super::output::{Origin, Output, Report};
use super::style::Style;
use super::table::Table;
use warpbound_bound::Standing;
use warpbound_core::base::Cycles;
use warpbound_core::machine::Machine;
use warpbound_core::program::names as kernel_names;
use warpbound_judge::check::order::notes_of;
use warpbound_judge::check::{Application, BoundRow, JudgedLaunch, StatementRow, Verdict};

/// A kernel, or a program with its launches summed up. Times are in cycles.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CompareResult {
    /// The name of the kernel or program.
    pub kernel: String,
    /// The machine.
    #[serde(flatten)]
    pub origin: Origin,
    /// The number of blocks; for a program, the number of launches.
    pub blocks: usize,
    /// Every executed instruction, counted once per warp that executed it.
    pub warp_instructions: u64,
    /// The makespans under the compared policies.
    pub makespans: Vec<Makespan>,
    /// The worst case over all work-conserving schedules, if it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub explored_worst: Option<u64>,
    /// A lower bound of this worst case, if it is not known exactly.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub explored_worst_at_least: Option<u64>,
    /// Why nothing is known of this worst case.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub explored_reason: Option<String>,
    /// Every bound.
    pub bounds: Vec<Value>,
    /// The proved bound with the smallest value, among those that hold under all compared policies.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tightest_proved: Option<&'static str>,
    /// If no proved bound holds under all compared policies, the one with the smallest value for
    /// each policy that has one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tightest_by_policy: Vec<Tightest>,
    /// The statements of an application, each with the sums over its launches.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<CompareStep>,
    /// Why the run did not look for races; absent if it did. If it did not, the report holds only
    /// for the paths of one order of accesses.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub races_not_looked_for: Option<String>,
}

/// The tightest bound under some policies.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Tightest {
    /// The name of the bound.
    pub bound: &'static str,
    /// The policies.
    pub policies: Vec<String>,
}

/// The launches of one statement of an application, summed up. Times are in cycles.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CompareStep {
    /// The line of the statement in the file.
    pub line: u32,
    /// The name of the kernel.
    pub entry: String,
    /// The number of launches.
    pub launches: u64,
    /// Every executed instruction, counted once per warp that executed it.
    pub warp_instructions: u64,
    /// The makespans under the compared policies.
    pub makespans: Vec<Makespan>,
    /// The worst case over all work-conserving schedules, if it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub explored_worst: Option<u64>,
    /// A lower bound of this worst case, if it is not known exactly.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub explored_worst_at_least: Option<u64>,
    /// Every bound.
    pub bounds: Vec<Value>,
}

/// A makespan under a policy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Makespan {
    /// The policy.
    pub policy: String,
    /// The makespan in cycles.
    pub makespan: u64,
}

/// Returns the makespans of these runs.
fn makespans_of<'r>(runs: impl Iterator<Item = (&'r JudgedLaunch, Cycles)>) -> Vec<Makespan> {
    let one = |(run, makespan): (&JudgedLaunch, Cycles)| Makespan {
        policy: run.policy.clone(),
        makespan: makespan.get(),
    };
    runs.map(one).collect()
}

/// The value of a bound.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Value {
    /// The name of the bound.
    pub name: &'static str,
    /// The value in cycles, if the bound applies.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<u64>,
    /// Whether a run under a compared policy, within the premises of the bound, took longer.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub violated: bool,
    /// Why the bound does not apply. If it does not apply under several of the compared policies,
    /// this is the reason under the first of them. For an application, only the totals state the
    /// reason.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// The explored worst case of a launch: the sum over its blocks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Explored {
    /// The exact worst case.
    Exactly(Cycles),
    /// A lower bound of the worst case: some block has more states than were allowed, or the
    /// command was stopped.
    AtLeast(Cycles),
    /// Nothing is known, for this reason: exploration does not handle the machine or some block, or
    /// a premise does not hold.
    NotHandled(String),
}

impl Explored {
    /// Returns the worst case if it is exact, and its lower bound otherwise.
    fn values(&self) -> (Option<u64>, Option<u64>) {
        match self {
            Self::Exactly(worst) => (Some(worst.get()), None),
            Self::AtLeast(worst) => (None, Some(worst.get())),
            Self::NotHandled(_) => (None, None),
        }
    }

    /// Returns why nothing is known.
    fn why(&self) -> Option<String> {
        match self {
            Self::NotHandled(why) => Some(why.clone()),
            Self::Exactly(_) | Self::AtLeast(_) => None,
        }
    }

    /// Returns the worst case of two launches that run one after the other.
    #[must_use]
    pub fn and(self, next: Self) -> Self {
        match (self, next) {
            (Self::NotHandled(why), _) | (_, Self::NotHandled(why)) => Self::NotHandled(why),
            (Self::Exactly(sum), Self::Exactly(worst)) => Self::Exactly(sum + worst),
            (Self::Exactly(sum) | Self::AtLeast(sum), Self::Exactly(worst) | Self::AtLeast(worst)) => {
                Self::AtLeast(sum + worst)
            }
        }
    }
}

impl CompareResult {
    /// Returns the report of runs under the compared policies, of which there must be at least one.
    pub fn new(kernel: String, machine: &Machine, runs: &[JudgedLaunch], explored: Explored) -> Self {
        let (exactly, at_least) = explored.values();
        Self {
            kernel,
            origin: Origin::new(machine),
            blocks: runs.first().map_or(0, |run| run.blocks.len()),
            warp_instructions: runs.first().map_or(0, |run| run.warp_instructions),
            makespans: makespans_of(runs.iter().map(|run| (run, run.makespan))),
            explored_worst: exactly,
            explored_worst_at_least: at_least,
            explored_reason: explored.why(),
            bounds: judged_somewhere(runs),
            tightest_proved: tightest(runs),
            tightest_by_policy: tightest_by_policy(runs),
            steps: Vec::new(),
            races_not_looked_for: runs.iter().find_map(|run| run.races_not_looked_for.clone()),
        }
    }
}

impl CompareStep {
    /// Returns the report of runs of an application: their totals, and by statement the runs and
    /// the explored worst case.
    pub fn all(
        application: &Application,
        runs: &[JudgedLaunch],
        statements: &[Vec<StatementRow>],
        explored: &[Explored],
    ) -> Vec<Self> {
        let Some(first) = statements.first() else { return Vec::new() };
        let step = |(index, row): (usize, &StatementRow)| {
            let statement = application.statement(row.statement);
            let of_runs = || runs.iter().zip(statements.iter().filter_map(|rows| rows.get(index)));
            let (explored_worst, explored_worst_at_least) =
                explored.get(row.statement).map_or((None, None), Explored::values);
            let value = |bound: usize| {
                let values = || {
                    let judged = of_runs().filter(|(run, _)| !run.bounds[bound].left_out);
                    judged.map(|(run, row)| (run.bounds[bound].name, row.bounds[bound].value))
                };
                let (name, value) =
                    values().find(|(_, value)| value.is_some()).or_else(|| values().next())?;
                let violated = of_runs().any(|(_, row)| row.bounds[bound].violated);
                Some(Value { name, value: value.map(Cycles::get), violated, reason: None })
            };
            Self {
                line: statement.line,
                entry: statement.entry.to_owned(),
                launches: row.launches,
                warp_instructions: row.warp_instructions,
                makespans: makespans_of(of_runs().map(|(run, row)| (run, row.sum))),
                explored_worst,
                explored_worst_at_least,
                bounds: (0..row.bounds.len()).filter_map(value).collect(),
            }
        };
        first.iter().enumerate().map(step).collect()
    }
}

impl CompareResult {
    /// Returns the tightest proved bound, or that of each policy.
    fn tightest_text(&self) -> String {
        let of_each: Vec<String> = self
            .tightest_by_policy
            .iter()
            .map(|tightest| format!("{} ({})", tightest.bound, tightest.policies.join(" ")))
            .collect();
        match (self.tightest_proved, of_each.as_slice()) {
            (Some(bound), _) => bound.to_owned(),
            (None, []) => "-".to_owned(),
            (None, _) => of_each.join(", "),
        }
    }

    /// Returns the totals in the form of a step.
    fn totals(&self) -> CompareStep {
        CompareStep {
            line: 0,
            entry: self.kernel.clone(),
            launches: self.blocks as u64,
            warp_instructions: self.warp_instructions,
            makespans: self.makespans.clone(),
            explored_worst: self.explored_worst,
            explored_worst_at_least: self.explored_worst_at_least,
            bounds: self.bounds.clone(),
        }
    }
}

/// Returns every bound that is defined for some of these runs. Its value is that of the first run
/// to which it applies. If it applies to none, its reason is that of the first run for which it is
/// defined. The value does not depend on the policy, but some bounds are defined only for some
/// policies.
fn judged_somewhere(runs: &[JudgedLaunch]) -> Vec<Value> {
    let count = runs.first().map_or(0, |run| run.bounds.len());
    let of_bound = |index: usize| {
        let rows = || runs.iter().map(|run| &run.bounds[index]).filter(|row| !row.left_out);
        let value = rows().find_map(|row| Some(row.value.as_ref().ok()?.cycles().get()));
        let reason = rows().find_map(|row| row.value.as_ref().err().cloned());
        let violated = rows().any(|row| row.verdict() == Verdict::Violated);
        Some(Value { name: rows().next()?.name, value, violated, reason })
    };
    (0..count).filter_map(of_bound).collect()
}

/// Returns the proved bound with the smallest value, among those that hold under every compared
/// policy.
fn tightest(runs: &[JudgedLaunch]) -> Option<&'static str> {
    let (first, others) = runs.split_first()?;
    let holds = |row: &BoundRow| !row.left_out && row.verdict() == Verdict::Holds;
    let everywhere = first.bounds.iter().enumerate().filter(|(index, row)| {
        row.standing == Standing::Proved
            && holds(row)
            && others.iter().all(|run| run.bounds.get(*index).is_some_and(holds))
    });
    everywhere
        .filter_map(|(_, row)| Some((*row.value.as_ref().ok()?, row.name)))
        .min_by_key(|(value, _)| *value)
        .map(|(_, name)| name)
}

/// Returns the proved bound with the smallest value for each policy, if no bound holds under every
/// compared policy.
fn tightest_by_policy(runs: &[JudgedLaunch]) -> Vec<Tightest> {
    let mut found: Vec<Tightest> = Vec::new();
    if tightest(runs).is_some() {
        return found;
    }
    for run in runs {
        let Some(bound) = tightest(std::slice::from_ref(run)) else { continue };
        match found.iter_mut().find(|known| known.bound == bound) {
            Some(known) => known.policies.push(run.policy.clone()),
            None => found.push(Tightest { bound, policies: vec![run.policy.clone()] }),
        }
    }
    found
}

/// The mark after the value of a bound that a run exceeds.
const EXCEEDED: &str = "*";

/// The most kernels that text names for a bound that does not apply.
const NAMED: usize = 3;

/// Returns text that lists the bounds that do not apply, with the kernels and the reasons.
fn left_out(results: &[CompareResult], style: Style) -> String {
    let mut reasons: Vec<(String, Vec<&str>, Vec<&str>)> = Vec::new();
    for row in results {
        let bounds = row.bounds.iter().filter_map(|bound| Some((bound.name, bound.reason.clone()?)));
        let explored = row.explored_reason.clone().map(|why| ("explored", why));
        let mut of_row: Vec<(String, Vec<&str>)> = Vec::new();
        for (name, why) in explored.into_iter().chain(bounds) {
            match of_row.iter_mut().find(|(known, _)| *known == why) {
                Some((_, names)) => names.push(name),
                None => of_row.push((why, vec![name])),
            }
        }
        for (why, names) in of_row {
            match reasons.iter_mut().find(|(known, of, _)| (known, of) == (&why, &names)) {
                Some((.., kernels)) => kernels.push(&row.kernel),
                None => reasons.push((why, names, vec![&row.kernel])),
            }
        }
    }
    let mut text = String::new();
    if !reasons.is_empty() {
        let mut table = Table::new(["not applicable", "to", "because"], &[0, 1, 2]);
        for (why, names, kernels) in reasons {
            let kernels = match kernels.len() {
                0..=NAMED => kernels.join(", "),
                more => format!("{more} kernels, {} first", kernels[0]),
            };
            table.row([names.join(" "), kernels, why]);
        }
        text = format!("\n{}", table.render(0, style.width));
    }
    text + &notes_of(results.iter().filter_map(|row| row.races_not_looked_for.as_ref()))
}

impl Report for Output<CompareResult> {
    fn text(&self, style: Style) -> String {
        let Some(first) = self.results.first() else { return self.batch.text() };
        // a kernel has several lines only if several machines are named
        let several = self.results.windows(2).any(|two| {
            two[0].kernel == two[1].kernel && two[0].origin.machine_digest != two[1].origin.machine_digest
        });
        let policies: Vec<&str> = first.makespans.iter().map(|one| one.policy.as_str()).collect();
        let mut names: Vec<&str> = Vec::new();
        for bound in self.results.iter().flat_map(|row| &row.bounds) {
            if !names.contains(&bound.name) {
                names.push(bound.name);
            }
        }
        let mut heading = vec!["kernel"];
        heading.extend(several.then_some("machine"));
        let words = heading.len();
        heading.extend(["blocks", "warp insts"]);
        heading.extend(&policies);
        heading.push("explored worst");
        let start = heading.len();
        heading.extend(&names);
        heading.push("tightest proved");
        // columns dropped first: instructions and blocks, then bounds, those of the paper first
        let expendable: Vec<usize> =
            [words + 1, words].into_iter().chain(start..start + names.len()).collect();
        let mut table = Table::new(heading, &(0..words).collect::<Vec<_>>()).expendable(expendable);
        let cells = |name: String, machine: &str, row: &CompareStep, tightest: Option<&str>| {
            let explored = match (row.explored_worst, row.explored_worst_at_least) {
                (Some(worst), _) => worst.to_string(),
                (None, Some(worst)) => format!(">= {}", grouped(worst)),
                (None, None) => "-".to_owned(),
            };
            let mut cells = vec![name];
            cells.extend(several.then(|| machine.to_owned()));
            cells.extend([row.launches.to_string(), row.warp_instructions.to_string()]);
            cells.extend(row.makespans.iter().map(|one| one.makespan.to_string()));
            cells.push(explored);
            cells.extend(names.iter().map(|name| {
                let bound = row.bounds.iter().find(|bound| bound.name == *name);
                let mark = if bound.is_some_and(|bound| bound.violated) { EXCEEDED } else { "" };
                bound
                    .and_then(|bound| bound.value)
                    .map_or_else(|| "-".to_owned(), |value| format!("{}{mark}", grouped(value)))
            }));
            cells.push(tightest.unwrap_or("").to_owned());
            cells
        };
        for row in &self.results {
            let machine = row.origin.machine.as_str();
            table.row(cells(row.kernel.clone(), machine, &row.totals(), Some(&row.tightest_text())));
            if row.steps.len() > 1 {
                for step in &row.steps {
                    let name = format!("  {} {}", step.line, kernel_names::short(&step.entry));
                    table.row(cells(name, machine, step, None));
                }
            }
        }
        let exceeded = self.results.iter().flat_map(|row| &row.bounds).any(|bound| bound.violated);
        let footnote =
            format!("\n{EXCEEDED} a run under one of these policies took longer: `check` says which\n");
        let footnote = if exceeded { footnote } else { String::new() };
        table.render(0, style.width) + &footnote + &left_out(&self.results, style) + &self.batch.text()
    }
}
