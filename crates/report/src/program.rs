//! The report of the launches of an application, and of each of its steps.

use serde::ser::{Serialize, SerializeSeq, Serializer};

use super::style::Style;
use super::table::Table;
use super::verdict::{Bound, Status, values};
use warpbound_core::program::names;
use warpbound_judge::check::{Application, BoundRow, JudgedApplication, StatementRow, Verdict};

/// The launches of an application, in addition to its totals.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Launches<'a> {
    /// The `Launch` steps of a program, or the kernels of a list, that were launched, in the order
    /// of the file.
    pub steps: Vec<Step>,
    /// Every launch that completed.
    #[cfg_attr(test, schemars(with = "Vec<LaunchResult<'static>>"))]
    pub launches: Each<'a>,
    /// The number of launches of the application.
    #[serde(skip)]
    all: u64,
}

/// The launches of one step, summed up. Times are in cycles.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Step {
    /// The line of the step in the file.
    pub line: u32,
    /// The module of the kernel, or its trace.
    pub module: String,
    /// The name of the kernel.
    pub entry: String,
    /// The number of launches.
    pub launches: u64,
    /// The sum of the makespans.
    pub makespan: u64,
    /// The shortest makespan.
    pub makespan_min: u64,
    /// The longest makespan.
    pub makespan_max: u64,
    /// Every executed instruction, counted once per warp that executed it.
    pub warp_instructions: u64,
    /// The verdict over all gating bounds.
    pub verdict: Status,
    /// The sum of each bound. Its overestimation compares this sum with the sum of the makespans.
    pub bounds: Vec<Bound>,
}

/// A launch.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LaunchResult<'a> {
    /// The index of the launch in the application, from 0.
    pub launch: u64,
    /// The line of its step in the file.
    pub line: u32,
    /// The name of the kernel.
    pub entry: &'a str,
    /// The values of the counters of the loops around the launch.
    #[serde(skip_serializing_if = "serde_json::Map::is_empty")]
    pub counters: serde_json::Map<String, serde_json::Value>,
    /// The number of blocks along x, y and z.
    pub grid: [u32; 3],
    /// The number of threads per block along x, y and z.
    pub block: [u32; 3],
    /// The makespan in cycles.
    pub makespan: u64,
    /// Every executed instruction, counted once per warp that executed it.
    pub warp_instructions: u64,
    /// Every bound on the launch.
    pub bounds: Vec<Bound>,
}

/// The launches of an application. The report of each launch is made when it is serialized.
#[derive(Clone, Copy, Debug)]
pub struct Each<'a> {
    application: &'a Application,
    checked: &'a JudgedApplication,
}

impl<'a> Each<'a> {
    fn iter(self) -> impl Iterator<Item = LaunchResult<'a>> + 'a {
        let Self { application, checked } = self;
        let rows = checked.launches().iter().zip(checked.total.blocks.iter());
        application.each().zip(rows).map(move |(launched, (row, (_, makespan, values)))| {
            let statement = application.statement(launched.statement);
            LaunchResult {
                launch: launched.number,
                line: statement.line,
                entry: statement.entry,
                counters: counters(&launched.counters),
                grid: launched.grid,
                block: launched.block,
                makespan: makespan.get(),
                warp_instructions: row.warp_instructions,
                bounds: judged(&checked.total.bounds)
                    .zip(values)
                    .filter_map(|(row, value)| row.map(|row| Bound::of_part(row, value, makespan)))
                    .collect(),
            }
        })
    }
}

/// Returns the values of the counters of loops as JSON.
pub(super) fn counters(counters: &[(String, i128)]) -> serde_json::Map<String, serde_json::Value> {
    let number = |value: i128| match i64::try_from(value) {
        Ok(value) => value.into(),
        Err(_) => value.to_string().into(),
    };
    counters.iter().map(|(name, value)| (name.clone(), number(*value))).collect()
}

impl Serialize for Each<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(Some(self.checked.launches().len()))?;
        self.iter().try_for_each(|launch| list.serialize_element(&launch))?;
        list.end()
    }
}

