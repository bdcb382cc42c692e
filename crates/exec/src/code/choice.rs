//! The selection of the row operation for an instruction, if there is one.
//!
//! Each function fills in the operation and returns `Some`; `None` leaves the instruction to the
//! interpreter.

use super::{Double, Kind, Narrow, Op, Order, Relation, Single, Wide, Widen};
use crate::registers::{RegisterMap, RegisterRow};
use warpbound_core::base::RegId;
use warpbound_core::program::sem::{
    Cmp, Compare, Convert, FloatMode, FloatOp, FloatTy, IntOp, IntTy, Lop3Pred, Operand, Round, ValueTy,
};

/// Fills in an operation; `None` if not all of its rows exist.
pub(super) fn rows(op: &mut Op, kind: Kind, d: u32, sources: [Option<u32>; 3]) -> Option<()> {
    let [a, b, c] = sources;
    (op.a, op.b, op.c) = (a?, b?, c?);
    (op.kind, op.d) = (kind, d);
    Some(())
}

/// Returns the narrow row of a register of exactly 32 bits.
pub(super) fn full_narrow(map: &RegisterMap, reg: RegId) -> Option<u32> {
    match map.place(reg) {
        RegisterRow::Narrow(row) if map.width(reg) == u64::from(u32::MAX) => Some(row),
        _ => None,
    }
}

pub(super) fn mov(map: &mut RegisterMap, dst: RegId, src: Operand, op: &mut Op) -> Option<()> {
    match map.place(dst) {
        RegisterRow::Wide(d) => rows(op, Kind::Wide(Wide::Move), d, [map.wide(src), Some(0), Some(0)]),
        RegisterRow::Narrow(d) => {
            let fits = match src {
                Operand::Reg(reg) => map.width(reg) <= map.width(dst),
                Operand::Imm(value) => value <= map.width(dst),
                Operand::Special(_) => map.width(dst) == u64::from(u32::MAX),
            };
            fits.then_some(())?;
            rows(op, Kind::Narrow(Narrow::Move), d, [map.narrow(src), Some(0), Some(0)])
        }
        RegisterRow::Pred => None,
    }
}

/// Fills in the extraction of one or both halves of 64 bits.
pub(super) fn halves(map: &mut RegisterMap, dsts: &[Option<RegId>], src: Operand, op: &mut Op) -> Option<()> {
    let source = map.wide(src);
    match *dsts {
        [Some(low)] | [Some(low), None] => {
            rows(op, Kind::Truncate, full_narrow(map, low)?, [source, Some(0), Some(0)])
        }
        [None, Some(high)] => rows(op, Kind::Upper, full_narrow(map, high)?, [source, Some(0), Some(0)]),
        [Some(low), Some(high)] => {
            let (low, high) = (full_narrow(map, low)?, full_narrow(map, high)?);
            rows(op, Kind::Halves, low, [source, Some(high), Some(0)])
        }
        _ => None,
    }
}

pub(super) fn integer(
    map: &mut RegisterMap,
    (int, ty): (IntOp, IntTy),
    dst: RegId,
    &[a, b, c, _]: &[Operand; 4],
    op: &mut Op,
) -> Option<()> {
    match (ty.bits, map.place(dst)) {
        (32, RegisterRow::Wide(d)) => {
            let (kind, has_addend) = match (int, ty.signed) {
                (IntOp::MulWide, false) => (Widen::MulUnsigned, false),
                (IntOp::MulWide, true) => (Widen::MulSigned, false),
                (IntOp::MadWide, false) => (Widen::MadUnsigned, true),
                (IntOp::MadWide, true) => (Widen::MadSigned, true),
                _ => return None,
            };
            let addend = if has_addend { map.wide(c) } else { Some(0) };
            rows(op, Kind::Widen(kind), d, [map.narrow(a), map.narrow(b), addend])
        }
        (32, RegisterRow::Narrow(_)) => {
            let d = full_narrow(map, dst)?;
            let (kind, sources) = narrow_kind(int, ty.signed)?;
            let second = if sources > 1 { map.narrow(b) } else { Some(0) };
            let third = if sources > 2 { map.narrow(c) } else { Some(0) };
            rows(op, Kind::Narrow(kind), d, [map.narrow(a), second, third])
        }
        (64, RegisterRow::Wide(d)) => {
            let (kind, sources) = wide_kind(int, ty.signed)?;
            let shift = matches!(kind, Wide::Shl | Wide::ShrUnsigned | Wide::ShrSigned);
            let second = match sources {
                1 => Some(0),
                _ if shift => map.narrow(b),
                _ => map.wide(b),
            };
            let third = if sources > 2 { map.wide(c) } else { Some(0) };
            rows(op, Kind::Wide(kind), d, [map.wide(a), second, third])
        }
        _ => None,
    }
}

