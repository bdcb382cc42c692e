//! Loads policies.

use super::assets::{self, Location};
use super::files::read;
use crate::diag::Diagnostics;
use crate::machine::SchedulerKind;
use crate::sim::PolicySetup;

/// Returns a policy that is ready to run; for a replay, the schedule is read.
pub fn setup(kind: &SchedulerKind) -> Result<PolicySetup, Diagnostics> {
    setup_beside(kind, None)
}

/// Returns the same for a policy that a file names; the path of a schedule is relative to that
/// file.
pub fn setup_beside(kind: &SchedulerKind, file: Option<&Location>) -> Result<PolicySetup, Diagnostics> {
    let read = |path: &str| assets::find_schedule(path, file)?.text_up_to(read::SCHEDULE_BYTES);
    PolicySetup::new(kind, read)
}
