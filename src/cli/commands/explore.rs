//! `warpbound explore`: the true worst and best makespan over all work-conserving schedules, or
//! over all latencies in intervals under one policy.

use std::io::{IsTerminal, Write};
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::process::ExitCode;

use serde::Serialize;

use super::check::VIOLATED;
use crate::base::{Cycles, UnitId};
use crate::bound::{self, Analyser, BoundReport, Context, Scope};
use crate::check::{Status, overestimation};
use crate::cli::args::Explore;
use crate::cli::load::{self, LoadedKernel};
use crate::cli::output::{self, Failure, Format};
use crate::diag::{Diagnostic, Diagnostics};
use crate::explore::latencies::FixedPolicy;
use crate::explore::search::{Extremes, Limits};
use crate::explore::{Exploration, Varied, explore, explore_latencies, witness_schedule};
use crate::machine::{Machine, SchedulerKind};
use crate::path::BlockPaths;
use crate::program::TimingTable;
use crate::report::json::{self, Origin, SCHEMA};
use crate::report::table::Table;
use crate::report::text::percent;

/// Runs the command.
pub fn run(args: &Explore) -> Result<ExitCode, Failure> {
    let kernel = load::kernel(&args.on.kernel, &args.on.ptx, args.on.common.seed)?;
    let (machine, _) = load::machine(&args.on.common, &kernel)?;
    load::paper_model(&machine, "`explore` searches the schedules of")?;
    let table = load::timing(&kernel, &machine)?;
    let paths = load::nth_block(&kernel, &machine, args.of_block, args.on.common.max_instructions)?;
    let limits = Limits { max_states: args.max_states, threads: args.jobs.unwrap_or_else(load::threads) };
    if args.vary.is_empty() {
        if let Some(scheduler) = &args.on.common.scheduler {
            let problem = Diagnostic::general(
                format!("--scheduler {scheduler}"),
                "without --vary every work-conserving schedule is explored",
            );
            return Err(problem
                .hint("leave it out, or explore latencies under it with --vary UNIT=FROM..=TO")
                .into());
        }
        all_schedules(args, &kernel, &machine, &table, &paths, limits)
    } else {
        all_latencies(args, &kernel, &machine, &table, &paths, limits)
    }
}

/// A line on the terminal that follows the search.
fn progress(states: u64, issues: usize, total: usize) {
    let mut out = std::io::stderr();
    if out.is_terminal() {
        let end = if issues == total { "\r\x1b[K" } else { "" };
        // progress is for the eye; nobody misses it if stderr is closed
        let _ = write!(out, "\r{issues} of {total} issues, {states} states{end}");
    }
}

fn not_explorable(kernel: &LoadedKernel, error: &dyn std::fmt::Display) -> Diagnostic {
    Diagnostic::general(kernel.workload.name.clone(), format!("this block cannot be explored: {error}"))
}

fn all_schedules(
    args: &Explore,
    kernel: &LoadedKernel,
    machine: &Machine,
    table: &TimingTable,
    paths: &BlockPaths,
    limits: Limits,
) -> Result<ExitCode, Failure> {
    // every schedule that is explored is work conserving, and one block is
    let context = Context {
        work_conserving: Some(true),
        ..Context::new(&SchedulerKind::Gto, 1, paths.partial_barriers)
    };
    // bounds for one policy claim nothing of all schedules, and bounds of launches nothing of a block
    let mut bounds = bound::all();
    bounds.retain(|bound| bound.policy().is_none() && bound.scope() == Scope::Block);
    let mut reports = vec![BoundReport::default(); bounds.len()];
    Analyser::new(table).for_each_section(paths, |section| {
        bounds.iter().zip(&mut reports).for_each(|(bound, report)| bound.add_section(report, section));
    });
    let proved = bounds
        .iter()
        .position(|bound| bound.name() == "iwb")
        .map_or(Cycles::ZERO, |i| reports[i].value.cycles());
    let total: usize =
        paths.warps.iter().map(|warp| warp.steps().iter().filter(|s| table.issues(**s)).count()).sum();
    let found =
        explore(table, machine, paths, proved, limits, &|states, issues| progress(states, issues, total))
            .map_err(|error| not_explorable(kernel, &error))?;
    let judged: Vec<json::Bound> = bounds
        .iter()
        .zip(&reports)
        .map(|(bound, report)| match bound.applicable(&context) {
            Ok(()) => judge(bound.name(), report.value.cycles(), &found),
            Err(reason) => json::Bound {
                name: bound.name(),
                value: None,
                status: Status::NotApplicable.name(),
                reason: Some(reason.to_string()),
                overestimation: None,
            },
        })
        .collect();
    write_witness(args.worst_schedule.as_ref(), table, machine, paths, &found.worst_witness)?;
    write_witness(args.best_schedule.as_ref(), table, machine, paths, &found.best_witness)?;
    let violated = judged.iter().any(|bound| bound.status == Status::Violated.name());
    match args.on.common.format {
        Format::Json => output::print_json(&Report::new(args, kernel, machine, &found, judged))?,
        Format::Text => {
            let blocks = kernel.workload.blocks();
            let which =
                if blocks > 1 { format!("block {} of {blocks}: ", args.of_block) } else { String::new() };
            output::print(&(which + &text(kernel, machine, &found, &judged)))?;
        }
    }
    Ok(if violated { ExitCode::from(VIOLATED) } else { ExitCode::SUCCESS })
}

