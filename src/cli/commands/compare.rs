//! `warpbound compare`: every bound beside what was simulated and what was explored, a line per
//! kernel.

use serde::Serialize;

use crate::base::Cycles;
use crate::bound::{self, Bound, Standing};
use crate::check::{
    BoundRow, Checked, Plan, Status, WorkloadSource, check, execute_sequence, observe_sequence,
};
use crate::cli::args::Compare;
use crate::cli::failures::Batch;
use crate::cli::load::{self, Loaded};
use crate::cli::memory;
use crate::cli::output::{Ending, Format, Outcome};
use crate::cli::programs::LoadedProgram;
use crate::cli::session::Session;
use crate::diag::Diagnostics;
use crate::exec::races::TimeDependences;
use crate::explore::explore;
use crate::explore::search::Limits;
use crate::machine::{Machine, SchedulerKind};
use crate::path::{BlockPaths, BlockSource};
use crate::program::{Program, TimingTable};
use crate::report::json::{self, Origin, SCHEMA};
use crate::report::style::Style;
use crate::report::table::Table;
use crate::sim::PolicySetup;

/// A line: a kernel, or a program with its launches added up.
struct Row {
    name: String,
    machine: Machine,
    /// Under gto and lrr.
    runs: Vec<Checked>,
    explored: Explored,
}

/// The worst case of the launch as far as exploration came: blocks add up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Explored {
    /// Exactly this.
    Exactly(Cycles),
    /// At least this; some block has more states than the fuel allows, or somebody ended the command.
    AtLeast(Cycles),
    /// Some block, or the machine, is of a kind that exploration does not handle.
    NotHandled,
}

/// Runs the command.
pub fn run(args: &Compare, session: &Session) -> Outcome {
    let bounds = bound::all();
    let names = if args.kernels.is_empty() { super::check::suite_kernels()? } else { args.kernels.clone() };
    let mut batch = Batch::new(&names);
    let mut rows = Vec::new();
    while let Some((_, name)) = batch.begin(session) {
        match row(name, &batch.label(name), args, &bounds, session) {
            Ok(Some(row)) => {
                rows.push(row);
                // what was explored of it may not be all
                if session.watch.is_stopped() {
                    batch.cut_short();
                }
            }
            Ok(None) => batch.cut_short(),
            Err(problems) => batch.failures.add(name, &problems),
        }
    }
    if rows.is_empty() && names.len() == 1 && !batch.is_incomplete() {
        return Err(batch.failures.into_problems());
    }
    let mut ending = Ending::default();
    match args.common.format {
        Format::Text => ending.print(session, &(text(&rows, session.style) + &batch.text(session))),
        Format::Json => {
            let results = rows.iter().map(|row| Line::new(row, args.common.seed)).collect();
            let batch = batch.json(session);
            ending.print_json(session, &CompareReport { schema: SCHEMA, results, batch });
        }
    }
    ending.failures = batch.failures;
    Ok(ending)
}

/// A kernel's line; nothing if somebody ended the command before it was simulated.
fn row(
    name: &str,
    label: &str,
    args: &Compare,
    bounds: &[Box<dyn Bound>],
    session: &Session,
) -> Result<Option<Row>, Diagnostics> {
    let policies = [load::setup(&SchedulerKind::Gto)?, load::setup(&SchedulerKind::Lrr)?];
    let kernel = match load::any(name, &args.ptx, args.common.seed)? {
        Loaded::Kernel(kernel) => kernel,
        Loaded::Program(program) => return program_row(&program, label, args, bounds, &policies, session),
    };
    let (machine, _) = load::machine(&args.common, &kernel)?;
    let blocks = u64::from(kernel.workload.blocks());
    session.progress.begin(label, Some(blocks * policies.len() as u64), "blocks");
    let runs = check(&Plan {
        workload: &kernel.workload,
        machine: &machine,
        policies: &policies,
        bounds,
        gating: &[],
        max_instructions_per_block: args.common.fuel(),
        threads: 1,
        ahead: false,
        self_check: false,
        race_memory: args.common.race_memory(),
        watch: &session.watch,
    })
    .map_err(|failed| failed.problems.with_excerpts(&kernel.code))?;
    if !runs.iter().all(Checked::is_complete) {
        return Ok(None);
    }
    let name = kernel.workload.name.clone();
    if runs.iter().any(|run| run.resident_blocks > 1) {
        // blocks that run at the same time are not explored
        return Ok(Some(Row { name, machine, runs, explored: Explored::NotHandled }));
    }
    session.progress.begin(format!("exploring {label}"), None, "issues");
    let source: WorkloadSource = kernel.workload.source(args.common.watched(&machine))?;
    let mut source = source.watched(&session.watch);
    let explored = explored(kernel.workload.program(), &machine, args, &mut source, session);
    let explored = explored.map_err(|problems| problems.with_excerpts(&kernel.code))?;
    let explored = explored.of_paths(&source.time_dependences());
    Ok(Some(Row { name, machine, runs, explored }))
}

