//! Logic, shifts and bit fields.

use super::opcode::Opcode;
use super::operand::{Cx, Fit};
use super::{Lowered, Refusal, Res, exactly, wrong_count};
use crate::ptx::ast::{Operand, OperandKind};
use crate::ptx::types::Type;
use warpbound_core::isa::TypeKind;
use warpbound_core::program::sem::{
    Carry, IntOp, IntTy, Lop3Pred, Operand as Src, PredOp, PredSrc, PrmtMode, Sem,
};

const B32: Type = Type::Bits(32);

pub(super) fn lower<'a>(cx: &mut Cx<'a, '_>, op: &mut Opcode<'a>, args: &[Operand]) -> Res<Lowered<'a>> {
    let root = op.root;
    if op.first_type() == Some(Type::Pred) {
        return Ok(Lowered::new(predicates(cx, op, args)?, root, TypeKind::Pred));
    }
    let sem = match root {
        "shl" | "shr" => shift(cx, op, args)?,
        "shf" => funnel(cx, op, args)?,
        "lop3" => lop3(cx, op, args)?,
        "prmt" => prmt(cx, op, args)?,
        "bfe" | "bfi" => field(cx, op, args)?,
        "szext" | "bmsk" => mask(cx, op, args)?,
        "popc" | "clz" | "bfind" => count(cx, op, args)?,
        _ => plain(cx, op, args)?,
    };
    Ok(Lowered::new(sem, root, TypeKind::Int))
}

fn int_type(op: &mut Opcode<'_>) -> Res<(Type, IntTy)> {
    let ty = op.ty()?;
    // older compilers use floating-point types for untyped bits
    let int = ty.int().unwrap_or(ty.raw());
    if int.bits >= 16 && ty != Type::Pred {
        Ok((ty, int))
    } else {
        Err(Refusal::new(format!("`{}` does not work on this type", op.text), ""))
    }
}

fn int(operation: IntOp, ty: IntTy, dst: warpbound_core::base::RegId, src: &[Src]) -> Sem {
    let mut all = [Src::Imm(0); 4];
    all.iter_mut().zip(src).for_each(|(slot, src)| *slot = *src);
    Sem::Int { op: operation, ty, dst, src: all, carry: Carry::default(), saturate: false }
}

fn predicates(cx: &mut Cx<'_, '_>, op: &mut Opcode<'_>, args: &[Operand]) -> Res<Sem> {
    op.ty()?;
    let operation = match op.root {
        "and" => PredOp::And,
        "or" => PredOp::Or,
        "xor" => PredOp::Xor,
        "not" => PredOp::Not,
        _ => return Err(Refusal::new(format!("`{}` does not work on predicates", op.text), "")),
    };
    let (d, a, b) = if operation == PredOp::Not {
        let [d, a] = exactly(op, args)?;
        (d, cx.pred_src(a)?, PredSrc::Const(false))
    } else {
        let [d, a, b] = exactly(op, args)?;
        (d, cx.pred_src(a)?, cx.pred_src(b)?)
    };
    Ok(Sem::PredLogic { op: operation, dst: cx.pred_dst(d)?, a, b })
}

fn shift(cx: &mut Cx<'_, '_>, op: &mut Opcode<'_>, args: &[Operand]) -> Res<Sem> {
    let (ty, mut kind) = int_type(op)?;
    let [d, a, b] = exactly(op, args)?;
    let a = cx.src(a, ty)?;
    // the shift amount always has 32 bits
    let b = cx.source(b, Type::Unsigned(32), Fit::Wider)?;
    let dst = cx.dst(d, ty)?;
    let operation = if op.root == "shl" { IntOp::Shl } else { IntOp::Shr };
    kind.signed &= operation == IntOp::Shr;
    Ok(int(operation, kind, dst, &[a, b]))
}

fn funnel(cx: &mut Cx<'_, '_>, op: &mut Opcode<'_>, args: &[Operand]) -> Res<Sem> {
    let left = op.need("direction", &[("l", true), ("r", false)])?;
    let wrap = op.need("mode", &[("wrap", true), ("clamp", false)])?;
    let ty = op.ty()?;
    if ty != B32 {
        return Err(Refusal::new(format!("`{}`: funnel shifts work on .b32", op.text), ""));
    }
    let [d, a, b, c] = exactly(op, args)?;
    let src = cx.srcs([a, b, c], ty)?;
    let dst = cx.dst(d, ty)?;
    let operation = if left { IntOp::FunnelLeft { wrap } } else { IntOp::FunnelRight { wrap } };
    Ok(int(operation, ty.raw(), dst, &src))
}

fn lop3(cx: &mut Cx<'_, '_>, op: &mut Opcode<'_>, args: &[Operand]) -> Res<Sem> {
    let combine = op.choose(&[("and", PredOp::And), ("or", PredOp::Or)]);
    let ty = op.ty()?;
    if let Some(combine) = combine {
        return lop3_with_predicate(cx, op, args, combine);
    }
    let [d, a, b, c, table] = exactly(op, args)?;
    let src = cx.srcs([a, b, c], ty)?;
    let dst = cx.dst(d, ty)?;
    match u8::try_from(cx.constant(table)?) {
        Ok(table) if ty == B32 => Ok(int(IntOp::Lop3(table), ty.raw(), dst, &src)),
        _ => Err(Refusal::new(format!("`{}` takes .b32 and a truth table of 8 bits", op.text), "")),
    }
}

