//! The state that instructions use and change besides the warp that executes them.

use super::barrier::Arrival;
use super::cluster_barrier::ClusterBarrier;
use super::divergence::Divergence;
use super::memory::Memory;
use super::races::RaceDetector;
use super::record::Record;
use super::warp::Shape;
use warpbound_core::program::KernelCode;
use warpbound_core::program::image::Bound;

/// The state that all warps of a launch share.
pub(super) struct Context<'a> {
    /// The kernel.
    pub(super) program: &'a KernelCode,
    /// The textures and surfaces of the launch.
    pub(super) images: &'a [Bound],
    /// The memory of the launch and of the running block.
    pub(super) memory: Memory,
    /// The dimensions of the launch, and the position of the running block.
    pub(super) shape: Shape,
    /// The recorder of memory accesses for the timing simulation.
    pub(super) record: Record,
    /// The number of changes of mbarrier objects.
    pub(super) objects_changed: u64,
    /// The number of units of 16 bytes that bulk copies have moved and that do not count yet as
    /// executed instructions.
    pub(super) bulk_units: u64,
    /// The barrier of the running cluster.
    pub(super) cluster: ClusterBarrier,
    /// The race detector, if race detection is on.
    pub(super) detector: Option<Box<RaceDetector>>,
    /// The outcomes of branches, if they are counted.
    pub(super) divergence: Option<Box<Divergence>>,
}

/// The effect of an instruction on the barriers of the block.
pub(super) enum Meeting {
    /// The instruction has no effect on barriers.
    None,
    /// A barrier instruction that no lane executes.
    Passed,
    /// The warp arrives at a barrier.
    At(Arrival),
    /// The warp waits for an mbarrier object or for its cluster, and has not executed the instruction.
    Suspended,
    /// The warp tested an mbarrier object whose phase is not complete: other warps should get their
    /// turn.
    TestFailed,
    /// The warp is at a barrier of the block, and waits for its other lanes before it executes the
    /// instruction.
    Gathering,
}