fn program_row(
    program: &LoadedProgram,
    label: &str,
    args: &Compare,
    bounds: &[Box<dyn Bound>],
    policies: &[PolicySetup],
    session: &Session,
) -> Result<Option<Row>, Diagnostics> {
    let (machine, _) = load::machine_of_program(&args.common)?;
    let options = args.common.watched(&machine);
    session.progress.begin(label, None, "blocks");
    let mut worst = Explored::Exactly(Cycles::ZERO);
    let mut all = || {
        let plan = program.plan(&machine, bounds, &[], &args.common, false, &session.watch);
        let mut runs = Vec::new();
        for policy in policies {
            let run = observe_sequence(&plan, policy, &mut ()).map_err(|failed| failed.problems)?;
            runs.push(run.0.total);
        }
        if !runs.iter().all(Checked::is_complete) {
            return Ok(None);
        }
        if runs.iter().any(|run| run.resident_blocks > 1) {
            worst = Explored::NotHandled;
            return Ok(Some(runs));
        }
        session.progress.begin(format!("exploring {label}"), None, "issues");
        execute_sequence(&program.sequence, None, options, &session.watch, &mut |step, run| {
            let of_launch = explored(&program.sequence.kernel(step).program, &machine, args, run, session)?;
            worst = worst.and(of_launch.of_paths(&run.time_dependences()));
            Ok(())
        })?;
        Ok(Some(runs))
    };
    let runs = all().map_err(|problems| program.with_excerpts(problems))?;
    let row = |runs| Row { name: program.name.clone(), explored: worst, machine, runs };
    Ok(runs.map(row))
}

impl Explored {
    /// The schedules of a path that depends on the schedule say nothing.
    fn of_paths(self, dependences: &TimeDependences) -> Self {
        if dependences.is_empty() { self } else { Self::NotHandled }
    }

    /// One after the other.
    fn and(self, next: Self) -> Self {
        match (self, next) {
            (Self::NotHandled, _) | (_, Self::NotHandled) => Self::NotHandled,
            (Self::Exactly(sum), Self::Exactly(worst)) => Self::Exactly(sum + worst),
            (Self::Exactly(sum) | Self::AtLeast(sum), Self::Exactly(worst) | Self::AtLeast(worst)) => {
                Self::AtLeast(sum + worst)
            }
        }
    }
}

