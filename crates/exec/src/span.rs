//! The relative positions of the addresses of one access.

use super::rows::{Row, spread, widened};
use warpbound_core::base::{LaneMask, WARP_SIZE};

/// The bytes that the enabled lanes of an access touch, and the pattern of their addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Span {
    /// The lowest address.
    pub(super) low: u64,
    /// The number of bytes from there to the end of the highest access.
    pub(super) bytes: u64,
    /// The offset of each enabled lane's access; other entries are meaningless.
    pub(super) offsets: Row<u32>,
    pub(super) pattern: Pattern,
}

/// The pattern of the addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pattern {
    /// Every lane accesses the lowest address.
    Same,
    /// Each lane directly follows the lane before it; the first enabled lane is the lowest.
    Consecutive,
    /// Any other pattern.
    Scattered,
}

impl Span {
    /// Returns the span of aligned accesses of `size` bytes, a power of two, by the enabled lanes.
    /// `None` if there is no such lane, an access is not aligned, or the lanes are 2 GiB or more
    /// apart.
    #[inline(always)]
    pub(super) fn of(addresses: &Row<u64>, enabled: LaneMask, size: u32) -> Option<Self> {
        let first = first_lane(enabled)?;
        let start = addresses.0[first];
        let mask = spread(enabled);
        let mut distances = Row([0; WARP_SIZE]);
        let mut far = 0;
        for lane in 0..WARP_SIZE {
            let distance = addresses.0[lane].wrapping_sub(start) & widened(mask.0[lane]);
            distances.0[lane] = distance as i32;
            far |= distance ^ i64::from(distance as i32) as u64;
        }
        if far != 0 {
            return None;
        }
        Self::from_distances(start, first, &distances, enabled, size, u64::MAX)
    }

    /// Returns the span like [`Span::of`], for 32-bit addresses.
    #[inline(always)]
    pub(super) fn of_narrow(addresses: &Row<u32>, enabled: LaneMask, size: u32) -> Option<Self> {
        let first = first_lane(enabled)?;
        let start = addresses.0[first];
        let mask = spread(enabled);
        let mut distances = Row([0; WARP_SIZE]);
        for lane in 0..WARP_SIZE {
            distances.0[lane] = (addresses.0[lane].wrapping_sub(start) & mask.0[lane]) as i32;
        }
        // a distance that does not fit in an `i32` gets the wrong sign, and then leads out of the
        // range of 32-bit addresses
        Self::from_distances(u64::from(start), first, &distances, enabled, size, u64::from(u32::MAX))
    }

    /// Returns the span; `distances` are those from `start`, the address of lane `first`, and zero
    /// in disabled lanes.
    #[inline(always)]
    fn from_distances(
        start: u64,
        first: usize,
        distances: &Row<i32>,
        enabled: LaneMask,
        size: u32,
        last_address: u64,
    ) -> Option<Self> {
        let mask = spread(enabled);
        let (mut bits, mut consecutive, mut nearest, mut farthest) = (0, 0, 0, 0);
        for lane in 0..WARP_SIZE {
            let distance = distances.0[lane];
            let expected =
                ((lane as u32).wrapping_sub(first as u32).wrapping_mul(size) & mask.0[lane]) as i32;
            bits |= distance;
            consecutive |= distance ^ expected;
            nearest = distance.min(nearest);
            farthest = distance.max(farthest);
        }
        let pattern = match (bits, consecutive) {
            (0, _) => Pattern::Same,
            (_, 0) => Pattern::Consecutive,
            _ => Pattern::Scattered,
        };
        let low = start.checked_add_signed(i64::from(nearest))?;
        let bytes = (i64::from(farthest) - i64::from(nearest)) as u64 + u64::from(size);
        let misaligned = (start as u32 | bits as u32) & (size - 1) != 0;
        if misaligned || low.checked_add(bytes - 1)? > last_address {
            return None;
        }
        let mut offsets = Row([0; WARP_SIZE]);
        for lane in 0..WARP_SIZE {
            offsets.0[lane] = distances.0[lane].wrapping_sub(nearest) as u32;
        }
        Some(Self { low, bytes, offsets, pattern })
    }
}

fn first_lane(enabled: LaneMask) -> Option<usize> {
    (!enabled.is_empty()).then(|| enabled.bits().trailing_zeros() as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(address: impl Fn(u64) -> u64, enabled: u32, size: u32) -> Option<(u64, u64, Pattern)> {
        let enabled = LaneMask::from_bits_retain(enabled);
        let row = Row(std::array::from_fn(|lane| address(lane as u64)));
        let span = Span::of(&row, enabled, size);
        if let Some(span) = span {
            for lane in enabled.lanes() {
                assert_eq!(span.low + u64::from(span.offsets.0[lane]), row.0[lane]);
            }
        }
        if enabled.lanes().all(|lane| row.0[lane] <= u64::from(u32::MAX)) {
            assert_eq!(Span::of_narrow(&Row(row.0.map(|a| a as u32)), enabled, size), span);
        }
        span.map(|s| (s.low, s.bytes, s.pattern))
    }

    #[test]
    fn patterns_of_enabled_lanes_are_distinguished() {
        let all = u32::MAX;
        assert_eq!(span(|_| 64, all, 4), Some((64, 4, Pattern::Same)));
        assert_eq!(span(|l| 64 + 4 * l, all, 4), Some((64, 128, Pattern::Consecutive)));
        assert_eq!(span(|l| 64 + 8 * l, all, 4), Some((64, 252, Pattern::Scattered)));
        assert_eq!(span(|l| 1000 - 4 * l, 0xf0, 4), Some((972, 16, Pattern::Scattered)));
        // lanes that are not enabled do not count
        assert_eq!(span(|l| if l < 8 { 3 } else { 4 * l }, 0xff00, 4), Some((32, 32, Pattern::Consecutive)));
        assert_eq!(span(|l| if l == 5 { 40 } else { 1 }, 0x20, 8), Some((40, 8, Pattern::Same)));
        assert_eq!(span(|l| 4 * l, 0x8000_0001, 4), Some((0, 128, Pattern::Consecutive)));
        let far = 1 << 40;
        assert_eq!(span(|l| far + 64 * (l ^ 3), all, 64), Some((far, 2048, Pattern::Scattered)));
    }

    #[test]
    fn misaligned_wrapping_and_distant_accesses_have_no_span() {
        let all = u32::MAX;
        assert_eq!(span(|l| 4 * l, 0, 4), None);
        assert_eq!(span(|l| 2 + 4 * l, all, 4), None);
        assert_eq!(span(|l| if l == 7 { 30 } else { 4 * l }, all, 4), None);
        assert_eq!(span(|l| (u64::MAX - 63).wrapping_add(4 * l), all, 4), None);
        assert_eq!(span(|l| u64::MAX - 3 - 4 * l, 1, 4), Some((u64::MAX - 3, 4, Pattern::Same)));
        assert_eq!(span(|l| l << 32, 3, 4), None);
        // a positive distance of 32-bit addresses that gets a negative sign, and the opposite
        let narrow = |a: u32, b: u32| {
            Span::of_narrow(&Row(std::array::from_fn(|lane| if lane == 0 { a } else { b })), LaneMask::ALL, 4)
        };
        assert_eq!(narrow(0x10, 0x9000_0000), None);
        assert_eq!(narrow(0xa000_0000, 0x1000_0000), None);
        assert_eq!(narrow(0x7000_0000, 0x10).map(|s| (s.low, s.bytes)), Some((0x10, 0x6fff_fff4)));
    }
}
