//! The combination of the blocks of a launch into [`Plb`](crate::Plb).

use super::PipelineAnalyser;
use crate::parts::{Beside, BoundPart};
use crate::resident::{BlockShare, LaunchShares, Residency};
use crate::value::BoundValue;
use warpbound_core::base::BlockId;

/// The share of a block in [`Plb`](crate::Plb): if lines of the L2 may be replaced, and if they stay.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PipelineShare {
    /// The share if any line may be replaced, and if there is no L2.
    pub(super) replaced: BlockShare,
    /// The share if lines stay, as long as they do.
    pub(super) stays: Option<BlockShare>,
}

/// Collects the blocks of a launch.
#[derive(Clone, Debug)]
pub struct PipelineShares {
    residency: Residency,
    replaced: LaunchShares,
    stays: Option<LaunchShares>,
}

impl PipelineShares {
    /// Creates the collection for a launch of which no block is known yet. Without an analyser it has
    /// no value.
    pub fn new(residency: Residency, analyser: Option<&PipelineAnalyser>) -> Self {
        let none = LaunchShares::new(residency);
        let replaced = match analyser {
            Some(analyser) => none.scaled(analyser.scale(), analyser.once()),
            None => none,
        };
        Self { residency, stays: Some(replaced.clone()), replaced }
    }

    /// Adds a block; the order of blocks does not matter.
    pub fn add(&mut self, block: BlockId, share: &PipelineShare) {
        self.replaced.add(block, &share.replaced);
        match (&mut self.stays, &share.stays) {
            (Some(all), Some(share)) => all.add(block, share),
            (all, _) => *all = None,
        }
    }

    /// Adds what the launch costs beside its blocks. All blocks must have been analysed and added.
    pub fn end(&mut self, analyser: &PipelineAnalyser) {
        let (replaced, stays) = analyser.beside(&self.residency);
        self.replaced.add_beside(replaced);
        self.stays = self.stays.take().zip(stays).map(|(mut shares, beside): (LaunchShares, Beside)| {
            shares.add_beside(beside);
            shares
        });
    }

    /// Returns the shares that give the smaller bound.
    fn smaller(&self) -> &LaunchShares {
        match &self.stays {
            Some(stays) if stays.value() < self.replaced.value() => stays,
            _ => &self.replaced,
        }
    }

    /// Returns the bound of the launch, from its start to its end.
    pub fn value(&self) -> BoundValue {
        self.smaller().value()
    }

    /// Returns the parts of the bound; see [`LaunchShares::parts`].
    pub fn parts(&self) -> Vec<BoundPart> {
        self.smaller().parts()
    }
}