/// Returns the operation and the number of its sources.
fn narrow_kind(int: IntOp, signed: bool) -> Option<(Narrow, usize)> {
    Some(match int {
        IntOp::Add => (Narrow::Add, 2),
        IntOp::Sub => (Narrow::Sub, 2),
        IntOp::MulLo => (Narrow::Mul, 2),
        IntOp::MulHi if signed => (Narrow::MulHiSigned, 2),
        IntOp::MulHi => (Narrow::MulHiUnsigned, 2),
        IntOp::Xmad(xmad) => (Narrow::Xmad(xmad), 3),
        IntOp::MadLo => (Narrow::Mad, 3),
        IntOp::And => (Narrow::And, 2),
        IntOp::Or => (Narrow::Or, 2),
        IntOp::Xor => (Narrow::Xor, 2),
        IntOp::Not => (Narrow::Not, 1),
        IntOp::Neg => (Narrow::Neg, 1),
        IntOp::Shl => (Narrow::Shl, 2),
        IntOp::Shr if signed => (Narrow::ShrSigned, 2),
        IntOp::Shr => (Narrow::ShrUnsigned, 2),
        IntOp::Min if signed => (Narrow::MinSigned, 2),
        IntOp::Min => (Narrow::MinUnsigned, 2),
        IntOp::Max if signed => (Narrow::MaxSigned, 2),
        IntOp::Max => (Narrow::MaxUnsigned, 2),
        IntOp::Lop3(table) => (Narrow::Lop3(table), 3),
        IntOp::Bfe => (Narrow::Extract { signed }, 3),
        IntOp::Popc => (Narrow::CountOnes, 1),
        IntOp::Abs if signed => (Narrow::Magnitude, 1),
        IntOp::FunnelLeft { wrap } => (Narrow::FunnelLeft { wrap }, 3),
        IntOp::FunnelRight { wrap } => (Narrow::FunnelRight { wrap }, 3),
        _ => return None,
    })
}

/// Returns the wide operation and the number of its sources, like [`narrow_kind`].
fn wide_kind(int: IntOp, signed: bool) -> Option<(Wide, usize)> {
    Some(match int {
        IntOp::Add => (Wide::Add, 2),
        IntOp::Sub => (Wide::Sub, 2),
        IntOp::MulLo => (Wide::Mul, 2),
        IntOp::MadLo => (Wide::Mad, 3),
        IntOp::And => (Wide::And, 2),
        IntOp::Or => (Wide::Or, 2),
        IntOp::Xor => (Wide::Xor, 2),
        IntOp::Not => (Wide::Not, 1),
        IntOp::Neg => (Wide::Neg, 1),
        IntOp::Shl => (Wide::Shl, 2),
        IntOp::Shr if signed => (Wide::ShrSigned, 2),
        IntOp::Shr => (Wide::ShrUnsigned, 2),
        IntOp::Min if signed => (Wide::MinSigned, 2),
        IntOp::Min => (Wide::MinUnsigned, 2),
        IntOp::Max if signed => (Wide::MaxSigned, 2),
        IntOp::Max => (Wide::MaxUnsigned, 2),
        _ => return None,
    })
}

pub(super) fn logic_with_predicate(map: &mut RegisterMap, logic: &Lop3Pred, op: &mut Op) -> Option<()> {
    let d = match logic.dst {
        Some(dst) => full_narrow(map, dst)?,
        None => 0,
    };
    let [a, b, c] = logic.src;
    rows(op, Kind::Lop3Predicate(logic.table), d, [map.narrow(a), map.narrow(b), map.narrow(c)])
}

