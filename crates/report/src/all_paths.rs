//! The report of the bound over all paths, beside a run and the bounds on its paths.

mod program;

pub use program::{ProgramRun, StaticLaunch, given_of_program};

use std::collections::BTreeSet;
use std::fmt::Write;

use serde::{Deserialize, Serialize};

use super::answer::{Answer, OfMachine};
use super::count;
use super::output::{Batch, Origin, Output, Report};
use super::source_line::MadeFrom;
use super::style::Style;
use super::table::Table;
use super::verdict::{self, Bound, Status};
use warpbound_core::base::Pc;
use warpbound_core::machine::{Machine, PolicyKind};
use warpbound_core::program::loop_bounds::LoopBound;
use warpbound_core::program::names;
use warpbound_judge::check::all_paths::AllPathsOutcome;
use warpbound_judge::check::{JudgedLaunch, Verdict, Workload};
use warpbound_judge::load::LoadedKernel;

/// The output of `static`.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct StaticReport {
    /// The results.
    #[serde(flatten)]
    pub output: Output<StaticResult>,
}

/// A launch, or a program of several launches. Times are in cycles.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct StaticResult {
    /// The answer: the bound over all paths beside the run, or why there is none.
    pub answer: Answer,
    /// The name of the kernel or program.
    pub kernel: String,
    /// The machine.
    #[serde(flatten)]
    pub origin: Origin,
    /// The number of blocks of all launches.
    pub blocks: u64,
    /// The number of warps of all blocks; absent if there is no bound.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warps: Option<u64>,
    /// The number of these warps that take the same path for any data.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warps_with_one_path: Option<u64>,
    /// The bound on the paths of one run that `static` extends to all paths: `iwb`, `rbb` if blocks
    /// are resident together, or `plb` on a machine with a pipeline; absent if the launches of a
    /// program extend different ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub of_paths: Option<&'static str>,
    /// Whether the number of barriers depends on the path. If it does, all sections get the same
    /// bound.
    pub barriers_vary: bool,
    /// The given loop bounds.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub loop_bounds: Vec<Given>,
    /// The policy of the run.
    pub policy: String,
    /// The makespan of the launch or program with the data of the seed.
    pub makespan: u64,
    /// The bound `static`, which holds for all paths, then the bounds on the paths of this run.
    pub bounds: Vec<Bound>,
    /// Every launch of a program; absent for a single launch.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub launches: Vec<StaticLaunch>,
}

/// A run on which the bound is judged.
pub struct StaticRun<'a> {
    /// The policy of the run.
    pub policy: PolicyKind,
    /// The judged run.
    pub checked: &'a JudgedLaunch,
}

/// A bound on the iterations of a loop.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Given {
    /// The kernel of the loop, for a program with several launches.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entry: Option<String>,
    /// The line at which the loop begins.
    pub line: u32,
    /// The line of CUDA C++ from which a compiler made that line, if the PTX states it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<MadeFrom>,
    /// The first and the last launch that the bound is for, if it is not for all launches.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub launches: Option<[u64; 2]>,
    /// The greatest number of times that a thread returns to the beginning of the loop after it has
    /// entered it from outside.
    pub most: u64,
}

impl Given {
    /// Returns the bound of a loop of a single kernel.
    pub fn new(bound: &LoopBound) -> Self {
        Self { entry: None, line: bound.line, source: None, launches: None, most: bound.most }
    }

    /// Returns the bounds of the loops of a kernel, with the source lines that the code states.
    pub fn of_kernel(kernel: &LoadedKernel, bounds: &[LoopBound]) -> Vec<Self> {
        if bounds.is_empty() {
            return Vec::new();
        }
        let sources = kernel.sources();
        let instrs = &kernel.workload.program().instrs;
        let source = |bound: &LoopBound| {
            let first = instrs.iter().position(|instr| instr.line == bound.line)?;
            sources.at(Pc::from_index(first)).map(MadeFrom::from)
        };
        bounds.iter().map(|bound| Self { source: source(bound), ..Self::new(bound) }).collect()
    }

    /// Returns the bound of a loop of a kernel of a program.
    pub fn of_program(entry: &str, bound: &LoopBound) -> Self {
        let launches = bound.launches.as_ref().map(|launches| [*launches.start(), *launches.end()]);
        Self { entry: Some(entry.to_owned()), launches, ..Self::new(bound) }
    }

