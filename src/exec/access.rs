//! Loads, stores, atomics and asynchronous copies of one warp.
//!
//! Lanes go in ascending order: of several that write one place, the last stays; atomics see the
//! results of the lanes before them.

use super::arith::{float, format_of, int};
use super::banks::extra_transactions;
use super::fault::{Access, Fault};
use super::lanes::{Lanes, sign_extend, width_mask};
use super::memory::Denied;
use super::step::Context;
use super::warp::Warp;
use crate::base::{LaneMask, Pc, RegId, WARP_SIZE};
use crate::isa::Space;
use crate::path::MemoryUse;
use crate::program::layout::{CONSTANT_LINES_BASE, PARAM_LINES_BASE, resolve_generic};
use crate::program::sem::{
    Address, AtomOp, Atomic, FloatMode, FloatOp, FloatTy, IntOp, IntTy, Operand, ValueTy,
};

/// Where the lanes of one access go.
struct Targets {
    space: Space,
    addresses: Lanes,
    size: usize,
    verb: &'static str,
    pc: Pc,
}

impl Targets {
    fn new(
        warp: &Warp,
        context: &Context,
        pc: Pc,
        place: (Space, &Address),
        size: usize,
        verb: &'static str,
    ) -> Self {
        let (space, address) = place;
        let mut scratch = [0; WARP_SIZE];
        let base = warp.operand(address.base, &context.shape, &mut scratch);
        // 32-bit addresses wrap at 32 bits
        let width = match address.base {
            Operand::Reg(reg) => context.widths[reg.index()],
            Operand::Imm(_) | Operand::Special(_) => u64::MAX,
        };
        let offset = address.offset as u64;
        let addresses = std::array::from_fn(|lane| base[lane].wrapping_add(offset) & width);
        Self { space, addresses, size, verb, pc }
    }

    /// Space and address within it of a lane's access.
    #[inline]
    fn of(&self, lane: usize) -> (Space, u64) {
        let address = self.addresses[lane];
        if self.space == Space::Generic { resolve_generic(address) } else { (self.space, address) }
    }

    /// The space whose timing the access has: that of the first enabled lane.
    fn resolved(&self, enabled: LaneMask) -> Space {
        match (self.space, enabled.lanes().next()) {
            (Space::Generic, Some(lane)) => self.of(lane).0,
            (Space::Generic, None) => Space::Global,
            (space, _) => space,
        }
    }

    /// What the path says of the access, once it is done. `apart`: lanes on the same bytes do not
    /// go together.
    fn used(&self, enabled: LaneMask, apart: bool, warp: &Warp, context: &mut Context) -> MemoryUse {
        let space = self.resolved(enabled);
        let transactions = match context.record.banks {
            Some(banks) if space == Space::Shared => {
                let (addresses, lanes) = self.in_shared(enabled);
                extra_transactions(banks, &addresses, self.size, lanes)
            }
            _ => 0,
        };
        if let Some(mut group) = context.record.collect(self.pc, space) {
            for lane in enabled.lanes() {
                match self.of(lane) {
                    (Space::Global, address) => group.global(&mut context.memory, address, self.size, apart),
                    (Space::Local, address) => {
                        group.local(&context.memory, &context.shape, warp.thread(lane), address, self.size);
                    }
                    (Space::Const, offset) => group.constant(CONSTANT_LINES_BASE, offset, self.size),
                    (Space::Param, offset) => group.constant(PARAM_LINES_BASE, offset, self.size),
                    (Space::Shared | Space::Generic, _) => {}
                }
            }
            group.finish();
        }
        MemoryUse { space, transactions }
    }

    /// The lanes that access shared memory, and where in it.
    fn in_shared(&self, enabled: LaneMask) -> (Lanes, LaneMask) {
        if self.space == Space::Shared {
            return (self.addresses, enabled);
        }
        let (mut addresses, mut lanes) = ([0; WARP_SIZE], LaneMask::empty());
        for lane in enabled.lanes() {
            if let (Space::Shared, address) = self.of(lane) {
                addresses[lane] = address;
                lanes |= LaneMask::lane(lane);
            }
        }
        (addresses, lanes)
    }

