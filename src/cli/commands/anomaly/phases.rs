//! Anomalies among whole phases, drawn as two schedules above each other.

use std::fmt::Write;

use serde::Serialize;

use crate::base::Cycles;
use crate::bound::PhaseKind;
use crate::cli::args::Anomaly;
use crate::cli::output::{self, Format, Outcome};
use crate::cli::session::Session;
use crate::diag::{Diagnostic, Diagnostics};
use crate::explore::anomaly::phases::{self, PhaseAnomaly, PhaseFound, PhaseSearch};
use crate::explore::phase_level::{POLICIES, PhasePair, PhaseRun, PhaseWarp, schedule};
use crate::machine::SchedulerKind;
use crate::report::json::SCHEMA;
use crate::report::phase_gantt;
use crate::report::style::Style;

/// Most phases per warp, and warps: the drawing is for the eye.
const MAX_PHASES: usize = 64;

#[derive(Serialize)]
struct PhaseReport {
    schema: u32,
    level: &'static str,
    results: Vec<PolicyReport>,
    tool_version: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    seed: Option<u64>,
}

#[derive(Serialize)]
struct PolicyReport {
    scheduler: String,
    /// Whether an anomaly was found.
    found: bool,
    /// Whether the search went as far as it may, or found one.
    complete: bool,
    instances: u64,
    schedules: u64,
    /// Every instance up to this total length was searched.
    #[serde(skip_serializing_if = "Option::is_none")]
    all_up_to: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    anomaly: Option<AnomalyReport>,
}

#[derive(Serialize)]
struct AnomalyReport {
    makespan_before: u64,
    makespan_after: u64,
    shortened: Vec<ShortenedReport>,
    before: Vec<RunReport>,
    after: Vec<RunReport>,
    command_before: String,
    command_after: String,
}

#[derive(Serialize)]
struct ShortenedReport {
    warp: usize,
    phase: usize,
    kind: &'static str,
    from: u64,
    to: u64,
}

#[derive(Serialize)]
struct RunReport {
    warp: usize,
    /// Index of the exec phase within its warp, from 0.
    phase: usize,
    ready: u64,
    start: u64,
    exec_end: u64,
    idle_end: u64,
}

fn kind_name(kind: PhaseKind) -> &'static str {
    match kind {
        PhaseKind::Exec => "exec",
        PhaseKind::Idle => "idle",
    }
}

/// `--phases`: searches for an anomaly under each policy and draws it.
pub fn search(args: &Anomaly, session: &Session) -> Outcome {
    let kinds = super::policies(args, &[SchedulerKind::Lrr, SchedulerKind::Gto])?;
    let mut results = Vec::new();
    for policy in kinds {
        check_size(args)?;
        let wanted = PhaseSearch {
            policy: policy.clone(),
            warps: args.warps,
            pairs: args.pairs,
            shortened: args.shortened,
            seed: args.seed,
            max_schedules: args.max_schedules,
        };
        session.progress.begin(format!("{policy}"), Some(args.max_schedules), "schedules");
        let found = phases::search(&wanted, &session.watch).ok_or_else(|| not_at_this_level(&policy))?;
        results.push((policy, found));
    }
    match args.format {
        Format::Text => output::text(session, &text(&results, args, session.style)),
        Format::Json => output::json(
            session,
            &PhaseReport {
                schema: SCHEMA,
                level: "phases",
                results: results.iter().map(|(policy, found)| report(policy, found)).collect(),
                tool_version: env!("CARGO_PKG_VERSION"),
                seed: args.seed,
            },
        ),
    }
}

fn check_size(args: &Anomaly) -> Result<(), Diagnostics> {
    let mut problems = Diagnostics::new();
    let phases = args.warps.saturating_mul(args.pairs).saturating_mul(2);
    if !(1..=MAX_PHASES).contains(&phases) {
        let message = format!("{phases} phases in all; 1 to {MAX_PHASES} are searched");
        problems.push(Diagnostic::general(format!("--warps {} --pairs {}", args.warps, args.pairs), message));
    } else if !(1..=phases).contains(&args.shortened) {
        let message = format!("1 to {phases} phases can get shorter");
        problems.push(Diagnostic::general(format!("--shortened {}", args.shortened), message));
    }
    problems.into_result(())
}