    /// Returns the bound as a clause.
    pub fn text(&self) -> String {
        let of = self.entry.as_ref().map_or_else(String::new, |entry| format!(" of {}", names::short(entry)));
        let launches = match self.launches {
            Some([one, other]) if one == other => format!(" in launch {one}"),
            Some([first, last]) => format!(" in launches {first} to {last}"),
            None => String::new(),
        };
        let made = self.source.as_ref().map_or_else(String::new, |from| format!(" (from {})", from.place()));
        format!("the loop of line {}{made}{of} goes back at most {} times{launches}", self.line, self.most)
    }
}

impl StaticResult {
    /// Returns the report of a launch with one run of it.
    pub fn new(
        workload: &Workload,
        machine: &Machine,
        loop_bounds: Vec<Given>,
        found: &AllPathsOutcome,
        of_run: &StaticRun,
    ) -> Self {
        let run = of_run.checked;
        let launch = match found {
            AllPathsOutcome::Bound(launch) => Some(launch),
            _ => None,
        };
        let mut bounds = vec![bound(found, of_run)];
        bounds[0].parts =
            launch.into_iter().flat_map(|launch| &launch.parts).map(verdict::BoundPart::new).collect();
        bounds.extend(run.judged().map(|row| Bound::of_run(row, run.makespan)));
        Self {
            answer: answer(&workload.name, machine, run, &bounds[0], &loop_bounds),
            kernel: workload.name.clone(),
            origin: Origin::new(machine),
            blocks: workload.blocks().into(),
            warps: launch.map(|launch| launch.warps),
            warps_with_one_path: launch.map(|launch| launch.with_one_path),
            of_paths: launch.map(|launch| launch.kind.name()),
            barriers_vary: launch.is_some_and(|launch| launch.irregular),
            loop_bounds,
            policy: run.policy.clone(),
            makespan: run.makespan.get(),
            bounds,
            launches: Vec::new(),
        }
    }

    /// Returns the verdict on all bounds, including the bounds on the run.
    pub fn verdict(&self, run: &JudgedLaunch) -> Verdict {
        let own_verdict = match self.bounds[0].status {
            Status::Violated => Verdict::Violated,
            Status::Holds => Verdict::Holds,
            _ => Verdict::NotApplicable(self.bounds[0].reason.clone().unwrap_or_default()),
        };
        Verdict::combine([own_verdict, run.verdict()])
    }

    /// Returns the bound of this name.
    pub fn bound(&self, name: &str) -> Option<&Bound> {
        self.bounds.iter().find(|bound| bound.name == name)
    }
}

/// Returns the answer of the bound over all paths, beside a run.
fn answer(kernel: &str, machine: &Machine, run: &JudgedLaunch, bound: &Bound, given: &[Given]) -> Answer {
    let why_none = || bound.reason.clone().unwrap_or_else(|| "the search was ended before".to_owned());
    let value = bound.value.map(|cycles| (cycles, bound.parts.clone())).ok_or_else(why_none);
    let assumes = given.iter().map(Given::text).collect();
    Answer::of_all_paths(kernel, machine, &[run], assumes, (value, bound.status == Status::Violated))
}

/// Returns the bound over all paths, judged on a run.
fn bound(found: &AllPathsOutcome, StaticRun { policy, checked: run }: &StaticRun) -> Bound {
    let value = match found {
        AllPathsOutcome::Bound(launch) => launch.under(run.schedules(policy)).map_err(|why| why.to_string()),
        AllPathsOutcome::NotApplicable(why) => Err(why.to_string()),
        AllPathsOutcome::Stopped => {
            let verdict = Verdict::Undecided("it was ended before".to_owned());
            return Bound::of_worst_case("static", None, &verdict, Some(run.makespan));
        }
    };
    let verdict = Verdict::of(run.makespan, value.as_ref().map(|value| *value).map_err(String::as_str));
    Bound::of_worst_case("static", value.ok(), &verdict, Some(run.makespan))
}

impl AsRef<Batch> for StaticReport {
    fn as_ref(&self) -> &Batch {
        &self.output.batch
    }
}

impl Report for StaticReport {
    fn text(&self, style: Style) -> String {
        let mut text = match self.output.results.as_slice() {
            [] => String::new(),
            [one] => one.text(style),
            several => opening(several, style) + &table(several, style),
        };
        text.push_str(&self.output.batch.text());
        text
    }
}