/// Returns every bound, or `None` in place of one that reports leave out.
fn judged(rows: &[BoundRow]) -> impl Iterator<Item = Option<&BoundRow>> {
    rows.iter().map(|row| Some(row).filter(|row| !row.left_out))
}

impl<'a> Launches<'a> {
    /// Returns the launches of a judged application.
    pub fn new(application: &'a Application, checked: &'a JudgedApplication) -> Self {
        let steps = checked.statements().iter().map(|row| Step::new(application, checked, row)).collect();
        Self { steps, launches: Each { application, checked }, all: application.launches() }
    }
}

impl Step {
    fn new(application: &Application, checked: &JudgedApplication, row: &StatementRow) -> Self {
        let statement = application.statement(row.statement);
        let pairs = || judged(&checked.total.bounds).zip(&row.bounds);
        let verdict = |bound: &warpbound_judge::check::StatementBound| match bound.value {
            _ if bound.violated => Verdict::Violated,
            Some(_) => Verdict::Holds,
            None => Verdict::NotApplicable(String::new()),
        };
        let gating = pairs().filter(|(row, _)| row.is_some_and(|row| row.gates));
        Self {
            line: statement.line,
            module: statement.module.to_owned(),
            entry: statement.entry.to_owned(),
            launches: row.launches,
            makespan: row.sum.get(),
            makespan_min: row.least.get(),
            makespan_max: row.most.get(),
            warp_instructions: row.warp_instructions,
            verdict: Status::of(&Verdict::combine(gating.map(|(_, bound)| verdict(bound)))),
            bounds: pairs()
                .filter_map(|(judged, bound)| {
                    let part = Bound::of_part(judged?, bound.value, row.sum);
                    Some(Bound { status: Status::of(&verdict(bound)), ..part })
                })
                .collect(),
        }
    }
}

impl Launches<'_> {
    /// Returns the number of launches that completed.
    pub fn done(&self) -> usize {
        self.launches.checked.launches().len()
    }

    /// Returns the number of launches as text, with the number completed if some are missing.
    pub fn count_text(&self, complete: bool) -> String {
        let all = match self.all {
            1 => "1 launch".to_owned(),
            several => format!("{several} launches"),
        };
        if complete { all } else { format!("INCOMPLETE, {} of {all}", self.done()) }
    }

    /// Returns the table of the steps, with a last line for the total if there are several. `whole`
    /// has the bounds and the verdict of the total.
    pub fn text(&self, whole: (&[Bound], Status), style: Style) -> String {
        let names: Vec<&str> = self
            .steps
            .first()
            .map_or_else(Vec::new, |step| step.bounds.iter().map(|bound| bound.name).collect());
        let heading = ["line", "kernel", "launches", "cycles", "min", "max"];
        let last = heading.len() + names.len();
        let columns = heading.into_iter().chain(names.iter().copied()).chain(["status"]);
        // columns dropped first: shortest and longest, then bounds from the right, then launches
        let expendable = [5, 4].into_iter().chain((heading.len()..last).rev()).chain([2]);
        let mut table = Table::new(columns, &[1, last]).expendable(expendable);
        for step in &self.steps {
            let start = [
                step.line.to_string(),
                names::short(&step.entry),
                step.launches.to_string(),
                step.makespan.to_string(),
                step.makespan_min.to_string(),
                step.makespan_max.to_string(),
            ];
            let values = values(&names, &step.bounds);
            table.row(start.into_iter().chain(values).chain([step.verdict.text(style)]));
        }
        if let [_, _, ..] = self.steps.as_slice() {
            let sum = |of: fn(&Step) -> u64| self.steps.iter().map(of).sum::<u64>().to_string();
            let least = self.steps.iter().map(|step| step.makespan_min).min().unwrap_or(0);
            let most = self.steps.iter().map(|step| step.makespan_max).max().unwrap_or(0);
            let start = [
                String::new(),
                "total".to_owned(),
                sum(|step| step.launches),
                sum(|step| step.makespan),
                least.to_string(),
                most.to_string(),
            ];
            let (bounds, verdict) = whole;
            table.row(start.into_iter().chain(values(&names, bounds)).chain([verdict.text(style)]));
        }
        table.render(2, style.width)
    }
}
