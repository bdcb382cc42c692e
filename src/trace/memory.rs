//! Counters of the memory, and of the fetch of an SM.

use std::ops::AddAssign;

use crate::base::Cycle;

/// What happened in a cache, in transactions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct CacheStats {
    /// Requests that were not stalled.
    pub accesses: u64,
    /// Data, or the line of a store, was there.
    pub hits: u64,
    /// Neither was.
    pub misses: u64,
    /// Joined a fetch under way.
    pub merged: u64,
    /// Tries that had to be repeated.
    pub stalls: u64,
    /// Dirty lines written to the next level.
    pub write_backs: u64,
}

impl AddAssign for CacheStats {
    fn add_assign(&mut self, other: Self) {
        self.accesses += other.accesses;
        self.hits += other.hits;
        self.misses += other.misses;
        self.merged += other.merged;
        self.stalls += other.stalls;
        self.write_backs += other.write_backs;
    }
}

/// What happened in DRAM.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct DramStats {
    /// Column commands that read.
    pub reads: u64,
    /// Column commands that wrote.
    pub writes: u64,
    /// Activations of a row.
    pub activations: u64,
}

impl AddAssign for DramStats {
    fn add_assign(&mut self, other: Self) {
        self.reads += other.reads;
        self.writes += other.writes;
        self.activations += other.activations;
    }
}

/// The fetch of an SM at the end of a cycle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FetchSample {
    /// Instruction buffers that were fetched for, so far.
    pub fetches: u64,
    /// Those of them that the instruction cache did not have.
    pub misses: u64,
    /// Warps with instructions left whose buffer holds some.
    pub filled: u32,
    /// Warps that wait for the instruction cache.
    pub missing: u32,
}

/// A cache at the end of a cycle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CacheSample {
    /// What happened so far.
    pub stats: CacheStats,
    /// Miss status holding registers in use.
    pub mshrs: u32,
}

impl AddAssign for CacheSample {
    fn add_assign(&mut self, other: Self) {
        self.stats += other.stats;
        self.mshrs += other.mshrs;
    }
}

/// The DRAM, all channels together, at the end of a cycle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DramSample {
    /// What happened so far.
    pub stats: DramStats,
    /// Banks that serve a request.
    pub busy_banks: u32,
    /// Requests that wait for a bank.
    pub waiting: u32,
}

impl AddAssign for DramSample {
    fn add_assign(&mut self, other: Self) {
        self.stats += other.stats;
        self.busy_banks += other.busy_banks;
        self.waiting += other.waiting;
    }
}

/// The counters of one part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counted {
    /// Fetch and instruction buffers of an SM.
    Fetch(FetchSample),
    /// The data cache of an SM.
    L1(CacheSample),
    /// The cache of constants and parameters of an SM.
    Constant(CacheSample),
    /// The L2, all slices.
    L2(CacheSample),
    /// The DRAM, all channels.
    Dram(DramSample),
}

impl Counted {
    /// Whether all SMs have the part together.
    pub const fn is_shared(&self) -> bool {
        matches!(self, Self::L2(_) | Self::Dram(_))
    }

    /// Whether the other one counts the same part.
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
