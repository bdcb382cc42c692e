//! Figure 4 of Jeanmougin et al., ECRTS 2025: shorter phases, a longer schedule.

use super::PAPER;
use super::figure::{FigureResult, Statement};
use crate::phase_anomaly::PolicySearch;

/// Returns the figure, from searches under lrr and gto.
pub fn fig4(lrr: &PolicySearch, gto: &PolicySearch) -> FigureResult {
    let statements = vec![
        Statement {
            claim: "two of the phases spend less than their worst-case duration, and yet the schedule is longer",
            place: "Figure 4, three warps under LRR",
            holds: lrr.found,
            seen: seen(lrr),
        },
        Statement {
            claim: "the GTO and LRR policies are subject to scheduling anomalies",
            place: "section 3.2.1, here GTO",
            holds: gto.found,
            seen: seen(gto),
        },
    ];
    let anomalies = [lrr, gto].into_iter().filter_map(|search| search.anomaly.as_ref());
    let mut commands = vec!["warpbound anomaly --phases".to_owned()];
    commands.extend(
        anomalies.flat_map(|anomaly| [anomaly.command_before.clone(), anomaly.command_after.clone()]),
    );
    let about = "two phases of three warps get shorter, and the schedule gets longer";
    FigureResult {
        statements,
        notes: vec![
            "the paper states the lengths of the phases and both makespans only in a drawing, so no number is compared. \
             The search looks for the first instance, in order of total length, for which the statements hold",
        ],
        commands,
        ..FigureResult::new("Figure 4", PAPER, "section 3.2.1", about)
    }
}

fn seen(search: &PolicySearch) -> String {
    match &search.anomaly {
        Some(anomaly) => {
            let shorter: Vec<String> = anomaly
                .shortened
                .iter()
                .map(|one| {
                    format!(
                        "w{}'s {} phase {} from {} to {}",
                        one.warp,
                        one.kind,
                        one.phase + 1,
                        one.from,
                        one.to
                    )
                })
                .collect();
            let (before, after) = (anomaly.makespan_before, anomaly.makespan_after);
            format!("{}: makespan {before}, then {after}", shorter.join(" and "))
        }
        None => format!("none among {} instances, {} schedules", search.instances, search.schedules),
    }
}
