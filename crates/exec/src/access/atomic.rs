//! Atomic read-modify-write operations.

use super::super::arith::{float, format_of, int};
use super::super::context::Context;
use super::super::fault::Fault;
use super::super::lanes::width_mask;
use super::super::races::{self, AccessEffect, Accessor};
use super::super::warp::Warp;
use super::{Targets, decode};
use warpbound_core::base::{LaneMask, Pc};
use warpbound_core::isa::Space;
use warpbound_core::path::MemoryUse;
use warpbound_core::program::sem::{AtomOp, Atomic, FloatMode, FloatOp, FloatTy, IntOp, IntTy, ValueTy};

/// Executes `atom` or `red`. Returns the space of the access with its bank conflicts, and records
/// its lines.
///
/// # Errors
/// Returns an error if an access is not allowed.
pub(in super::super) fn atomic(
    warp: &mut Warp,
    context: &mut Context,
    pc: Pc,
    atomic: &Atomic,
    enabled: LaneMask,
) -> Result<MemoryUse, Fault> {
    let size = atomic.bytes();
    let width = atomic.ty.bytes();
    let place = (atomic.space, &atomic.addr);
    let targets = Targets::new(warp, context, pc, place, size, "atomic access");
    let mut parts = Vec::new();
    for lane in enabled.lanes() {
        let source = |operand| warp.operand_in(operand, &context.shape, lane);
        let (b, c) = (source(atomic.b), source(atomic.c));
        parts.clear();
        if !atomic.more.is_empty() {
            parts.extend(atomic.parts().map(|part| (part.dst, source(part.b), source(part.c))));
        }
        let (space, address) = targets.of(lane);
        match context.memory.write(space, warp.thread(lane), address, size) {
            Ok(cells) if atomic.more.is_empty() => {
                let old = decode(cells);
                let new = combined(atomic.op, atomic.ty, space, old, b, c);
                cells.copy_from_slice(&new.to_le_bytes()[..size]);
                if let Some(dst) = atomic.dst {
                    warp.set_in(dst, lane, old);
                }
                if races::wraps(atomic.op)
                    && let Some(detector) = &mut context.detector
                {
                    detector.wraps_at(Accessor { warp: warp.id, pc }, space, address, b);
                }
            }
            Ok(cells) => {
                let mask = width_mask(8 * width as u32);
                let differs = atomic.op == AtomOp::Cas
                    && cells
                        .chunks_exact(width)
                        .zip(&parts)
                        .any(|(cell, (_, b, _))| decode(cell) != b & mask);
                for (cell, (dst, b, c)) in cells.chunks_exact_mut(width).zip(&parts) {
                    let old = decode(cell);
                    if !differs {
                        let new = combined(atomic.op, atomic.ty, space, old, *b, *c);
                        cell.copy_from_slice(&new.to_le_bytes()[..width]);
                    }
                    if let Some(dst) = dst {
                        warp.set_in(*dst, lane, old);
                    }
                }
            }
            Err(denied) => return Err(targets.fault(denied, lane, warp, context)),
        }
    }
    targets.detector(enabled, warp, context, AccessEffect::Updates);
    Ok(targets.used(enabled, true, warp, context))
}

/// Returns the value that an atomic operation leaves in memory.
pub(in super::super) fn combined(op: AtomOp, ty: ValueTy, space: Space, old: u64, b: u64, c: u64) -> u64 {
    let int_ty = match ty {
        ValueTy::Int(ty) => ty,
        ValueTy::Float(FloatTy::F64 | FloatTy::F32x2) => IntTy { bits: 64, signed: false },
        ValueTy::Float(FloatTy::F16 | FloatTy::Bf16) => IntTy { bits: 16, signed: false },
        ValueTy::Float(_) => IntTy { bits: 32, signed: false },
    };
    let mask = width_mask(u32::from(int_ty.bits));
    let (b, c) = (b & mask, c & mask);
    let int_op = match op {
        AtomOp::Exch => return b,
        AtomOp::Cas => return if old == b { c } else { old },
        AtomOp::Inc => return if old >= b { 0 } else { old + 1 },
        AtomOp::Dec => return if old == 0 || old > b { b } else { old - 1 },
        AtomOp::Add => IntOp::Add,
        AtomOp::Min => IntOp::Min,
        AtomOp::Max => IntOp::Max,
        AtomOp::And => IntOp::And,
        AtomOp::Or => IntOp::Or,
        AtomOp::Xor => IntOp::Xor,
    };
    let float_op = match op {
        AtomOp::Add => FloatOp::Add,
        AtomOp::Min => FloatOp::Min,
        _ => FloatOp::Max,
    };
    match ty {
        ValueTy::Float(ty) if matches!(op, AtomOp::Add | AtomOp::Min | AtomOp::Max) => {
            // PTX: single-precision sums in global memory flush subnormal numbers, in shared memory
            // they do not
            let ftz = ty == FloatTy::F32 && space == Space::Global && op == AtomOp::Add;
            let mode = FloatMode { ftz, ..FloatMode::default() };
            let half =
                |shift: u32| float::scalar(float_op, format_of(ty), mode, [old >> shift, b >> shift, 0]);
            if ty.half().is_some() { half(0) | half(16) << 16 } else { half(0) }
        }
        _ => int::scalar(int_op, int_ty, false, [old, b, 0, 0]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const U32: ValueTy = ValueTy::Int(IntTy { bits: 32, signed: false });
    const S32: ValueTy = ValueTy::Int(IntTy { bits: 32, signed: true });
    const F32: ValueTy = ValueTy::Float(FloatTy::F32);

    #[test]
    fn atomics_combine_as_the_isa_says() {
        let result = |op, ty, old, b, c| combined(op, ty, Space::Global, old, b, c);
        let minus_one = 0xffff_ffff;
        for (got, expected) in [
            (result(AtomOp::Add, U32, minus_one, 2, 0), 1),
            (result(AtomOp::Min, U32, minus_one, 2, 0), 2),
            (result(AtomOp::Min, S32, minus_one, 2, 0), minus_one),
            (result(AtomOp::Max, S32, minus_one, 2, 0), 2),
            (result(AtomOp::Inc, U32, 4, 5, 0), 5),
            (result(AtomOp::Inc, U32, 5, 5, 0), 0),
            (result(AtomOp::Dec, U32, 0, 5, 0), 5),
            (result(AtomOp::Dec, U32, 6, 5, 0), 5),
            (result(AtomOp::Dec, U32, 3, 5, 0), 2),
            (result(AtomOp::Exch, U32, 3, 5, 0), 5),
            (result(AtomOp::Cas, U32, 3, 3, 9), 9),
            (result(AtomOp::Cas, U32, 4, 3, 9), 4),
            (result(AtomOp::Xor, U32, 0b1100, 0b1010, 0), 0b0110),
            (result(AtomOp::Add, F32, 0x3f80_0000, 0x3f80_0000, 0), 0x4000_0000),
            (result(AtomOp::Add, F32, 1, 1, 0), 0),
            (combined(AtomOp::Add, F32, Space::Shared, 1, 1, 0), 2),
            (result(AtomOp::Add, ValueTy::Float(FloatTy::F16x2), 0x3c00_4000, 0x4000_3c00, 0), 0x4200_4200),
            (
                result(AtomOp::Add, ValueTy::Float(FloatTy::F64), 1f64.to_bits(), 2f64.to_bits(), 0),
                3f64.to_bits(),
            ),
        ] {
            assert_eq!(got, expected);
        }
    }
}