/// A bound claims something of every schedule: it holds only if the worst case is known to be
/// below it.
fn judge(name: &'static str, value: Cycles, found: &Exploration) -> json::Bound {
    let (status, reason) = if found.worst.at_least > value {
        (Status::Violated, None)
    } else if found.worst.at_most <= value {
        (Status::Holds, None)
    } else {
        (
            Status::NotApplicable,
            Some("the exploration is incomplete: the worst case may be above or below".to_owned()),
        )
    };
    let over = overestimation(value, found.worst.at_least).filter(|_| found.complete);
    json::Bound {
        name,
        value: Some(value.get()),
        status: status.name(),
        reason,
        overestimation: over.map(json::rounded),
    }
}

fn write_witness(
    path: Option<&PathBuf>,
    table: &TimingTable,
    machine: &Machine,
    paths: &BlockPaths,
    witness: &[usize],
) -> Result<(), Diagnostics> {
    let Some(path) = path else { return Ok(()) };
    let schedule = witness_schedule(table, machine, paths, witness)
        .expect("witnesses are replayed before they are reported");
    output::write_file(path, schedule.as_bytes())
}

#[derive(Serialize)]
struct Report {
    schema: u32,
    kernel: String,
    machine: String,
    block: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    worst: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    best: Option<u64>,
    worst_at_least: u64,
    worst_at_most: u64,
    best_at_least: u64,
    best_at_most: u64,
    complete: bool,
    states: u64,
    bounds: Vec<json::Bound>,
    witness: Vec<usize>,
    best_witness: Vec<usize>,
    #[serde(flatten)]
    origin: Origin,
}

impl Report {
    fn new(
        args: &Explore,
        kernel: &LoadedKernel,
        machine: &Machine,
        found: &Exploration,
        bounds: Vec<json::Bound>,
    ) -> Self {
        Self {
            schema: SCHEMA,
            kernel: kernel.workload.name.clone(),
            machine: machine.name().to_owned(),
            block: args.of_block,
            worst: found.worst.exact().map(Cycles::get).filter(|_| found.complete),
            best: found.best.exact().map(Cycles::get).filter(|_| found.complete),
            worst_at_least: found.worst.at_least.get(),
            worst_at_most: found.worst.at_most.get(),
            best_at_least: found.best.at_least.get(),
            best_at_most: found.best.at_most.get(),
            complete: found.complete,
            states: found.states,
            bounds,
            witness: found.worst_witness.clone(),
            best_witness: found.best_witness.clone(),
            origin: Origin::new(machine, args.on.common.seed),
        }
    }
}

/// Issues shown of a witness.
const MAX_WITNESS: usize = 200;

fn shown_witness(witness: &[usize]) -> String {
    let shown: Vec<String> = witness.iter().take(MAX_WITNESS).map(usize::to_string).collect();
    let more = if witness.len() > MAX_WITNESS { " ..." } else { "" };
    format!("{}{more}", shown.join(" "))
}