    #[cold]
    fn fault(&self, denied: Denied, lane: usize, warp: &Warp, context: &Context) -> Fault {
        let (space, address) = self.of(lane);
        let generic = self.space == Space::Generic;
        let access = Access { verb: self.verb, space, address, size: self.size, generic, lane };
        access.fault(denied, context.program, self.pc, &context.memory, warp, &context.shape)
    }
}

/// A little-endian number of at most 8 bytes.
#[inline]
fn decode(bytes: &[u8]) -> u64 {
    match *bytes {
        [a, b, c, d] => u64::from(u32::from_le_bytes([a, b, c, d])),
        [a, b, c, d, e, f, g, h] => u64::from_le_bytes([a, b, c, d, e, f, g, h]),
        _ => bytes.iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte)),
    }
}

/// `ld`: the space it resolved to, with its bank conflicts; its lines are recorded.
///
/// # Errors
/// An access that is not allowed.
pub(super) fn load(
    warp: &mut Warp,
    context: &mut Context,
    pc: Pc,
    (space, address): (Space, &Address),
    ty: IntTy,
    dsts: &[Option<RegId>],
    enabled: LaneMask,
) -> Result<MemoryUse, Fault> {
    let element = usize::from(ty.bits / 8);
    let targets = Targets::new(warp, context, pc, (space, address), element * dsts.len(), "load");
    let first_thread = warp.thread(0);
    let extend = |bytes: &[u8]| {
        let value = decode(bytes);
        if ty.signed { sign_extend(value, u32::from(ty.bits)) as u64 } else { value }
    };
    for lane in enabled.lanes() {
        let (space, address) = targets.of(lane);
        let bytes = match context.memory.read(space, first_thread + lane, address, targets.size) {
            Ok(bytes) => bytes,
            Err(denied) => return Err(targets.fault(denied, lane, warp, context)),
        };
        for (bytes, dst) in bytes.chunks_exact(element).zip(dsts) {
            if let Some(dst) = dst {
                warp.regs[dst.index()][lane] = extend(bytes) & context.widths[dst.index()];
            }
        }
    }
    Ok(targets.used(enabled, false, warp, context))
}

/// `st`: the space it resolved to, with its bank conflicts; its lines are recorded.
///
/// # Errors
/// An access that is not allowed.
pub(super) fn store(
    warp: &Warp,
    context: &mut Context,
    pc: Pc,
    (space, address): (Space, &Address),
    bits: u8,
    srcs: &[Operand],
    enabled: LaneMask,
) -> Result<MemoryUse, Fault> {
    let element = usize::from(bits / 8);
    let targets = Targets::new(warp, context, pc, (space, address), element * srcs.len(), "store");
    for lane in enabled.lanes() {
        let (space, address) = targets.of(lane);
        match context.memory.write(space, warp.thread(lane), address, targets.size) {
            Ok(bytes) => {
                for (bytes, src) in bytes.chunks_exact_mut(element).zip(srcs) {
                    let value = warp.operand_in(*src, &context.shape, lane).to_le_bytes();
                    bytes.copy_from_slice(&value[..element]);
                }
            }
            Err(denied) => return Err(targets.fault(denied, lane, warp, context)),
        }
    }
    Ok(targets.used(enabled, false, warp, context))
}

/// `atom` and `red`: the space it resolved to, with its bank conflicts; its lines are recorded.
///
/// # Errors
/// An access that is not allowed.
pub(super) fn atomic(
    warp: &mut Warp,
    context: &mut Context,
    pc: Pc,
    atomic: &Atomic,
    enabled: LaneMask,
) -> Result<MemoryUse, Fault> {
    let size = atomic.ty.bytes();
    let place = (atomic.space, &atomic.addr);
    let targets = Targets::new(warp, context, pc, place, size, "atomic access");
    for lane in enabled.lanes() {
        let b = warp.operand_in(atomic.b, &context.shape, lane);
        let c = warp.operand_in(atomic.c, &context.shape, lane);
        let (space, address) = targets.of(lane);
        match context.memory.write(space, warp.thread(lane), address, size) {
            Ok(cell) => {
                let old = decode(cell);
                let new = combined(atomic.op, atomic.ty, space, old, b, c);
                cell.copy_from_slice(&new.to_le_bytes()[..size]);
                if let Some(dst) = atomic.dst {
                    warp.regs[dst.index()][lane] = old & context.widths[dst.index()];
                }
            }
            Err(denied) => return Err(targets.fault(denied, lane, warp, context)),
        }
    }
    Ok(targets.used(enabled, true, warp, context))
}

