//! Lowers single precision.

use super::{Cx, Decoded, Operand, Res, Role, U32, Value, refuse};
use crate::sass::table::meaning::Float as Name;
use warpbound_core::program::sem::{
    FloatMode, FloatOp, FloatTy, IntOp, Operand as Src, PredSrc, Round, Sem, ValueTy,
};

const SIGN: u64 = 1 << 31;

/// Returns a source with its signs.
pub(super) fn source(cx: &mut Cx, d: &Decoded, name: &str) -> Res<Src> {
    let raw = cx.source(d, name)?;
    Ok(match d.operand(name) {
        Some(operand) => signed(cx, raw, operand),
        None => raw,
    })
}

/// Applies signs to a source. They only change the sign bit, without rounding and without changing
/// NaN.
pub(super) fn signed(cx: &mut Cx, source: Src, operand: &Operand) -> Src {
    match (source, operand.abs, operand.neg) {
        (source, false, false) => source,
        (Src::Imm(bits), abs, neg) => {
            let bits = if abs { bits & !SIGN } else { bits };
            Src::Imm(if neg { bits ^ SIGN } else { bits })
        }
        (source, true, false) => cx.value(IntOp::And, U32, &[source, Src::Imm(SIGN - 1)]),
        (source, true, true) => cx.value(IntOp::Or, U32, &[source, Src::Imm(SIGN)]),
        (source, false, true) => cx.value(IntOp::Xor, U32, &[source, Src::Imm(SIGN)]),
    }
}

pub(super) fn round(name: &str) -> Round {
    match name {
        ".RM" | ".FLOOR" => Round::Down,
        ".RP" | ".CEIL" => Round::Up,
        ".RZ" | ".TRUNC" => Round::Zero,
        _ => Round::Nearest,
    }
}

fn mode(d: &Decoded) -> Res<FloatMode> {
    let ftz = match d.modifier("ftz") {
        "" => false,
        ".FTZ" => true,
        other => return refuse(format!("{}{other}", d.op.name), "compile without --use_fast_math"),
    };
    Ok(FloatMode { round: round(d.modifier("round")), ftz, sat: d.has("sat"), ..FloatMode::default() })
}

pub(super) fn lower(cx: &mut Cx, d: &Decoded, name: Name) -> Res<Role> {
    if d.operand("d").is_some_and(|operand| operand.cc) {
        return refuse(format!("{} with the condition code", d.op.name), "");
    }
    let ty = FloatTy::F32;
    let zero = Src::Imm(0);
    match name {
        Name::Fadd | Name::Fmul => {
            if d.has("scale") {
                return scaled(cx, d);
            }
            let minus = name == Name::Fadd && d.operand("b").is_some_and(|b| b.neg && !b.abs);
            let a = source(cx, d, "a")?;
            // a subtraction is a separate operation
            let b = if minus { cx.source(d, "b")? } else { source(cx, d, "b")? };
            let op = match (name, minus) {
                (Name::Fmul, _) => FloatOp::Mul,
                (_, true) => FloatOp::Sub,
                _ => FloatOp::Add,
            };
            let (mode, dst) = (mode(d)?, cx.dst(d, "d")?);
            cx.push(Sem::Float { op, ty, mode, dst, src: [a, b, zero] });
        }
        Name::Ffma => {
            let (a, b, c) = (source(cx, d, "a")?, source(cx, d, "b")?, source(cx, d, "c")?);
            let (mode, dst) = (mode(d)?, cx.dst(d, "d")?);
            cx.push(Sem::Float { op: FloatOp::Fma, ty, mode, dst, src: [a, b, c] });
        }
        Name::Fmnmx => {
            // the sign of the result is that of the product of the sources without their bars
            let signed = d.has("xorsign");
            let (a, b) = if signed { magnitudes(cx, d)? } else { (source(cx, d, "a")?, source(cx, d, "b")?) };
            let mode = mode(d)?;
            let mode = FloatMode { nan: d.has("nan"), magnitude: signed, sign_product: signed, ..mode };
            let dst = cx.dst(d, "d")?;
            choose(
                cx,
                d,
                (FloatOp::Min, FloatOp::Max),
                |op, dst| Sem::Float { op, ty, mode, dst, src: [a, b, zero] },
                dst,
                false,
            );
        }
        Name::Rro => {
            // `RRO` reduces the argument of a function of `MUFU`, which needs no reduction here
            let b = source(cx, d, "b")?;
            let dst = cx.dst(d, "d")?;
            cx.push(Sem::Mov { dst, src: b });
        }
        Name::MufuHalf => half(cx, d)?,
        Name::Mufu | Name::MufuTurns => special(cx, d, name == Name::MufuTurns)?,
    }
    Ok(Role::PLAIN)
}

/// Returns the sources of which a minimum compares the magnitudes, with their own signs.
fn magnitudes(cx: &mut Cx, d: &Decoded) -> Res<(Src, Src)> {
    let mut bare = |name: &str| match d.operand(name) {
        Some(operand) if operand.abs && !operand.neg => cx.raw(operand),
        _ => refuse(format!("{}.XORSIGN of other sources than magnitudes", d.op.name), ""),
    };
    Ok((bare("a")?, bare("b")?))
}

