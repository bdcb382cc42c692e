//! The arrangement of blocks on an SM.

use crate::SLOTS;
use crate::error::RunError;
use warpbound_core::path::BlockPaths;

/// The CTA slots of an SM, one for each block that can be resident at a time; each CTA slot has the
/// same number of consecutive warp slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    cta_slots: usize,
    /// The number of warp slots per CTA slot; `cta_slots * slots` is at most [`SLOTS`].
    slots: usize,
}

impl Layout {
    /// One CTA slot, with all warp slots.
    pub const ONE: Self = Self { cta_slots: 1, slots: SLOTS };

    /// Creates up to `resident` CTA slots, at least one, for blocks of the size of `first`, the
    /// first block of a launch.
    pub fn of(first: &BlockPaths, resident: u32) -> Self {
        let warps = first.warps.len().max(1);
        match (resident as usize).min(SLOTS / warps) {
            0 | 1 => Self::ONE,
            cta_slots => Self { cta_slots, slots: warps },
        }
    }

    /// Returns the number of blocks that can be resident at a time.
    pub fn cta_slots(self) -> usize {
        self.cta_slots
    }

    /// Returns whether one block is resident at a time, so that policies restart with each block.
    pub fn is_one(self) -> bool {
        self.cta_slots == 1
    }

    /// Returns the warp slot of warp 0 of the block in a CTA slot.
    #[inline]
    pub fn first_slot(self, cta_slot: usize) -> usize {
        cta_slot * self.slots
    }

    /// Returns the CTA slot of each warp slot; entries beyond the last CTA slot have no meaning.
    pub fn cta_slot_of_warp_slots(self) -> [u8; SLOTS] {
        std::array::from_fn(|slot| (slot / self.slots) as u8)
    }

    /// Checks that a CTA slot has a warp slot for each warp of a block.
    ///
    /// # Errors
    /// Returns an error if it has not.
    pub fn fits(self, block: &BlockPaths) -> Result<(), RunError> {
        let (warps, slots) = (block.warps.len(), self.slots);
        if warps > slots { Err(RunError::TooManyWarps { block: block.block, warps, slots }) } else { Ok(()) }
    }
}