pub(super) fn float(
    map: &mut RegisterMap,
    (float, ty, mode): (FloatOp, FloatTy, FloatMode),
    dst: RegId,
    &[a, b, c]: &[Operand; 3],
    op: &mut Op,
) -> Option<()> {
    let FloatMode { round, ftz, sat, approx, nan, relu, magnitude, sign_product } = mode;
    // approximate variants of operations that IEEE defines are computed exactly
    let defined = matches!(float, FloatOp::Div | FloatOp::Sqrt | FloatOp::Rcp);
    let nearest = round == Round::Nearest || approx && defined;
    let exact = matches!(float, FloatOp::Abs | FloatOp::Neg | FloatOp::Min | FloatOp::Max);
    let to_zero = round == Round::Zero && float == FloatOp::Mul && ty == FloatTy::F32;
    if relu || nan || magnitude || sign_product || !(nearest || exact || to_zero) {
        return None;
    }
    match ty {
        FloatTy::F32 => {
            let kind = match float {
                FloatOp::Add => Single::Add,
                FloatOp::Sub => Single::Sub,
                FloatOp::Mul if to_zero => Single::MulToZero,
                FloatOp::Mul => Single::Mul,
                FloatOp::Fma => Single::Fma,
                FloatOp::Div if approx => Single::DivApprox,
                FloatOp::Div => Single::Div,
                FloatOp::Rcp => Single::Rcp,
                FloatOp::Sqrt => Single::Sqrt,
                FloatOp::Rsqrt => Single::Rsqrt,
                FloatOp::Abs => Single::Abs,
                FloatOp::Neg => Single::Neg,
                FloatOp::Min => Single::Min,
                FloatOp::Max => Single::Max,
                _ => return None,
            };
            let d = full_narrow(map, dst)?;
            let kind = if sat { Kind::Saturated { op: kind, ftz } } else { Kind::Single { op: kind, ftz } };
            rows(op, kind, d, [map.narrow(a), map.narrow(b), map.narrow(c)])
        }
        FloatTy::F64 if !ftz && !sat => {
            let kind = match float {
                FloatOp::Add => Double::Add,
                FloatOp::Sub => Double::Sub,
                FloatOp::Mul => Double::Mul,
                FloatOp::Fma => Double::Fma,
                FloatOp::Div => Double::Div,
                FloatOp::Sqrt => Double::Sqrt,
                FloatOp::Abs => Double::Abs,
                FloatOp::Neg => Double::Neg,
                _ => return None,
            };
            let RegisterRow::Wide(d) = map.place(dst) else { return None };
            rows(op, Kind::Double(kind), d, [map.wide(a), map.wide(b), map.wide(c)])
        }
        _ => None,
    }
}

pub(super) fn conversion(map: &mut RegisterMap, convert: &Convert, op: &mut Op) -> Option<()> {
    const F32: ValueTy = ValueTy::Float(FloatTy::F32);
    const F64: ValueTy = ValueTy::Float(FloatTy::F64);
    const fn int(bits: u8, signed: bool) -> ValueTy {
        ValueTy::Int(IntTy { bits, signed })
    }
    let Convert {
        dst,
        src,
        src2: None,
        from,
        to,
        round,
        integral,
        sat: false,
        ftz,
        relu: false,
        finite: false,
    } = *convert
    else {
        return None;
    };
    // every conversion to an integer is integral, and values that would be flushed are truncated
    // anyway
    let to_int = matches!(to, ValueTy::Int(_));
    if (integral || ftz) && !to_int {
        return None;
    }
    let nearest = round == Round::Nearest;
    let one = |row| [row, Some(0), Some(0)];
    let single = |op| Kind::Single { op, ftz: false };
    match (from, to) {
        (ValueTy::Int(from), ValueTy::Int(to)) => integer_conversion(map, (from, to), dst, src, op),
        _ if from == int(32, true) && to == F32 && nearest => {
            rows(op, single(Single::FromSigned), full_narrow(map, dst)?, one(map.narrow(src)))
        }
        _ if from == int(32, false) && to == F32 && nearest => {
            rows(op, single(Single::FromUnsigned), full_narrow(map, dst)?, one(map.narrow(src)))
        }
        _ if from == int(32, true) && to == F32 && round == Round::Up => {
            rows(op, single(Single::FromSignedUp), full_narrow(map, dst)?, one(map.narrow(src)))
        }
        _ if from == int(32, false) && to == F32 && round == Round::Up => {
            rows(op, single(Single::FromUnsignedUp), full_narrow(map, dst)?, one(map.narrow(src)))
        }
        _ if from == F32 && to == int(32, true) && round == Round::Zero => {
            rows(op, single(Single::ToSigned), full_narrow(map, dst)?, one(map.narrow(src)))
        }
        _ if from == F32 && to == int(32, false) && round == Round::Zero => {
            rows(op, single(Single::ToUnsigned), full_narrow(map, dst)?, one(map.narrow(src)))
        }
        (F32, F64) => match map.place(dst) {
            RegisterRow::Wide(d) => rows(op, Kind::SingleToDouble, d, one(map.narrow(src))),
            _ => None,
        },
        (F64, F32) if nearest => rows(op, Kind::DoubleToSingle, full_narrow(map, dst)?, one(map.wide(src))),
        _ => None,
    }
}