fn text(kernel: &LoadedKernel, machine: &Machine, found: &Exploration, bounds: &[json::Bound]) -> String {
    let style = output::style();
    let mut out = if found.complete {
        format!(
            "{} on {}: over all work-conserving schedules worst {}, best {} cycles ({} states, complete)\n\n",
            style.strong(&kernel.workload.name),
            machine.name(),
            found.worst.at_least,
            found.best.at_most,
            found.states
        )
    } else {
        format!(
            "{} on {}: INCOMPLETE after {} states, every schedule followed for {} issues\n  proven: worst between {} and {}, best between {} and {} cycles (--max-states allows more)\n\n",
            style.strong(&kernel.workload.name),
            machine.name(),
            found.states,
            found.followed_issues,
            found.worst.at_least,
            found.worst.at_most,
            found.best.at_least,
            found.best.at_most
        )
    };
    let mut table = Table::new(["bound", "cycles", "over worst", "status", ""], &[0, 3, 4]);
    for bound in bounds {
        let status = [Status::Holds, Status::Violated, Status::NotApplicable]
            .into_iter()
            .find(|s| s.name() == bound.status);
        let status = if bound.value.is_some() && status == Some(Status::NotApplicable) {
            "unknown".to_owned()
        } else {
            status.map_or_else(String::new, |s| style.status(s))
        };
        table.row([
            bound.name.to_owned(),
            bound.value.map_or_else(|| "-".to_owned(), |v| v.to_string()),
            bound.overestimation.map_or_else(|| "-".to_owned(), percent),
            status,
            bound.reason.clone().unwrap_or_default(),
        ]);
    }
    out.push_str(&table.render(2));
    out.push_str(&format!("\n  a worst schedule, warp by issue: {}\n", shown_witness(&found.worst_witness)));
    out.push_str(&format!("  a best schedule, warp by issue:  {}\n", shown_witness(&found.best_witness)));
    out.push_str("  (--worst-schedule FILE writes it for --scheduler replay:FILE)\n");
    out
}

#[derive(Serialize)]
struct LatencyReport {
    schema: u32,
    kernel: String,
    machine: String,
    scheduler: String,
    varied: Vec<VariedUnit>,
    complete: bool,
    states: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    worst: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    best: Option<u64>,
    /// Makespan with every varied latency at its longest.
    all_longest: u64,
    witness: Vec<Decision>,
    best_witness: Vec<Decision>,
    #[serde(flatten)]
    origin: Origin,
}

#[derive(Serialize)]
struct VariedUnit {
    unit: String,
    lat_from: u16,
    lat_to: u16,
}

#[derive(Serialize)]
struct Decision {
    warp: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    lat: Option<u16>,
}

fn all_latencies(
    args: &Explore,
    kernel: &LoadedKernel,
    machine: &Machine,
    table: &TimingTable,
    paths: &BlockPaths,
    limits: Limits,
) -> Result<ExitCode, Failure> {
    let setup = load::policy(&args.on.common, kernel, machine)?;
    let policy = match setup.kind() {
        SchedulerKind::Gto => FixedPolicy::Gto,
        SchedulerKind::Lrr => FixedPolicy::Lrr,
        SchedulerKind::Oldest => FixedPolicy::Oldest,
        other => {
            let problem = Diagnostic::general(
                format!("--scheduler {other}"),
                "latencies are explored under gto, lrr or oldest",
            );
            return Err(problem.hint("choose one with --scheduler").into());
        }
    };
    let varied = varied(&args.vary, machine)?;
    let all = |lat: u16, one: &Varied| Varied { unit: one.unit, lat: lat..=lat };
    let longest: Vec<Varied> = varied.iter().map(|one| all(*one.lat.end(), one)).collect();
    let total: usize = paths.warps.iter().map(|warp| warp.steps().len()).sum();
    let search = |varied: &[Varied]| {
        explore_latencies(table, paths, policy, varied, limits, &|states, issues| {
            progress(states, issues, total)
        })
        .map_err(|error| not_explorable(kernel, &error))
    };
    let all_longest = search(&longest)?.map(|found| found.worst).unwrap_or(0);
    let found = search(&varied)?;
    let decisions = |witness: &[(usize, Option<u16>)]| {
        witness.iter().map(|&(warp, lat)| Decision { warp, lat }).collect()
    };
    let report = LatencyReport {
        schema: SCHEMA,
        kernel: kernel.workload.name.clone(),
        machine: machine.name().to_owned(),
        scheduler: setup.to_string(),
        varied: varied.iter().map(|one| VariedUnit::new(machine, one)).collect(),
        complete: found.is_ok(),
        states: found.as_ref().map_or_else(|fuel| fuel.states, |found| found.states),
        worst: found.as_ref().ok().map(|found| found.worst),
        best: found.as_ref().ok().map(|found| found.best),
        all_longest,
        witness: found.as_ref().map(|found| decisions(&found.worst_witness)).unwrap_or_default(),
        best_witness: found.as_ref().map(|found| decisions(&found.best_witness)).unwrap_or_default(),
        origin: Origin::new(machine, args.on.common.seed),
    };
    match args.on.common.format {
        Format::Json => output::print_json(&report)?,
        Format::Text => output::print(&latency_text(&report, found.as_ref().ok()))?,
    }
    Ok(ExitCode::SUCCESS)
}

