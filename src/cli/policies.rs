//! Loads policies.

use super::files::loader;
use crate::diag::Diagnostics;
use crate::machine::SchedulerKind;
use crate::sim::PolicySetup;

/// Returns a policy that is ready to run; for a replay, the schedule is read.
pub fn setup(kind: &SchedulerKind) -> Result<PolicySetup, Diagnostics> {
    loader().policy(kind, None)
}
