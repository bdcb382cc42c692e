//! `warpbound fermi`: the finishing time of the template kernels of Raravi and Andersson, 2010, over all schedules.
//!
//! A study of a bound, not a gate: refuted cells are results, and the exit code is 0.

use std::fmt::Write;
use std::ops::RangeInclusive;

use serde::Serialize;

use crate::base::Cycles;
use crate::check::{Status, overestimation};
use crate::cli::args::Fermi;
use crate::cli::assets::Location;
use crate::cli::memory;
use crate::cli::output::{self, Format, Outcome};
use crate::cli::session::Session;
use crate::diag::{Diagnostic, Diagnostics};
use crate::explore::fermi::{
    CycleUse, Fairness, FermiBound, FermiMachine, Finishing, TemplateKernel, explore,
};
use crate::report::json::{SCHEMA, rounded};
use crate::report::style::Style;
use crate::report::table::Table;

/// Ends of a range, at most.
const MAX_RANGE: usize = 10_000;
/// Cells of a table, at most.
const MAX_CELLS: usize = 1_000;

#[derive(Serialize)]
struct FermiReport<T> {
    schema: u32,
    machine: String,
    fairness: bool,
    results: Vec<T>,
    tool_version: &'static str,
}

#[derive(Serialize)]
struct Cell {
    warps: usize,
    rep: usize,
    complete: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    worst: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    best: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    states: Option<usize>,
    bounds: Vec<Judged>,
}

#[derive(Serialize)]
struct Judged {
    name: &'static str,
    value: u64,
    status: Status,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    /// Whether the true worst case is the bound.
    exact: bool,
    /// Whether the true worst case is above the bound, whatever its premises.
    exceeded: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    overestimation: Option<f64>,
}

#[derive(Serialize)]
struct Witness {
    warps: usize,
    rep: usize,
    worst: u64,
    best: u64,
    bounds: Vec<Judged>,
    /// Per warp its instruction in each cycle, `.` for none.
    worst_schedule: Vec<String>,
    best_schedule: Vec<String>,
}

#[derive(Serialize)]
struct OfKernel {
    threads: Vec<u32>,
    warps: Vec<u32>,
    rep: usize,
    bounds: Vec<KernelBound>,
}

#[derive(Serialize)]
struct KernelBound {
    name: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
}

/// Runs the command.
pub fn run(args: &Fermi, session: &Session) -> Outcome {
    let machine = match &args.machine {
        Some(path) => FermiMachine::parse(&Location::Disk(path.clone()).text()?)?,
        None => FermiMachine::published(),
    };
    let fairness = if args.no_fairness { Fairness::Unrestricted } else { Fairness::SubBlock };
    if let Some(at) = &args.witness {
        witness(args, &machine, fairness, at, session)
    } else if !args.threads.is_empty() {
        of_kernel(args, &machine, fairness, session)
    } else {
        table(args, &machine, fairness, session)
    }
}

fn range(option: &str, text: &str) -> Result<RangeInclusive<usize>, Diagnostic> {
    let (from, to) = text.split_once("..=").unwrap_or((text, text));
    let number = |word: &str| word.trim().parse::<usize>().ok().filter(|n| (1..=MAX_RANGE).contains(n));
    match (number(from), number(to)) {
        (Some(from), Some(to)) if from <= to => Ok(from..=to),
        _ => Err(Diagnostic::general(
            format!("{option} {text}"),
            format!("expected N or FROM..=TO, 1 to {MAX_RANGE}"),
        )
        .hint(format!("for example {option} 1..=4"))),
    }
}

fn json<T: Serialize>(
    machine: &FermiMachine,
    fairness: Fairness,
    results: Vec<T>,
    session: &Session,
) -> Outcome {
    let report = FermiReport {
        schema: SCHEMA,
        machine: machine.name.clone(),
        fairness: fairness == Fairness::SubBlock,
        results,
        tool_version: env!("CARGO_PKG_VERSION"),
    };
    output::json(session, &report)
}

/// The worst case against every bound.
fn judge(
    machine: &FermiMachine,
    fairness: Fairness,
    warps: usize,
    rep: usize,
    worst: Option<Cycles>,
) -> Vec<Judged> {
    let of_bound = |bound: FermiBound| {
        let value = bound.value(warps, rep);
        let premises = bound.applicable(machine, fairness);
        let (status, reason) = match (premises, worst) {
            (Err(reason), _) => (Status::NotApplicable, Some(reason.to_owned())),
            (Ok(()), None) => (Status::Undecided, Some("the exploration is incomplete".to_owned())),
            (Ok(()), Some(worst)) if worst > value => (Status::Violated, None),
            (Ok(()), Some(_)) => (Status::Holds, None),
        };
        Judged {
            name: bound.name(),
            value: value.get(),
            status,
            reason,
            exact: worst == Some(value),
            exceeded: worst.is_some_and(|worst| worst > value),
            overestimation: worst.and_then(|worst| overestimation(value, worst)).map(rounded),
        }
    };
    FermiBound::ALL.into_iter().map(of_bound).collect()
}

