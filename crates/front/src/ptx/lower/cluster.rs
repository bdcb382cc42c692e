//! Addresses in the shared memory of the blocks of a cluster, and stores there that signal.

use super::memory::{elements, ignore_neutral};
use super::opcode::Opcode;
use super::operand::Cx;
use super::{Lowered, Refusal, Res, bulk, exactly};
use crate::ptx::ast::Operand;
use crate::ptx::types::Type;
use warpbound_core::isa::{Space, TypeKind};
use warpbound_core::program::sem::{Bulk, BulkStore, ClusterOp, IntTy, Sem, ValueTy};

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
    let (ty, count, reduce) = if reduces {
        let (operation, ty) = bulk::reduction(op, Space::Shared)?;
        (Type::Bits(8 * ty.bytes() as u8), 1, Some((operation, ty)))
    } else {
        let count = op.choose(&[("v2", 2), ("v4", 4)]).unwrap_or(1);
        let ty = op.ty()?;
        let fits = matches!(ty.bits(), 32 | 64) && count * usize::from(ty.bits()) <= 128;
        if !fits || ty.value().is_none() {
            let hint = "it stores at most 128 bits of words or of pairs of words";
            return Err(Refusal::new(format!("`{}` does not exist", op.text), hint));
        }
        (ty, count, None)
    };
    let [dst, values, signal] = exactly(op, args)?;
    let mut srcs = Vec::new();
    for operand in elements(op, values, count)? {
        srcs.push(cx.src(operand, ty)?);
    }
    bulk::note(cx);
    let place = |cx: &mut Cx<'a, '_>, operand| Ok(cx.address(operand, Some(Space::Shared))?.1);
    let store = BulkStore {
        ty: ValueTy::Int(IntTy { bits: ty.bits(), signed: false }),
        srcs,
        dst: place(cx, dst)?,
        reduce,
        signal: place(cx, signal)?,
    };
    let root = if reduces { "red.async" } else { "st.async" };
    Ok(Lowered::new(Sem::Bulk(Box::new(Bulk::Store(store))), root, TypeKind::None))
}
