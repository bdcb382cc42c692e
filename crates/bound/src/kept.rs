//! Maps with numbers as keys, and results that are kept by a hash of what they follow from.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hash, Hasher};

use warpbound_core::path::Step;

/// A map whose keys are numbers.
pub(crate) type ByNumber<T> = HashMap<u64, T, BuildHasherDefault<NumberHash>>;

/// A fast hash of numbers: a request to memory needs several look-ups. It does not resist numbers
/// that are chosen to collide.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct NumberHash(u64);

impl NumberHash {
    /// Adds a step.
    #[inline]
    pub fn step(&mut self, step: Step) {
        step.hash(self);
    }
}

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

/// Results of sections of warps, which warps and blocks often repeat. A result must contain all that
/// it follows from: two sections may have the same hash.
#[derive(Clone, Debug)]
pub(crate) struct Kept<T> {
    results: ByNumber<T>,
    /// The steps and other parts that results have been kept of since all were forgotten.
    size: usize,
}

impl<T> Default for Kept<T> {
    fn default() -> Self {
        Self { results: ByNumber::default(), size: 0 }
    }
}

impl<T> Kept<T> {
    /// The largest size of several results together.
    const MOST: usize = 1 << 17;

    /// Returns the result that is kept for a hash.
    pub fn get(&self, hash: u64) -> Option<&T> {
        self.results.get(&hash)
    }

    /// Keeps a result of this many parts. Another one with the same hash is forgotten.
    pub fn keep(&mut self, hash: u64, size: usize, result: T) {
        self.size += size;
        if self.size > Self::MOST {
            self.results.clear();
            self.size = size;
        }
        self.results.insert(hash, result);
    }
}
