//! The counters of the memory, and of the fetch of an SM.

use std::ops::AddAssign;

use warpbound_core::base::Cycle;

/// The statistics of a cache, in transactions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct CacheStats {
    /// The requests that were not stalled.
    pub accesses: u64,
    /// The requests whose sectors were all present.
    pub hits: u64,
    /// The requests that were neither a hit nor merged.
    pub misses: u64,
    /// The requests that joined a fetch in flight.
    pub merged: u64,
    /// The attempts that had to be repeated.
    pub stalls: u64,
    /// The dirty lines written to the next level.
    pub write_backs: u64,
}

impl AddAssign for CacheStats {
    #[inline]
    fn add_assign(&mut self, other: Self) {
        self.accesses += other.accesses;
        self.hits += other.hits;
        self.misses += other.misses;
        self.merged += other.merged;
        self.stalls += other.stalls;
        self.write_backs += other.write_backs;
    }
}

/// The statistics of DRAM.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct DramStats {
    /// The column commands that read.
    pub reads: u64,
    /// The column commands that wrote.
    pub writes: u64,
    /// The activations of a row.
    pub activations: u64,
}

impl AddAssign for DramStats {
    #[inline]
    fn add_assign(&mut self, other: Self) {
        self.reads += other.reads;
        self.writes += other.writes;
        self.activations += other.activations;
    }
}

/// The counters of the fetch of an SM at the end of a cycle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FetchSample {
    /// The number of fetches for instruction buffers so far.
    pub fetches: u64,
    /// The number of them that missed in the instruction cache.
    pub misses: u64,
    /// The number of warps with instructions left whose buffer holds instructions.
    pub filled: u32,
    /// The number of warps that wait for the instruction cache.
    pub missing: u32,
}

/// The counters of a cache at the end of a cycle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CacheSample {
    /// The statistics so far.
    pub stats: CacheStats,
    /// The number of miss status holding registers in use.
    pub mshrs: u32,
}

impl AddAssign for CacheSample {
    #[inline]
    fn add_assign(&mut self, other: Self) {
        self.stats += other.stats;
        self.mshrs += other.mshrs;
    }
}

/// The counters of DRAM, summed over all channels, at the end of a cycle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DramSample {
    /// The statistics so far.
    pub stats: DramStats,
    /// The number of banks that serve a request.
    pub busy_banks: u32,
    /// The number of requests that wait for a bank.
    pub waiting: u32,
}

impl AddAssign for DramSample {
    #[inline]
    fn add_assign(&mut self, other: Self) {
        self.stats += other.stats;
        self.busy_banks += other.busy_banks;
        self.waiting += other.waiting;
    }
}

/// The counters of one part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counted {
    /// The fetch and the instruction buffers of an SM.
    Fetch(FetchSample),
    /// The data cache of an SM.
    L1(CacheSample),
    /// The cache of constants and parameters of an SM.
    Constant(CacheSample),
    /// The L2, all slices together.
    L2(CacheSample),
    /// The DRAM, all channels together.
    Dram(DramSample),
}

impl Counted {
    /// Returns whether all SMs share the part.
    #[inline]
    pub const fn is_shared(&self) -> bool {
        matches!(self, Self::L2(_) | Self::Dram(_))
    }

    /// Returns whether the other value counts the same part.
    #[inline]
    pub fn is_of_same_part(&self, other: &Self) -> bool {
        std::mem::discriminant(self) == std::mem::discriminant(other)
    }
}

/// The counters of one part at the end of a cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// The cycle.
    pub at: Cycle,
    /// The part and its counters.
    pub counted: Counted,
}
