//! Asynchronous copies.

use super::super::context::Context;
use super::super::fault::{self, Fault};
use super::super::lanes::width_mask;
use super::super::memory::Denied;
use super::super::races::{AccessEffect, Accessor};
use super::super::warp::Warp;
use super::Targets;
use warpbound_core::base::{LaneMask, Pc, WARP_SIZE};
use warpbound_core::isa::Space;
use warpbound_core::path::AsyncRing;
use warpbound_core::program::sem::{Address, Operand};

/// Executes `cp.async` immediately. The recorded lines are those that it reads; its writes to
/// shared memory cause no bank conflicts.
///
/// # Errors
/// Returns an error if an access is not allowed.
pub(in super::super) fn async_copy(
    warp: &Warp,
    context: &mut Context,
    pc: Pc,
    (bytes, src_bytes): (u8, Option<Operand>),
    (dst, src): (&Address, &Address),
    enabled: LaneMask,
) -> Result<(), Fault> {
    let size = usize::from(bytes);
    let from = Targets::new(warp, context, pc, (Space::Global, src), size, "asynchronous copy");
    let to = Targets::new(warp, context, pc, (Space::Shared, dst), size, "asynchronous copy");
    let mut read_bytes = [0; WARP_SIZE];
    for lane in enabled.lanes() {
        let wanted =
            src_bytes.map_or(u64::from(bytes), |n| warp.operand_in(n, &context.shape, lane) & width_mask(32));
        read_bytes[lane] = wanted.min(u64::from(bytes)) as usize;
        copy_bytes(warp, context, lane, (&from, &to), read_bytes[lane])?;
    }
    report_copies(warp, context, (&from, &to), &read_bytes, enabled);
    for lane in enabled.lanes() {
        let Context { record, memory, .. } = &mut *context;
        record.address(|| memory.packed_address(from.addresses[lane]));
    }
    if let Some(mut group) = context.record.collect(pc, Space::Global) {
        for lane in enabled.lanes().filter(|&lane| read_bytes[lane] > 0) {
            group.global(&mut context.memory, from.addresses[lane], read_bytes[lane], false);
        }
        group.finish();
    }
    Ok(())
}

/// Copies the first `wanted` bytes of a lane, and fills the rest with zeros.
///
/// # Errors
/// Returns an error if an access is not allowed.
fn copy_bytes(
    warp: &Warp,
    context: &mut Context,
    lane: usize,
    (from, to): (&Targets, &Targets),
    wanted: usize,
) -> Result<(), Fault> {
    let (thread, size, address) = (warp.thread(lane), from.size, from.addresses[lane]);
    let mut buffer = [0u8; 16];
    let read = if address & (size as u64 - 1) != 0 {
        Err(Denied::Misaligned)
    } else if wanted == 0 {
        Ok(())
    } else {
        let source = context.memory.bytes(Space::Global, thread, address, wanted);
        source.map(|source| buffer[..wanted].copy_from_slice(source))
    };
    if let Err(denied) = read {
        return Err(from.fault(denied, lane, warp, context));
    }
    match context.memory.write(Space::Shared, thread, to.addresses[lane], size) {
        Ok(place) => {
            place.copy_from_slice(&buffer[..size]);
            Ok(())
        }
        Err(denied) => Err(to.fault(denied, lane, warp, context)),
    }
}

/// Reports the reads, the writes and the copies themselves to the race detector.
fn report_copies(
    warp: &Warp,
    context: &mut Context,
    (from, to): (&Targets, &Targets),
    read_bytes: &[usize; WARP_SIZE],
    enabled: LaneMask,
) {
    let (by, size) = (Accessor { warp: warp.id, pc: from.pc }, from.size);
    if let Some(detector) = &mut context.detector {
        for lane in enabled.lanes().filter(|&lane| read_bytes[lane] < size) {
            let (address, bytes) = (from.addresses[lane], read_bytes[lane] as u64);
            detector.access(by, Space::Global, address, bytes, AccessEffect::Reads);
        }
    }
    let whole = enabled.lanes().filter(|&lane| read_bytes[lane] == size).map(LaneMask::lane).collect();
    from.detector(whole, warp, context, AccessEffect::Reads);
    to.detector(enabled, warp, context, AccessEffect::Writes);
    if let Some(detector) = &mut context.detector {
        for lane in enabled.lanes() {
            let from = (from.addresses[lane], read_bytes[lane] as u64);
            detector.copy(by, lane, from, (to.addresses[lane], size as u64));
        }
    }
}

/// Adds a copy to the open group of a warp, and returns the slot that it writes.
///
/// # Errors
/// Returns an error if too many groups are in flight.
pub(in super::super) fn async_slot(warp: &mut Warp, context: &Context, pc: Pc) -> Result<AsyncRing, Fault> {
    warp.groups.copy().ok_or_else(|| {
        let message = "more than 31 groups of asynchronous copies in flight".to_owned();
        fault::at(context.program, pc, message, "wait with cp.async.wait_group before committing more")
    })
}

/// Closes the open group of a warp.
pub(in super::super) fn async_commit(warp: &mut Warp, context: &mut Context) {
    warp.groups.commit();
    if let Some(detector) = &mut context.detector {
        detector.commit_copies(warp.id);
    }
}

/// Waits until at most the last `pending` closed groups of a warp are in flight, or for all copies.
/// Returns the slot that is waited for.
pub(in super::super) fn async_wait(
    warp: &mut Warp,
    context: &mut Context,
    pending: Option<u32>,
    enabled: LaneMask,
) -> AsyncRing {
    if pending.is_none() {
        async_commit(warp, context);
    }
    let pending = pending.unwrap_or(0);
    if let Some(detector) = &mut context.detector {
        detector.wait_for_copies(warp.id, pending as usize, enabled);
    }
    warp.groups.wait(u64::from(pending))
}
