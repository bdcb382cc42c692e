//! The settings of caches.

use serde::{Deserialize, Serialize};

use crate::machine::written::is_one;

/// A set-associative cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename = "Cache", deny_unknown_fields, default)]
pub struct CacheSettings {
    /// The number of sets.
    pub sets: u32,
    /// The number of ways, that is, lines per set; 1 for a direct-mapped cache.
    pub ways: u32,
    /// The size of a line in bytes: 32, 64 or 128.
    pub line: u32,
    /// Whether a miss fetches only the sectors it needs, rather than the whole line.
    pub sectored: bool,
    /// The size in bytes of the parts of a line of the L2 that a miss fetches as a whole, with `sectored`:
    /// 32 (a sector), 64 or 128. A part is fetched without the sectors that the L2 has.
    #[serde(skip_serializing_if = "is_a_sector")]
    pub fetch: u32,
    /// The replacement policy.
    pub replacement: Replacement,
    /// The effect of a store that hits.
    pub write: WritePolicy,
    /// The effect of a store that misses.
    pub write_miss: WriteMiss,
    /// The function that maps an address to a set.
    pub index: Index,
    /// The number of miss status holding registers, which is the maximum number of fetches in
    /// flight.
    pub mshrs: u32,
    /// The maximum number of transactions that one fetch can serve.
    pub merge: u32,
    /// The capacity in requests of the queue to the next level.
    pub miss_queue: u32,
    /// The width of the data port in bytes per cycle.
    pub port: u32,
}

impl Default for CacheSettings {
    fn default() -> Self {
        Self {
            sets: 64,
            ways: 4,
            line: 128,
            sectored: true,
            fetch: SECTOR,
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

/// The size of a sector in bytes.
const SECTOR: u32 = 32;

fn is_a_sector(bytes: &u32) -> bool {
    *bytes == SECTOR
}

impl CacheSettings {
    /// Returns the size in bytes.
    pub fn bytes(&self) -> u64 {
        u64::from(self.sets) * u64::from(self.ways) * u64::from(self.line)
    }
}

/// The replacement policy, which chooses the victim in a set. Empty lines are always chosen first,
/// and lines that wait for data are never chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub enum Replacement {
    /// The least recently used line.
    #[default]
    Lru,
    /// The line that was allocated first.
    Fifo,
    /// A random line, drawn from ChaCha8 with the memory's seed.
    Random,
}

impl Replacement {
    /// Returns whether the victims depend on the memory's seed.
    pub const fn is_random(self) -> bool {
        match self {
            Self::Lru | Self::Fifo => false,
            Self::Random => true,
        }
    }
}

/// The effect of a store that hits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub enum WritePolicy {
    /// Write-through: it updates the line and is sent to the next level.
    #[default]
    Through,
    /// Write-back: it updates the line, which is written to the next level when it is evicted.
    Back,
    /// It removes the sectors that it writes from the line, and is sent to the next level.
    Evict,
}

/// The effect of a store that misses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub enum WriteMiss {
    /// It is sent to the next level.
    #[default]
    NoAllocate,
    /// It allocates a line for the sectors it writes, without a fetch.
    Allocate,
}

/// The function that maps an address to an index.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub enum Index {
    /// The low bits, without a hash.
    #[default]
    Linear,
    /// The low bits xor the bits above them.
    Xor,
    /// The remainder of the address, as a polynomial over GF(2), modulo a primitive polynomial:
    /// Rau, "Pseudo-randomly interleaved memory", ISCA 1991.
    Polynomial,
}

/// The data cache of an SM.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename = "L1", deny_unknown_fields, default)]
pub struct L1 {
    /// The parameters of the cache.
    pub cache: CacheSettings,
    /// The number of cycles from a transaction to its look-up.
    pub latency: u64,
    /// The number of banks. Sectors are interleaved over the banks, and each bank accepts one
    /// transaction at a time.
    pub banks: u32,
    /// The number of cycles for which a transaction occupies its bank.
    #[serde(skip_serializing_if = "is_one")]
    pub interval: u64,
    /// The part of the on-chip memory that the L1 receives.
    pub split: Split,
}

impl Default for L1 {
    fn default() -> Self {
        Self { cache: CacheSettings::default(), latency: 30, banks: 1, interval: 1, split: Split::Off }
    }
}

/// The division of an SM's on-chip memory between L1 and shared memory, which determines the number
/// of ways. Berezovskyi et al., ARCS 2016, section 4, vary it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub enum Split {
    /// The size of the L1 follows from its `sets` and `ways`.
    #[default]
    Off,
    /// The L1 receives this share of the on-chip memory.
    Percent {
        /// The size of the on-chip memory in bytes.
        total: u32,
        /// The share of the L1 in percent.
        l1: u32,
    },
    /// The L1 receives what the smallest sufficient size of shared memory leaves.
    Fit {
        /// The size of the on-chip memory in bytes.
        total: u32,
        /// The possible sizes of shared memory in bytes, in ascending order.
        shared: Vec<u32>,
    },
}

impl L1 {
    /// Returns the parameters of the cache if the resident blocks use this much shared memory.
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
