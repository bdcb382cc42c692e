//! Numbers as two halves, because a checkpoint limits the number of digits of an integer.

/// Returns the upper and the lower half of a number.
pub(super) fn halves(number: u64) -> (u32, u32) {
    ((number >> 32) as u32, number as u32)
}

/// Returns the number with these halves.
pub(super) fn whole(high: u32, low: u32) -> u64 {
    u64::from(high) << 32 | u64::from(low)
}
