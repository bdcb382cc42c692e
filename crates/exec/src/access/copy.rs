//! Asynchronous copies.

use super::super::context::Context;
use super::super::fault::Fault;
use super::super::lanes::width_mask;
use super::super::memory::Denied;
use super::super::races::{AccessEffect, Accessor};
use super::super::warp::Warp;
use super::Targets;
use warpbound_core::base::{LaneMask, Pc, WARP_SIZE};
use warpbound_core::isa::Space;
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
        let thread = warp.thread(lane);
        let wanted =
            src_bytes.map_or(u64::from(bytes), |n| warp.operand_in(n, &context.shape, lane) & width_mask(32));
        let wanted = wanted.min(u64::from(bytes)) as usize;
        let address = from.addresses[lane];
        read_bytes[lane] = wanted;
        let mut buffer = [0u8; 16];
        let read = if address & (u64::from(bytes) - 1) != 0 {
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
            }
            Err(denied) => return Err(to.fault(denied, lane, warp, context)),
        }
    }
    if let Some(detector) = &mut context.detector {
        let by = Accessor { warp: warp.id, pc };
        for lane in enabled.lanes().filter(|&lane| read_bytes[lane] < size) {
            detector.access(
                by,
                Space::Global,
                from.addresses[lane],
                read_bytes[lane] as u64,
                AccessEffect::Reads,
            );
        }
    }
    let whole = enabled.lanes().filter(|&lane| read_bytes[lane] == size).map(LaneMask::lane).collect();
    from.detector(whole, warp, context, AccessEffect::Reads);
    to.detector(enabled, warp, context, AccessEffect::Writes);
    if let Some(detector) = &mut context.detector {
        let by = Accessor { warp: warp.id, pc };
        for lane in enabled.lanes() {
            let from = (from.addresses[lane], read_bytes[lane] as u64);
            detector.copy(by, lane, from, (to.addresses[lane], size as u64));
        }
    }
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
