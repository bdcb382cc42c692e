//! What a warp executed: the dynamic instruction sequence, and nothing about time.
//!
//! A [`WarpPath`] is the contract between the functional run on one side and the simulator and
//! the analyser on the other. It is compact: four bytes a step, plus one mask per change of the
//! active lanes. Where asked for, the memory lines of its accesses stand beside the steps.

mod async_groups;
mod banks;
mod lines;
mod set;
mod step;
mod traffic;

pub use async_groups::AsyncGroups;
pub use banks::{extra_transactions, most_extra_transactions};
pub use lines::Lines;
pub use set::{PathPart, PathSet, Rounds, Sides, Way};
pub use step::{AsyncRing, BarrierUse, MemoryUse, Step};
pub use traffic::LineUse;

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::base::{BlockId, LaneMask};

/// The dynamic instruction sequence of one warp.
///
/// Invariant: the last step, and only it, [`Step::ends_warp`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WarpPath {
    steps: Vec<Step>,
    /// (index of the first step, active lanes from there on); indices ascend strictly.
    masks: Vec<(u32, LaneMask)>,
    /// Groups of lines, one for each step that accesses global or local memory; empty unless the
    /// functional run was told to record them.
    traffic: Vec<LineUse>,
    /// Of each step, the active lanes whose guard held, where asked for.
    enabled: Vec<LaneMask>,
    /// Where asked for, an address for each enabled lane of each step that accesses memory.
    addresses: Vec<u64>,
}

impl WarpPath {
    /// An empty path.
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends an executed instruction and the lanes that were active in it.
    pub fn push(&mut self, step: Step, active: LaneMask) {
        if self.masks.last().is_none_or(|(_, mask)| *mask != active) {
            let index = u32::try_from(self.steps.len()).expect("fuel limits a path to 2^32 steps");
            self.masks.push((index, active));
        }
        self.steps.push(step);
    }

    /// Appends instructions that were executed one after the other with the same lanes.
    pub fn extend(&mut self, steps: &[Step], active: LaneMask) {
        if let [first, rest @ ..] = steps {
            self.push(*first, active);
            self.steps.extend_from_slice(rest);
        }
    }

    /// Puts another step in the place of one that was appended before, of the same instruction.
    pub fn replace(&mut self, index: usize, step: Step) {
        debug_assert_eq!(self.steps[index].pc(), step.pc(), "another instruction");
        self.steps[index] = step;
    }

    /// Appends the lines of the step that was pushed last, a whole group.
    pub fn push_traffic(&mut self, group: &[LineUse]) {
        debug_assert!(group.last().is_some_and(|used| used.is_last()), "a group ends");
        self.traffic.extend_from_slice(group);
    }

    /// Appends the lanes that carried out the step that was pushed last.
    pub fn push_enabled(&mut self, enabled: LaneMask) {
        self.enabled.push(enabled);
    }

    /// Appends the addresses of the step that was pushed last, one for each enabled lane.
    pub fn push_addresses(&mut self, addresses: &[u64]) {
        self.addresses.extend_from_slice(addresses);
    }

    /// Of each step, the active lanes whose guard held; empty unless the functional run was told to record them.
    pub fn enabled(&self) -> &[LaneMask] {
        &self.enabled
    }

    /// The addresses of every step that accesses memory, one for each enabled lane, step by step; empty unless the
    /// functional run was told to record them.
    pub fn addresses(&self) -> &[u64] {
        &self.addresses
    }

    /// The lines of every step that accesses global or local memory, group by group.
    pub fn traffic(&self) -> &[LineUse] {
        &self.traffic
    }

    /// Every step in program order.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// The runs of equal active masks: index of the first step, lanes.
    pub fn masks(&self) -> &[(u32, LaneMask)] {
        &self.masks
    }

    /// Forgets everything but the allocation.
    pub fn clear(&mut self) {
        self.steps.clear();
        self.masks.clear();
        self.traffic.clear();
        self.enabled.clear();
        self.addresses.clear();
    }

