//! Anomalies among sequences of phases, drawn as two schedules one above the other.

use crate::args::Anomaly;
use crate::output::{self, Outcome};
use crate::session::Session;
use warpbound_core::base::Cycles;
use warpbound_core::diag::{Diagnostic, Diagnostics};
use warpbound_core::machine::PolicyKind;
use warpbound_judge::explore::anomaly::phases::{self, PhaseSearch};
use warpbound_judge::explore::phase_level::{POLICIES, PhasePair, PhaseWarp};
use warpbound_report::anomaly::AnomalyResult;
use warpbound_report::output::{Batch, Output};
use warpbound_report::phase_anomaly::{Drawn, PolicySearch};

/// The most phases of all warps together, so that the drawing stays readable.
const MAX_PHASES: usize = 64;

/// Runs `--phases`: searches for an anomaly under each policy and draws it.
pub fn search(args: &Anomaly, session: &Session) -> Outcome {
    let kinds = super::policies(args, &[PolicyKind::Lrr, PolicyKind::Gto])?;
    let mut results = Vec::new();
    let mut batch = Batch::default();
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
        let found = phases::search(&wanted, &session.monitor).ok_or_else(|| unsupported_policy(&policy))?;
        if let Some(reason) = session.cut_short().filter(|_| found.ended_early) {
            batch = Batch::stopped(Some(reason));
        }
        results.push(AnomalyResult::Phases(PolicySearch::new(&policy, &found)));
    }
    output::report(session, args.format, &Output::of_batch("anomaly", args.seed, results, batch))
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

fn unsupported_policy(policy: &PolicyKind) -> Diagnostic {
    let known: Vec<String> = POLICIES.iter().map(ToString::to_string).collect();
    Diagnostic::general(format!("--policy {policy}"), "this policy does not schedule whole phases")
        .hint(format!("policies: {}", known.join(", ")))
}

/// Runs `--lengths`: draws the schedule of given phases.
pub fn draw(args: &Anomaly, lengths: &str, session: &Session) -> Outcome {
    let warps = parse_lengths(lengths)?;
    let mut results = Vec::new();
    for policy in super::policies(args, &[PolicyKind::Lrr, PolicyKind::Gto])? {
        let drawn = Drawn::new(&warps, &policy).ok_or_else(|| unsupported_policy(&policy))?;
        results.push(AnomalyResult::Lengths(drawn));
    }
    output::report(session, args.format, &Output::new("anomaly", None, results))
}

/// The greatest length of a phase, in cycles, so that sums do not overflow.
const MAX_LENGTH: u64 = 1_000_000;

fn parse_lengths(text: &str) -> Result<Vec<PhaseWarp>, Diagnostics> {
    let mut problems = Diagnostics::new();
    let mut wrong = |message: String| {
        problems.push(Diagnostic::general("--lengths", message).hint(
            "give the lengths of exec and idle phases in turn, with `/` between warps, e.g. 2,1,1,0/1,2,1,0",
        ));
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
            warpbound_report::phase_anomaly::command(&warps, &PolicyKind::Lrr),
            "warpbound anomaly --lengths 2,1,1,0/1,2,3,4 --policy lrr"
        );
        for wrong in ["", "1,x", "0,1", "1,2/", "-1", "9999999"] {
            assert!(parse_lengths(wrong).is_err(), "{wrong}");
        }
    }
}
