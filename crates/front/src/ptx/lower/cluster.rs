//! Addresses in the shared memory of the blocks of a cluster, and stores there that signal.

use super::atomic::REDUCTIONS;
use super::memory::{elements, ignore_neutral};
use super::opcode::Opcode;
use super::operand::Cx;
use super::{Lowered, Refusal, Res, bulk, exactly};
use crate::ptx::ast::Operand;
use crate::ptx::types::Type;
use warpbound_core::isa::{Space, TypeKind};
use warpbound_core::program::sem::{AtomOp, Bulk, BulkStore, ClusterOp, IntTy, Sem, ValueTy};

const U32: Type = Type::Unsigned(32);

/// Lowers `mapa` and `getctarank`.
pub(super) fn lower<'a>(cx: &mut Cx<'a, '_>, op: &mut Opcode<'a>, args: &[Operand]) -> Res<Lowered<'a>> {
    let generic = !op.take("shared::cluster");
    let ty = op.ty()?;
    if !matches!(ty, Type::Unsigned(32 | 64)) {
        return Err(Refusal::new(format!("`{}`: addresses are .u32 or .u64", op.text), ""));
    }
    let operation = if op.root == "mapa" {
        let [d, a, rank] = exactly(op, args)?;
        ClusterOp::Map { dst: cx.dst(d, ty)?, address: cx.src(a, ty)?, rank: cx.src(rank, U32)?, generic }
    } else {
        let [d, a] = exactly(op, args)?;
        ClusterOp::Rank { dst: cx.dst(d, U32)?, address: cx.src(a, ty)?, generic }
    };
    Ok(Lowered::new(Sem::Cluster(operation), op.root, TypeKind::None))
}

/// Lowers `st.async` and `red.async`.
pub(super) fn store<'a>(cx: &mut Cx<'a, '_>, op: &mut Opcode<'a>, args: &[Operand]) -> Res<Lowered<'a>> {
    let reduces = op.root == "red";
    op.take("async");
    ignore_neutral(op);
    op.ignore(&["shared::cluster"]);
    if !op.take("mbarrier::complete_tx::bytes") {
        let hint = "one with .mbarrier::complete_tx::bytes, to shared memory, is simulated";
        return Err(Refusal::new(format!("`{}` does not signal an mbarrier object", op.text), hint));
    }
    let operation = if reduces { Some(op.need("operation", &REDUCTIONS)?) } else { None };
    let count = op.choose(&[("v2", 2), ("v4", 4)]).unwrap_or(1);
    let ty = op.ty()?;
    let [dst, values, signal] = exactly(op, args)?;
    let bits = ty.bits();
    let exists = match operation {
        None => matches!(bits, 32 | 64) && count * usize::from(bits) <= 128 && ty != Type::Pred,
        Some(AtomOp::Inc | AtomOp::Dec) => ty == U32,
        Some(AtomOp::Min | AtomOp::Max) => matches!(ty, Type::Unsigned(32) | Type::Signed(32)),
        Some(AtomOp::And | AtomOp::Or | AtomOp::Xor) => ty == Type::Bits(32),
        Some(_) => matches!(ty, Type::Unsigned(32 | 64) | Type::Signed(32 | 64)),
    };
    let Some(value) = ty.value().filter(|_| exists && (operation.is_none() || count == 1)) else {
        let hint = "the PTX ISA lists the types of each operation";
        return Err(Refusal::new(format!("`{}` does not exist", op.text), hint));
    };
    let mut srcs = Vec::new();
    for operand in elements(op, values, count)? {
        srcs.push(cx.src(operand, ty)?);
    }
    bulk::note(cx);
    let place = |cx: &mut Cx<'a, '_>, operand| Ok(cx.address(operand, Some(Space::Shared))?.1);
    let store = BulkStore {
        ty: ValueTy::Int(IntTy { bits, signed: false }),
        srcs,
        dst: place(cx, dst)?,
        reduce: operation.map(|operation| (operation, value)),
        signal: place(cx, signal)?,
    };
    let root = if reduces { "red.async" } else { "st.async" };
    Ok(Lowered::new(Sem::Bulk(Box::new(Bulk::Store(store))), root, TypeKind::None))
}
