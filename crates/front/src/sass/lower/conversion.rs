//! Types and sources of conversions, and conversions without modifiers, of which other operations are
//! composed.

use super::{Cx, Operand, Res, U32, refuse};
use warpbound_core::base::RegId;
use warpbound_core::program::sem::{Convert, IntOp, IntTy, Operand as Src, Round, Sem, ValueTy};

/// Returns a conversion without modifiers.
pub(super) fn plain(dst: RegId, src: Src, from: ValueTy, to: ValueTy) -> Sem {
    Sem::Convert(Box::new(unmodified(dst, src, from, to)))
}

/// Returns a conversion whose modifiers are not set.
pub(super) fn unmodified(dst: RegId, src: Src, from: ValueTy, to: ValueTy) -> Convert {
    Convert {
        dst,
        src,
        src2: None,
        from,
        to,
        round: Round::Nearest,
        integral: false,
        sat: false,
        ftz: false,
        relu: false,
        finite: false,
    }
}

/// Returns a word as 64 bits.
pub(super) fn widened(cx: &mut Cx, source: Src, from: IntTy) -> Src {
    match source {
        Src::Imm(value) if from.signed => Src::Imm(i64::from(value as u32 as i32) as u64),
        Src::Imm(value) => Src::Imm(value),
        source => {
            let dst = cx.wide();
            let to = IntTy { bits: 64, signed: from.signed };
            cx.push(plain(dst, source, ValueTy::Int(from), ValueTy::Int(to)));
            Src::Reg(dst)
        }
    }
}

/// Returns the integer type that a modifier such as `.S16` names.
pub(super) fn int_type(name: &str) -> Res<IntTy> {
    let (sign, bits) = name.split_at(name.len().min(2));
    match bits.parse() {
        Ok(bits @ (8 | 16 | 32 | 64)) => Ok(IntTy { bits, signed: sign == ".S" }),
        _ => refuse(format!("`{name}` is no integer type"), ""),
    }
}

/// Returns the position of the byte of a word that an operand or a modifier selects.
pub(super) fn byte_of(part: &str) -> u64 {
    match part {
        ".B1" => 8,
        ".B2" => 16,
        ".B3" => 24,
        _ => 0,
    }
}

/// Returns the selected half of a register with its signs.
pub(super) fn half_source(cx: &mut Cx, operand: &Operand) -> Res<Src> {
    const SIGN: u64 = 1 << 15;
    let mut value = cx.raw(operand)?;
    if operand.half {
        value = cx.value(IntOp::Shr, U32, &[value, Src::Imm(16)]);
    }
    if operand.abs {
        value = cx.value(IntOp::And, U32, &[value, Src::Imm(SIGN - 1)]);
    }
    if operand.neg {
        value = cx.value(IntOp::Xor, U32, &[value, Src::Imm(SIGN)]);
    }
    Ok(value)
}
