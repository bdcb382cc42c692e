//! The dynamic instruction sequence that a warp executed, without timing.
//!
//! A [`WarpPath`] is the interface between the functional run, which produces it, and the
//! simulation and the bounds, which use it. It is compact: four bytes per step, plus one mask per
//! change of the active lanes. On request it also contains the memory lines of the accesses.

mod async_groups;
mod banks;
mod lines;
mod set;
mod step;
mod steps;
mod traffic;

pub use async_groups::AsyncGroups;
pub use banks::{extra_transactions, most_extra_transactions};
pub use lines::Lines;
pub use set::{LoopIterations, PathPart, PathSet, Sides, Way};
pub use step::{AsyncRing, BarrierUse, MemoryUse, Step};
pub use steps::{Accessed, Elsewhere, Steps};
pub use traffic::LineUse;

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::base::{BlockId, LaneMask};

/// The dynamic instruction sequence of one warp.
///
/// Invariant: the last step, and no other one, has [`Step::ends_warp`].
#[derive(Debug, Default, PartialEq, Eq)]
pub struct WarpPath {
    steps: Vec<Step>,
    /// The changes of the active mask: (index of the first step, active lanes from there on), with
    /// strictly ascending indices.
    masks: Vec<(u32, LaneMask)>,
    /// The groups of lines, one for each step that accesses global or local memory; empty unless
    /// the functional run records them.
    traffic: Vec<LineUse>,
    /// For each step, the active lanes whose guard held, if they are recorded.
    enabled: Vec<LaneMask>,
    /// For each step that accesses memory, the address of each enabled lane, if they are recorded.
    addresses: Vec<u64>,
}

impl Clone for WarpPath {
    fn clone(&self) -> Self {
        let mut copy = Self::default();
        copy.clone_from(self);
        copy
    }

    /// Copies a path into this one, and keeps the allocations.
    fn clone_from(&mut self, other: &Self) {
        let Self { steps, masks, traffic, enabled, addresses } = other;
        self.steps.clone_from(steps);
        self.masks.clone_from(masks);
        self.traffic.clone_from(traffic);
        self.enabled.clone_from(enabled);
        self.addresses.clone_from(addresses);
    }
}

impl WarpPath {
    /// Creates an empty path.
    #[inline]
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends an executed instruction and its active mask.
    #[inline]
    pub fn push(&mut self, step: Step, active: LaneMask) {
        if self.masks.last().is_none_or(|(_, mask)| *mask != active) {
            let index = u32::try_from(self.steps.len()).expect("fuel limits a path to 2^32 steps");
            self.masks.push((index, active));
        }
        self.steps.push(step);
    }

    /// Appends consecutive instructions that have the same active mask.
    #[inline]
    pub fn extend(&mut self, steps: &[Step], active: LaneMask) {
        if let [first, rest @ ..] = steps {
            self.push(*first, active);
            self.steps.extend_from_slice(rest);
        }
    }

    /// Replaces a step by another step of the same instruction.
    #[inline]
    pub fn replace(&mut self, index: usize, step: Step) {
        debug_assert_eq!(self.steps[index].pc(), step.pc(), "another instruction");
        self.steps[index] = step;
    }

    /// Appends the group of lines of the last step.
    #[inline]
    pub fn push_traffic(&mut self, group: &[LineUse]) {
        debug_assert!(group.last().is_some_and(|used| used.is_last()), "a group ends");
        self.traffic.extend_from_slice(group);
    }

    /// Appends the enabled lanes of the last step.
    #[inline]
    pub fn push_enabled(&mut self, enabled: LaneMask) {
        self.enabled.push(enabled);
    }

    /// Appends the addresses of the last step, one per enabled lane.
    #[inline]
    pub fn push_addresses(&mut self, addresses: &[u64]) {
        self.addresses.extend_from_slice(addresses);
    }

    /// Returns the active lanes whose guard held for each step; empty unless the functional run
    /// records them.
    #[inline]
    pub fn enabled(&self) -> &[LaneMask] {
        &self.enabled
    }

    /// Returns the addresses of all steps that access memory, step by step, one per enabled lane;
    /// empty unless the functional run records them.
    #[inline]
    pub fn addresses(&self) -> &[u64] {
        &self.addresses
    }

