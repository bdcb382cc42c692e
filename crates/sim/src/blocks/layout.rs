//! The arrangement of blocks on an SM.

use crate::SLOTS;
use crate::error::RunError;
use warpbound_core::path::BlockPaths;

/// The CTA slots of an SM, one for each block that can be resident at a time; each CTA slot has the
/// same number of consecutive warp slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    places: usize,
    /// The number of warp slots per CTA slot; `places * slots` is at most [`SLOTS`].
    slots: usize,
}

impl Layout {
    /// One CTA slot, with all warp slots.
    pub const ONE: Self = Self { places: 1, slots: SLOTS };

    /// Creates up to `resident` CTA slots, at least one, for blocks of the size of `first`, the
    /// first block of a launch.
    pub fn of(first: &BlockPaths, resident: u32) -> Self {
        let warps = first.warps.len().max(1);
        match (resident as usize).min(SLOTS / warps) {
            0 | 1 => Self::ONE,
            places => Self { places, slots: warps },
        }
    }

    /// Returns the number of blocks that can be resident at a time.
    pub fn places(self) -> usize {
        self.places
    }

    /// Returns whether one block is resident at a time, so that policies restart with each block.
    pub fn is_one(self) -> bool {
        self.places == 1
    }

    /// Returns the warp slot of warp 0 of the block in a CTA slot.
    #[inline]
    pub fn first_slot(self, place: usize) -> usize {
        place * self.slots
    }

    /// Returns the CTA slot of each warp slot; entries beyond the last CTA slot have no meaning.
    pub fn place_of_slots(self) -> [u8; SLOTS] {
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