fn not_at_this_level(policy: &SchedulerKind) -> Diagnostic {
    let known: Vec<String> = POLICIES.iter().map(ToString::to_string).collect();
    Diagnostic::general(format!("--scheduler {policy}"), "this policy does not schedule whole phases")
        .hint(format!("policies: {}", known.join(", ")))
}

fn runs(warps: &[PhaseWarp], policy: &SchedulerKind) -> Vec<PhaseRun> {
    let mut runs = Vec::new();
    // a policy that does not exist at this level was refused before, and gives no runs
    let _ = schedule(warps, policy, |run| runs.push(run));
    runs
}

fn command(warps: &[PhaseWarp], policy: &SchedulerKind) -> String {
    let pair = |p: &PhasePair| format!("{},{}", p.exec, p.idle);
    let warp = |w: &PhaseWarp| w.iter().map(pair).collect::<Vec<_>>().join(",");
    let lengths = warps.iter().map(warp).collect::<Vec<_>>().join("/");
    format!("warpbound anomaly --lengths {lengths} --scheduler {policy}")
}

fn report(policy: &SchedulerKind, found: &PhaseFound) -> PolicyReport {
    let run = |run: PhaseRun| RunReport {
        warp: run.warp,
        phase: run.index,
        ready: run.ready.get(),
        start: run.start.get(),
        exec_end: run.exec_end.get(),
        idle_end: run.idle_end.get(),
    };
    PolicyReport {
        scheduler: policy.to_string(),
        found: found.anomaly.is_some(),
        complete: !found.ended_early,
        instances: found.instances,
        schedules: found.schedules,
        all_up_to: found.all_up_to.map(Cycles::get),
        anomaly: found.anomaly.as_ref().map(|anomaly| AnomalyReport {
            makespan_before: anomaly.makespan_before.get(),
            makespan_after: anomaly.makespan_after.get(),
            shortened: anomaly
                .shortened
                .iter()
                .map(|one| ShortenedReport {
                    warp: one.warp,
                    phase: one.index,
                    kind: kind_name(one.kind),
                    from: one.from.get(),
                    to: one.to.get(),
                })
                .collect(),
            before: runs(&anomaly.before, policy).into_iter().map(run).collect(),
            after: runs(&anomaly.after, policy).into_iter().map(run).collect(),
            command_before: command(&anomaly.before, policy),
            command_after: command(&anomaly.after, policy),
        }),
    }
}

fn text(results: &[(SchedulerKind, PhaseFound)], args: &Anomaly, style: Style) -> String {
    let mut text = String::new();
    for (policy, found) in results {
        let order = match args.seed {
            Some(seed) => format!("drawn from seed {seed}"),
            None => found.all_up_to.map_or_else(
                || "in order of total length".to_owned(),
                |all| format!("in order of total length, all up to {all} searched"),
            ),
        };
        let tried = format!("{} schedules of {} instances, {order}", found.schedules, found.instances);
        let Some(anomaly) = &found.anomaly else {
            let early = if found.ended_early { "INCOMPLETE, " } else { "" };
            let _ = writeln!(text, "{}: {early}no anomaly in {tried}\n", style.strong(&policy.to_string()));
            continue;
        };
        text.push_str(&drawn(policy, anomaly, &tried, style));
    }
    text.push_str(phase_gantt::LEGEND);
    text
}

fn drawn(
    policy: &SchedulerKind,
    anomaly: &PhaseAnomaly,
    tried: &str,
    style: crate::report::style::Style,
) -> String {
    let marked: Vec<_> = anomaly.shortened.iter().map(|one| (one.warp, one.index, one.kind)).collect();
    let shorter: Vec<String> = anomaly
        .shortened
        .iter()
        .map(|one| {
            format!(
                "w{}'s {} phase {} from {} to {}",
                one.warp,
                kind_name(one.kind),
                one.index + 1,
                one.from,
                one.to
            )
        })
        .collect();
    let draw = |warps: &[PhaseWarp]| phase_gantt::draw(&runs(warps, policy), warps.len(), &marked);
    let mut text = String::new();
    let _ = writeln!(
        text,
        "{}: {} shrink{}, and the makespan grows from {} to {}",
        style.strong(&policy.to_string()),
        shorter.join(" and "),
        if shorter.len() == 1 { "s" } else { "" },
        anomaly.makespan_before,
        anomaly.makespan_after
    );
    let _ = writeln!(text, "\nbefore: makespan {}\n{}", anomaly.makespan_before, draw(&anomaly.before));
    let _ = writeln!(text, "after: makespan {}\n{}", anomaly.makespan_after, draw(&anomaly.after));
    let _ = writeln!(text, "{tried}; to see each side again:");
    let _ = writeln!(text, "  {}\n  {}\n", command(&anomaly.before, policy), command(&anomaly.after, policy));
    text
}

