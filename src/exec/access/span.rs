//! How the addresses of one access lie to each other.

use super::super::rows::{Row, spread, widened};
use crate::base::{LaneMask, WARP_SIZE};

/// The bytes that the enabled lanes of an access touch, and the order they lie in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) struct Span {
    /// The lowest address.
    pub(in super::super) low: u64,
    /// Bytes from there to the end of the highest access.
    pub(in super::super) bytes: u64,
    pub(in super::super) pattern: Pattern,
}

/// The order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Pattern {
    /// Every lane at the lowest address.
    Same,
    /// Each lane right behind the lane before it; the first enabled lane is the lowest.
    Consecutive,
    /// Any other.
    Scattered,
}

impl Span {
    /// The span of aligned accesses of `size` bytes, a power of two, by the enabled lanes; `None`
    /// if there is no such lane, an access is not aligned, or the addresses wrap around.
    #[inline(always)]
    pub(super) fn of(addresses: &Row<u64>, enabled: LaneMask, size: u64) -> Option<Self> {
        if enabled.is_empty() {
            return None;
        }
        let first = enabled.bits().trailing_zeros() as usize;
        let start = addresses.0[first];
        let mask = spread(enabled);
        let (mut same, mut consecutive) = (0, 0);
        for lane in 0..WARP_SIZE {
            let distance = addresses.0[lane].wrapping_sub(start) & widened(mask.0[lane]);
            let expected = (lane as u64).wrapping_sub(first as u64).wrapping_mul(size) & widened(mask.0[lane]);
            same |= distance;
            consecutive |= distance ^ expected;
        }
        let pattern = match (same, consecutive) {
            (0, _) => Pattern::Same,
            (_, 0) => Pattern::Consecutive,
            _ => Pattern::Scattered,
        };
        let (low, high) = match pattern {
            Pattern::Same => (start, start),
            Pattern::Consecutive => {
                let last = 31 - enabled.bits().leading_zeros() as usize;
                (start, start.wrapping_add((last - first) as u64 * size))
            }
            Pattern::Scattered => extremes(addresses, &mask, start),
        };
        // every distance from the start is a multiple of the size, or some access is misaligned
        let misaligned = (start | if pattern == Pattern::Scattered { same } else { 0 }) & (size - 1);
        if misaligned != 0 || high < low {
            return None;
        }
        let bytes = (high - low).checked_add(size)?;
        Some(Self { low, bytes, pattern })
    }
}

/// The lowest and highest of the addresses in the lanes of a mask, `start` being one of them.
#[inline(always)]
fn extremes(addresses: &Row<u64>, mask: &Row<u32>, start: u64) -> (u64, u64) {
    let (mut low, mut high) = (start, start);
    for lane in 0..WARP_SIZE {
        let mask = widened(mask.0[lane]);
        let address = addresses.0[lane] & mask | start & !mask;
        low = low.min(address);
        high = high.max(address);
    }
    (low, high)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(address: impl Fn(u64) -> u64, enabled: u32, size: u64) -> Option<(u64, u64, Pattern)> {
        let row = Row(std::array::from_fn(|lane| address(lane as u64)));
        Span::of(&row, LaneMask::from_bits_retain(enabled), size).map(|s| (s.low, s.bytes, s.pattern))
    }

    #[test]
    fn patterns_are_told_apart_among_enabled_lanes() {
        let all = u32::MAX;
        assert_eq!(span(|_| 64, all, 4), Some((64, 4, Pattern::Same)));
        assert_eq!(span(|l| 64 + 4 * l, all, 4), Some((64, 128, Pattern::Consecutive)));
        assert_eq!(span(|l| 64 + 8 * l, all, 4), Some((64, 252, Pattern::Scattered)));
        assert_eq!(span(|l| 1000 - 4 * l, 0xf0, 4), Some((972, 16, Pattern::Scattered)));
        // lanes that are not enabled do not count
        assert_eq!(span(|l| if l < 8 { 3 } else { 4 * l }, 0xff00, 4), Some((32, 32, Pattern::Consecutive)));
        assert_eq!(span(|l| if l == 5 { 40 } else { 1 }, 0x20, 8), Some((40, 8, Pattern::Same)));
        assert_eq!(span(|l| 4 * l, 0x8000_0001, 4), Some((0, 128, Pattern::Consecutive)));
    }

    #[test]
    fn what_is_misaligned_wraps_or_is_empty_has_no_span() {
        assert_eq!(span(|l| 4 * l, 0, 4), None);
        assert_eq!(span(|l| 2 + 4 * l, u32::MAX, 4), None);
        assert_eq!(span(|l| if l == 7 { 30 } else { 4 * l }, u32::MAX, 4), None);
        assert_eq!(span(|l| (u64::MAX - 63).wrapping_add(4 * l), u32::MAX, 4), None);
        assert_eq!(span(|l| u64::MAX - 3 - 4 * l, 1, 4), Some((u64::MAX - 3, 4, Pattern::Same)));
    }
}
