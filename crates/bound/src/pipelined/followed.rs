//! Sections of warps that were followed.

use super::OfWarp;
use super::costs::Cost;
use super::fetch::Buffer;
use warpbound_core::path::Step;

/// The end of a section of a warp: the numbers of the warp's steps and noted costs up to it, and a
/// hash of the section.
#[derive(Clone, Copy, Debug)]
pub(super) struct SectionEnd {
    pub step: usize,
    pub cost: usize,
    pub hash: u64,
}

/// What a warp brings into a section: the content of its instruction buffer, the rest of the stall
/// count of the barrier before, and the lines of code that have been requested, if caches keep them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Before {
    pub buffer: Buffer,
    pub stall: u64,
    pub requested: Vec<bool>,
}

/// A section that was followed. What it adds depends on nothing else than what is stated here.
#[derive(Clone, Debug)]
pub(super) struct Known {
    pub steps: Vec<Step>,
    /// The costs of those executions of which an instruction may have different ones.
    pub costs: Vec<Cost>,
    pub before: Before,
    pub of_warp: OfWarp,
    /// What the warp brings into the next section.
    pub after: Before,
}

impl Known {
    /// Returns what a section with these steps and costs adds and what comes after it, if it is this
    /// one.
    pub fn of(&self, (steps, costs): (&[Step], &[Cost]), before: &Before) -> Option<(OfWarp, Before)> {
        let is_same = self.before == *before && self.steps == steps && self.costs == costs;
        is_same.then(|| (self.of_warp, self.after.clone()))
    }
}
