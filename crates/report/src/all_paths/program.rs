//! The launches of a program in the report of the bound over all paths.

use serde::Serialize;

use super::super::count;
use super::super::output::Origin;
use super::super::program::counters;
use super::super::style::Style;
use super::super::table::Table;
use super::super::verdict::{Bound, BoundPart, Status};
use super::{Given, StaticResult};
use warpbound_bound::{Guarantee, NotApplicable};
use warpbound_core::base::Cycles;
use warpbound_core::machine::{Machine, PolicyKind};
use warpbound_core::program::loop_bounds::ProgramLoopBounds;
use warpbound_core::program::names;
use warpbound_core::program::sequence::Sequence;
use warpbound_judge::check::all_paths::{LaunchPaths, ProgramPaths};
use warpbound_judge::check::{Application, JudgedApplication, Verdict};

/// The most launches that the text lists.
const MAX_LINES: usize = 200;

/// A launch of a program. Times are in cycles.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct StaticLaunch {
    /// The index of the launch in the program, from 0.
    pub launch: u64,
    /// The line of its step in the file.
    pub line: u32,
    /// The name of the kernel.
    pub entry: String,
    /// The values of the counters of the loops around the launch.
    #[serde(skip_serializing_if = "serde_json::Map::is_empty")]
    pub counters: serde_json::Map<String, serde_json::Value>,
    /// The number of blocks along x, y and z.
    pub grid: [u32; 3],
    /// The number of threads per block along x, y and z.
    pub block: [u32; 3],
    /// The number of warps of all blocks; absent if there is no bound.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warps: Option<u64>,
    /// The number of these warps that take the same path for any data.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warps_with_one_path: Option<u64>,
    /// The bound on the paths of one run that `static` extends to all paths.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub of_paths: Option<&'static str>,
    /// The loop bounds that apply to the launch.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub loop_bounds: Vec<Given>,
    /// The makespan with the data of the seed.
    pub makespan: u64,
    /// The bound `static`, then the bounds on the paths of this run.
    pub bounds: Vec<Bound>,
}

/// A run of a program on which the bound is judged.
pub struct ProgramRun<'a> {
    /// The policy of the run.
    pub policy: PolicyKind,
    /// The program.
    pub application: &'a Application,
    /// The loop bounds of its launches.
    pub loop_bounds: &'a ProgramLoopBounds,
    /// The judged run, which came to its end.
    pub judged: &'a JudgedApplication,
}

impl StaticResult {
    /// Returns the report of a program with one run of it.
    pub fn of_program(
        name: &str,
        sequence: &Sequence,
        machine: &Machine,
        found: &ProgramPaths,
        run: &ProgramRun,
    ) -> Self {
        let total = &run.judged.total;
        let schedules = total.schedules(&run.policy);
        let rows = found.launches.iter().zip(total.blocks.iter());
        let launches: Vec<StaticLaunch> = rows
            .map(|(launch, (_, makespan, values))| {
                let kernel = sequence.statements[launch.launched.statement].kernel;
                let (given, _) = run.loop_bounds.of_launch(kernel, launch.launched.number);
                let mut bounds = vec![judged(launch.under(schedules.clone()), makespan)];
                let on_run = total.bounds.iter().zip(values).filter(|(row, _)| !row.left_out);
                bounds.extend(on_run.map(|(row, value)| Bound::of_part(row, value, makespan)));
                let loop_bounds = given.iter().map(Given::new).collect();
                StaticLaunch::new(run.application, launch, makespan, loop_bounds, bounds)
            })
            .collect();
        let mut bounds = vec![judged(found.under(&schedules), total.makespan)];
        if launches.iter().any(|launch| launch.bounds[0].status == Status::Violated) {
            bounds[0].status = Status::Violated;
        }
        bounds[0].parts = found.parts().iter().map(BoundPart::new).collect();
        bounds.extend(total.judged().map(|row| Bound::of_run(row, total.makespan)));
        let warps = found.warps();
        let loop_bounds = given_of_program(sequence, run.loop_bounds);
        Self {
            answer: super::answer(name, machine, total, &bounds[0], &loop_bounds),
            kernel: name.to_owned(),
            origin: Origin::new(machine),
            blocks: launches.iter().map(StaticLaunch::blocks).sum(),
            warps: warps.map(|(all, _)| all),
            warps_with_one_path: warps.map(|(_, one)| one),
            of_paths: match found.kinds().as_slice() {
                [only] => Some(only.name()),
                _ => None,
            },
            barriers_vary: found.irregular(),
            loop_bounds,
            policy: total.policy.clone(),
            makespan: total.makespan.get(),
            bounds,
            launches,
        }
    }
}

