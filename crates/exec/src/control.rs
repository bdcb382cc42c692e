//! Instructions that do not simply continue at the next one: branch tables, regions and barriers.

use super::barrier::{self, Arrival, BARRIERS};
use super::code::Code;
use super::context::{Context, Meeting};
use super::fault::{self, Fault};
use super::lanes::width_mask;
use super::warp::Warp;
use warpbound_core::base::{LaneMask, Pc};
use warpbound_core::program::Sem;
use warpbound_core::program::sem::{Barrier, BarrierKind, Operand, Region};

/// Executes `brx.idx`: lanes jump to the entries of a table, and those of the first entry run
/// first. Lanes whose guard is false continue at the next instruction.
///
/// # Errors
/// Returns an error for an index beyond the table.
pub(super) fn branch_table(
    warp: &mut Warp,
    context: &mut Context,
    pc: Pc,
    enabled: LaneMask,
    (targets, index, reconverge): (&[Pc], Operand, Option<Pc>),
) -> Result<(), Fault> {
    let active = warp.stack.top().map_or(LaneMask::empty(), |(_, mask)| mask);
    // at most one group per lane
    let mut groups: Vec<(usize, Pc, LaneMask)> = Vec::new();
    for lane in enabled.lanes() {
        let entry = (warp.operand_in(index, &context.shape, lane) & width_mask(32)) as usize;
        let Some(&target) = targets.get(entry) else {
            let message = format!(
                "branch to entry {entry} of a table with {} (lane {lane} of warp {})",
                targets.len(),
                warp.id
            );
            return Err(fault::at(
                context.program,
                pc,
                message,
                "the index has to be below the table's length",
            ));
        };
        match groups.iter_mut().find(|(_, to, _)| *to == target) {
            Some((first, _, mask)) => {
                *first = entry.min(*first);
                *mask |= LaneMask::lane(lane);
            }
            None => groups.push((entry, target, LaneMask::lane(lane))),
        }
    }
    groups.sort_unstable_by_key(|(entry, ..)| *entry);
    let mut sides: Vec<(Pc, LaneMask)> = groups.into_iter().map(|(_, pc, mask)| (pc, mask)).collect();
    let stay = active - enabled;
    if !stay.is_empty() {
        sides.push((Pc::new(pc.get() + 1), stay));
    }
    if let Some(divergence) = &mut context.divergence {
        divergence.branch(context.program.instr(pc), pc, (active, enabled), sides.len());
    }
    warp.stack.branch_table(&sides, reconverge);
    Ok(())
}

/// Executes an instruction that closes a region of the SIMT stack.
///
/// # Errors
/// Returns an error if these lanes are in no such region.
pub(super) fn close_region(
    warp: &mut Warp,
    context: &Context,
    pc: Pc,
    region: Region,
    enabled: LaneMask,
) -> Result<(), Fault> {
    if warp.stack.close(region, enabled) {
        return Ok(());
    }
    let (end, start) = match region {
        Region::Sync => ("SYNC", "SSY"),
        Region::Break => ("BRK", "PBK"),
        Region::Continue => ("CONT", "PCNT"),
        Region::Barrier(_) => ("BSYNC", "BSSY of its barrier"),
    };
    let message = format!("{end} of warp {}, lanes {enabled}, without {start}", warp.id);
    Err(fault::at(context.program, pc, message, "every lane has to execute the other instruction first"))
}

/// Returns the arrival of a warp at a barrier.
///
/// # Errors
/// Returns an error if some of its lanes do not arrive, or if the barrier is invalid.
pub(super) fn arrive(
    warp: &Warp,
    context: &Context,
    code: &Code,
    pc: Pc,
    barrier: &Barrier,
    active: LaneMask,
    enabled: LaneMask,
) -> Result<Meeting, Fault> {
    let fault = |message: String, hint: &str| Err(fault::at(context.program, pc, message, hint));
    let Some(lane) = enabled.lanes().next() else { return Ok(Meeting::Passed) };
    // lanes at an instruction from which they can only end wait there for the other lanes, and are
    // not expected at the barrier
    let elsewhere = warp.stack.live() - enabled;
    let left = warp.stack.leaving(elsewhere - active, |pc| code.leaves.get(pc.index()) == Some(&true));
    // lanes that wait where they converge with these let them pass, as on an H200, which does not
    // say how far the waiting lanes go on; and lanes with a false guard pass with them
    let waiting = if barrier.partly {
        let closes =
            |pc: Pc| matches!(context.program.instr(pc).sem, Sem::CloseRegion { region: Region::Barrier(_) });
        (elsewhere & active) | warp.stack.awaiting(elsewhere - active, enabled, closes)
    } else {
        LaneMask::empty()
    };
    if elsewhere != left | waiting {
        let missing = elsewhere - left - waiting;
        let reason =
            if missing.intersects(active) { "their guard is false" } else { "they are on another path" };
        let message =
            format!("barrier under divergence: lanes {missing} of warp {} are not at it, {reason}", warp.id);
        return fault(
            message,
            if barrier.aligned {
                "PTX requires all threads of a warp to execute an aligned barrier together: move it out of the divergent code"
            } else {
                "a barrier that the lanes of a warp reach one by one is not supported: move it out of the divergent code"
            },
        );
    }
    let id = warp.operand_in(barrier.id, &context.shape, lane) & width_mask(32);
    if id >= BARRIERS as u64 {
        return fault(format!("barrier {id}: a block has barriers 0 to {}", BARRIERS - 1), "");
    }
    let threads = barrier.threads.map(|n| warp.operand_in(n, &context.shape, lane) & width_mask(32));
    let warps = match threads.map(|n| barrier::warps_of(n, context.shape.warps)) {
        None => 0,
        Some(Ok(warps)) => warps,
        Some(Err(message)) => {
            return fault(message, "the count is in threads and includes those that only arrive");
        }
    };
    let (threads, holds) = match barrier.kind {
        BarrierKind::Sync | BarrierKind::Arrive => (LaneMask::empty(), LaneMask::empty()),
        BarrierKind::And(_, p) | BarrierKind::Or(_, p) | BarrierKind::Popc(_, p) => (enabled, warp.pred(p)),
    };
    let waits = barrier.kind != BarrierKind::Arrive;
    Ok(Meeting::At(Arrival {
        id: id as usize,
        warps,
        counted: barrier.threads.is_some(),
        waits,
        split: !waiting.is_empty(),
        threads,
        holds,
    }))
}
