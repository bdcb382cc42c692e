//! `warpbound anomaly`: finds timing anomalies, in which a shorter latency or phase leads to a
//! longer schedule.

mod findings;
mod kernels;
mod phases;
mod range;

use crate::args::Anomaly;
use crate::output::Outcome;
use crate::session::Session;
use warpbound_core::diag::{Diagnostic, Diagnostics};
use warpbound_core::machine::PolicyKind;

/// Runs the command.
pub fn run(args: &Anomaly, session: &Session) -> Outcome {
    if args.phases {
        phases::search(args, session)
    } else if let Some(lengths) = &args.lengths {
        phases::draw(args, lengths, session)
    } else {
        kernels::run(args, session)
    }
}

/// Returns the requested policies, or else the default.
fn policies(args: &Anomaly, default: &[PolicyKind]) -> Result<Vec<PolicyKind>, Diagnostics> {
    if args.policy.is_empty() {
        return Ok(default.to_vec());
    }
    let mut problems = Diagnostics::new();
    let mut kinds: Vec<PolicyKind> = Vec::new();
    for name in &args.policy {
        match name.parse() {
            Ok(PolicyKind::Replay(_)) => problems.push(
                Diagnostic::general(format!("--policy {name}"), "a replayed schedule fits one latency only")
                    .hint("name policies, such as gto,lrr"),
            ),
            Ok(kind) if kinds.contains(&kind) => {}
            Ok(kind) => kinds.push(kind),
            Err(error) => problems.push(Diagnostic::general(format!("--policy {name}"), error.to_string())),
        }
    }
    problems.into_result(kinds)
}
