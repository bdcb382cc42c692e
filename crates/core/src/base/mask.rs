//! Bit sets of lanes and of warps.

use std::fmt;

use bitflags::bitflags;

/// The number of lanes in a warp.
pub const WARP_SIZE: usize = 32;

bitflags! {
    /// A set of lanes of one warp; lane 0 is bit 0.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub struct LaneMask: u32 {
        /// Every lane.
        const ALL = u32::MAX;
    }
}

bitflags! {
    /// A set of warp slots of one SM; slot 0 is bit 0.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub struct WarpMask: u64 {
        /// Every slot.
        const ALL = u64::MAX;
    }
}

impl LaneMask {
    /// Returns the set of lanes `0..count`.
    #[inline]
    pub fn first(count: usize) -> Self {
        if count >= WARP_SIZE { Self::ALL } else { Self::from_bits_retain((1u32 << count) - 1) }
    }

    /// Returns the set with one lane.
    #[inline]
    pub fn lane(lane: usize) -> Self {
        Self::from_bits_retain(1u32 << lane)
    }

    /// Returns whether the lane is in the set.
    #[inline]
    pub fn has(self, lane: usize) -> bool {
        self.bits() >> lane & 1 == 1
    }

    /// Returns the number of lanes.
    #[inline]
    pub fn count(self) -> u32 {
        self.bits().count_ones()
    }

    /// Returns the lanes in ascending order.
    #[inline]
    pub fn lanes(self) -> SetBits {
        SetBits(u64::from(self.bits()))
    }
}

impl WarpMask {
    /// Returns the set with one slot, which must be less than 64.
    #[inline]
    pub fn slot(slot: usize) -> Self {
        debug_assert!(slot < 64);
        Self::from_bits_retain(1u64.wrapping_shl(slot as u32))
    }

    /// Returns whether the slot is in the set.
    #[inline]
    pub fn has(self, slot: usize) -> bool {
        debug_assert!(slot < 64);
        self.bits().wrapping_shr(slot as u32) & 1 == 1
    }

    /// Returns the number of slots.
    #[inline]
    pub fn count(self) -> u32 {
        self.bits().count_ones()
    }

    /// Returns the lowest slot, or `None` if the set is empty.
    #[inline]
    pub fn lowest(self) -> Option<usize> {
        (!self.is_empty()).then(|| self.bits().trailing_zeros() as usize)
    }

    /// Returns the highest slot, or `None` if the set is empty.
    #[inline]
    pub fn highest(self) -> Option<usize> {
        (!self.is_empty()).then(|| (u64::BITS - 1 - self.bits().leading_zeros()) as usize)
    }

    /// Returns the slots in ascending order.
    #[inline]
    pub fn slots(self) -> SetBits {
        SetBits(self.bits())
    }
}

/// An iterator over the indices of set bits in ascending order.
#[derive(Clone, Debug)]
pub struct SetBits(u64);

impl Iterator for SetBits {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        if self.0 == 0 {
            return None;
        }
        let index = self.0.trailing_zeros() as usize;
        self.0 &= self.0 - 1;
        Some(index)
    }
}

impl fmt::Display for LaneMask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#010x}", self.bits())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_are_ascending_and_complete() {
        let mask = LaneMask::from_bits_retain(0x8000_0005);
        assert_eq!(mask.lanes().collect::<Vec<_>>(), [0, 2, 31]);
        assert_eq!(LaneMask::first(32), LaneMask::ALL);
        assert_eq!(LaneMask::first(0), LaneMask::empty());
        assert_eq!(LaneMask::first(5).count(), 5);
    }
}
