//! The description of the run of a timeline.

use super::recording::Recording;
use crate::explain::{Explained, Stretch};
use warpbound_bound::Phase;
use warpbound_core::diag::SourceText;
use warpbound_judge::check::JudgedLaunch;
use warpbound_judge::load::Sources;
use warpbound_trace::trace::Listing;

/// A run that was recorded.
#[derive(Clone, Copy)]
pub struct About<'a> {
    /// The name of the kernel.
    pub kernel: &'a str,
    /// The machine.
    pub machine: &'a str,
    /// The result of the run.
    pub checked: &'a JudgedLaunch,
    /// The file with the code.
    pub code: &'a SourceText,
    /// The line and text of every instruction.
    pub listing: &'a Listing,
    /// The source files that the code was made from.
    pub sources: &'a Sources,
    /// The critical path with its stretches, if it was requested.
    pub explained: Option<&'a Explained>,
    /// For a single block, the phases of each warp when it runs alone; otherwise empty.
    pub alone: &'a [Vec<Phase>],
}

impl<'a> About<'a> {
    /// Returns the critical path and its SM, if that SM was recorded.
    pub(super) fn path(&self, recording: &Recording) -> Option<(usize, &'a [Stretch])> {
        let explained = self.explained.filter(|explained| explained.sm < recording.sms().len())?;
        Some((explained.sm, &explained.path.as_ref()?.stretches))
    }
}
