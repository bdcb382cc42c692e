//! Operations whose results in a lane depend only on the operands of that lane.

use super::arith::{bits, compare, convert, float, int, small, video};
use super::context::Context;
use super::lanes::{Lanes, map1, map3, mask_where, sign_extend, width_mask};
use super::warp::{Shape, Warp};
use warpbound_core::base::{LaneMask, Pc, RegId, WARP_SIZE};
use warpbound_core::isa::Space;
use warpbound_core::program::Sem;
use warpbound_core::program::layout::resolve_generic;
use warpbound_core::program::sem::{
    Carry, Compare, CompareInto, IntOp, IntTy, Lop3Pred, Operand, PredOp, SmallConvert, ValueTy, exchange,
    jump, memory, no_effect, ungrouped,
};

/// Executes an operation.
#[inline]
pub(super) fn execute(warp: &mut Warp, context: &Context, pc: Pc, enabled: LaneMask) {
    let shape = &context.shape;
    match &context.program.instr(pc).sem {
        Sem::Mov { dst, src } => warp.set(*dst, &warp.operand(*src, shape), enabled),
        Sem::Moves(moves) => {
            let values: Vec<Lanes> = moves.iter().map(|(_, src)| warp.operand(*src, shape)).collect();
            moves.iter().zip(&values).for_each(|((dst, _), value)| warp.set(*dst, value, enabled));
        }
        Sem::Int { op, ty, dst, src, carry, saturate } => {
            integer(warp, shape, (*op, *ty, *saturate), *dst, src, *carry, enabled);
        }
        Sem::Float { op, ty, mode, dst, src: [a, b, c] } => {
            let a = warp.operand(*a, shape);
            let b = warp.operand(*b, shape);
            let c = warp.operand(*c, shape);
            warp.set(*dst, &float::lanes(*op, *ty, *mode, [&a, &b, &c]), enabled);
        }
        Sem::MixedFloat { op, from, mode, dst, src } => {
            let [a, b, c] = src.map(|source| warp.operand(source, shape));
            warp.set(*dst, &float::mixed(*op, *from, *mode, [&a, &b, &c]), enabled);
        }
        Sem::ToTf32 { dst, src, mode } => {
            let value = map1(&warp.operand(*src, shape), |v| convert::tf32(v as u32, *mode).into());
            warp.set(*dst, &value, enabled);
        }
        Sem::Video(v) => {
            let [a, b, c] = [v.a, v.b, v.c].map(|source| warp.operand(source, shape));
            warp.set(v.dst, &video::lanes(v, [&a, &b, &c]), enabled);
        }
        Sem::TestFloat { test, ty, dst, src } => {
            set_flags(warp, *dst, &float::test(*test, *ty, &warp.operand(*src, shape)), enabled);
        }
        Sem::PredLogic { op, dst, a, b } => {
            warp.set_pred(*dst, logic(*op, warp.pred(*a), warp.pred(*b)), enabled);
        }
        Sem::Compare(compare) => compare_into(warp, context, compare, enabled),
        Sem::Select { dst, a, b, p } => {
            let holds = warp.pred(*p);
            let (a, b) = (warp.operand(*a, shape), warp.operand(*b, shape));
            let value = std::array::from_fn(|lane| if holds.has(lane) { a[lane] } else { b[lane] });
            warp.set(*dst, &value, enabled);
        }
        Sem::SelectSign { dst, a, b, c, float, ftz } => {
            let [a, b, c] = [*a, *b, *c].map(|source| warp.operand(source, shape));
            warp.set(*dst, &selected_by_sign([&a, &b, &c], *float, *ftz), enabled);
        }
        Sem::Lop3Pred(logic) => lop3_with_predicate(warp, shape, logic, enabled),
        Sem::Convert(c) => {
            let src = warp.operand(c.src, shape);
            let low = c.src2.map(|low| warp.operand(low, shape));
            warp.set(c.dst, &convert::lanes(c, &src, low.as_ref()), enabled);
        }
        Sem::SmallConvert(c) => convert_small(warp, shape, c, enabled),
        Sem::Pack { dst, parts, bits } => pack(warp, shape, *dst, parts, u32::from(*bits), enabled),
        Sem::Unpack { dsts, src, bits } => unpack(warp, shape, dsts, *src, u32::from(*bits), enabled),
        Sem::IsSpace { dst, space, src } => {
            // the memory of other blocks of the cluster is not that of the block
            let memory = &context.memory;
            let is = map1(&warp.operand(*src, shape), |v| match resolve_generic(v) {
                (Space::Shared, address) => u64::from(*space == Space::Shared && memory.is_own(address)),
                (other, _) => u64::from(other == *space),
            });
            set_flags(warp, *dst, &is, enabled);
        }
        exchange!() | memory!() | no_effect!() | jump!() | ungrouped!() => {
            unreachable!("these are not operations on single lanes")
        }
    }
}

