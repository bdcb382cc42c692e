//! The cluster of the running block: addresses in the shared memory of its blocks, and its barrier.

use super::context::{Context, Meeting};
use super::fault::{self, Fault};
use super::lanes::{map1, width_mask};
use super::mbarrier;
use super::warp::Warp;
use warpbound_core::base::{LaneMask, Pc};
use warpbound_core::isa::Space;
use warpbound_core::program::Sem;
use warpbound_core::program::layout::{SHARED_UPPER, resolve_generic};
use warpbound_core::program::sem::ClusterOp;

/// The barrier of a cluster. Its phase is complete when all threads that have not ended have arrived.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ClusterBarrier {
    /// The number of completed phases.
    phase: u64,
    /// The number of threads that have not ended.
    alive: u32,
    /// The number of these that have not arrived in this phase.
    missing: u32,
}

/// The threads of a warp that have arrived at the barrier of the cluster.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Arrived {
    /// The phase in which they arrived.
    phase: u64,
    lanes: LaneMask,
}

impl ClusterBarrier {
    /// Returns the barrier of a cluster with this many threads.
    pub(super) fn new(threads: u32) -> Self {
        Self { phase: 0, alive: threads, missing: threads }
    }

    /// Returns the lanes of a warp that have arrived in the present phase.
    fn arrived(self, warp: &Warp) -> LaneMask {
        if warp.arrived.phase == self.phase { warp.arrived.lanes } else { LaneMask::empty() }
    }

    /// Records that threads have arrived or ended which had not arrived. Returns whether the phase is
    /// complete now.
    fn settle(&mut self, threads: u32) -> bool {
        self.missing = self.missing.saturating_sub(threads);
        let completes = self.missing == 0 && self.alive > 0;
        if completes {
            self.phase += 1;
            self.missing = self.alive;
        }
        completes
    }

    /// Records that these lanes of a warp have ended.
    pub(super) fn end(&mut self, warp: &Warp, ended: LaneMask) {
        let missing = ended - self.arrived(warp);
        self.alive -= ended.count();
        self.settle(missing.count());
    }

    /// Describes its progress, for messages.
    pub(super) fn progress(self) -> String {
        format!("{} of {} threads have arrived", self.alive - self.missing, self.alive)
    }
}

/// Executes an operation on the cluster.
///
/// # Errors
/// Returns an error for a thread that arrives twice in a phase.
pub(super) fn execute(
    warp: &mut Warp,
    context: &mut Context,
    pc: Pc,
    op: ClusterOp,
    enabled: LaneMask,
) -> Result<Meeting, Fault> {
    match op {
        _ if enabled.is_empty() => {}
        ClusterOp::Map { dst, address, rank, generic } => {
            let ranks = warp.operand(rank, &context.shape);
            let addresses = warp.operand(address, &context.shape);
            let mut mapped = addresses;
            for (mapped, rank) in mapped.iter_mut().zip(ranks) {
                let rank = rank & width_mask(32);
                *mapped = match (generic, resolve_generic(*mapped)) {
                    (true, (Space::Shared, own)) => SHARED_UPPER << 32 | context.memory.in_block(own, rank),
                    (true, _) => *mapped,
                    (false, _) => context.memory.in_block(*mapped, rank),
                };
            }
            warp.set(dst, &mapped, enabled);
        }
        ClusterOp::Rank { dst, address, generic } => {
            let memory = &context.memory;
            let rank = |address: u64| {
                let own = if generic { resolve_generic(address).1 } else { address };
                memory.rank_of(own).map_or(0, |rank| rank as u64)
            };
            let ranks = map1(&warp.operand(address, &context.shape), rank);
            warp.set(dst, &ranks, enabled);
        }
        ClusterOp::Resolve { dst, address } => {
            let resolved = map1(&warp.operand(address, &context.shape), |address| resolve_generic(address).1);
            warp.set(dst, &resolved, enabled);
        }
        ClusterOp::Arrive => return arrive(warp, context, pc, enabled),
        ClusterOp::Wait => {
            if !is_over(warp, context, enabled) {
                return Ok(Meeting::Suspended);
            }
            if let Some(detector) = &mut context.detector {
                detector.learn_of_object(warp.id, OBJECT);
            }
        }
    }
    Ok(Meeting::None)
}

/// The address that stands for the barrier in race detection: no mbarrier object has it.
const OBJECT: u64 = u64::MAX;

fn arrive(warp: &mut Warp, context: &mut Context, pc: Pc, enabled: LaneMask) -> Result<Meeting, Fault> {
    let barrier = &mut context.cluster;
    let before = barrier.arrived(warp);
    if !(before & enabled).is_empty() {
        let message = format!("warp {} arrives again at the barrier of the cluster", warp.id);
        let hint = "between two arrivals a thread has to wait (barrier.cluster.wait)";
        return Err(fault::at(context.program, pc, message, hint));
    }
    warp.arrived = Arrived { phase: barrier.phase, lanes: before | enabled };
    let completes = barrier.settle(enabled.count());
    context.objects_changed += 1;
    if let Some(detector) = &mut context.detector {
        detector.arrive_at_object(warp.id, OBJECT, completes);
    }
    Ok(Meeting::None)
}

/// Returns whether the phase in which these lanes have arrived is complete.
fn is_over(warp: &Warp, context: &Context, enabled: LaneMask) -> bool {
    (context.cluster.arrived(warp) & enabled).is_empty()
}

/// Returns whether a warp that is suspended at this instruction can continue.
pub(super) fn can_go_on(warp: &Warp, context: &mut Context, pc: Pc) -> bool {
    let instr = context.program.instr(pc);
    match instr.sem {
        Sem::Cluster(_) => {
            let active = warp.stack.top().map_or(LaneMask::empty(), |(_, active)| active);
            is_over(warp, context, instr.guard.map_or(active, |guard| active & warp.guard(guard)))
        }
        _ => mbarrier::can_go_on(warp, context, pc),
    }
}
