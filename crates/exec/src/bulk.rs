//! Bulk copies, which complete at once.

use super::access::{Targets, combined, decode};
use super::context::Context;
use super::fault::{self, Fault};
use super::lanes::width_mask;
use super::mbarrier;
use super::races::{AccessEffect, Accessor};
use super::tensor_copy;
use super::warp::Warp;
use warpbound_core::base::{LaneMask, Pc};
use warpbound_core::isa::Space;
use warpbound_core::program::sem::{Bulk, BulkCopy, BulkStore};

/// Executes the copies of the enabled lanes, one after the other.
///
/// # Errors
/// Returns an error if an address or a length is no multiple of 16 bytes, if an access is not
/// allowed, if there is no mbarrier object to signal, or no tensor map where one is needed.
pub(super) fn execute(
    warp: &mut Warp,
    context: &mut Context,
    pc: Pc,
    bulk: &Bulk,
    enabled: LaneMask,
) -> Result<(), Fault> {
    match bulk {
        Bulk::Bytes(copy) => {
            let unit = BulkCopy::UNIT as usize;
            let from = Targets::new(warp, context, pc, (copy.from, &copy.src), unit, "bulk copy");
            let to = Targets::new(warp, context, pc, (copy.to, &copy.dst), unit, "bulk copy");
            each(warp, context, pc, bulk, enabled, |context, lane, rank| {
                let other = rank.map(|rank| to.in_block(context, rank));
                bytes(warp, context, copy, (&from, other.as_ref().unwrap_or(&to)), lane)
            })
        }
        Bulk::Tensor(copy) => {
            let (maps, boxes) = tensor_copy::targets(warp, context, pc, copy);
            each(warp, context, pc, bulk, enabled, |context, lane, rank| {
                let other = rank.map(|rank| boxes.in_block(context, rank));
                tensor_copy::execute(warp, context, copy, (&maps, other.as_ref().unwrap_or(&boxes)), lane)
            })
        }
        Bulk::Store(to) => {
            let size = to.ty.bytes() * to.srcs.len();
            let targets = Targets::new(warp, context, pc, (Space::Shared, &to.dst), size, "store");
            each(warp, context, pc, bulk, enabled, |context, lane, _| {
                store(warp, context, to, &targets, lane)
            })
        }
    }
}

/// Starts and completes the copies of the enabled lanes. `copy` makes that of a lane to a block of the
/// cluster, or to that in which its address lies, and returns the number of its bytes.
///
/// # Errors
/// Returns the errors of `copy`, and one if there is no mbarrier object to signal.
fn each(
    warp: &Warp,
    context: &mut Context,
    pc: Pc,
    bulk: &Bulk,
    enabled: LaneMask,
    copy: impl Fn(&mut Context, usize, Option<u64>) -> Result<u64, Fault>,
) -> Result<(), Fault> {
    let (signal, by_warp) = (bulk.signal(), bulk.by_warp());
    let most = if by_warp { 1 } else { enabled.lanes().count() };
    for lane in enabled.lanes().take(most) {
        if let (Some(_), Some(detector)) = (&signal, &mut context.detector) {
            detector.start_copy(warp.id);
        }
        let blocks = bulk.multicast().map(|mask| warp.operand_in(mask, &context.shape, lane));
        let mut copy_to = |rank: Option<u64>| {
            let bytes = copy(context, lane, rank)?;
            context.bulk_units += bytes / BulkCopy::UNIT;
            match &signal {
                Some(signal) => mbarrier::bytes_arrive(warp, context, pc, signal, (lane, rank), bytes),
                None => Ok(()),
            }
        };
        match blocks {
            None => copy_to(None)?,
            Some(mask) => {
                (0..16).filter(|rank| mask >> rank & 1 == 1).try_for_each(|rank| copy_to(Some(rank)))?
            }
        }
    }
    Ok(())
}