    /// Returns the lines of all steps that access global or local memory, group by group.
    #[inline]
    pub fn traffic(&self) -> &[LineUse] {
        &self.traffic
    }

    /// Returns the steps in program order.
    #[inline]
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// Returns the changes of the active mask: the index of the first step, and the active lanes.
    #[inline]
    pub fn masks(&self) -> &[(u32, LaneMask)] {
        &self.masks
    }

    /// Removes the content but keeps the allocations.
    #[inline]
    pub fn clear(&mut self) {
        self.steps.clear();
        self.masks.clear();
        self.traffic.clear();
        self.enabled.clear();
        self.addresses.clear();
    }

    /// Returns the number of bytes that the content occupies.
    #[inline]
    pub fn size_bytes(&self) -> usize {
        std::mem::size_of_val(self.steps.as_slice())
            + std::mem::size_of_val(self.masks.as_slice())
            + std::mem::size_of_val(self.traffic.as_slice())
            + std::mem::size_of_val(self.enabled.as_slice())
            + std::mem::size_of_val(self.addresses.as_slice())
    }
}

/// The paths of all warps of one block.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct BlockPaths {
    /// The block.
    pub block: BlockId,
    /// The paths, indexed by warp id.
    pub warps: Vec<WarpPath>,
    /// The number of active lanes whose guard held, summed over all instructions.
    pub thread_instructions: u64,
    /// Whether some barrier did not involve every warp of the block (a barrier with a thread count,
    /// or an arrival without waiting). Such barriers do not split sections.
    pub partial_barriers: bool,
}

impl Clone for BlockPaths {
    fn clone(&self) -> Self {
        let mut copy = Self::default();
        copy.clone_from(self);
        copy
    }

    /// Copies the paths of a block into these, and keeps the allocations.
    fn clone_from(&mut self, other: &Self) {
        let Self { block, warps, thread_instructions, partial_barriers } = other;
        self.warps.clone_from(warps);
        (self.block, self.thread_instructions) = (*block, *thread_instructions);
        self.partial_barriers = *partial_barriers;
    }
}

impl BlockPaths {
    /// Returns the number of instructions that the warps executed, `ret` included.
    #[inline]
    pub fn warp_instructions(&self) -> u64 {
        self.warps.iter().map(|warp| warp.steps.len() as u64).sum()
    }

    /// Prepares for the next block and keeps the allocations.
    #[inline]
    pub fn reset(&mut self, block: BlockId, warps: usize) {
        self.block = block;
        self.warps.resize_with(warps, WarpPath::new);
        self.warps.iter_mut().for_each(WarpPath::clear);
        self.thread_instructions = 0;
        self.partial_barriers = false;
    }
}

/// The memory that a launch uses, for engines that model caches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Footprint {
    /// The buffers and variables of device memory as (address, bytes), with addresses like those of
    /// [`LineUse`].
    pub buffers: Vec<(u64, u64)>,
    /// The regions that the host has copied to since the previous launch, if there was one.
    pub copied: Vec<(u64, u64)>,
    /// The shared memory of a block in bytes.
    pub shared_bytes: u64,
}

/// A source of blocks: a functional run, or a micro kernel. Blocks are streamed in launch order, so
/// that the use of memory does not grow with the grid.
pub trait BlockSource {
    /// The error that can occur while a block is produced.
    type Error;

    /// Writes the next block to `paths`. Returns false if there are no more blocks.
    ///
    /// # Errors
    /// The block could not be produced; the source must not be used after that.
    fn next_block(&mut self, paths: &mut BlockPaths) -> Result<bool, Self::Error>;

    /// Returns whether the remaining blocks are not needed, so that even blocks in flight need not
    /// be completed.
    fn is_stopped(&self) -> bool {
        false
    }

    /// Returns the memory that the launch uses.
    fn footprint(&self) -> Footprint {
        Footprint::default()
    }

    /// If a separate thread produces the blocks, returns a flag that is set while it works, so that
    /// other threads can yield to it.
    fn at_work(&self) -> Option<Arc<AtomicBool>> {
        None
    }
}

/// A source of blocks that exist already.
#[derive(Clone, Debug)]
pub struct Listed<'a>(std::slice::Iter<'a, BlockPaths>);

impl<'a> Listed<'a> {
    /// Creates a source of these blocks, which are in launch order.
    #[inline]
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
