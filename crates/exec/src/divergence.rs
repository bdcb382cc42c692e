//! The cost of divergence for a launch: how often branches split a warp, and how many lanes are
//! active.
//!
//! The numbers are exact by construction: the run counts at each branch, where the active lanes and
//! the lanes that take the branch are known. The lanes per instruction are read from the paths.

use warpbound_core::base::{LaneMask, Pc, WARP_SIZE};
use warpbound_core::path::BlockPaths;
use warpbound_core::program::Instr;

/// The number of executions by the number of active lanes, 0 to 32.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaneHistogram([u64; WARP_SIZE + 1]);

/// The outcomes of one conditional branch or branch table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BranchUse {
    /// The instruction.
    pub pc: Pc,
    /// The number of times that a warp reached it.
    pub executions: u64,
    /// The number of times that its lanes took at least two different ways.
    pub diverged: u64,
    /// The lanes that took it, summed over executions; for a table, the lanes whose guard held.
    pub taken_lanes: u64,
    /// The active lanes that did not take it, summed over executions.
    pub not_taken_lanes: u64,
    /// The executions by the number of active lanes.
    pub active: LaneHistogram,
}

/// The divergence in the blocks run so far.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Divergence {
    /// The branches, by pc.
    branches: Vec<Option<Box<BranchUse>>>,
    active: LaneHistogram,
    warp_instructions: u64,
    thread_instructions: u64,
}

impl LaneHistogram {
    fn add(&mut self, lanes: LaneMask, executions: u64) {
        self.0[lanes.count() as usize] += executions;
    }

    /// Returns the executions with 0, 1, .. 32 active lanes.
    pub fn counts(&self) -> &[u64] {
        &self.0
    }
}

impl Default for LaneHistogram {
    fn default() -> Self {
        Self([0; WARP_SIZE + 1])
    }
}

impl Divergence {
    /// Creates empty counts for a program of this many instructions.
    pub(super) fn new(instructions: usize) -> Self {
        Self {
            branches: vec![None; instructions],
            active: LaneHistogram::default(),
            warp_instructions: 0,
            thread_instructions: 0,
        }
    }

    /// Records that a warp is at a branch, at which its lanes take `ways` different ways. A branch
    /// that cannot diverge, because it has neither guard nor table, is not counted.
    pub(super) fn branch(
        &mut self,
        instr: &Instr,
        pc: Pc,
        (active, taken): (LaneMask, LaneMask),
        ways: usize,
    ) {
        if instr.guard.is_none() && !instr.sem.selects_targets() {
            return;
        }
        let seen = self.branches[pc.index()].get_or_insert_with(|| {
            Box::new(BranchUse {
                pc,
                executions: 0,
                diverged: 0,
                taken_lanes: 0,
                not_taken_lanes: 0,
                active: LaneHistogram::default(),
            })
        });
        seen.executions += 1;
        seen.diverged += u64::from(ways > 1);
        seen.taken_lanes += u64::from(taken.count());
        seen.not_taken_lanes += u64::from((active - taken).count());
        seen.active.add(active, 1);
    }

    /// Adds a block that has ended.
    pub(super) fn block(&mut self, paths: &BlockPaths) {
        self.warp_instructions += paths.warp_instructions();
        self.thread_instructions += paths.thread_instructions;
        for warp in &paths.warps {
            let ends = warp.masks().iter().skip(1).map(|(start, _)| u64::from(*start));
            let ends = ends.chain(std::iter::once(warp.steps().len() as u64));
            for (&(start, lanes), end) in warp.masks().iter().zip(ends) {
                self.active.add(lanes, end - u64::from(start));
            }
        }
    }

    /// Returns the branches that were executed, by pc.
    pub fn branches(&self) -> impl Iterator<Item = &BranchUse> {
        self.branches.iter().filter_map(Option::as_deref)
    }

    /// Returns the warp instructions by the number of active lanes, whether or not their guard
    /// held.
    pub fn active(&self) -> &LaneHistogram {
        &self.active
    }

    /// Returns the fraction of lanes that were used: thread instructions over 32 times warp
    /// instructions. Missing threads of a block and lanes whose guard is false count as lost.
    pub fn simd_efficiency(&self) -> f64 {
        let room = self.warp_instructions.max(1) * WARP_SIZE as u64;
        self.thread_instructions as f64 / room as f64
    }
}