impl VariedUnit {
    fn new(machine: &Machine, one: &Varied) -> Self {
        let unit = machine.units()[one.unit.index()].name.clone();
        Self { unit, lat_from: *one.lat.start(), lat_to: *one.lat.end() }
    }
}

/// Reads `UNIT=FROM..=TO`.
fn varied(texts: &[String], machine: &Machine) -> Result<Vec<Varied>, Diagnostics> {
    let mut problems = Diagnostics::new();
    let mut varied = Vec::new();
    for text in texts {
        let place = format!("--vary {text}");
        let parsed = text.split_once('=').and_then(|(unit, range)| Some((unit.trim(), interval(range)?)));
        let Some((name, lat)) = parsed else {
            problems.push(
                Diagnostic::general(place, "expected UNIT=FROM..=TO with FROM <= TO <= 65534")
                    .hint("for example --vary gmem=4..=21"),
            );
            continue;
        };
        match machine.units().iter().position(|unit| unit.name == name) {
            Some(index) => varied.push(Varied { unit: UnitId::from_index(index), lat }),
            None => {
                let names: Vec<&str> = machine.units().iter().map(|unit| unit.name.as_str()).collect();
                problems.push(
                    Diagnostic::general(place, format!("no unit `{name}`"))
                        .hint(format!("units: {}", names.join(", "))),
                );
            }
        }
    }
    problems.into_result(varied)
}

fn interval(text: &str) -> Option<RangeInclusive<u16>> {
    let (from, to) = text.split_once("..=")?;
    let (from, to) = (from.trim().parse().ok()?, to.trim().parse().ok()?);
    (from <= to && to < u16::MAX).then_some(from..=to)
}

fn latency_text(report: &LatencyReport, found: Option<&Extremes<(usize, Option<u16>)>>) -> String {
    let units: Vec<String> =
        report.varied.iter().map(|v| format!("{} lat {} to {}", v.unit, v.lat_from, v.lat_to)).collect();
    let head =
        format!("{} on {} under {}, {}", report.kernel, report.machine, report.scheduler, units.join(", "));
    let Some(found) = found else {
        return format!(
            "{head}: INCOMPLETE after {} states; nothing is claimed (--max-states allows more)\n",
            report.states
        );
    };
    let mut out = format!(
        "{head}: over all latencies worst {}, best {} cycles ({} states, complete)\n  with every varied latency at its longest: {} cycles\n",
        found.worst, found.best, found.states, report.all_longest
    );
    if found.worst > report.all_longest {
        out.push_str("  a timing anomaly: shorter latencies make this block slower\n");
    }
    let shown = |witness: &[(usize, Option<u16>)]| {
        let one = |(warp, lat): &(usize, Option<u16>)| {
            lat.map_or(format!("w{warp}"), |lat| format!("w{warp}:{lat}"))
        };
        let more = if witness.len() > MAX_WITNESS { " ..." } else { "" };
        format!("{}{more}", witness.iter().take(MAX_WITNESS).map(one).collect::<Vec<_>>().join(" "))
    };
    out.push_str(&format!("  a worst run, warp:latency by issue: {}\n", shown(&found.worst_witness)));
    out.push_str(&format!("  a best run, warp:latency by issue:  {}\n", shown(&found.best_witness)));
    out
}
