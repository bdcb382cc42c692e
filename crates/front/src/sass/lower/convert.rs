//! Lowers conversions.

use super::conversion::{byte_of, half_source, int_type, unmodified};
use super::{Cx, Decoded, Res, Role, S32, U32, double, float, refuse};
use crate::sass::table::meaning::Convert as Name;
use warpbound_core::program::sem::{Convert, FloatTy, IntOp, IntTy, Operand as Src, Round, Sem, ValueTy};

fn float_type(name: &str) -> FloatTy {
    match name {
        ".F16" => FloatTy::F16,
        ".F64" => FloatTy::F64,
        _ => FloatTy::F32,
    }
}

/// Returns the type of a modifier; without one it is the usual type.
fn value_type(d: &Decoded, name: &str, usual: ValueTy) -> Res<ValueTy> {
    Ok(match d.modifier(name) {
        "" => usual,
        text @ (".F16" | ".F32" | ".F64") => ValueTy::Float(float_type(text)),
        ".BF16" => ValueTy::Float(FloatTy::Bf16),
        text => ValueTy::Int(int_type(text)?),
    })
}

/// Lowers a conversion of a generation whose opcodes or modifiers name the types.
fn typed(cx: &mut Cx, d: &Decoded, name: Name) -> Res<Role> {
    let (single, word) = (ValueTy::Float(FloatTy::F32), ValueTy::Int(S32));
    let (usual_from, usual_to) = match name {
        Name::FloatToInt => (single, word),
        Name::IntToFloat => (word, single),
        _ => (single, single),
    };
    let to = value_type(d, "to", usual_to)?;
    let from = if name == Name::Integral { to } else { value_type(d, "from", usual_from)? };
    let src = source(cx, d, from)?;
    let round = float::round(d.modifier("round"));
    let integral = matches!(name, Name::FloatToInt | Name::Integral);
    converted(cx, d, (src, from, to), round, integral)
}

/// Adds a conversion to the destination, which is a pair of registers for 64 bits.
fn converted(
    cx: &mut Cx,
    d: &Decoded,
    (src, from, to): (Src, ValueTy, ValueTy),
    round: Round,
    integral: bool,
) -> Res<Role> {
    let wide = to.bytes() == 8;
    let dst = if wide { cx.wide() } else { cx.dst(d, "d")? };
    let (sat, ftz) = (d.has("sat"), d.has("ftz"));
    let convert = Convert { round, integral, sat, ftz, ..unmodified(dst, src, from, to) };
    cx.push(Sem::Convert(Box::new(convert)));
    if wide {
        cx.unpack(d, "d", dst);
    }
    Ok(Role::PLAIN)
}

/// Lowers the conversion of two numbers of single precision to halves in one register.
fn packed(cx: &mut Cx, d: &Decoded) -> Res<Role> {
    let to = if d.modifier("to") == ".BF16" { FloatTy::Bf16x2 } else { FloatTy::F16x2 };
    let (a, b) = (float::source(cx, d, "a")?, float::source(cx, d, "b")?);
    let dst = cx.dst(d, "d")?;
    let (round, relu) = (float::round(d.modifier("round")), d.has("relu"));
    let of_first = unmodified(dst, a, ValueTy::Float(FloatTy::F32), ValueTy::Float(to));
    let convert = Convert { src2: Some(b), round, relu, ..of_first };
    cx.push(Sem::Convert(Box::new(convert)));
    Ok(Role::PLAIN)
}

pub(super) fn lower(cx: &mut Cx, d: &Decoded, name: Name) -> Res<Role> {
    match name {
        Name::FloatToInt | Name::IntToFloat | Name::FloatToFloat | Name::Integral => {
            return typed(cx, d, name);
        }
        Name::PackHalves => return packed(cx, d),
        Name::ClampWord
        | Name::PackWords
        | Name::PackBytes
        | Name::ToTf32
        | Name::PackSmall
        | Name::NarrowSmall
        | Name::WidenSmall => return super::narrow::lower(cx, d, name),
        Name::F2f | Name::F2i | Name::I2f | Name::I2i => {}
    }
    if d.operand("d").is_some_and(|operand| operand.cc) {
        return refuse(format!("{} with the condition code", d.op.name), "");
    }
    let from = match name {
        Name::F2i | Name::F2f => ValueTy::Float(float_type(d.modifier("from"))),
        _ => ValueTy::Int(int_type(d.modifier("from"))?),
    };
    let to = match name {
        Name::F2f | Name::I2f => ValueTy::Float(float_type(d.modifier("to"))),
        _ => ValueTy::Int(int_type(d.modifier("to"))?),
    };
    let single = ValueTy::Float(FloatTy::F32);
    let half = ValueTy::Float(FloatTy::F16);
    if d.has("ftz") && ![from, to].contains(&single) || d.has("ftz") && [from, to].contains(&half) {
        return refuse(
            format!("{}.FTZ between these types", d.op.name),
            "compilers flush subnormal numbers of single precision only",
        );
    }
    let src = source(cx, d, from)?;
    let rounding = d.modifier("round");
    let round = match rounding {
        // F2F within a format rounds to an integral number or passes the number through
        ".PASS" | ".ROUND" => Round::Nearest,
        rounding => float::round(rounding),
    };
    let integral = match name {
        Name::F2i => true,
        Name::F2f => matches!(rounding, ".ROUND" | ".FLOOR" | ".CEIL" | ".TRUNC"),
        _ => false,
    };
    converted(cx, d, (src, from, to), round, integral)
}

/// Returns the selected part of the source with its signs.
fn source(cx: &mut Cx, d: &Decoded, from: ValueTy) -> Res<Src> {
    let Some(operand) = d.operand("b") else { return refuse(format!("{} without a source", d.op.name), "") };
    match from {
        ValueTy::Float(FloatTy::F64) => double::source(cx, d, "b"),
        ValueTy::Float(FloatTy::F32) => float::source(cx, d, "b"),
        ValueTy::Float(_) => half_source(cx, operand),
        ValueTy::Int(ty) if ty.bits == 64 => {
            if operand.neg || operand.abs {
                return refuse(format!("{} of a double word with a sign", d.op.name), "");
            }
            cx.pair(operand)
        }
        ValueTy::Int(ty) => {
            if (operand.neg || operand.abs) && !ty.signed {
                return refuse(format!("{} of an unsigned integer with a sign", d.op.name), "");
            }
            // The negation of the smallest number of a width is that number again, as for `abs.s16`
            // and `neg.s16`, since ptxas merges one of these and a conversion into one instruction.
            let mut value = cx.raw(operand)?;
            let byte = if operand.half { 16 } else { byte_of(operand.part) };
            if byte > 0 {
                value = cx.value(IntOp::Shr, U32, &[value, Src::Imm(byte)]);
            }
            if ty.bits < 32 && (operand.abs || operand.neg) {
                let length = Src::Imm(ty.bits.into());
                value = cx.value(
                    IntOp::Bfe,
                    IntTy { bits: 32, signed: ty.signed },
                    &[value, Src::Imm(0), length],
                );
            }
            if operand.abs {
                value = cx.value(IntOp::Abs, S32, &[value]);
            }
            if operand.neg {
                value = cx.value(IntOp::Neg, U32, &[value]);
            }
            Ok(value)
        }
    }
}
