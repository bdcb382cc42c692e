//! What a timeline is of.

use crate::bound::Phase;
use crate::check::Checked;
use crate::diag::SourceText;
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
    /// Of a single block: the phases of each warp run alone; else empty.
    pub alone: &'a [Vec<Phase>],
}
