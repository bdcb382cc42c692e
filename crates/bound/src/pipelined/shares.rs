//! The combination of the blocks of a launch into [`Plb`](crate::Plb).

use super::memory::Stays;
use super::{CASES, PipelineAnalyser};
use crate::parts::BoundPart;
use crate::resident::{BlockShare, LaunchShares, Residency};
use crate::value::BoundValue;
use warpbound_core::base::BlockId;

/// The share of a block in [`Plb`](crate::Plb), for each assumption about the lines of caches that
/// its launch has not refuted yet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PipelineShare {
    pub(super) cases: [Option<BlockShare>; CASES],
}

/// Collects the blocks of a launch.
#[derive(Clone, Debug)]
pub struct PipelineShares {
    cases: [Option<LaunchShares>; CASES],
}

impl PipelineShares {
    /// Creates the collection for a launch of which no block is known yet.
    pub fn new(analyser: &PipelineAnalyser) -> Self {
        let shares = LaunchShares::new(analyser.residency())
            .scaled(analyser.scale(), analyser.once())
            .fetching_for_ended_blocks(analyser.of_ended_blocks());
        Self { cases: std::array::from_fn(|_| Some(shares.clone())) }
    }

    /// Creates a collection that is not used, because no bound needs it.
    pub fn unused(residency: Residency) -> Self {
        let mut cases = [const { None }; CASES];
        cases[0] = Some(LaunchShares::new(residency));
        Self { cases }
    }

    /// Adds a block; the order of blocks does not matter.
    pub fn add(&mut self, block: BlockId, share: &PipelineShare) {
        for (all, share) in self.cases.iter_mut().zip(&share.cases) {
            match (&mut *all, share) {
                (Some(all), Some(share)) => all.add(block, share),
                _ => *all = None,
            }
        }
    }

    /// Adds what the launch costs beside its blocks. All blocks must have been analysed and added.
    pub fn end(&mut self, analyser: &PipelineAnalyser) {
        for (shares, case) in self.cases.iter_mut().zip(Stays::ALL) {
            *shares = shares.take().and_then(|mut shares| {
                shares.add_beside(analyser.beside(case, shares.visits())?);
                Some(shares)
            });
        }
    }

    /// Returns the shares that give the smallest bound.
    fn smallest(&self) -> Option<&LaunchShares> {
        self.cases.iter().flatten().min_by_key(|shares| shares.value())
    }

    /// Returns the bound of the launch, from its start to its end.
    pub fn value(&self) -> BoundValue {
        self.smallest().map(LaunchShares::value).unwrap_or_default()
    }

    /// Returns the parts of the bound; see [`LaunchShares::parts`].
    pub fn parts(&self) -> Vec<BoundPart> {
        self.smallest().map(LaunchShares::parts).unwrap_or_default()
    }
}
