//! Where blocks go on an SM.

use crate::path::BlockPaths;
use crate::sim::SLOTS;
use crate::sim::error::RunError;

/// The places of an SM: as many blocks are resident at a time, each with the same number of consecutive
/// slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::sim) struct Layout {
    places: usize,
    /// Slots of a place; `places * slots` are no more than [`SLOTS`].
    slots: usize,
}

impl Layout {
    /// One place, with all slots.
    pub const ONE: Self = Self { places: 1, slots: SLOTS };

    /// Up to `resident` places for blocks that are like this one, the first of a launch; at least one.
    pub fn of(first: &BlockPaths, resident: u32) -> Self {
        let warps = first.warps.len().max(1);
        match (resident as usize).min(SLOTS / warps) {
            0 | 1 => Self::ONE,
            places => Self { places, slots: warps },
        }
    }

    /// Blocks that are resident at a time.
    pub fn places(self) -> usize {
        self.places
    }

    /// Whether one block is resident at a time: policies start anew with each.
    pub fn is_one(self) -> bool {
        self.places == 1
    }

    /// The slot of warp 0 of the block in a place.
    #[inline]
    pub fn first_slot(self, place: usize) -> usize {
        place * self.slots
    }

    /// The place of each slot, as far as there are places.
    pub fn place_of_slots(self) -> [u8; SLOTS] {
        std::array::from_fn(|slot| (slot / self.slots) as u8)
    }

    /// Whether a place has a slot for each warp of a block.
    ///
    /// # Errors
    /// If it has not.
    pub fn fits(self, block: &BlockPaths) -> Result<(), RunError> {
        let (warps, slots) = (block.warps.len(), self.slots);
        if warps > slots { Err(RunError::TooManyWarps { block: block.block, warps, slots }) } else { Ok(()) }
    }
}