    /// Bytes this path occupies.
    pub fn size_bytes(&self) -> usize {
        std::mem::size_of_val(self.steps.as_slice())
            + std::mem::size_of_val(self.masks.as_slice())
            + std::mem::size_of_val(self.traffic.as_slice())
            + std::mem::size_of_val(self.enabled.as_slice())
            + std::mem::size_of_val(self.addresses.as_slice())
    }
}

/// The paths of all warps of one block.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BlockPaths {
    /// Which block.
    pub block: BlockId,
    /// One path per warp, by warp id.
    pub warps: Vec<WarpPath>,
    /// Active, not predicated-off lanes, summed over all instructions.
    pub thread_instructions: u64,
    /// Whether some barrier did not involve every warp of the block (named with a thread count,
    /// or arrive without wait). Such barriers do not split sections.
    pub partial_barriers: bool,
}

impl BlockPaths {
    /// Warp executions of instructions, `ret` included.
    pub fn warp_instructions(&self) -> u64 {
        self.warps.iter().map(|warp| warp.steps.len() as u64).sum()
    }

    /// Makes room for the next block, keeping allocations.
    pub fn reset(&mut self, block: BlockId, warps: usize) {
        self.block = block;
        self.warps.resize_with(warps, WarpPath::new);
        self.warps.iter_mut().for_each(WarpPath::clear);
        self.thread_instructions = 0;
        self.partial_barriers = false;
    }
}

/// What a launch takes of memory, for engines that model caches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Footprint {
    /// Buffers and variables of device memory as (address, bytes), where [`LineUse`] sees them.
    pub buffers: Vec<(u64, u64)>,
    /// What the host has copied there since the launch before this one, if there was one.
    pub copied: Vec<(u64, u64)>,
    /// Shared memory of a block, bytes.
    pub shared_bytes: u64,
}

/// Where blocks come from: a functional run, or a micro kernel. Blocks are streamed in launch
/// order, so that memory does not grow with the grid.
pub trait BlockSource {
    /// What goes wrong while a block is produced.
    type Error;

    /// Produces the next block into `paths`, or says there is none.
    ///
    /// # Errors
    /// Whatever stopped the block; the source is spent then.
    fn next_block(&mut self, paths: &mut BlockPaths) -> Result<bool, Self::Error>;

    /// Whether nobody wants the rest: blocks that are under way need not be finished either.
    fn is_stopped(&self) -> bool {
        false
    }

    /// What the launch takes of memory.
    fn footprint(&self) -> Footprint {
        Footprint::default()
    }

    /// If blocks are made on a thread of their own: whether it is at work, for others to give way to it.
    fn at_work(&self) -> Option<Arc<AtomicBool>> {
        None
    }
}

/// Blocks that are there already, one after the other.
#[derive(Clone, Debug)]
pub struct Listed<'a>(std::slice::Iter<'a, BlockPaths>);

impl<'a> Listed<'a> {
    /// These blocks, in launch order.
    pub fn new(blocks: &'a [BlockPaths]) -> Self {
        Self(blocks.iter())
    }
}

impl BlockSource for Listed<'_> {
    type Error = Infallible;

    fn next_block(&mut self, paths: &mut BlockPaths) -> Result<bool, Infallible> {
        let next = self.0.next();
        next.iter().for_each(|block| paths.clone_from(block));
        Ok(next.is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::Pc;

    #[test]
    fn masks_are_stored_once_per_change() {
        let mut path = WarpPath::new();
        for (pc, mask) in [(0, 3), (1, 3), (2, 1), (3, 3)] {
            path.push(Step::plain(Pc::new(pc)), LaneMask::from_bits_retain(mask));
        }
        let starts: Vec<u32> = path.masks().iter().map(|(i, _)| *i).collect();
        assert_eq!(starts, [0, 2, 3]);
        assert_eq!(path.size_bytes(), 4 * 4 + 3 * 8);
    }
}
