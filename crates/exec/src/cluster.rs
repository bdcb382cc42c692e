//! What the blocks of a cluster do together: addresses in the shared memory of each other, and their
//! barrier.

use super::context::{Context, Meeting};
use super::fault::{self, Fault};
use super::lanes::{map1, mask_where, width_mask};
use super::warp::Warp;
use warpbound_core::base::{LaneMask, Pc};
use warpbound_core::isa::Space;
use warpbound_core::program::layout::{SHARED_UPPER, resolve_generic};
use warpbound_core::program::sem::ClusterOp;

/// Executes an operation on the cluster.
///
/// # Errors
/// Returns an error for a thread that arrives again without having waited, or waits without having
/// arrived, and for a wait under divergence.
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
        ClusterOp::IsShared { dst, address } => {
            let addresses = warp.operand(address, &context.shape);
            let is_shared = mask_where(|lane| resolve_generic(addresses[lane]).0 == Space::Shared);
            warp.set_pred(dst, is_shared, enabled);
        }
        ClusterOp::Arrive => return arrive(warp, context, pc, enabled),
        ClusterOp::Wait => {
            let program = context.program;
            if !(enabled - warp.arrived.open).is_empty() {
                let message = format!(
                    "warp {} waits at the barrier of the cluster before it has arrived there",
                    warp.id
                );
                return Err(fault::at(program, pc, message, "let barrier.cluster.arrive precede the wait"));
            }
            if !is_over(warp, context, enabled) {
                let elsewhere = warp.stack.live() - enabled;
                if elsewhere.is_empty() {
                    return Ok(Meeting::Suspended);
                }
                let message = format!(
                    "a wait for the cluster under divergence: lanes {elsewhere} of warp {} are not at it",
                    warp.id
                );
                return Err(fault::at(
                    program,
                    pc,
                    message,
                    "all threads of a warp have to wait together here",
                ));
            }
            warp.arrived.open -= enabled;
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
    if !(warp.arrived.open & enabled).is_empty() {
        let message = format!("warp {} arrives again at the barrier of the cluster", warp.id);
        let hint = "between two arrivals a thread has to wait (barrier.cluster.wait)";
        return Err(fault::at(context.program, pc, message, hint));
    }
    let completes = context.cluster.arrive(&mut warp.arrived, enabled);
    context.objects_changed += 1;
    if let Some(detector) = &mut context.detector {
        detector.arrive_at_object(warp.id, OBJECT, completes);
    }
    Ok(Meeting::None)
}

/// Returns whether the phase in which these lanes have arrived is complete.
pub(super) fn is_over(warp: &Warp, context: &Context, enabled: LaneMask) -> bool {
    (context.cluster.present(warp.arrived) & enabled).is_empty()
}
