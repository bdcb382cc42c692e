//! The exploration of all latencies in intervals, under one policy.

use std::ops::RangeInclusive;

use super::Block;
use crate::load;
use crate::output::{self, Outcome};
use crate::progress::SEARCH;
use warpbound_core::base::UnitId;
use warpbound_core::diag::{Diagnostic, Diagnostics};
use warpbound_core::machine::{Machine, PolicyKind};
use warpbound_judge::explore::latencies::FixedPolicy;
use warpbound_judge::explore::{Varied, explore_latencies};
use warpbound_report::explore::{ExploreResult, Latencies, VariedUnit};
use warpbound_report::output::Output;

/// Explores the latencies.
pub fn explore(block: &Block) -> Outcome {
    let Block { args, kernel, machine, table, paths, limits, session, .. } = block;
    let setup = load::policy(&args.on.common, kernel, machine)?;
    let policy = match setup.kind() {
        PolicyKind::Gto => FixedPolicy::Gto,
        PolicyKind::Lrr => FixedPolicy::Lrr,
        PolicyKind::Oldest => FixedPolicy::Oldest,
        other => {
            let problem = Diagnostic::general(
                format!("--policy {other}"),
                "latencies are explored under gto, lrr or oldest",
            );
            return Err(problem.hint("choose one with --policy").into());
        }
    };
    let varied = varied(&args.vary, machine)?;
    let all = |lat: u16, one: &Varied| Varied { unit: one.unit, lat: lat..=lat };
    let longest: Vec<Varied> = varied.iter().map(|one| all(*one.lat.end(), one)).collect();
    let search = |varied: &[Varied]| {
        session.progress.begin(&kernel.workload.name, Some(block.issues()), SEARCH);
        explore_latencies(table, paths, policy, varied, *limits, &session.monitor)
            .map_err(|error| block.not_explorable(&error))
    };
    let all_longest = search(&longest)?.map(|found| found.worst).unwrap_or(0);
    let found = search(&varied)?;
    let unit = |one: &Varied| VariedUnit {
        unit: machine.units()[one.unit.index()].name.clone(),
        lat_from: *one.lat.start(),
        lat_to: *one.lat.end(),
    };
    let stopped = found.as_ref().err().map(|fuel| block.stopped(fuel.spent));
    let units = varied.iter().map(unit).collect();
    let latencies = Latencies::new(block.searched(), setup.to_string(), units, all_longest, &found, stopped);
    let (common, results) = (&args.on.common, vec![ExploreResult::Latencies(latencies)]);
    let output = Output::of_batch("explore", Some(common.seed), results, Block::batch(stopped));
    output::report(session, common.format, &output)
}

/// Parses `UNIT=FROM..=TO`.
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
