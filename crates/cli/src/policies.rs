//! Loads policies.

use super::files::loader;
use warpbound_core::diag::Diagnostics;
use warpbound_core::machine::PolicyKind;
use warpbound_sim::PolicySetup;

/// Returns a policy that is ready to run; for a replay, the schedule is read.
pub fn setup(kind: &PolicyKind) -> Result<PolicySetup, Diagnostics> {
    loader().policy(kind, None)
}
