//! What a timeline is of.

use crate::bound::Phase;
use crate::check::Checked;
use crate::diag::SourceText;
use crate::report::explain::{Explained, Stretch};
use crate::trace::Listing;

/// A run that was recorded.
#[derive(Clone, Copy)]
pub struct About<'a> {
    /// The kernel.
    pub kernel: &'a str,
    /// The machine.
    pub machine: &'a str,
    /// What came of it.
    pub checked: &'a Checked,
    /// The file with the code.
    pub code: &'a SourceText,
    /// Line and text of every instruction.
    pub listing: &'a Listing,
    /// The critical path with its stretches, if it was asked for.
    pub explained: Option<&'a Explained>,
    /// Of a single block: the phases of each warp run alone; else empty.
    pub alone: &'a [Vec<Phase>],
}

impl<'a> About<'a> {
    /// The critical path, if it is of the SM that the timeline shows.
    pub(super) fn path(&self) -> &'a [Stretch] {
        let path = self
            .explained
            .filter(|explained| explained.sm == 0)
            .and_then(|explained| explained.path.as_ref());
        path.map_or(&[], |path| &path.stretches)
    }
}