/// Returns the answers on each machine, combined.
fn opening(results: &[StaticResult], style: Style) -> String {
    let answers: Vec<Answer> = results.iter().map(|result| result.answer.clone()).collect();
    let sentences =
        OfMachine::all(&answers).into_iter().map(|of| style.fill(&format!("{}\n", of.sentence())));
    sentences.chain(["\n".to_owned()]).collect()
}

impl StaticResult {
    fn text(&self, style: Style) -> String {
        let launches = match self.launches.len() {
            0 => String::new(),
            launches => format!(", in {}", count(launches, "launch")),
        };
        let mut text = style.fill(&format!("{}\n", self.answer.sentence));
        let _ = writeln!(
            text,
            "\n{} on {}, {}: {} cycles with the data of this run{launches}",
            self.kernel, self.origin.machine, self.policy, self.makespan
        );
        if let (Some(warps), Some(one)) = (self.warps, self.warps_with_one_path) {
            let paths = match one {
                all if all == warps => "every warp takes one path, whatever the data are".to_owned(),
                0 => "the paths of all warps depend on data".to_owned(),
                some => format!("{some} of {warps} warps take one path, whatever the data are"),
            };
            let _ = writeln!(text, "  {paths}");
        }
        if self.barriers_vary {
            text.push_str("  the number of barriers depends on data: all sections get the same bound\n");
        }
        for given in &self.loop_bounds {
            let _ = writeln!(text, "  {}", given.text());
        }
        // the bound over all paths is the answer, although those on the paths of the run are smaller
        let answering = self.bounds.first().filter(|bound| bound.value.is_some());
        let answering = answering.or_else(|| verdict::smallest_proved(&self.bounds));
        text.push_str(&verdict::table_with_parts(&self.bounds, answering, style));
        text + &program::table(&self.launches, style)
    }
}

fn table(results: &[StaticResult], style: Style) -> String {
    let of_paths = of_paths_text(results);
    let heading = [
        "kernel",
        "blocks",
        "warps",
        "one path",
        "makespan",
        of_paths.as_str(),
        "lwb",
        "static",
        "overestimation",
        "verdict",
    ];
    let mut table = Table::new(heading, &[0, 9]).expendable([1, 2, 6, 3]);
    for row in results {
        let value = |name: &str| row.bound(name).map_or_else(|| "-".to_owned(), Bound::value_text);
        let number = |number: Option<u64>| number.map_or_else(|| "-".to_owned(), |number| number.to_string());
        table.row([
            row.kernel.clone(),
            row.blocks.to_string(),
            number(row.warps),
            number(row.warps_with_one_path),
            row.makespan.to_string(),
            row.of_paths.map_or_else(|| "-".to_owned(), value),
            value("lwb"),
            value("static"),
            row.bounds[0].overestimation_text(),
            row.bounds[0].status.text(style),
        ]);
    }
    let value = |row: &StaticResult, name: &str| row.bound(name).and_then(|bound| bound.value);
    let both: Vec<(u64, u64)> =
        results.iter().filter_map(|row| Some((value(row, "static")?, value(row, row.of_paths?)?))).collect();
    let mut text = table.render(0, style.width);
    let _ = writeln!(
        text,
        "\n{}: static {} cycles in all, {of_paths} on the paths of these runs {}; equal on {}",
        counted(results),
        both.iter().map(|(all, _)| all).sum::<u64>(),
        both.iter().map(|(_, one)| one).sum::<u64>(),
        both.iter().filter(|(all, one)| all == one).count()
    );
    text
}

/// Returns how many launches and programs these are.
fn counted(results: &[StaticResult]) -> String {
    let programs = results.iter().filter(|result| !result.launches.is_empty()).count();
    match (results.len() - programs, programs) {
        (launches, 0) => count(launches, "launch"),
        (0, programs) => count(programs, "program"),
        (launches, programs) => format!("{} and {}", count(launches, "launch"), count(programs, "program")),
    }
}

/// Returns the names of the bounds on one run that `static` extends to all paths.
fn of_paths_text(results: &[StaticResult]) -> String {
    let names: BTreeSet<&str> = results.iter().filter_map(|row| row.of_paths).collect();
    if names.is_empty() { "iwb".to_owned() } else { names.into_iter().collect::<Vec<_>>().join("/") }
}
