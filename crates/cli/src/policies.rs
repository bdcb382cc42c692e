//! Loads policies.

use super::files::loader;
use warpbound_core::diag::Diagnostics;
use warpbound_core::machine::SchedulerKind;
use warpbound_sim::PolicySetup;

/// Returns a policy that is ready to run; for a replay, the schedule is read.
pub fn setup(kind: &SchedulerKind) -> Result<PolicySetup, Diagnostics> {
    loader().policy(kind, None)
}