/// Fills in a conversion between integers that does not saturate.
fn integer_conversion(
    map: &mut RegisterMap,
    (from, to): (IntTy, IntTy),
    dst: RegId,
    src: Operand,
    op: &mut Op,
) -> Option<()> {
    let width = |bits| crate::lanes::width_mask(u32::from(bits));
    let one = |row| [row, Some(0), Some(0)];
    match map.place(dst) {
        RegisterRow::Wide(d) if from.bits == 32 && to.bits == 64 => {
            let kind = if from.signed { Widen::Sign } else { Widen::Zero };
            rows(op, Kind::Widen(kind), d, one(map.narrow(src)))
        }
        RegisterRow::Wide(d) if from.bits == 64 && to.bits == 64 => {
            rows(op, Kind::Wide(Wide::Move), d, one(map.wide(src)))
        }
        RegisterRow::Narrow(_) if from.bits == 64 && to.bits == 32 => {
            let d = full_narrow(map, dst)?;
            rows(op, Kind::Truncate, d, one(map.wide(src)))
        }
        // an unsigned number keeps its low bits; a number of the same width keeps all
        RegisterRow::Narrow(d) if from.bits <= 32 && !(from.signed && from.bits < to.bits) => {
            let keep = width(from.bits.min(to.bits)) & map.width(dst);
            (!to.signed || width(to.bits) >= map.width(dst)).then_some(())?;
            let sources = [map.narrow(src), map.narrow(Operand::Imm(keep)), Some(0)];
            rows(op, Kind::Narrow(Narrow::And), d, sources)
        }
        _ => None,
    }
}

pub(super) fn comparison(map: &mut RegisterMap, compare: &Compare, op: &mut Op) -> Option<()> {
    if compare.ftz {
        return None;
    }
    let (mut a, mut b) = (compare.a, compare.b);
    let (relation, negate) = match compare.ty {
        ValueTy::Int(IntTy { bits: bits @ (32 | 64), signed }) => {
            let (equal, less) = match (bits, signed) {
                (32, false) => (Relation::Equal, Relation::LessUnsigned),
                (32, true) => (Relation::Equal, Relation::LessSigned),
                (_, false) => (Relation::WideEqual, Relation::WideLessUnsigned),
                (_, true) => (Relation::WideEqual, Relation::WideLessSigned),
            };
            match compare.cmp {
                Cmp::Eq | Cmp::Equ => (equal, false),
                Cmp::Ne | Cmp::Neu => (equal, true),
                Cmp::Lt | Cmp::Ltu => (less, false),
                Cmp::Ge | Cmp::Geu => (less, true),
                Cmp::Gt | Cmp::Gtu => {
                    std::mem::swap(&mut a, &mut b);
                    (less, false)
                }
                Cmp::Le | Cmp::Leu => {
                    std::mem::swap(&mut a, &mut b);
                    (less, true)
                }
                Cmp::Num | Cmp::Nan => return None,
            }
        }
        ValueTy::Float(ty @ (FloatTy::F32 | FloatTy::F64)) => {
            let (order, negate, exchanged) = match compare.cmp {
                Cmp::Eq => (Order::Equal, false, false),
                Cmp::Ne => (Order::Apart, false, false),
                Cmp::Lt => (Order::Less, false, false),
                Cmp::Le => (Order::AtMost, false, false),
                Cmp::Gt => (Order::Less, false, true),
                Cmp::Ge => (Order::AtMost, false, true),
                Cmp::Equ => (Order::Apart, true, false),
                Cmp::Neu => (Order::Equal, true, false),
                Cmp::Ltu => (Order::AtMost, true, true),
                Cmp::Leu => (Order::Less, true, true),
                Cmp::Gtu => (Order::AtMost, true, false),
                Cmp::Geu => (Order::Less, true, false),
                Cmp::Num => (Order::Ordered, false, false),
                Cmp::Nan => (Order::Ordered, true, false),
            };
            if exchanged {
                std::mem::swap(&mut a, &mut b);
            }
            let relation = if ty == FloatTy::F32 { Relation::Single(order) } else { Relation::Double(order) };
            (relation, negate)
        }
        _ => return None,
    };
    let wide = matches!(
        relation,
        Relation::WideEqual | Relation::WideLessUnsigned | Relation::WideLessSigned | Relation::Double(_)
    );
    let row = |map: &mut RegisterMap, operand| if wide { map.wide(operand) } else { map.narrow(operand) };
    let (a, b) = (row(map, a), row(map, b));
    rows(op, Kind::Compare { relation, negate }, 0, [a, b, Some(0)])
}