/// Returns the bounds of the loops of all kernels.
pub fn given_of_program(sequence: &Sequence, bounds: &ProgramLoopBounds) -> Vec<Given> {
    let kernels = sequence.kernels.iter().enumerate();
    kernels
        .flat_map(|(index, kernel)| {
            bounds.of_kernel(index).map(|bound| Given::of_program(&kernel.program.name, bound))
        })
        .collect()
}

/// Returns the bound over all paths, judged on a makespan.
fn judged(value: Result<Guarantee, NotApplicable>, makespan: Cycles) -> Bound {
    let value = value.map_err(|why| why.to_string());
    let verdict = Verdict::of(makespan, value.as_ref().map(|value| *value).map_err(String::as_str));
    Bound::of_worst_case("static", value.ok(), &verdict, Some(makespan))
}

impl StaticLaunch {
    fn new(
        application: &Application,
        launch: &LaunchPaths,
        makespan: Cycles,
        loop_bounds: Vec<Given>,
        bounds: Vec<Bound>,
    ) -> Self {
        let (launched, found) = (&launch.launched, launch.bound().ok());
        let statement = application.statement(launched.statement);
        Self {
            launch: launched.number,
            line: statement.line,
            entry: statement.entry.to_owned(),
            counters: counters(&launched.counters),
            grid: launched.grid,
            block: launched.block,
            warps: found.map(|found| found.warps),
            warps_with_one_path: found.map(|found| found.with_one_path),
            of_paths: found.map(|found| found.kind.name()),
            loop_bounds,
            makespan: makespan.get(),
            bounds,
        }
    }

    fn blocks(&self) -> u64 {
        self.grid.iter().map(|&n| u64::from(n)).product()
    }

    /// Returns the value of the bound of this name.
    fn value(&self, name: &str) -> String {
        let bound = self.bounds.iter().find(|bound| bound.name == name);
        bound.map_or_else(|| "-".to_owned(), Bound::value_text)
    }
}

/// Returns the table of the launches, one per line; empty if there are none.
pub(super) fn table(launches: &[StaticLaunch], style: Style) -> String {
    if launches.is_empty() {
        return String::new();
    }
    let heading = [
        "launch",
        "line",
        "kernel",
        "blocks",
        "makespan",
        "of paths",
        "static",
        "overestimation",
        "status",
        "",
    ];
    let mut table = Table::new(heading, &[2, 8, 9]).expendable([1, 3, 5]);
    let mut reasons: Vec<&str> = Vec::new();
    for launch in &launches[..launches.len().min(MAX_LINES)] {
        let bound = &launch.bounds[0];
        let why = match &bound.reason {
            Some(reason) if reasons.contains(&reason.as_str()) => "as above",
            Some(reason) => {
                reasons.push(reason);
                reason
            }
            None => "",
        };
        table.row([
            launch.launch.to_string(),
            launch.line.to_string(),
            names::short(&launch.entry),
            launch.blocks().to_string(),
            launch.makespan.to_string(),
            launch.of_paths.map_or_else(|| "-".to_owned(), |name| launch.value(name)),
            bound.value_text(),
            bound.overestimation_text(),
            bound.status.text(style),
            why.to_owned(),
        ]);
    }
    let mut text = format!("\n{}", table.render(2, style.width));
    if launches.len() > MAX_LINES {
        let more = count(launches.len() - MAX_LINES, "more launch");
        text.push_str(&format!("  ... and {more}; --format json lists all of them\n"));
    }
    text
}