#[derive(Serialize)]
struct DrawReport {
    schema: u32,
    level: &'static str,
    results: Vec<Drawn>,
    tool_version: &'static str,
}

#[derive(Serialize)]
struct Drawn {
    scheduler: String,
    makespan: u64,
}

/// `--lengths`: draws the schedule of given phases.
pub fn draw(args: &Anomaly, lengths: &str, session: &Session) -> Outcome {
    let warps = parse_lengths(lengths)?;
    let mut text = String::new();
    let mut results = Vec::new();
    for policy in super::policies(args, &[SchedulerKind::Lrr, SchedulerKind::Gto])? {
        let mut all = Vec::new();
        let makespan =
            schedule(&warps, &policy, |run| all.push(run)).ok_or_else(|| not_at_this_level(&policy))?;
        let _ =
            writeln!(text, "{policy}: makespan {makespan}\n{}", phase_gantt::draw(&all, warps.len(), &[]));
        results.push(Drawn { scheduler: policy.to_string(), makespan: makespan.get() });
    }
    match args.format {
        Format::Text => output::text(session, &(text + phase_gantt::LEGEND)),
        Format::Json => output::json(
            session,
            &DrawReport { schema: SCHEMA, level: "phases", results, tool_version: env!("CARGO_PKG_VERSION") },
        ),
    }
}

/// Longest phase that is read, so that sums stay far from overflow.
const MAX_LENGTH: u64 = 1_000_000;

fn parse_lengths(text: &str) -> Result<Vec<PhaseWarp>, Diagnostics> {
    let mut problems = Diagnostics::new();
    let mut wrong = |message: String| {
        problems.push(
            Diagnostic::general("--lengths", message)
                .hint("exec and idle lengths in turn, warps apart by `/`, e.g. 2,1,1,0/1,2,1,0"),
        );
    };
    let mut warps = Vec::new();
    for (index, warp) in text.split('/').enumerate() {
        let mut lengths = Vec::new();
        for word in warp.split(',') {
            match word.trim().parse::<u64>() {
                Ok(length) if length <= MAX_LENGTH => lengths.push(Cycles::new(length)),
                Ok(length) => wrong(format!("w{index}: {length} is longer than {MAX_LENGTH}")),
                Err(_) => wrong(format!("w{index}: `{word}` is no length")),
            }
        }
        // the last idle phase may be left out
        let pairs: PhaseWarp = lengths
            .chunks(2)
            .map(|pair| PhasePair { exec: pair[0], idle: pair.get(1).copied().unwrap_or_default() })
            .collect();
        if pairs.iter().any(|pair| pair.exec == Cycles::ZERO) {
            wrong(format!("w{index}: an exec phase has no length"));
        }
        if pairs.len() > MAX_PHASES {
            wrong(format!("w{index}: more than {MAX_PHASES} exec phases"));
        }
        warps.push(pairs);
    }
    if warps.len() > MAX_PHASES {
        wrong(format!("{} warps; at most {MAX_PHASES}", warps.len()));
    }
    problems.into_result(warps)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_printed_command_reads_back() {
        let warps = parse_lengths("2,1,1/1,2,3,4").unwrap();
        assert_eq!(
            command(&warps, &SchedulerKind::Lrr),
            "warpbound anomaly --lengths 2,1,1,0/1,2,3,4 --scheduler lrr"
        );
        for wrong in ["", "1,x", "0,1", "1,2/", "-1", "9999999"] {
            assert!(parse_lengths(wrong).is_err(), "{wrong}");
        }
    }
}
