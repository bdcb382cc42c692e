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

/// The positions of lanes relative to each other, from which follow the spans of all accesses whose
/// addresses differ from them by a constant.
#[derive(Clone, Copy, Debug)]
struct Positions {
    /// The address of the first enabled lane.
    start: u64,
    /// The distance from there to the lowest address.
    nearest: i32,
    /// The bits that are set in the distance of any lane.
    bits: u32,
    /// The number of bytes of each lane, a power of two.
    size: u32,
    /// The highest possible address.
    last_address: u64,
    /// The span of the last access that was asked for.
    span: Span,
}

impl Positions {
    /// Returns the positions of 64-bit addresses; `None` if no lane is enabled, or if lanes are 2 GiB
    /// or more apart.
    #[inline(always)]
    fn wide(addresses: &Row<u64>, enabled: LaneMask, size: u32) -> Option<Self> {
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
        (far == 0).then(|| Self::new(start, first, &distances, &mask, size, u64::MAX))
    }

    /// Returns the positions of 32-bit addresses; `None` if no lane is enabled.
    #[inline(always)]
    fn narrow(addresses: &Row<u32>, enabled: LaneMask, size: u32) -> Option<Self> {
        let first = first_lane(enabled)?;
        let start = addresses.0[first];
        let mask = spread(enabled);
        let mut distances = Row([0; WARP_SIZE]);
        for lane in 0..WARP_SIZE {
            distances.0[lane] = (addresses.0[lane].wrapping_sub(start) & mask.0[lane]) as i32;
        }
        // a distance that does not fit in an `i32` gets the wrong sign, and then leads out of the
        // range of 32-bit addresses
        Some(Self::new(u64::from(start), first, &distances, &mask, size, u64::from(u32::MAX)))
    }

    /// Returns the positions; `distances` are those from `start`, the address of lane `first`, and
    /// zero in the lanes that are not in the mask.
    #[inline(always)]
    fn new(
        start: u64,
        first: usize,
        distances: &Row<i32>,
        mask: &Row<u32>,
        size: u32,
        last_address: u64,
    ) -> Self {
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
        let mut offsets = Row([0; WARP_SIZE]);
        for lane in 0..WARP_SIZE {
            offsets.0[lane] = distances.0[lane].wrapping_sub(nearest) as u32;
        }
        let bytes = (i64::from(farthest) - i64::from(nearest)) as u64 + u64::from(size);
        let span = Span { low: start, bytes, offsets, pattern };
        Self { start, nearest, bits: bits as u32, size, last_address, span }
    }

    /// Returns the span of accesses at `offset` from these positions. `None` if one of them is not
    /// aligned, or the range of addresses ends between them.
    #[inline(always)]
    fn at(&mut self, offset: u64) -> Option<&Span> {
        let Self { nearest, bits, size, last_address, ref mut span, .. } = *self;
        let start = self.start.wrapping_add(offset) & last_address;
        let low = start.checked_add_signed(i64::from(nearest))?;
        let misaligned = (start as u32 | bits) & (size - 1) != 0;
        if misaligned || low.checked_add(span.bytes - 1)? > last_address {
            return None;
        }
        span.low = low;
        Some(span)
    }
}

