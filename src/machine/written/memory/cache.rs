//! Settings of caches.

use serde::{Deserialize, Serialize};

/// A set-associative cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename = "Cache", deny_unknown_fields, default)]
pub struct CacheSettings {
    /// Sets.
    pub sets: u32,
    /// Lines of a set; 1 for a direct-mapped cache.
    pub ways: u32,
    /// Bytes of a line: 32, 64 or 128.
    pub line: u32,
    /// Whether a miss fetches only the sectors it needs, instead of the line.
    pub sectored: bool,
    /// Which line makes room.
    pub replacement: Replacement,
    /// What a store does to lines that are there.
    pub write: WritePolicy,
    /// What a store does if its line is not there.
    pub write_miss: WriteMiss,
    /// How the set is found.
    pub index: Index,
    /// Fetches under way.
    pub mshrs: u32,
    /// Transactions that one fetch can serve.
    pub merge: u32,
    /// Requests that wait to be sent to the next level.
    pub miss_queue: u32,
    /// Bytes its data port moves in a cycle.
    pub port: u32,
}

impl Default for CacheSettings {
    fn default() -> Self {
        Self {
            sets: 64,
            ways: 4,
            line: 128,
            sectored: true,
            replacement: Replacement::Lru,
            write: WritePolicy::Through,
            write_miss: WriteMiss::NoAllocate,
            index: Index::Linear,
            mshrs: 64,
            merge: 8,
            miss_queue: 16,
            port: 32,
        }
    }
}

impl CacheSettings {
    /// Its size in bytes.
    pub fn bytes(&self) -> u64 {
        u64::from(self.sets) * u64::from(self.ways) * u64::from(self.line)
    }
}

/// Which line of a set makes room. Empty ones always go first, lines that wait for data never.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Replacement {
    /// The one not used for longest.
    #[default]
    Lru,
    /// The one brought in first.
    Fifo,
    /// Any, from ChaCha8 with the memory's seed.
    Random,
}

/// What a store does to a line that is there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum WritePolicy {
    /// Changes it, and goes on to the next level.
    #[default]
    Through,
    /// Changes it; the line is written to the next level when it makes room.
    Back,
    /// Removes it, and goes on to the next level.
    Evict,
}

/// What a store does if its line is not there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum WriteMiss {
    /// Goes on to the next level.
    #[default]
    NoAllocate,
    /// Takes a line for the sectors it writes; nothing is fetched.
    Allocate,
}

/// How an index is formed from an address.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Index {
    /// The low bits.
    #[default]
    Linear,
    /// The low bits xor the ones above them.
    Xor,
    /// The remainder of the address, as a polynomial over GF(2), by a primitive polynomial: Rau,
    /// "Pseudo-randomly interleaved memory", ISCA 1991.
    Polynomial,
}

/// The data cache of an SM.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename = "L1", deny_unknown_fields, default)]
pub struct L1 {
    /// The cache.
    pub cache: CacheSettings,
    /// Cycles from a transaction to its look-up.
    pub latency: u64,
    /// Banks; each takes a transaction per cycle. Sectors are interleaved over them.
    pub banks: u32,
    /// Which part of the on-chip memory it gets.
    pub split: Split,
}

impl Default for L1 {
    fn default() -> Self {
        Self { cache: CacheSettings::default(), latency: 30, banks: 1, split: Split::Off }
    }
}

/// How the on-chip memory of an SM is split between L1 and shared memory. The number of ways
/// follows; Berezovskyi et al., ARCS 2016, section 4, vary this.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum Split {
    /// The L1 is as large as its `sets` and `ways` say.
    #[default]
    Off,
    /// It gets this share of the on-chip memory.
    Percent {
        /// On-chip memory, bytes.
        total: u32,
        /// Percent for the L1.
        l1: u32,
    },
    /// It gets what the smallest sufficient shared memory leaves over.
    Fit {
        /// On-chip memory, bytes.
        total: u32,
        /// Sizes that shared memory can have, bytes, ascending.
        shared: Vec<u32>,
    },
}

impl L1 {
    /// The cache when the resident blocks use so many bytes of shared memory.
    pub fn with_shared(&self, shared_bytes: u32) -> CacheSettings {
        let bytes = match &self.split {
            Split::Off => return self.cache,
            Split::Percent { total, l1 } => u64::from(*total) * u64::from(*l1) / 100,
            Split::Fit { total, shared } => {
                let fits = shared.iter().find(|&&size| size >= shared_bytes);
                u64::from(total.saturating_sub(fits.copied().unwrap_or(shared_bytes)))
            }
        };
        let way = u64::from(self.cache.sets) * u64::from(self.cache.line);
        let ways = u32::try_from(bytes / way).unwrap_or(u32::MAX).max(1);
        CacheSettings { ways, ..self.cache }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_l1_gets_what_shared_memory_leaves() {
        let cache = CacheSettings { sets: 4, ways: 256, ..CacheSettings::default() };
        let shared = vec![0, 8192, 16384, 32768, 65536, 102_400];
        let mut l1 = L1 { cache, split: Split::Fit { total: 131_072, shared }, ..L1::default() };
        assert_eq!(l1.with_shared(0).bytes(), 131_072);
        assert_eq!(l1.with_shared(8192).bytes(), 131_072 - 8192);
        assert_eq!(l1.with_shared(8193).bytes(), 131_072 - 16384);
        assert_eq!(l1.with_shared(102_400).bytes(), 28_672);
        l1.split = Split::Percent { total: 131_072, l1: 25 };
        assert_eq!(l1.with_shared(5).bytes(), 32_768);
        l1.split = Split::Off;
        assert_eq!(l1.with_shared(5), cache);
    }
}
