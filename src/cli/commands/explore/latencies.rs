//! All latencies in intervals, under one policy.

use std::ops::RangeInclusive;

use serde::Serialize;

use super::Block;
use crate::base::UnitId;
use crate::cli::load;
use crate::cli::output::{self, Format, Outcome};
use crate::diag::{Diagnostic, Diagnostics};
use crate::explore::latencies::FixedPolicy;
use crate::explore::{LatencyExtremes, Varied, explore_latencies};
use crate::machine::{Machine, SchedulerKind};
use crate::report::json::{Origin, SCHEMA};

/// Issues shown of a witness.
const MAX_WITNESS: usize = 200;

#[derive(Serialize)]
struct LatencyReport {
    schema: u32,
    kernel: String,
    machine: String,
    scheduler: String,
    varied: Vec<VariedUnit>,
    complete: bool,
    /// Why not, if so, as for schedules.
    #[serde(skip_serializing_if = "Option::is_none")]
    stopped: Option<&'static str>,
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

/// Searches them.
pub fn explore(block: &Block) -> Outcome {
    let Block { args, kernel, machine, table, paths, limits, session } = block;
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
    let search = |varied: &[Varied]| {
        session.progress.begin(&kernel.workload.name, Some(block.issues()), "issues");
        explore_latencies(table, paths, policy, varied, *limits, &session.watch)
            .map_err(|error| block.not_explorable(&error))
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
        stopped: found.as_ref().err().map(|fuel| block.stopped(fuel.spent)),
        states: found.as_ref().map_or_else(|fuel| fuel.states, |found| found.states),
        worst: found.as_ref().ok().map(|found| found.worst),
        best: found.as_ref().ok().map(|found| found.best),
        all_longest,
        witness: found.as_ref().map(|found| decisions(&found.worst_witness)).unwrap_or_default(),
        best_witness: found.as_ref().map(|found| decisions(&found.best_witness)).unwrap_or_default(),
        origin: Origin::new(machine, args.on.common.seed),
    };
    match args.on.common.format {
        Format::Json => output::json(session, &report),
        Format::Text => output::text(session, &latency_text(block, &report, &found)),
    }
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

fn latency_text(block: &Block, report: &LatencyReport, found: &LatencyExtremes) -> String {
    let units: Vec<String> =
        report.varied.iter().map(|v| format!("{} lat {} to {}", v.unit, v.lat_from, v.lat_to)).collect();
    let head =
        format!("{} on {} under {}, {}", report.kernel, report.machine, report.scheduler, units.join(", "));
    let found = match found {
        Ok(found) => found,
        Err(fuel) => {
            let why = block.why(fuel.spent);
            return format!(
                "{head}: INCOMPLETE after {} states; nothing is claimed ({why})\n",
                report.states
            );
        }
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
