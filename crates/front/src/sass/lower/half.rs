//! Lowers half precision, of which a register holds two numbers.

use super::{Cx, Decoded, Res, Role, U32, Value, refuse};
use crate::sass::table::meaning::Half as Name;
use warpbound_core::program::sem::{
    FloatMode, FloatOp, FloatTy, IntOp, Operand as Src, PrmtMode, Sem, ValueTy,
};

/// The signs of both numbers.
const SIGNS: u64 = 0x8000_8000;

pub(super) fn lower(cx: &mut Cx, d: &Decoded, name: Name) -> Res<Role> {
    if d.has("single") {
        return widened(cx, d, name);
    }
    if d.modifier("ftz") == ".FMZ" {
        return refuse(format!("{} with these modifiers", d.op.name), "");
    }
    let ty = if d.has("bf16") { FloatTy::Bf16x2 } else { FloatTy::F16x2 };
    let mode =
        FloatMode { ftz: d.has("ftz"), sat: d.has("sat"), relu: d.has("relu"), ..FloatMode::default() };
    let (a, b) = (source(cx, d, "a")?, source(cx, d, "b")?);
    let (op, c) = match name {
        Name::Hadd2 => (FloatOp::Add, Src::Imm(0)),
        Name::Hmul2 => (FloatOp::Mul, Src::Imm(0)),
        Name::Hfma2 => (FloatOp::Fma, source(cx, d, "c")?),
    };
    let dst = cx.dst(d, "d")?;
    cx.push(Sem::Float { op, ty, mode, dst, src: [a, b, c] });
    Ok(Role::PLAIN)
}

/// Lowers the addition of zero to a half whose result is a number of single precision.
fn widened(cx: &mut Cx, d: &Decoded, name: Name) -> Res<Role> {
    let zero = |name| d.operand(name).is_some_and(|o| super::carry::is_zero(Some(o.value)) && o.neg);
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

/// Returns two numbers with their signs: a register, of which one half may stand for both numbers,
/// or two numbers in the instruction.
fn source(cx: &mut Cx, d: &Decoded, name: &str) -> Res<Src> {
    let Some(operand) = d.operand(name) else {
        return refuse(format!("{} without operand {name}", d.op.name), "");
    };
    if let Value::Half(upper) = operand.value {
        let Some(Value::Half(lower)) = d.operand("low").map(|operand| operand.value) else {
            return refuse(format!("{} with one number", d.op.name), "");
        };
        return Ok(Src::Imm(u64::from(upper) << 16 | u64::from(lower)));
    }
    let raw = cx.raw(operand)?;
    let selector = match operand.part {
        "" => None,
        ".H0_H0" => Some(0x1010),
        ".H1_H1" => Some(0x3232),
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
    if operand.neg {
        apply(cx, IntOp::Xor, SIGNS);
    }
    Ok(value)
}
