//! Lowers half precision, of which a register holds two numbers.

use super::{Cx, Decoded, Operand, Res, Role, U32, Value, float, refuse};
use crate::sass::table::meaning::Half as Name;
use warpbound_core::program::sem::{
    FloatMode, FloatOp, FloatTy, IntOp, Operand as Src, PrmtMode, Sem, ValueTy,
};

/// The signs of both numbers.
const SIGNS: u64 = 0x8000_8000;
/// The sign of the lower number.
const LOWER_SIGN: u64 = 0x8000;

pub(super) fn lower(cx: &mut Cx, d: &Decoded, name: Name) -> Res<Role> {
    if d.has("single") {
        return widened(cx, d, name);
    }
    if d.modifier("ftz") == ".FMZ" {
        return refuse(format!("{}.FMZ", d.op.name), "");
    }
    if d.operand("p").is_some_and(|p| !p.hidden) && name == Name::Hfma2 {
        return refuse(format!("{}.RELU with a predicate", d.op.name), "");
    }
    let clamp = d.modifier("clamp");
    let mode = FloatMode {
        ftz: d.has("ftz"),
        sat: d.has("sat") || clamp == ".SAT",
        relu: d.has("relu") || clamp == ".RELU",
        nan: d.has("nan"),
        magnitude: d.has("xorsign"),
        sign_product: d.has("xorsign"),
        ..FloatMode::default()
    };
    let ty = ty(d);
    let (a, b) = (source(cx, d, "a")?, source(cx, d, "b")?);
    let zero = Src::Imm(0);
    let (op, c) = match name {
        Name::Hadd2 => (FloatOp::Add, zero),
        Name::Hmul2 => (FloatOp::Mul, zero),
        Name::Hfma2 => (FloatOp::Fma, source(cx, d, "c")?),
        Name::Hmnmx2 => {
            // the sign of the result is that of the product of the sources without their bars
            let (a, b) = if d.has("xorsign") { magnitudes(cx, d)? } else { (a, b) };
            let dst = cx.dst(d, "d")?;
            let operation = |op, dst| Sem::Float { op, ty, mode, dst, src: [a, b, zero] };
            float::choose(cx, d, (FloatOp::Min, FloatOp::Max), operation, dst, false);
            return Ok(Role::PLAIN);
        }
    };
    let dst = cx.dst(d, "d")?;
    cx.push(Sem::Float { op, ty, mode, dst, src: [a, b, c] });
    Ok(Role::PLAIN)
}

/// Returns the type of the numbers of an instruction.
pub(super) fn ty(d: &Decoded) -> FloatTy {
    if d.has("bf16") { FloatTy::Bf16x2 } else { FloatTy::F16x2 }
}

/// Lowers the addition of zero to a half whose result is a number of single precision.
fn widened(cx: &mut Cx, d: &Decoded, name: Name) -> Res<Role> {
    let zero = |name| d.operand(name).is_some_and(|o| super::registers::is_zero(Some(o.value)) && o.neg);
    let other = if zero("a") { "b" } else { "a" };
    if name != Name::Hadd2 || !(zero("a") || zero("b")) || d.has("sat") || d.has("ftz") {
        return refuse(format!("{}.F32 that does more than convert a half", d.op.name), "");
    }
    let b = source(cx, d, other)?;
    let dst = cx.dst(d, "d")?;
    let (half, single) = (ValueTy::Float(FloatTy::F16), ValueTy::Float(FloatTy::F32));
    cx.push(super::conversion::plain(dst, b, half, single));
    Ok(Role::PLAIN)
}

/// Returns the sources of which the instruction compares the magnitudes, with their own signs.
fn magnitudes(cx: &mut Cx, d: &Decoded) -> Res<(Src, Src)> {
    let mut bare = |name: &str| match d.operand(name) {
        Some(operand) if operand.abs && !operand.neg => {
            halves(cx, d, &Operand { abs: false, ..operand.clone() })
        }
        _ => refuse(format!("{}.XORSIGN of other sources than magnitudes", d.op.name), ""),
    };
    Ok((bare("a")?, bare("b")?))
}

/// Returns two numbers with their signs: a register, of which one half may stand for both numbers,
/// or two numbers in the instruction.
pub(super) fn source(cx: &mut Cx, d: &Decoded, name: &str) -> Res<Src> {
    let Some(operand) = d.operand(name) else {
        return refuse(format!("{} without operand {name}", d.op.name), "");
    };
    if let Value::Half(upper) | Value::Brain(upper) = operand.value {
        let Some(Value::Half(lower) | Value::Brain(lower)) = d.operand("low").map(|operand| operand.value)
        else {
            return refuse(format!("{} with one number", d.op.name), "");
        };
        return Ok(Src::Imm(u64::from(upper) << 16 | u64::from(lower)));
    }
    halves(cx, d, operand)
}

/// Returns the two numbers of a source in a register or a constant with their signs.
fn halves(cx: &mut Cx, d: &Decoded, operand: &Operand) -> Res<Src> {
    let raw = cx.raw(operand)?;
    let selector = match operand.part {
        "" => None,
        ".H0_H0" => Some(0x1010),
        ".H1_H1" => Some(0x3232),
        // above the lower half, and below it the negated upper half: a complex number times i
        ".H0_NH1" => Some(0x1032),
        other => return refuse(format!("{} of {other}", d.op.name), ""),
    };
    let mut value = match selector {
        None => raw,
        Some(selector) => {
            cx.value(IntOp::Prmt(PrmtMode::Default), U32, &[raw, Src::Imm(0), Src::Imm(selector)])
        }
    };
    let mut apply = |cx: &mut Cx, op: IntOp, mask: u64| {
        value = match (value, op) {
            (Src::Imm(bits), IntOp::And) => Src::Imm(bits & mask),
            (Src::Imm(bits), _) => Src::Imm(bits ^ mask),
            (value, op) => cx.value(op, U32, &[value, Src::Imm(mask)]),
        };
    };
    if operand.abs {
        apply(cx, IntOp::And, 0xffff_ffff & !SIGNS);
    }
    let negated = if operand.neg { SIGNS } else { 0 };
    let turned = if operand.part == ".H0_NH1" { LOWER_SIGN } else { 0 };
    if negated ^ turned != 0 {
        apply(cx, IntOp::Xor, negated ^ turned);
    }
    Ok(value)
}
