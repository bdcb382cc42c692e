//! How launches, blocks and warps went.

use std::ops::AddAssign;

use serde::{Deserialize, Serialize};

use crate::base::{BlockId, Cycle, Cycles};
use crate::trace::{CacheStats, DramStats, Stalls};

/// How a block went.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BlockResult {
    /// Which.
    pub block: BlockId,
    /// When it became resident, in the time of the SM.
    pub start: Cycle,
    /// From there to the largest `done` of its instructions.
    pub makespan: Cycles,
    /// Instructions issued.
    pub issues: u64,
    /// Its warps.
    pub warps: Vec<WarpResult>,
}

/// How a warp went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WarpResult {
    /// From the start of the block to the warp's largest `done`.
    pub finish: Cycles,
    /// Instructions issued.
    pub issues: u64,
}

/// How a launch went.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SimSummary {
    /// From the start of the first block to the end of the last one; the sum of the blocks'
    /// makespans where one is resident at a time.
    pub makespan: Cycles,
    /// Instructions issued.
    pub issues: u64,
    /// Idle issue slots by reason; with the issues they add up to the makespan times the number of
    /// sub-cores.
    pub stalls: Stalls,
    /// The sub-cores, of one SM after the other.
    pub sub_cores: Vec<SubCoreResult>,
    /// Blocks.
    pub blocks: u64,
    /// Blocks that were resident at a time, at most.
    pub resident_blocks: u32,
    /// What happened in the memory, if the machine has one that is not perfect.
    pub memory: Option<MemoryStats>,
}

/// How a sub-core went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SubCoreResult {
    /// Instructions it issued.
    pub issues: u64,
    /// Its idle issue slots by reason; with its issues they add up to the makespan of the SM.
    pub stalls: Stalls,
}

impl AddAssign for SubCoreResult {
    fn add_assign(&mut self, other: Self) {
        self.issues += other.issues;
        self.stalls += other.stalls;
    }
}

/// What happened in the memory of a launch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryStats {
    /// The L1s of all SMs.
    pub l1: CacheStats,
    /// The constant caches of all SMs.
    pub constant: CacheStats,
    /// What is behind them.
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

/// What happened behind the SMs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LowerStats {
    /// The L2, all slices.
    pub l2: CacheStats,
    /// DRAM, all channels.
    pub dram: DramStats,
}
