//! Numbers as two halves, since numbers in checkpoints have few digits.

/// The halves of a number.
pub(super) fn halves(number: u64) -> (u32, u32) {
    ((number >> 32) as u32, number as u32)
}

/// The number of these halves.
pub(super) fn whole(high: u32, low: u32) -> u64 {
    u64::from(high) << 32 | u64::from(low)
}