fn table(args: &Fermi, machine: &FermiMachine, fairness: Fairness, session: &Session) -> Outcome {
    let (warps, reps) = (range("--warps", &args.warps)?, range("--rep", &args.rep)?);
    if warps.clone().count() * reps.clone().count() > MAX_CELLS {
        let message = format!("more than {MAX_CELLS} cells");
        return Err(Diagnostic::general(format!("--warps {} --rep {}", args.warps, args.rep), message).into());
    }
    let mut problems = Diagnostics::new();
    let mut kernels = Vec::new();
    for w in warps {
        for rep in reps.clone() {
            match TemplateKernel::new(machine, w, rep) {
                Ok(kernel) => kernels.push(kernel),
                Err(problem) => problems.push(problem),
            }
        }
    }
    let kernels = problems.into_result(kernels)?;
    session.progress.begin("exploring", Some(kernels.len() as u64), "cells");
    let cells: Vec<Cell> = kernels
        .iter()
        .map(|kernel| {
            let found = explore(machine, kernel, fairness, max_states(args), &session.watch).ok();
            session.watch.advance(1);
            let worst = found.as_ref().map(|found| found.worst);
            Cell {
                warps: kernel.warps,
                rep: kernel.repetitions,
                complete: found.is_some(),
                worst: worst.map(Cycles::get),
                best: found.as_ref().map(|found| found.best.get()),
                states: found.as_ref().map(|found| found.states),
                bounds: judge(machine, fairness, kernel.warps, kernel.repetitions, worst),
            }
        })
        .collect();
    match args.format {
        Format::Json => json(machine, fairness, cells, session),
        Format::Text => output::text(session, &table_text(machine, fairness, &cells, session)),
    }
}

fn rule(fairness: Fairness) -> &'static str {
    match fairness {
        Fairness::SubBlock => "repetition k before k+1",
        Fairness::Unrestricted => "no fairness rule",
    }
}

fn verdict(judged: &Judged) -> String {
    match (judged.status, judged.exact, judged.exceeded) {
        (Status::Violated, ..) => "TOO LOW".to_owned(),
        (Status::Holds, true, _) => "exact".to_owned(),
        (Status::NotApplicable, _, true) => "n/a, exceeded".to_owned(),
        (Status::NotApplicable, ..) => "n/a".to_owned(),
        (status, ..) => status.name().to_owned(),
    }
}

fn table_text(machine: &FermiMachine, fairness: Fairness, cells: &[Cell], session: &Session) -> String {
    let mut text = session.style.fill(&format!(
        "{}: finishing time in cycles over every work-conserving schedule, {}\n\n",
        machine.name,
        rule(fairness)
    ));
    let names = FermiBound::ALL.map(FermiBound::name);
    let heading =
        ["warps", "rep", "worst", "best"].into_iter().chain(names.into_iter().flat_map(|n| [n, ""]));
    let mut table = Table::new(heading.chain(["states"]), &[5, 7, 9]).expendable([3]);
    let number = |value: Option<u64>| value.map_or_else(|| "?".to_owned(), |v| v.to_string());
    for cell in cells {
        let start = [cell.warps.to_string(), cell.rep.to_string(), number(cell.worst), number(cell.best)];
        let bounds = cell.bounds.iter().flat_map(|bound| [bound.value.to_string(), verdict(bound)]);
        table.row(start.into_iter().chain(bounds).chain([number(cell.states.map(|s| s as u64))]));
    }
    text.push_str(&table.render(2, session.style.width));
    text.push('\n');
    for bound in FermiBound::ALL {
        let premise = match bound.applicable(machine, fairness) {
            Ok(()) => String::new(),
            Err(reason) => format!("  not applicable: {reason}"),
        };
        let line = format!("  {:<12} {:<28}{premise}", bound.name(), bound.formula());
        let _ = writeln!(text, "{}", line.trim_end());
    }
    if cells.iter().any(|cell| !cell.complete) {
        let reason = session.stopped().map_or("--max-states did not suffice", |reason| reason.text());
        let _ = writeln!(text, "  ? INCOMPLETE: {reason}; nothing is claimed of these cells");
    }
    if cells.iter().any(|cell| cell.bounds.iter().any(|bound| bound.exceeded)) {
        text.push_str("  --witness W,R prints a schedule that takes the worst case\n");
    }
    text
}