/// The blocks of a launch, one after the other; all of them are taken.
fn explored(
    program: &Program,
    machine: &Machine,
    args: &Compare,
    source: &mut impl BlockSource<Error = Diagnostics>,
    session: &Session,
) -> Result<Explored, Diagnostics> {
    let table = TimingTable::new(program, machine)?;
    let limits =
        Limits { max_states: args.max_states, max_bytes: memory::budget(), threads: load::threads() };
    let mut paths = BlockPaths::default();
    let mut worst = if machine.beyond_the_paper_model().is_empty() {
        Explored::Exactly(Cycles::ZERO)
    } else {
        Explored::NotHandled
    };
    while source.next_block(&mut paths)? {
        if worst == Explored::NotHandled {
            continue;
        }
        worst = match explore(&table, machine, &paths, Cycles::ZERO, limits, &session.watch) {
            Ok(found) if found.is_complete() => worst.and(Explored::Exactly(found.worst.at_least)),
            Ok(found) => worst.and(Explored::AtLeast(found.worst.at_least)),
            Err(_) => Explored::NotHandled,
        };
    }
    Ok(match worst {
        // blocks that were not looked at only add to it
        Explored::Exactly(sum) if session.watch.is_stopped() => Explored::AtLeast(sum),
        other => other,
    })
}

/// The proved bound with the smallest value.
fn tightest(rows: &[BoundRow]) -> Option<&BoundRow> {
    let proved = |row: &&BoundRow| row.standing == Standing::Proved && row.status == Status::Holds;
    rows.iter().filter(proved).min_by_key(|row| row.value)
}

fn text(rows: &[Row], style: Style) -> String {
    let Some(first) = rows.first() else { return String::new() };
    let names: Vec<&str> = first.runs[0].judged().map(|b| b.name).collect();
    // instructions and blocks go first, then bounds from the right
    let expendable: Vec<usize> = [2, 1].into_iter().chain((6..6 + names.len()).rev()).collect();
    let heading = ["kernel", "blocks", "warp insts", "gto", "lrr", "explored worst"].into_iter().chain(names);
    let mut table = Table::new(heading.chain(["tightest proved"]), &[0]).expendable(expendable);
    for row in rows {
        let run = &row.runs[0];
        let explored = match row.explored {
            Explored::Exactly(worst) => worst.to_string(),
            Explored::AtLeast(worst) => format!(">= {worst}"),
            Explored::NotHandled => "-".to_owned(),
        };
        let numbers = [
            row.name.clone(),
            run.blocks.len().to_string(),
            run.warp_instructions.to_string(),
            row.runs[0].makespan.to_string(),
            row.runs[1].makespan.to_string(),
            explored,
        ];
        let bounds = run.judged().map(|b| b.value.map_or_else(|| "-".to_owned(), |v| v.to_string()));
        let tightest = tightest(&run.bounds).map_or("-", |bound| bound.name).to_owned();
        table.row(numbers.into_iter().chain(bounds).chain([tightest]));
    }
    table.render(0, style.width)
}

#[derive(Serialize)]
struct CompareReport {
    schema: u32,
    results: Vec<Line>,
    #[serde(flatten)]
    batch: json::Batch,
}

#[derive(Serialize)]
struct Line {
    kernel: String,
    machine: String,
    blocks: usize,
    warp_instructions: u64,
    makespan_gto: u64,
    makespan_lrr: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    explored_worst: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    explored_worst_at_least: Option<u64>,
    bounds: Vec<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tightest_proved: Option<&'static str>,
    #[serde(flatten)]
    origin: Origin,
}

#[derive(Serialize)]
struct Value {
    name: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<u64>,
}

impl Line {
    fn new(row: &Row, seed: u64) -> Self {
        let run = &row.runs[0];
        let (exactly, at_least) = match row.explored {
            Explored::Exactly(worst) => (Some(worst.get()), None),
            Explored::AtLeast(worst) => (None, Some(worst.get())),
            Explored::NotHandled => (None, None),
        };
        Self {
            kernel: row.name.clone(),
            machine: row.machine.name().to_owned(),
            blocks: run.blocks.len(),
            warp_instructions: run.warp_instructions,
            makespan_gto: row.runs[0].makespan.get(),
            makespan_lrr: row.runs[1].makespan.get(),
            explored_worst: exactly,
            explored_worst_at_least: at_least,
            bounds: run.judged().map(|b| Value { name: b.name, value: b.value.map(Cycles::get) }).collect(),
            tightest_proved: tightest(&run.bounds).map(|bound| bound.name),
            origin: Origin::new(&row.machine, seed),
        }
    }
}
