//! Sections of warps that were followed. Warps and blocks often repeat them.

use super::OfWarp;
use super::by_number::ByNumber;
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

/// What a warp brings into a section: the content of its instruction buffer, and the rest of the
/// stall count of the barrier before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Before {
    pub buffer: Buffer,
    pub stall: u64,
}

/// A section that was followed.
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

/// The sections that are kept, by their hash. What a section adds depends on nothing else than what
/// is kept of it.
#[derive(Clone, Debug, Default)]
pub(super) struct Followed {
    sections: ByNumber<Known>,
    /// The number of steps and costs that are kept.
    size: usize,
}

impl Followed {
    /// The most steps and costs that several sections may have together.
    const MOST: usize = 1 << 17;

    /// Returns what a section with these steps and costs adds, and what comes after it, if that is
    /// known.
    pub fn find(
        &self,
        hash: u64,
        (steps, costs): (&[Step], &[Cost]),
        before: Before,
    ) -> Option<(OfWarp, Before)> {
        let known = self.sections.get(&hash)?;
        let is_same = known.before == before && known.steps == steps && known.costs == costs;
        is_same.then_some((known.of_warp, known.after))
    }

    /// Keeps a section. Another one with the same hash is forgotten.
    pub fn keep(&mut self, hash: u64, known: Known) {
        self.size += known.steps.len() + known.costs.len();
        if self.size > Self::MOST {
            self.sections.clear();
            self.size = known.steps.len() + known.costs.len();
        }
        self.sections.insert(hash, known);
    }
}
