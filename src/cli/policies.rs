//! Policies ready to run.

use super::assets::{self, Location};
use super::files::read;
use crate::diag::Diagnostics;
use crate::machine::SchedulerKind;
use crate::sim::PolicySetup;

/// A policy ready to run: the schedule of a replay is read.
pub fn setup(kind: &SchedulerKind) -> Result<PolicySetup, Diagnostics> {
    setup_beside(kind, None)
}

/// The same for a policy that a file names: so is a schedule, relative to it.
pub fn setup_beside(kind: &SchedulerKind, file: Option<&Location>) -> Result<PolicySetup, Diagnostics> {
    let read = |path: &str| assets::find_schedule(path, file)?.text_up_to(read::SCHEDULE_BYTES);
    PolicySetup::new(kind, read)
}
