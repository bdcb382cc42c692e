//! Lowers `mov` of values, addresses, predicates and vectors, and the packing and unpacking of
//! vectors.

use super::memory::elements;
use super::opcode::Opcode;
use super::operand::{Cx, Fit};
use super::{Lowered, Refusal, Res, exactly, special};
use crate::ptx::ast::{Operand, OperandKind};
use crate::ptx::types::Type;
use warpbound_core::program::sem::{PredOp, PredSrc, Sem};

pub(super) fn lower<'a>(cx: &mut Cx<'a, '_>, op: &mut Opcode<'a>, args: &[Operand]) -> Res<Lowered<'a>> {
    let count = op.choose(&[("v2", 2), ("v4", 4), ("v8", 8)]);
    // 128 bits are two parts of 64 bits, in variables and in registers
    let (count, ty) = match op.types().as_slice() {
        [Type::Bits(128)] if count.is_none() => (Some(2), Type::Bits(64)),
        [ty] => (count, op.known(*ty)?),
        _ => return Err(op.types_wrong(1)),
    };
    let [d, a] = exactly(op, args)?;
    if let Some(count) = count {
        return Ok(Lowered::new(several(cx, op, [d, a], ty, count)?, op.root, ty.kind()));
    }
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

/// Moves one value to each register of a vector.
fn several(cx: &mut Cx<'_, '_>, op: &Opcode<'_>, [d, a]: [&Operand; 2], ty: Type, count: usize) -> Res<Sem> {
    let srcs = match a.kind {
        OperandKind::Name(name) if count == 4 && special::is_vector(cx.text(name)) => {
            (0..4).map(|axis| cx.special_component(name, axis)).collect::<Res<Vec<_>>>()?
        }
        _ => {
            let list = elements(op, a, count)?;
            list.iter().map(|operand| cx.src(operand, ty)).collect::<Res<Vec<_>>>()?
        }
    };
    let mut moves = Vec::with_capacity(count);
    for (operand, src) in elements(op, d, count)?.iter().zip(srcs) {
        if let Some(dst) = cx.maybe_destination(operand, ty, Fit::Exact)? {
            moves.push((dst, src));
        }
    }
    Ok(Sem::Moves(moves))
}

/// Returns the type and width of the parts of a vector.
fn part(op: &Opcode<'_>, ty: Type, parts: usize) -> Res<(Type, u8)> {
    match (parts, ty.bits()) {
        (2, bits @ (16 | 32 | 64)) => Ok((Type::Bits(bits / 2), bits / 2)),
        (4, bits @ (32 | 64)) => Ok((Type::Bits(bits / 4), bits / 4)),
        _ => Err(Refusal::new(format!("`{}` cannot be split into {parts} parts", op.text), "")),
    }
}

/// Returns how registers must fit: wider registers are accepted for 8 bits, since compilers rarely
/// declare 8-bit registers.
fn fit(bits: u8) -> Fit {
    if bits == 8 { Fit::Wider } else { Fit::Exact }
}