/// A row of addresses of the accesses of an instruction.
#[derive(Clone, Copy, Debug)]
pub(super) enum Addresses<'r> {
    Narrow(&'r Row<u32>),
    Wide(&'r Row<u64>),
}

/// The number of rows whose positions are kept.
const KEPT: usize = 4;

/// The positions of the lanes in rows of addresses, kept while instructions of a straight run use them.
///
/// Instructions of one *group* access memory at constant offsets from the same row, which none of
/// them, and no instruction between them, changes.
#[derive(Debug, Default)]
pub(super) struct KeptPositions([Option<(u32, LaneMask, Positions)>; KEPT]);

impl KeptPositions {
    /// Returns the span of aligned accesses of `size` bytes, a power of two, by the enabled lanes, at
    /// `offset` from a row of addresses. `None` if there is no such lane, an access is not aligned,
    /// or the lanes are 2 GiB or more apart.
    #[inline(always)]
    pub(super) fn span(
        &mut self,
        group: u32,
        (addresses, offset): (Addresses, u64),
        enabled: LaneMask,
        size: u32,
    ) -> Option<&Span> {
        let kept = &mut self.0[group as usize % KEPT];
        if !matches!(kept, Some((of, lanes, _)) if (*of, *lanes) == (group, enabled)) {
            *kept = Some((group, enabled, addresses.positions(enabled, size)?));
        }
        let (_, _, positions) = kept.as_mut()?;
        positions.at(offset)
    }
}

impl Addresses<'_> {
    #[inline(always)]
    fn positions(self, enabled: LaneMask, size: u32) -> Option<Positions> {
        match self {
            Self::Narrow(row) => Positions::narrow(row, enabled, size),
            Self::Wide(row) => Positions::wide(row, enabled, size),
        }
    }
}

impl Span {
    /// Returns the span of accesses to a row of addresses, which belongs to no group.
    #[inline(always)]
    pub(super) fn of(addresses: &Row<u64>, enabled: LaneMask, size: u32) -> Option<Self> {
        Positions::wide(addresses, enabled, size)?.at(0).copied()
    }
}

fn first_lane(enabled: LaneMask) -> Option<usize> {
    (!enabled.is_empty()).then(|| enabled.bits().trailing_zeros() as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn narrow(addresses: &Row<u32>, enabled: LaneMask, size: u32) -> Option<Span> {
        Positions::narrow(addresses, enabled, size)?.at(0).copied()
    }

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
            assert_eq!(narrow(&Row(row.0.map(|a| a as u32)), enabled, size), span);
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
        let apart = |a: u32, b: u32| {
            narrow(&Row(std::array::from_fn(|lane| if lane == 0 { a } else { b })), LaneMask::ALL, 4)
        };
        assert_eq!(apart(0x10, 0x9000_0000), None);
        assert_eq!(apart(0xa000_0000, 0x1000_0000), None);
        assert_eq!(apart(0x7000_0000, 0x10).map(|s| (s.low, s.bytes)), Some((0x10, 0x6fff_fff4)));
    }

    /// Spans at an offset from kept positions are those of the addresses with the offset added.
    #[test]
    fn kept_positions_give_the_spans_of_all_offsets() {
        let seeds = (0..2_000_u64).map(|seed| seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let mut kept = KeptPositions::default();
        let mut found = 0;
        for (case, seed) in seeds.enumerate() {
            let enabled = LaneMask::from_bits_retain(if case % 3 == 0 { u32::MAX } else { seed as u32 });
            let (step, start) = (seed >> 32 & 0xf, seed >> 20 & 0xffff_fff8);
            let size = 1 << (seed >> 60 & 3);
            let row: Row<u64> = Row(std::array::from_fn(|lane| start.wrapping_add(step * lane as u64)));
            let low: Row<u32> = Row(row.0.map(|address| address as u32));
            let offsets = [0, 8, 4, 1, 64_u64.wrapping_neg(), start.wrapping_neg(), !start, 1 << 31];
            for (offset, group) in offsets.into_iter().zip(std::iter::repeat(2 * case as u32)) {
                let moved = Row(row.0.map(|address| address.wrapping_add(offset)));
                let span = kept.span(group, (Addresses::Wide(&row), offset), enabled, size).copied();
                assert_eq!(span, Span::of(&moved, enabled, size), "{case} {offset}");
                let moved = Row(low.0.map(|address| address.wrapping_add(offset as u32)));
                let span = kept.span(group + 1, (Addresses::Narrow(&low), offset), enabled, size).copied();
                assert_eq!(span, narrow(&moved, enabled, size), "{case} {offset}");
                found += usize::from(span.is_some());
            }
        }
        assert!(found > 2_000, "{found}");
    }
}