/// Executes an integer operation, with the carries that it reads and writes.
#[inline]
fn integer(
    warp: &mut Warp,
    shape: &Shape,
    (op, ty, saturate): (IntOp, IntTy, bool),
    dst: RegId,
    &[a, b, c, d]: &[Operand; 4],
    carry: Carry,
    enabled: LaneMask,
) {
    let a = warp.operand(a, shape);
    let b = warp.operand(b, shape);
    let c = warp.operand(c, shape);
    if carry == Carry::default() {
        let d = warp.operand(d, shape);
        warp.set(dst, &int::lanes(op, ty, saturate, [&a, &b, &c, &d]), enabled);
        return;
    }
    let carry_in = carry.read.map(|reg| warp.registers.preds[reg.index()]);
    let (value, out) = int::with_carry(op, ty, [&a, &b, &c], carry_in);
    warp.set(dst, &value, enabled);
    if let Some(reg) = carry.write {
        warp.set_pred(reg, out, enabled);
    }
}

/// Computes `slct`: `a` where `c` is at least 0, and `b` elsewhere.
fn selected_by_sign([a, b, c]: [&Lanes; 3], is_float: bool, ftz: bool) -> Lanes {
    std::array::from_fn(|lane| {
        let at_least_zero = if is_float {
            let x = f32::from_bits(c[lane] as u32);
            x >= 0.0 || ftz && x.is_subnormal()
        } else {
            sign_extend(c[lane], 32) >= 0
        };
        if at_least_zero { a[lane] } else { b[lane] }
    })
}

/// Executes `lop3` with a predicate, which is combined with whether the result is not 0.
fn lop3_with_predicate(warp: &mut Warp, shape: &Shape, lop3: &Lop3Pred, enabled: LaneMask) {
    let [a, b, c] = lop3.src.map(|source| warp.operand(source, shape));
    let value = map3(&a, &b, &c, |a, b, c| bits::lop3(a, b, c, lop3.table));
    let holds = logic(lop3.op, mask_where(|lane| value[lane] != 0), warp.pred(lop3.with));
    if let Some(dst) = lop3.dst {
        warp.set(dst, &value, enabled);
    }
    if let Some(pred) = lop3.pred {
        warp.set_pred(pred, holds, enabled);
    }
}

/// Executes a conversion from or to small floating-point formats.
fn convert_small(warp: &mut Warp, shape: &Shape, convert: &SmallConvert, enabled: LaneMask) {
    let mut sources = convert.sources().map(|source| warp.operand(source, shape));
    let (first, second) = (sources.next().unwrap_or([0; WARP_SIZE]), sources.next());
    let value = small::lanes(convert, &first, second.as_ref());
    drop(sources);
    warp.set(convert.dst, &value, enabled);
}

/// Packs values of this many bits into a register, the first into the lowest bits.
fn pack(warp: &mut Warp, shape: &Shape, dst: RegId, parts: &[Operand], bits: u32, enabled: LaneMask) {
    let width = width_mask(bits);
    let mut value = [0; WARP_SIZE];
    for (index, part) in parts.iter().enumerate() {
        let shift = (index as u32 * bits).min(63);
        let part = warp.operand(*part, shape);
        value.iter_mut().zip(part).for_each(|(v, p)| *v |= (p & width) << shift);
    }
    warp.set(dst, &value, enabled);
}

