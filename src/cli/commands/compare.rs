//! `warpbound compare`: every bound beside what was simulated and what was explored, a line per
//! kernel.

use std::process::ExitCode;

use serde::Serialize;

use crate::base::Cycles;
use crate::bound::{self, Bound, Standing};
use crate::check::{BoundRow, Checked, Plan, Status, WorkloadSource, check};
use crate::cli::args::Compare;
use crate::cli::load::{self, LoadedKernel};
use crate::cli::output::{self, Failure, Format};
use crate::diag::Diagnostics;
use crate::exec::Options;
use crate::explore::explore;
use crate::explore::search::Limits;
use crate::machine::{Machine, SchedulerKind};
use crate::path::{BlockPaths, BlockSource};
use crate::report::json::{Origin, SCHEMA};
use crate::report::table::Table;

/// A kernel's line.
struct Row {
    kernel: LoadedKernel,
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
    /// At least this; some block has more states than the fuel allows.
    AtLeast(Cycles),
    /// Some block, or the machine, is of a kind that exploration does not handle.
    NotHandled,
}

/// Runs the command.
pub fn run(args: &Compare) -> Result<ExitCode, Failure> {
    let bounds = bound::all();
    let names = if args.kernels.is_empty() { super::check::suite_kernels()? } else { args.kernels.clone() };
    let rows =
        names.iter().map(|name| row(name, args, &bounds)).collect::<Result<Vec<Row>, Diagnostics>>()?;
    match args.common.format {
        Format::Text => output::print(&text(&rows))?,
        Format::Json => output::print_json(&Report {
            schema: SCHEMA,
            results: rows.iter().map(|row| Line::new(row, args.common.seed)).collect(),
        })?,
    }
    Ok(ExitCode::SUCCESS)
}

fn row(name: &str, args: &Compare, bounds: &[Box<dyn Bound>]) -> Result<Row, Diagnostics> {
    let kernel = load::kernel(name, &super::super::args::PtxLaunch::default(), args.common.seed)?;
    let (machine, _) = load::machine(&args.common, &kernel)?;
    let policies = [load::setup(&SchedulerKind::Gto)?, load::setup(&SchedulerKind::Lrr)?];
    let runs = check(&Plan {
        workload: &kernel.workload,
        machine: &machine,
        policies: &policies,
        bounds,
        gating: &[],
        max_instructions_per_block: args.common.max_instructions,
        threads: 1,
        ahead: false,
        self_check: false,
    })
    .map_err(|problems| problems.with_excerpts(&kernel.code))?;
    // blocks that run at the same time are not explored
    let one_by_one = runs.iter().all(|run| run.resident_blocks <= 1);
    let explored = if one_by_one { explored(&kernel, &machine, args)? } else { Explored::NotHandled };
    Ok(Row { kernel, machine, runs, explored })
}

fn explored(kernel: &LoadedKernel, machine: &Machine, args: &Compare) -> Result<Explored, Diagnostics> {
    if !machine.beyond_the_paper_model().is_empty() {
        return Ok(Explored::NotHandled);
    }
    let table = load::timing(kernel, machine)?;
    let limits = Limits { max_states: args.max_states, threads: load::threads() };
    let mut source: WorkloadSource =
        kernel.workload.source(Options::of(machine, args.common.max_instructions))?;
    let mut paths = BlockPaths::default();
    let mut worst = Explored::Exactly(Cycles::ZERO);
    while source.next_block(&mut paths)? {
        let Ok(found) = explore(&table, machine, &paths, Cycles::ZERO, limits, &|_, _| {}) else {
            return Ok(Explored::NotHandled);
        };
        let at_least = found.worst.at_least;
        worst = match worst {
            Explored::Exactly(sum) if found.complete => Explored::Exactly(sum + at_least),
            Explored::Exactly(sum) | Explored::AtLeast(sum) => Explored::AtLeast(sum + at_least),
            Explored::NotHandled => Explored::NotHandled,
        };
    }
    Ok(worst)
}

/// The proved bound with the smallest value.
fn tightest(rows: &[BoundRow]) -> Option<&BoundRow> {
    let proved = |row: &&BoundRow| row.standing == Standing::Proved && row.status == Status::Holds;
    rows.iter().filter(proved).min_by_key(|row| row.value)
}

fn text(rows: &[Row]) -> String {
    let names: Vec<&str> =
        rows.first().map(|row| row.runs[0].judged().map(|b| b.name).collect()).unwrap_or_default();
    let heading = ["kernel", "blocks", "warp insts", "gto", "lrr", "explored worst"].into_iter().chain(names);
    let mut table = Table::new(heading.chain(["tightest proved"]), &[0]);
    for row in rows {
        let run = &row.runs[0];
        let explored = match row.explored {
            Explored::Exactly(worst) => worst.to_string(),
            Explored::AtLeast(worst) => format!(">= {worst}"),
            Explored::NotHandled => "-".to_owned(),
        };
        let numbers = [
            row.kernel.workload.name.clone(),
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
    table.render(0)
}

#[derive(Serialize)]
struct Report {
    schema: u32,
    results: Vec<Line>,
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
            kernel: row.kernel.workload.name.clone(),
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