/// Lowers the form with the destinations `d|p`, three sources, the truth table and a predicate.
fn lop3_with_predicate(cx: &mut Cx<'_, '_>, op: &Opcode<'_>, args: &[Operand], combine: PredOp) -> Res<Sem> {
    let [d, a, b, c, table, q] = exactly(op, args)?;
    let src = cx.srcs([a, b, c], B32)?;
    let (Ok(table), OperandKind::Pair(word, _)) = (u8::try_from(cx.constant(table)?), &d.kind) else {
        let hint = "write it as `lop3.and.b32 d|p, a, b, c, 0x80, q`";
        return Err(Refusal::new(
            format!("`{}` takes a truth table of 8 bits and gives a predicate", op.text),
            hint,
        ));
    };
    let unwanted = cx.text(*word) == "_";
    let with = cx.pred_src(q)?;
    let (dst, pred) = cx.value_and_pred(d, B32)?;
    let dst = Some(dst).filter(|_| !unwanted);
    Ok(Sem::Lop3Pred(Box::new(Lop3Pred { table, src, dst, pred, op: combine, with })))
}

fn prmt(cx: &mut Cx<'_, '_>, op: &mut Opcode<'_>, args: &[Operand]) -> Res<Sem> {
    let mode = op
        .choose(&[
            ("f4e", PrmtMode::F4e),
            ("b4e", PrmtMode::B4e),
            ("rc8", PrmtMode::Rc8),
            ("ecl", PrmtMode::Ecl),
            ("ecr", PrmtMode::Ecr),
            ("rc16", PrmtMode::Rc16),
        ])
        .unwrap_or(PrmtMode::Default);
    let ty = op.ty()?;
    let [d, a, b, c] = exactly(op, args)?;
    let src = cx.srcs([a, b, c], B32)?;
    Ok(int(IntOp::Prmt(mode), ty.raw(), cx.dst(d, B32)?, &src))
}

fn field(cx: &mut Cx<'_, '_>, op: &mut Opcode<'_>, args: &[Operand]) -> Res<Sem> {
    let (ty, kind) = int_type(op)?;
    if op.root == "bfe" {
        let [d, a, pos, len] = exactly(op, args)?;
        let src = [cx.src(a, ty)?, cx.src(pos, B32)?, cx.src(len, B32)?];
        return Ok(int(IntOp::Bfe, kind, cx.dst(d, ty)?, &src));
    }
    let [d, a, b, pos, len] = exactly(op, args)?;
    let src = [cx.src(a, ty)?, cx.src(b, ty)?, cx.src(pos, B32)?, cx.src(len, B32)?];
    Ok(int(IntOp::Bfi, kind, cx.dst(d, ty)?, &src))
}

fn mask(cx: &mut Cx<'_, '_>, op: &mut Opcode<'_>, args: &[Operand]) -> Res<Sem> {
    let wrap = op.need("mode", &[("wrap", true), ("clamp", false)])?;
    let (ty, kind) = int_type(op)?;
    let [d, a, b] = exactly(op, args)?;
    let src = [cx.src(a, ty)?, cx.src(b, B32)?];
    let dst = cx.dst(d, ty)?;
    if kind.bits != 32 {
        return Err(Refusal::new(format!("`{}` works on 32 bits", op.text), ""));
    }
    let operation = if op.root == "bmsk" { IntOp::Bmsk { wrap } } else { IntOp::Szext { wrap } };
    Ok(int(operation, kind, dst, &src))
}

fn count(cx: &mut Cx<'_, '_>, op: &mut Opcode<'_>, args: &[Operand]) -> Res<Sem> {
    let shift_amount = op.take("shiftamt");
    let (ty, kind) = int_type(op)?;
    let operation = match op.root {
        "popc" => IntOp::Popc,
        "clz" => IntOp::Clz,
        _ => IntOp::Bfind { shift_amount },
    };
    let [d, a] = exactly(op, args)?;
    let a = cx.src(a, ty)?;
    Ok(int(operation, kind, cx.dst(d, B32)?, &[a]))
}

fn plain(cx: &mut Cx<'_, '_>, op: &mut Opcode<'_>, args: &[Operand]) -> Res<Sem> {
    let (ty, kind) = int_type(op)?;
    let (operation, count) = match op.root {
        "and" => (IntOp::And, 2),
        "or" => (IntOp::Or, 2),
        "xor" => (IntOp::Xor, 2),
        "not" => (IntOp::Not, 1),
        "cnot" => (IntOp::Cnot, 1),
        "brev" => (IntOp::Brev, 1),
        "fns" => (IntOp::Fns, 3),
        root => return Err(Refusal::new(format!("`{root}` is no operation on bits"), "")),
    };
    if args.len() != count + 1 {
        return Err(wrong_count(op, args, &(count + 1).to_string()));
    }
    let mut src = [Src::Imm(0); 4];
    for (slot, arg) in src.iter_mut().zip(&args[1..]) {
        *slot = cx.src(arg, ty)?;
    }
    Ok(int(operation, kind, cx.dst(&args[0], ty)?, &src))
}
