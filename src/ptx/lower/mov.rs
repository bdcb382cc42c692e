//! `mov`: values, addresses, predicates, and vectors to and from one register.

use super::opcode::Opcode;
use super::operand::{Cx, Fit};
use super::{Lowered, Refusal, Res, exactly};
use crate::program::sem::{PredOp, PredSrc, Sem};
use crate::ptx::ast::{Operand, OperandKind};
use crate::ptx::types::Type;

pub(super) fn lower<'a>(cx: &mut Cx<'a, '_>, op: &mut Opcode<'a>, args: &'a [Operand]) -> Res<Lowered<'a>> {
    let ty = op.ty()?;
    let [d, a] = exactly(op, args)?;
    let sem = match (&d.kind, &a.kind) {
        _ if ty == Type::Pred => {
            let a = cx.pred_src(a)?;
            Sem::PredLogic { op: PredOp::Mov, dst: cx.pred_dst(d)?, a, b: PredSrc::Const(false) }
        }
        (OperandKind::Vector(parts), _) => {
            let (part, bits) = part(op, ty, parts.len())?;
            let src = cx.src(a, ty)?;
            let mut dsts = Vec::with_capacity(parts.len());
            for operand in parts {
                dsts.push(cx.maybe_destination(operand, part, fit(bits))?);
            }
            Sem::Unpack { dsts, src, bits }
        }
        (_, OperandKind::Vector(parts)) => {
            let (part, bits) = part(op, ty, parts.len())?;
            let mut srcs = Vec::with_capacity(parts.len());
            for operand in parts {
                srcs.push(cx.source(operand, part, fit(bits))?);
            }
            Sem::Pack { dst: cx.dst(d, ty)?, parts: srcs, bits }
        }
        _ => {
            let src = cx.src(a, ty)?;
            Sem::Mov { dst: cx.dst(d, ty)?, src }
        }
    };
    Ok(Lowered::new(sem, op.root, ty.kind()))
}

/// Type and width of the parts of a vector.
fn part(op: &Opcode<'_>, ty: Type, parts: usize) -> Res<(Type, u8)> {
    match (parts, ty.bits()) {
        (2, bits @ (16 | 32 | 64)) => Ok((Type::Bits(bits / 2), bits / 2)),
        (4, bits @ (32 | 64)) => Ok((Type::Bits(bits / 4), bits / 4)),
        _ => Err(Refusal::new(format!("`{}` cannot be split into {parts} parts", op.text), "")),
    }
}

/// There are hardly registers of 8 bits, so wider ones stand in for them.
fn fit(bits: u8) -> Fit {
    if bits == 8 { Fit::Wider } else { Fit::Exact }
}
