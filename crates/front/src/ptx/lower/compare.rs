//! Comparisons and selections.

use super::opcode::Opcode;
use super::operand::{Cx, Fit};
use super::{Lowered, Refusal, Res, exactly, wrong_count};
use crate::ptx::ast::Operand;
use crate::ptx::types::Type;
use warpbound_core::program::sem::{Cmp, Compare, CompareInto, FloatTy, PredOp, Sem, ValueTy};

/// The relations, and whether they make the type unsigned.
const RELATIONS: [(&str, (Cmp, bool)); 18] = [
    ("eq", (Cmp::Eq, false)),
    ("ne", (Cmp::Ne, false)),
    ("lt", (Cmp::Lt, false)),
    ("le", (Cmp::Le, false)),
    ("gt", (Cmp::Gt, false)),
    ("ge", (Cmp::Ge, false)),
    ("lo", (Cmp::Lt, true)),
    ("ls", (Cmp::Le, true)),
    ("hi", (Cmp::Gt, true)),
    ("hs", (Cmp::Ge, true)),
    ("equ", (Cmp::Equ, false)),
    ("neu", (Cmp::Neu, false)),
    ("ltu", (Cmp::Ltu, false)),
    ("leu", (Cmp::Leu, false)),
    ("gtu", (Cmp::Gtu, false)),
    ("geu", (Cmp::Geu, false)),
    ("num", (Cmp::Num, false)),
    ("nan", (Cmp::Nan, false)),
];

const COMBINES: [(&str, PredOp); 3] = [("and", PredOp::And), ("or", PredOp::Or), ("xor", PredOp::Xor)];

pub(super) fn lower<'a>(cx: &mut Cx<'a, '_>, op: &mut Opcode<'a>, args: &[Operand]) -> Res<Lowered<'a>> {
    match op.root {
        "selp" => select(cx, op, args),
        "slct" => select_sign(cx, op, args),
        _ => compare(cx, op, args),
    }
}

fn compare<'a>(cx: &mut Cx<'a, '_>, op: &mut Opcode<'a>, args: &[Operand]) -> Res<Lowered<'a>> {
    let set = op.root == "set";
    let (cmp, unsigned) = op.need("comparison", &RELATIONS)?;
    let combine = op.choose(&COMBINES);
    let ftz = op.take("ftz");
    let (to, ty) = types(op, set)?;
    let value = source_type(op, cmp, unsigned, ty)?;
    let (d, a, b, p) = match (args, combine) {
        ([d, a, b], None) => (d, a, b, None),
        ([d, a, b, p], Some(combine)) => (d, a, b, Some((combine, p))),
        _ => return Err(wrong_count(op, args, if combine.is_some() { "4" } else { "3" })),
    };
    let [a, b] = cx.srcs([a, b], ty)?;
    let combine = match p {
        Some((combine, p)) => Some((combine, cx.pred_src(p)?)),
        None => None,
    };
    let into = match to {
        Type::Pred => {
            let (p, q) = cx.pred_pair(d)?;
            CompareInto::Preds(p, q)
        }
        _ if !fits(to, ty) => {
            let hint = "the result is .u32, .s32 or .f32; halves may also give .u16, .s16 or halves, and packed halves may \
                        give packed halves";
            return Err(Refusal::new(format!("`{}`: there is no such result", op.text), hint));
        }
        _ => match float(to) {
            Some(float) => CompareInto::Float(cx.dst(d, to)?, float),
            None => CompareInto::Ones(cx.dst(d, to)?),
        },
    };
    let sem = Sem::Compare(Box::new(Compare { cmp, ty: value, ftz, a, b, combine, into }));
    Ok(Lowered::new(sem, op.root, ty.kind()))
}

/// Returns the type of the result and that of the sources.
fn types(op: &mut Opcode<'_>, set: bool) -> Res<(Type, Type)> {
    let known = |ty: &Type| float(*ty).is_some() || ty.int().is_some();
    let list: &[Type] = &op.types();
    match (set, list) {
        (true, [to, ty]) if known(to) && known(ty) => Ok((*to, *ty)),
        (false, [ty]) if known(ty) => Ok((Type::Pred, *ty)),
        _ => {
            op.finish()?;
            let hint = if set {
                "write the type of the result, then the type of the sources"
            } else {
                "write the type of the sources"
            };
            Err(Refusal::new(format!("`{}`: wrong types", op.text), hint))
        }
    }
}

/// Returns a floating-point type that can be compared.
fn float(ty: Type) -> Option<FloatTy> {
    ty.float().filter(|float| *float != FloatTy::F32x2)
}

/// Returns whether `set` supports these types of result and sources.
fn fits(to: Type, from: Type) -> bool {
    let packed = |ty| float(ty).is_some_and(|float| float.half().is_some());
    let half = matches!(from, Type::F16 | Type::Bf16);
    match to {
        Type::Unsigned(32) | Type::Signed(32) | Type::Bits(32) => true,
        Type::F16x2 | Type::Bf16x2 => to == from,
        Type::F32 | Type::F16 | Type::Bf16 => !packed(from),
        Type::Unsigned(16) | Type::Signed(16) => half,
        _ => false,
    }
}

fn source_type(op: &Opcode<'_>, cmp: Cmp, unsigned: bool, ty: Type) -> Res<ValueTy> {
    let wrong = || Refusal::new(format!("`{}`: this comparison does not fit this type", op.text), "");
    match ty.int().map(ValueTy::Int).or(float(ty).map(ValueTy::Float)).ok_or_else(wrong)? {
        ValueTy::Float(_) if unsigned => Err(wrong()),
        ValueTy::Int(int) if int.bits < 16 => Err(wrong()),
        ValueTy::Int(_) if !matches!(cmp, Cmp::Eq | Cmp::Ne | Cmp::Lt | Cmp::Le | Cmp::Gt | Cmp::Ge) => {
            Err(wrong())
        }
        ValueTy::Int(mut int) => {
            int.signed &= !unsigned;
            Ok(ValueTy::Int(int))
        }
        float @ ValueTy::Float(_) => Ok(float),
    }
}

fn select<'a>(cx: &mut Cx<'a, '_>, op: &mut Opcode<'a>, args: &[Operand]) -> Res<Lowered<'a>> {
    let ty = op.ty()?;
    let [d, a, b, p] = exactly(op, args)?;
    let [a, b] = cx.srcs([a, b], ty)?;
    let p = cx.pred_src(p)?;
    let dst = cx.dst(d, ty)?;
    Ok(Lowered::new(Sem::Select { dst, a, b, p }, op.root, ty.kind()))
}

fn select_sign<'a>(cx: &mut Cx<'a, '_>, op: &mut Opcode<'a>, args: &[Operand]) -> Res<Lowered<'a>> {
    let ftz = op.take("ftz");
    let (ty, by) = op.two_types()?;
    let float = match by {
        Type::Signed(32) => false,
        Type::F32 => true,
        _ => return Err(Refusal::new(format!("`{}` selects by .s32 or .f32", op.text), "")),
    };
    let [d, a, b, c] = exactly(op, args)?;
    let [a, b] = cx.srcs([a, b], ty)?;
    let c = cx.source(c, by, Fit::Exact)?;
    let dst = cx.dst(d, ty)?;
    Ok(Lowered::new(Sem::SelectSign { dst, a, b, c, float, ftz }, op.root, ty.kind()))
}
