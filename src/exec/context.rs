//! What instructions find and leave besides the warp that executes them.

use super::barrier::Arrival;
use super::divergence::Divergence;
use super::memory::Memory;
use super::races::Watch;
use super::record::Record;
use super::warp::Shape;
use crate::program::Program;
use crate::program::image::Bound;

/// What all warps of a launch share.
pub(super) struct Context<'a> {
    /// The kernel.
    pub(super) program: &'a Program,
    /// Textures and surfaces of the launch.
    pub(super) images: &'a [Bound],
    /// Memory of the launch and of the running block.
    pub(super) memory: Memory,
    /// The launch as the running block sees it.
    pub(super) shape: Shape,
    /// What timing wants to know of memory accesses.
    pub(super) record: Record,
    /// How often an mbarrier object was changed.
    pub(super) objects_changed: u64,
    /// Who accessed what, if somebody wants to know whether that races.
    pub(super) watch: Option<Box<Watch>>,
    /// What branches did, if somebody wants to know.
    pub(super) divergence: Option<Box<Divergence>>,
}

/// What an instruction has to do with the barriers of the block.
pub(super) enum Meeting {
    /// Nothing.
    None,
    /// It is a barrier instruction that no lane executes.
    Passed,
    /// The warp is at a barrier.
    At(Arrival),
    /// It waits for an mbarrier object, and has not executed the instruction.
    Suspended,
    /// It asked an mbarrier object in vain: others should get their turn.
    InVain,
}