fn witness(args: &Fermi, machine: &FermiMachine, fairness: Fairness, at: &str, session: &Session) -> Outcome {
    let parsed = at.split_once(',').and_then(|(w, r)| Some((w.trim().parse().ok()?, r.trim().parse().ok()?)));
    let place = format!("--witness {at}");
    let (warps, rep) = parsed.ok_or_else(|| {
        Diagnostic::general(place.clone(), "expected WARPS,REPETITIONS").hint("for example --witness 4,1")
    })?;
    let kernel = TemplateKernel::new(machine, warps, rep)?;
    session.progress.begin("exploring", None, "");
    let found = explore(machine, &kernel, fairness, max_states(args), &session.watch).map_err(|_| {
        let stopped = session.stopped().map(|reason| Diagnostic::general(&place, reason.text()));
        let short = || Diagnostic::general(&place, "the states do not suffice").hint("raise --max-states");
        stopped.unwrap_or_else(short)
    })?;
    let bounds = judge(machine, fairness, warps, rep, Some(found.worst));
    match args.format {
        Format::Json => json(
            machine,
            fairness,
            vec![Witness {
                warps,
                rep,
                worst: found.worst.get(),
                best: found.best.get(),
                bounds,
                worst_schedule: rows(&found.worst_schedule, warps),
                best_schedule: rows(&found.best_schedule, warps),
            }],
            session,
        ),
        Format::Text => {
            let text = witness_text(machine, fairness, &kernel, &found, &bounds, session.style);
            output::text(session, &text)
        }
    }
}

/// Per warp its letter in each cycle.
fn rows(schedule: &[CycleUse], warps: usize) -> Vec<String> {
    let letter = |warp: usize, used: &CycleUse| {
        used.iter().find(|(w, _)| *w == warp).map_or('.', |(_, op)| op.letter())
    };
    (0..warps).map(|warp| schedule.iter().map(|used| letter(warp, used)).collect()).collect()
}

fn witness_text(
    machine: &FermiMachine,
    fairness: Fairness,
    kernel: &TemplateKernel,
    found: &Finishing,
    bounds: &[Judged],
    style: Style,
) -> String {
    let mut text = format!(
        "{}: {} warps, rep {}, {}; C CUDA, L LOAD, S STORE\n",
        machine.name,
        kernel.warps,
        kernel.repetitions,
        rule(fairness)
    );
    for (title, time, schedule) in
        [("worst", found.worst, &found.worst_schedule), ("best", found.best, &found.best_schedule)]
    {
        let _ = writeln!(text, "\n{title}: {time} cycles");
        let cycles = (1..=schedule.len()).map(|cycle| cycle.to_string());
        let mut table = Table::new(["threads".to_owned()].into_iter().chain(cycles), &[0]);
        for (warp, row) in rows(schedule, kernel.warps).iter().enumerate() {
            let first = warp as u64 * u64::from(machine.warp_threads) + 1;
            let last = first + u64::from(machine.warp_threads) - 1;
            let letters = row.chars().map(|c| if c == '.' { String::new() } else { c.to_string() });
            table.row([format!("{first}-{last}")].into_iter().chain(letters));
        }
        text.push_str(&table.render(2, style.width));
    }
    text.push('\n');
    for bound in bounds {
        let reason = bound.reason.as_ref().map_or_else(String::new, |reason| format!("   {reason}"));
        let _ = writeln!(text, "  {:<12} {:>4}  {}{reason}", bound.name, bound.value, verdict(bound));
    }
    text
}

fn of_kernel(args: &Fermi, machine: &FermiMachine, fairness: Fairness, session: &Session) -> Outcome {
    let all: Vec<OfKernel> = range("--rep", &args.rep)?
        .map(|rep| OfKernel {
            threads: args.threads.clone(),
            warps: args.threads.iter().map(|threads| machine.warps(*threads)).collect(),
            rep,
            bounds: FermiBound::ALL
                .into_iter()
                .map(|bound| match bound.applicable(machine, fairness) {
                    Ok(()) => KernelBound {
                        name: bound.name(),
                        value: Some(bound.kernel(machine, &args.threads, rep).get()),
                        reason: None,
                    },
                    Err(reason) => KernelBound { name: bound.name(), value: None, reason: Some(reason) },
                })
                .collect(),
        })
        .collect();
    if args.format == Format::Json {
        return json(machine, fairness, all, session);
    }
    let mut text = format!(
        "{}: bounds on the finishing time of a kernel, the largest over {} SMs; {}\n\n",
        machine.name,
        args.threads.len(),
        rule(fairness)
    );
    let mut table = Table::new(["rep"].into_iter().chain(FermiBound::ALL.map(FermiBound::name)), &[]);
    for kernel in &all {
        let values =
            kernel.bounds.iter().map(|b| b.value.map_or_else(|| "n/a".to_owned(), |v| v.to_string()));
        table.row([kernel.rep.to_string()].into_iter().chain(values));
    }
    text.push_str(&table.render(2, session.style.width));
    text.push_str(
        "\n  ft is as published, and too low for an SM with one warp from rep 2 on; ft-corrected is proved\n",
    );
    output::text(session, &text)
}

/// Bytes of a remembered state, with room to grow.
const STATE_BYTES: u64 = 64;

/// As many states as were asked for, or as there is memory for.
fn max_states(args: &Fermi) -> usize {
    let fit = usize::try_from(memory::budget() / STATE_BYTES).unwrap_or(usize::MAX);
    args.max_states.min(fit)
}
