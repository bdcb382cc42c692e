//! Maps with numbers as keys.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// A map whose keys are numbers.
pub(super) type ByNumber<T> = HashMap<u64, T, BuildHasherDefault<NumberHash>>;

/// A hash of numbers. Nobody chooses them so that they collide, and a request to memory needs
/// several look-ups.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct NumberHash(u64);

impl Hasher for NumberHash {
    #[inline]
    fn write_u64(&mut self, number: u64) {
        let product = u128::from(self.0 ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = product as u64 ^ (product >> 64) as u64;
    }

    #[inline]
    fn write_u32(&mut self, number: u32) {
        self.write_u64(number.into());
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_u64(byte.into()));
    }

    #[inline]
    fn finish(&self) -> u64 {
        self.0
    }
}