/// Stores the values of a lane, or combines them with those at its address. Returns their bytes.
///
/// # Errors
/// Returns an error if the access is not allowed.
fn store(
    warp: &Warp,
    context: &mut Context,
    store: &BulkStore,
    targets: &Targets,
    lane: usize,
) -> Result<u64, Fault> {
    let (space, address) = targets.of(lane);
    let width = store.ty.bytes();
    let size = width * store.srcs.len();
    let Context { memory, shape, .. } = context;
    match memory.write(space, warp.thread(lane), address, size) {
        Ok(bytes) => {
            for (cell, &src) in bytes.chunks_exact_mut(width).zip(&store.srcs) {
                let value = warp.operand_in(src, shape, lane);
                let new = match store.reduce {
                    Some((op, ty)) => combined(op, ty, space, decode(cell), value, 0),
                    None => value,
                };
                cell.copy_from_slice(&new.to_le_bytes()[..width]);
            }
        }
        Err(denied) => return Err(targets.fault(denied, lane, warp, context)),
    }
    if let Some(detector) = &mut context.detector {
        let by = Accessor { warp: warp.id, pc: targets.pc() };
        let effect = if store.reduce.is_some() { AccessEffect::Updates } else { AccessEffect::Writes };
        detector.by_bulk_copy(by, true, (space, address), size as u64, effect);
    }
    Ok(size as u64)
}

/// Copies the contiguous bytes of a lane, and returns their number.
///
/// # Errors
/// Returns an error for a number that is no multiple of 16, and if an access is not allowed.
fn bytes(
    warp: &Warp,
    context: &mut Context,
    copy: &BulkCopy,
    targets: (&Targets, &Targets),
    lane: usize,
) -> Result<u64, Fault> {
    let bytes = warp.operand_in(copy.bytes, &context.shape, lane) & width_mask(32);
    if !bytes.is_multiple_of(BulkCopy::UNIT) {
        let message = format!("a bulk copy of {bytes} bytes (lane {lane} of warp {})", warp.id);
        let hint = "the number of bytes must be a multiple of 16";
        return Err(fault::at(context.program, targets.0.pc(), message, hint));
    }
    for offset in (0..bytes).step_by(BulkCopy::UNIT as usize) {
        copy_unit(warp, context, copy, targets, lane, offset)?;
    }
    Ok(bytes)
}

/// Copies 16 bytes of a lane's copy.
///
/// # Errors
/// Returns an error if an access is not allowed.
fn copy_unit(
    warp: &Warp,
    context: &mut Context,
    copy: &BulkCopy,
    (from, to): (&Targets, &Targets),
    lane: usize,
    offset: u64,
) -> Result<(), Fault> {
    let (unit, thread) = (BulkCopy::UNIT as usize, warp.thread(lane));
    let (source, src) = from.of(lane);
    let (target, dst) = to.of(lane);
    let (src, dst) = (src.wrapping_add(offset), dst.wrapping_add(offset));
    let mut buffer = [0; BulkCopy::UNIT as usize];
    match context.memory.read(source, thread, src, unit) {
        Ok(bytes) => buffer.copy_from_slice(bytes),
        Err(denied) => return Err(from.fault_behind(denied, lane, offset, warp, context)),
    }
    match context.memory.write(target, thread, dst, unit) {
        Ok(bytes) => match copy.reduce {
            None => bytes.copy_from_slice(&buffer),
            Some((op, ty)) => {
                let width = ty.bytes();
                for (cell, operand) in bytes.chunks_exact_mut(width).zip(buffer.chunks_exact(width)) {
                    let new = combined(op, ty, target, decode(cell), decode(operand), 0);
                    cell.copy_from_slice(&new.to_le_bytes()[..width]);
                }
            }
        },
        Err(denied) => return Err(to.fault_behind(denied, lane, offset, warp, context)),
    }
    if let Some(detector) = &mut context.detector {
        let by = Accessor { warp: warp.id, pc: from.pc() };
        let effect = if copy.reduce.is_some() { AccessEffect::Updates } else { AccessEffect::Writes };
        for (place, effect) in [((source, src), AccessEffect::Reads), ((target, dst), effect)] {
            detector.by_bulk_copy(by, copy.signal.is_some(), place, BulkCopy::UNIT, effect);
        }
    }
    Ok(())
}
