//! Exchange between the lanes of a warp.

use super::opcode::Opcode;
use super::operand::Cx;
use super::{Lowered, Refusal, Res, exactly, wrong_count};
use crate::ptx::ast::Operand;
use crate::ptx::types::Type;
use warpbound_core::isa::TypeKind;
use warpbound_core::program::sem::{IntOp, Operand as Src, PredSrc, Sem, Shuffle, ShuffleMode, VoteMode};

const B32: Type = Type::Bits(32);

pub(super) fn lower<'a>(cx: &mut Cx<'a, '_>, op: &mut Opcode<'a>, args: &[Operand]) -> Res<Lowered<'a>> {
    let sem = match op.root {
        "shfl" => shuffle(cx, op, args)?,
        "vote" => vote(cx, op, args)?,
        "match" => matching(cx, op, args)?,
        "redux" => reduce(cx, op, args)?,
        "elect" => elect(cx, op, args)?,
        _ => {
            op.ty()?;
            let [d] = exactly(op, args)?;
            Sem::ActiveMask { dst: cx.dst(d, B32)? }
        }
    };
    Ok(Lowered::new(sem, op.root, TypeKind::Int))
}

/// Consumes the member mask, which is the last operand with `.sync`.
fn members(cx: &mut Cx<'_, '_>, op: &mut Opcode<'_>, args: &mut &[Operand]) -> Res<Option<Src>> {
    if !op.take("sync") {
        return Ok(None);
    }
    let Some((last, rest)) = args.split_last() else { return Err(wrong_count(op, args, "more")) };
    *args = rest;
    cx.src(last, B32).map(Some)
}

fn shuffle(cx: &mut Cx<'_, '_>, op: &mut Opcode<'_>, args: &[Operand]) -> Res<Sem> {
    let mode = op.need(
        "mode",
        &[
            ("up", ShuffleMode::Up),
            ("down", ShuffleMode::Down),
            ("bfly", ShuffleMode::Bfly),
            ("idx", ShuffleMode::Idx),
        ],
    )?;
    let ty = op.ty()?;
    if ty.bits() != 32 {
        return Err(Refusal::new(format!("`{}`: shuffles move 32 bits", op.text), "shuffle the halves"));
    }
    let mut args = args;
    let members = members(cx, op, &mut args)?;
    let [d, a, b, c] = exactly(op, args)?;
    let a = cx.src(a, ty)?;
    let [b, c] = cx.srcs([b, c], B32)?;
    let (dst, pred) = cx.value_and_pred(d, ty)?;
    Ok(Sem::Shuffle(Box::new(Shuffle { mode, dst, pred, a, b, c, members })))
}

fn vote(cx: &mut Cx<'_, '_>, op: &mut Opcode<'_>, args: &[Operand]) -> Res<Sem> {
    let mode = op.need(
        "mode",
        &[
            ("all", VoteMode::All),
            ("any", VoteMode::Any),
            ("uni", VoteMode::Uni),
            ("ballot", VoteMode::Ballot),
        ],
    )?;
    let ty = op.ty()?;
    let mut args = args;
    let members = members(cx, op, &mut args)?;
    let [d, p] = exactly(op, args)?;
    let p = cx.pred_src(p)?;
    let dst = match mode {
        VoteMode::Ballot => cx.dst(d, B32)?,
        _ if ty == Type::Pred => cx.pred_dst(d)?,
        _ => return Err(Refusal::new(format!("`{}`: the result is a predicate", op.text), "use .pred")),
    };
    Ok(Sem::Vote { mode, dst, p, members })
}

fn matching(cx: &mut Cx<'_, '_>, op: &mut Opcode<'_>, args: &[Operand]) -> Res<Sem> {
    let all = op.need("mode", &[("all", true), ("any", false)])?;
    let ty = op.ty()?;
    let mut args = args;
    let members = members(cx, op, &mut args)?.ok_or_else(|| not_sync(op))?;
    let [d, a] = exactly(op, args)?;
    let src = cx.src(a, ty)?;
    let (dst, pred) = cx.value_and_pred(d, B32)?;
    if pred.is_some() && !all {
        return Err(Refusal::new(format!("`{}` returns only a mask", op.text), ""));
    }
    Ok(Sem::Match { all, bits: ty.bits(), dst, pred, src, members })
}

fn elect(cx: &mut Cx<'_, '_>, op: &mut Opcode<'_>, args: &[Operand]) -> Res<Sem> {
    let mut args = args;
    let members = members(cx, op, &mut args)?.ok_or_else(|| not_sync(op))?;
    let [d] = exactly(op, args)?;
    let (leader, elected) = cx.maybe_value_and_pred(d, B32)?;
    if elected.is_none() {
        let hint = "write `%r1|%p1`, or `_|%p1`";
        return Err(
            Refusal::new(format!("`{}` returns a register and a predicate", op.text), hint).at(d.span)
        );
    }
    Ok(Sem::Elect { leader, elected, p: PredSrc::Const(true), members: Some(members) })
}

fn not_sync(op: &Opcode<'_>) -> Refusal {
    Refusal::new(format!("`{}` needs .sync and a member mask", op.text), "")
}

fn reduce(cx: &mut Cx<'_, '_>, op: &mut Opcode<'_>, args: &[Operand]) -> Res<Sem> {
    let operation = op.need(
        "operation",
        &[
            ("add", IntOp::Add),
            ("min", IntOp::Min),
            ("max", IntOp::Max),
            ("and", IntOp::And),
            ("or", IntOp::Or),
            ("xor", IntOp::Xor),
        ],
    )?;
    let ty = op.ty()?;
    if ty == Type::F32 && matches!(operation, IntOp::Min | IntOp::Max) {
        let (magnitude, nan) = (op.take("abs"), op.take("NaN"));
        let mut args = args;
        let members = members(cx, op, &mut args)?.ok_or_else(|| not_sync(op))?;
        let [d, a] = exactly(op, args)?;
        let (src, dst) = (cx.src(a, ty)?, cx.dst(d, ty)?);
        return Ok(Sem::ReduceFloat { largest: operation == IntOp::Max, magnitude, nan, dst, src, members });
    }
    let Some(int) = ty.int().filter(|int| int.bits == 32) else {
        return Err(Refusal::new(format!("`{}` reduces 32-bit integers only", op.text), "use shuffles"));
    };
    let mut args = args;
    let members = members(cx, op, &mut args)?.ok_or_else(|| not_sync(op))?;
    let [d, a] = exactly(op, args)?;
    let src = cx.src(a, ty)?;
    Ok(Sem::Reduce { op: operation, ty: int, dst: cx.dst(d, ty)?, src, members })
}