/// Lowers the multifunction unit on a number of half precision.
fn half(cx: &mut Cx, d: &Decoded) -> Res<()> {
    let Some(operand) = d.operand("a") else { return refuse(format!("{} without a source", d.op.name), "") };
    let op = match d.modifier("op") {
        ".EX2" => FloatOp::Ex2,
        ".TANH" => FloatOp::Tanh,
        other => {
            let hint = "compilers write .EX2 and .TANH";
            return refuse(format!("{}{other}{}", d.op.name, d.modifier("half")), hint);
        }
    };
    let ty = if d.modifier("half") == ".BF16" { FloatTy::Bf16 } else { FloatTy::F16 };
    let a = super::conversion::half_source(cx, operand)?;
    let dst = cx.dst(d, "d")?;
    // a subnormal bfloat16 is one of single precision, which the unit flushes
    let mode = FloatMode { approx: true, ftz: ty == FloatTy::Bf16, ..FloatMode::default() };
    cx.push(Sem::Float { op, ty, mode, dst, src: [a, Src::Imm(0), Src::Imm(0)] });
    Ok(())
}

/// Adds one of two operations, selected by the predicate of a minimum.
pub(super) fn choose(
    cx: &mut Cx,
    d: &Decoded,
    (least, most): (FloatOp, FloatOp),
    operation: impl Fn(FloatOp, warpbound_core::base::RegId) -> Sem,
    dst: warpbound_core::base::RegId,
    wide: bool,
) {
    match cx.pred_src(d, "p") {
        PredSrc::Const(smaller) => cx.push(operation(if smaller { least } else { most }, dst)),
        p => {
            let own = |cx: &mut Cx| if wide { cx.wide() } else { cx.narrow() };
            let (low, high) = (own(cx), own(cx));
            cx.push(operation(least, low));
            cx.push(operation(most, high));
            cx.push(Sem::Select { dst, a: Src::Reg(low), b: Src::Reg(high), p });
        }
    }
}

/// Lowers the multifunction unit. It flushes subnormal sources and results to zero, which the code
/// around it relies on.
fn special(cx: &mut Cx, d: &Decoded, turns: bool) -> Res<()> {
    let mut a = match d.operand("a").map(|operand| operand.value) {
        // the upper word of a double
        Some(Value::Double(bits)) => Src::Imm(bits >> 32),
        _ => source(cx, d, "a")?,
    };
    if turns && matches!(d.modifier("op"), ".COS" | ".SIN") {
        a = radians(cx, a);
    }
    let dst = cx.dst(d, "d")?;
    let op = match d.modifier("op") {
        ".COS" => FloatOp::Cos,
        ".SIN" => FloatOp::Sin,
        ".EX2" => FloatOp::Ex2,
        ".LG2" => FloatOp::Lg2,
        ".RCP" | ".RCP64H" => FloatOp::Rcp,
        ".RSQ" | ".RSQ64H" => FloatOp::Rsqrt,
        ".TANH" => FloatOp::Tanh,
        _ => FloatOp::Sqrt,
    };
    let src = [a, Src::Imm(0), Src::Imm(0)];
    if d.modifier("op").ends_with("64H") {
        if d.has("sat") {
            return refuse(format!("MUFU{}.SAT", d.modifier("op")), "");
        }
        // the operands are the upper words of doubles
        let (whole, result) = (cx.wide(), cx.wide());
        cx.push(Sem::Pack { dst: whole, parts: vec![Src::Imm(0), a], bits: 32 });
        let mode = FloatMode { approx: true, ftz: true, ..FloatMode::default() };
        let src = [Src::Reg(whole), Src::Imm(0), Src::Imm(0)];
        cx.push(Sem::Float { op, ty: FloatTy::F64, mode, dst: result, src });
        cx.high(dst, result);
        return Ok(());
    }
    let mode = FloatMode { approx: true, ftz: true, sat: d.has("sat"), ..FloatMode::default() };
    cx.push(Sem::Float { op, ty: FloatTy::F32, mode, dst, src });
    Ok(())
}

/// Returns an angle that is given in turns, in radians. It is multiplied in double precision, so
/// that the result is rounded once.
fn radians(cx: &mut Cx, turns: Src) -> Src {
    let (single, double) = (ValueTy::Float(FloatTy::F32), ValueTy::Float(FloatTy::F64));
    let (wide, product, dst) = (cx.wide(), cx.wide(), cx.narrow());
    cx.push(super::conversion::plain(wide, turns, single, double));
    let src = [Src::Reg(wide), Src::Imm(std::f64::consts::TAU.to_bits()), Src::Imm(0)];
    cx.push(Sem::Float { op: FloatOp::Mul, ty: FloatTy::F64, mode: FloatMode::default(), dst: product, src });
    cx.push(super::conversion::plain(dst, Src::Reg(product), double, single));
    Src::Reg(dst)
}

/// Lowers a product that is multiplied by a power of two. The compiler writes it for two products
/// one after the other, so the result is taken to be that of two roundings.
fn scaled(cx: &mut Cx, d: &Decoded) -> Res<Role> {
    let factor: f32 = match d.modifier("scale") {
        ".D2" => 0.5,
        ".D4" => 0.25,
        ".D8" => 0.125,
        ".M2" => 2.0,
        ".M4" => 4.0,
        _ => 8.0,
    };
    let (a, b, factor) = (source(cx, d, "a")?, source(cx, d, "b")?, Src::Imm(factor.to_bits().into()));
    let (mode, product, dst) = (mode(d)?, cx.narrow(), cx.dst(d, "d")?);
    let (op, ty) = (FloatOp::Mul, FloatTy::F32);
    let first = FloatMode { sat: false, ..mode };
    cx.push(Sem::Float { op, ty, mode: first, dst: product, src: [a, b, Src::Imm(0)] });
    cx.push(Sem::Float { op, ty, mode, dst, src: [Src::Reg(product), factor, Src::Imm(0)] });
    Ok(Role::PLAIN)
}
