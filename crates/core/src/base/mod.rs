//! Basic types that all crates use: time, ids, masks, and the control of long computations.
//!
//! This module is independent of GPUs. Time is an integer and has two types that do not mix: an
//! instant ([`Cycle`]) and a duration ([`Cycles`]).

mod budget;
mod few;
mod ids;
mod mask;
mod pool;
mod progress;
mod time;

pub use budget::{TooMuch, allow_memory, ask_memory, shown_bytes, sparse_copy};
pub use few::Few;
pub use ids::{BlockId, OpClass, Pc, RegId, UnitId, WarpId};
pub use mask::{LaneMask, SetBits, WARP_SIZE, WarpMask};
pub use pool::in_order;
pub use progress::ProgressMonitor;
pub use time::{Cycle, Cycles};

/// A 64-bit FNV-1a hash, used for digests that must be stable across versions and computers
/// (machine digests, buffer hashes, golden traces).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fnv1a(u64);

impl Default for Fnv1a {
    #[inline]
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Fnv1a {
    /// Returns the digest of `bytes`.
    #[inline]
    pub fn of(bytes: &[u8]) -> u64 {
        let mut hash = Self::default();
        hash.write(bytes);
        hash.finish()
    }

    /// Appends `bytes`.
    #[inline]
    pub fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }

    /// Appends a number in little-endian byte order.
    #[inline]
    pub fn write_u64(&mut self, value: u64) {
        self.write(&value.to_le_bytes());
    }

    /// Returns the digest of everything written so far.
    #[inline]
    pub fn finish(self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fnv_matches_the_published_vectors() {
        assert_eq!(Fnv1a::of(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(Fnv1a::of(b"a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(Fnv1a::of(b"foobar"), 0x8594_4171_f739_67e8);
    }
}