/// Unpacks a register into values of this many bits, of which some may not be wanted.
fn unpack(
    warp: &mut Warp,
    shape: &Shape,
    dsts: &[Option<RegId>],
    src: Operand,
    bits: u32,
    enabled: LaneMask,
) {
    let width = width_mask(bits);
    let value = warp.operand(src, shape);
    for (index, dst) in dsts.iter().enumerate() {
        let Some(dst) = dst else { continue };
        let shift = (index as u32 * bits).min(63);
        warp.set(*dst, &map1(&value, |v| v >> shift & width), enabled);
    }
}

/// Sets a predicate in the lanes in which a value is not 0.
fn set_flags(warp: &mut Warp, dst: RegId, value: &Lanes, enabled: LaneMask) {
    let holds = mask_where(|lane| value[lane] != 0);
    warp.set_pred(dst, holds, enabled);
}

/// Returns the lanes in which an operation on two predicates holds.
pub(super) fn logic(op: PredOp, a: LaneMask, b: LaneMask) -> LaneMask {
    match op {
        PredOp::Mov => a,
        PredOp::Not => !a,
        PredOp::And => a & b,
        PredOp::Or => a | b,
        PredOp::Xor => a ^ b,
    }
}

/// Executes a comparison. Packed halves are compared one by one.
fn compare_into(warp: &mut Warp, context: &Context, compare: &Compare, enabled: LaneMask) {
    let a = warp.operand(compare.a, &context.shape);
    let b = warp.operand(compare.b, &context.shape);
    if let ValueTy::Float(packed) = compare.ty
        && let Some(half) = packed.half()
    {
        let [a_high, b_high] = [&a, &b].map(|row| map1(row, |v| v >> 16));
        let related = |a, b| compare::lanes(compare.cmp, ValueTy::Float(half), compare.ftz, a, b);
        let halves = [related(&a, &b), related(&a_high, &b_high)];
        return finish_packed(warp, compare, halves, enabled);
    }
    finish_compare(warp, compare, compare::lanes(compare.cmp, compare.ty, compare.ftz, &a, &b), enabled);
}

/// Finishes a comparison of packed halves like [`finish_compare`], given the lanes in which the
/// relation holds for the lower halves, and those in which it holds for the upper ones.
fn finish_packed(warp: &mut Warp, compare: &Compare, halves: [LaneMask; 2], enabled: LaneMask) {
    let [low, high] = halves.map(|holds| match compare.combine {
        Some((op, p)) => logic(op, holds, warp.pred(p)),
        None => holds,
    });
    let (dst, yes) = match compare.into {
        CompareInto::Preds(first, second) => {
            for (dst, value) in [(first, low), (second, high)] {
                if let Some(dst) = dst {
                    warp.set_pred(dst, value, enabled);
                }
            }
            return;
        }
        CompareInto::Ones(dst) => (dst, 0xffff),
        CompareInto::Float(dst, ty) => (dst, ty.one() & 0xffff),
    };
    let part = |holds: LaneMask, lane| if holds.has(lane) { yes } else { 0 };
    let value = std::array::from_fn(|lane| part(low, lane) | part(high, lane) << 16);
    warp.set(dst, &value, enabled);
}

/// Finishes a comparison, given the lanes in which its relation holds.
#[inline]
pub(super) fn finish_compare(warp: &mut Warp, compare: &Compare, relation: LaneMask, enabled: LaneMask) {
    let combined = |value| match compare.combine {
        Some((op, p)) => logic(op, value, warp.pred(p)),
        None => value,
    };
    let (holds, complement) = (combined(relation), combined(!relation));
    match compare.into {
        CompareInto::Preds(first, second) => {
            for (dst, value) in [(first, holds), (second, complement)] {
                if let Some(dst) = dst {
                    warp.set_pred(dst, value, enabled);
                }
            }
        }
        CompareInto::Ones(dst) | CompareInto::Float(dst, _) => {
            let yes = match compare.into {
                CompareInto::Float(_, ty) => ty.one(),
                _ => u64::MAX,
            };
            let value = std::array::from_fn(|lane| if holds.has(lane) { yes } else { 0 });
            warp.set(dst, &value, enabled);
        }
    }
}