/// What an atomic operation leaves in its cell.
fn combined(op: AtomOp, ty: ValueTy, space: Space, old: u64, b: u64, c: u64) -> u64 {
    let int_ty = match ty {
        ValueTy::Int(ty) => ty,
        ValueTy::Float(FloatTy::F64) => IntTy { bits: 64, signed: false },
        ValueTy::Float(FloatTy::F16) => IntTy { bits: 16, signed: false },
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
            // PTX: single-precision sums in global memory flush subnormal numbers, in shared not
            let ftz = ty == FloatTy::F32 && space == Space::Global && op == AtomOp::Add;
            let mode = FloatMode { ftz, ..FloatMode::default() };
            let half =
                |shift: u32| float::scalar(float_op, format_of(ty), mode, [old >> shift, b >> shift, 0]);
            if ty == FloatTy::F16x2 { half(0) | half(16) << 16 } else { half(0) }
        }
        _ => int::scalar(int_op, int_ty, false, [old, b, 0, 0]),
    }
}

/// `cp.async`, done at once. Its lines are those it reads; what it writes to shared memory meets no
/// bank conflicts.
///
/// # Errors
/// An access that is not allowed.
pub(super) fn async_copy(
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
            Ok(place) => place.copy_from_slice(&buffer[..size]),
            Err(denied) => return Err(to.fault(denied, lane, warp, context)),
        }
    }
    if let Some(mut group) = context.record.collect(pc, Space::Global) {
        for lane in enabled.lanes().filter(|&lane| read_bytes[lane] > 0) {
            group.global(&mut context.memory, from.addresses[lane], read_bytes[lane], false);
        }
        group.finish();
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const U32: ValueTy = ValueTy::Int(IntTy { bits: 32, signed: false });
    const S32: ValueTy = ValueTy::Int(IntTy { bits: 32, signed: true });
    const F32: ValueTy = ValueTy::Float(FloatTy::F32);

    #[test]
    fn atomics_combine_as_the_isa_says() {
        let of = |op, ty, old, b, c| combined(op, ty, Space::Global, old, b, c);
        let minus_one = 0xffff_ffff;
        for (got, expected) in [
            (of(AtomOp::Add, U32, minus_one, 2, 0), 1),
            (of(AtomOp::Min, U32, minus_one, 2, 0), 2),
            (of(AtomOp::Min, S32, minus_one, 2, 0), minus_one),
            (of(AtomOp::Max, S32, minus_one, 2, 0), 2),
            (of(AtomOp::Inc, U32, 4, 5, 0), 5),
            (of(AtomOp::Inc, U32, 5, 5, 0), 0),
            (of(AtomOp::Dec, U32, 0, 5, 0), 5),
            (of(AtomOp::Dec, U32, 6, 5, 0), 5),
            (of(AtomOp::Dec, U32, 3, 5, 0), 2),
            (of(AtomOp::Exch, U32, 3, 5, 0), 5),
            (of(AtomOp::Cas, U32, 3, 3, 9), 9),
            (of(AtomOp::Cas, U32, 4, 3, 9), 4),
            (of(AtomOp::Xor, U32, 0b1100, 0b1010, 0), 0b0110),
            (of(AtomOp::Add, F32, 0x3f80_0000, 0x3f80_0000, 0), 0x4000_0000),
            (of(AtomOp::Add, F32, 1, 1, 0), 0),
            (combined(AtomOp::Add, F32, Space::Shared, 1, 1, 0), 2),
            (of(AtomOp::Add, ValueTy::Float(FloatTy::F16x2), 0x3c00_4000, 0x4000_3c00, 0), 0x4200_4200),
            (
                of(AtomOp::Add, ValueTy::Float(FloatTy::F64), 1f64.to_bits(), 2f64.to_bits(), 0),
                3f64.to_bits(),
            ),
        ] {
            assert_eq!(got, expected);
        }
    }
}
