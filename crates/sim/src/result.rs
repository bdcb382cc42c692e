//! The results of the simulation of launches, blocks and warps.

use std::ops::AddAssign;

use serde::{Deserialize, Serialize};

use warpbound_core::base::{BlockId, Cycle, Cycles};
use warpbound_trace::trace::{CacheStats, DramStats, Stalls};

/// The result of a block.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BlockResult {
    /// The block.
    pub block: BlockId,
    /// The cycle in which the block became resident, in the time of its SM.
    pub start: Cycle,
    /// The number of cycles from `start` to the last completion of its instructions.
    pub makespan: Cycles,
    /// The number of instructions issued.
    pub issues: u64,
    /// The results of its warps.
    pub warps: Vec<WarpResult>,
}

/// The result of a warp.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WarpResult {
    /// The number of cycles from the start of the block to the last completion of the warp's
    /// instructions.
    pub finish: Cycles,
    /// The number of instructions issued.
    pub issues: u64,
}

/// The result of a launch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SimSummary {
    /// The number of cycles from the start of the first block to the end of the last one. Where one
    /// block is resident at a time, it is the sum of the makespans of the blocks.
    pub makespan: Cycles,
    /// The number of instructions issued.
    pub issues: u64,
    /// The idle issue slots by reason. Together with the issues they add up to the makespan times
    /// the number of sub-cores.
    pub stalls: Stalls,
    /// The results of the sub-cores, SM after SM.
    pub sub_cores: Vec<SubCoreResult>,
    /// The number of blocks.
    pub blocks: u64,
    /// The largest number of blocks that were resident at a time.
    pub resident_blocks: u32,
    /// The statistics of the memory, or `None` if the machine's memory is perfect.
    pub memory: Option<MemoryStats>,
}

/// The result of a sub-core.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SubCoreResult {
    /// The number of instructions it issued.
    pub issues: u64,
    /// Its idle issue slots by reason. Together with its issues they add up to the makespan of the
    /// SM.
    pub stalls: Stalls,
}

impl AddAssign for SubCoreResult {
    fn add_assign(&mut self, other: Self) {
        self.issues += other.issues;
        self.stalls += other.stalls;
    }
}

/// The memory statistics of a launch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryStats {
    /// The statistics of the L1 caches of all SMs.
    pub l1: CacheStats,
    /// The statistics of the constant caches of all SMs.
    pub constant: CacheStats,
    /// The statistics of the memory levels behind them.
    pub lower: LowerStats,
}

impl AddAssign for MemoryStats {
    fn add_assign(&mut self, other: Self) {
        self.l1 += other.l1;
        self.constant += other.constant;
        self.lower.l2 += other.lower.l2;
        self.lower.dram += other.lower.dram;
    }
}

/// The statistics of the memory levels behind the SMs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LowerStats {
    /// The statistics of all slices of the L2.
    pub l2: CacheStats,
    /// The statistics of all DRAM channels.
    pub dram: DramStats,
}
