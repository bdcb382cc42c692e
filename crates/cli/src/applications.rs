//! Applications on the command line: their policies, and the errors of commands that take one
//! launch.

use super::policies;
use warpbound_core::diag::{Diagnostic, Diagnostics};
use warpbound_core::machine::{Machine, PolicyKind};
use warpbound_judge::load::LoadedApplication;
use warpbound_sim::PolicySetup;

/// Returns the error for a command that accepts only a single launch.
pub fn takes_one(application: &LoadedApplication) -> Diagnostics {
    let last = application.application.launches().saturating_sub(1);
    let (kind, kernels) = (application.kind(), application.kernels());
    let message =
        format!("`{}` is a {kind} of {kernels}, but this command takes only one launch", application.name);
    Diagnostic::general(application.location.shown(), message)
        .hint(format!(
            "choose one with --launch N, 0 to {last}, if the command has this option; check, run and compare take {kind}s"
        ))
        .into()
}

/// Returns the error for an option that applies only to a single launch.
pub fn needs_one(application: &LoadedApplication, option: &str) -> Diagnostics {
    let message =
        format!("{option} applies to one launch, and `{}` is a {}", application.name, application.kind());
    let last = application.application.launches().saturating_sub(1);
    let hint = format!("choose one with --launch N, 0 to {last}");
    Diagnostic::general(option, message).hint(hint).into()
}

/// Returns the policy that a machine names.
pub fn policy(application: &LoadedApplication, machine: &Machine) -> Result<PolicySetup, Diagnostics> {
    match machine.policy() {
        PolicyKind::Replay(_) => Err(needs_one(application, "a schedule to replay")),
        kind => policies::setup(kind),
    }
}
