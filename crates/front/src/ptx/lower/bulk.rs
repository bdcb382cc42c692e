//! Bulk copies.

use super::atomic::REDUCTIONS;
use super::memory::{elements, ignore_neutral, without_policy};
use super::opcode::Opcode;
use super::operand::Cx;
use super::{Lowered, Refusal, Res, exactly, wrong_count};
use crate::ptx::ast::{Operand, OperandKind};
use crate::ptx::types::Type;
use warpbound_core::isa::{Space, TypeKind};
use warpbound_core::program::sem::{
    Address, AtomOp, Bulk, BulkCopy, Operand as Src, Sem, TensorCopy, ValueTy,
};

/// Lowers `cp.async.bulk` and `cp.reduce.async.bulk`, whose `async` has been consumed.
pub(super) fn lower<'a>(cx: &mut Cx<'a, '_>, op: &mut Opcode<'a>, args: &[Operand]) -> Res<Lowered<'a>> {
    let plain = |sem, root| Ok(Lowered::new(sem, root, TypeKind::None));
    op.take("bulk");
    let multicast = op.take("multicast::cluster");
    if ["cp_mask", "ignore_oob", "im2col", "tile::gather4", "tile::scatter4", "im2col::w"]
        .iter()
        .any(|modifier| op.has(modifier))
    {
        let hint = "bulk copies of contiguous bytes and of boxes of tensors (.tile) are simulated";
        return Err(Refusal::new(format!("`{}` is not supported", op.text), hint));
    }
    let reduces = op.take("reduce");
    if op.take("commit_group") {
        op.finish()?;
        let [] = exactly(op, args)?;
        return plain(Sem::Nop, "cp.async.bulk.wait");
    }
    if op.take("wait_group") {
        op.take("read");
        op.finish()?;
        let [groups] = exactly(op, args)?;
        cx.constant(groups)?;
        return plain(Sem::Nop, "cp.async.bulk.wait");
    }
    if op.take("prefetch") {
        op.ignore(&["L2", "global", "tensor", "tile", "1d", "2d", "3d", "4d", "5d", "L2::cache_hint"]);
        op.finish()?;
        return plain(Sem::Nop, "prefetch");
    }
    let is_tensor = op.take("tensor");
    let spaces = op.all(|part| match part {
        "shared" | "shared::cta" | "shared::cluster" => Some(Space::Shared),
        "global" => Some(Space::Global),
        _ => None,
    });
    let [to, from] = *spaces.as_slice() else {
        let hint = "it names the space of the destination and that of the source";
        return Err(Refusal::new(format!("`{}` does not have two spaces", op.text), hint));
    };
    let signals = op.take("mbarrier::complete_tx::bytes");
    if !signals && !op.take("bulk_group") {
        let hint = "one of .mbarrier::complete_tx::bytes .bulk_group";
        return Err(Refusal::new(format!("`{}` does not say how it completes", op.text), hint));
    }
    if (to, from) == (Space::Global, Space::Global) || signals != (to == Space::Shared) {
        let hint =
            "copies to shared memory complete at an mbarrier object, those to global memory in a group";
        return Err(Refusal::new(format!("`{}` does not exist", op.text), hint));
    }
    if multicast && (to, from) != (Space::Shared, Space::Global) {
        let hint = "only copies from global to shared memory go to several blocks";
        return Err(Refusal::new(format!("`{}` does not exist", op.text), hint));
    }
    if is_tensor {
        if reduces && to != Space::Global {
            let hint = "tensors are reduced in global memory only";
            return Err(Refusal::new(format!("`{}` does not exist", op.text), hint));
        }
        let operation = if reduces { Some(op.need("operation", &REDUCTIONS)?) } else { None };
        return tensor(cx, op, args, (to, operation, multicast));
    }
    let reduce = if reduces { Some(reduction(op, to)?) } else { None };
    ignore_neutral(op);
    op.finish()?;
    let (dst, src, bytes, signal, blocks) = match (without_policy(op, args), signals, multicast) {
        ([dst, src, bytes], false, _) => (dst, src, bytes, None, None),
        ([dst, src, bytes, signal], true, false) => (dst, src, bytes, Some(signal), None),
        ([dst, src, bytes, signal, blocks], true, true) => (dst, src, bytes, Some(signal), Some(blocks)),
        (other, false, _) => return Err(wrong_count(op, other, "3")),
        (other, true, _) => return Err(wrong_count(op, other, if multicast { "5" } else { "4" })),
    };
    note(cx);
    let copy = BulkCopy {
        from,
        src: cx.address(src, Some(from))?.1,
        to,
        dst: cx.address(dst, Some(to))?.1,
        bytes: cx.src(bytes, Type::Bits(32))?,
        reduce,
        signal: object(cx, signal)?,
        multicast: mask(cx, blocks)?,
        by_warp: false,
    };
    plain(Sem::Bulk(Box::new(Bulk::Bytes(copy))), "cp.async.bulk")
}

/// Returns the address of the mbarrier object that a copy signals, if it does.
fn object(cx: &mut Cx<'_, '_>, signal: Option<&Operand>) -> Res<Option<Address>> {
    signal.map(|signal| Ok(cx.address(signal, Some(Space::Shared))?.1)).transpose()
}

/// Returns the mask of the blocks of the cluster to which a copy goes, if it names them.
fn mask(cx: &mut Cx<'_, '_>, blocks: Option<&Operand>) -> Res<Option<Src>> {
    blocks.map(|blocks| cx.src(blocks, Type::Bits(16))).transpose()
}

pub(super) fn note(cx: &mut Cx<'_, '_>) {
    cx.note("the kernel copies in bulk: each copy is complete at once here, and no bound is judged");
}

/// Lowers a copy of a box of a tensor to a space; `operation` combines elements of the tensor.
fn tensor<'a>(
    cx: &mut Cx<'a, '_>,
    op: &mut Opcode<'a>,
    args: &[Operand],
    (to, operation, multicast): (Space, Option<AtomOp>, bool),
) -> Res<Lowered<'a>> {
    let axes = op.need("number of axes", &[("1d", 1), ("2d", 2), ("3d", 3), ("4d", 4), ("5d", 5)])?;
    op.take("tile");
    ignore_neutral(op);
    op.finish()?;
    let stores = to == Space::Global;
    let (shared, tensor, signal, blocks) = match (without_policy(op, args), stores, multicast) {
        ([tensor, shared], true, _) => (shared, tensor, None, None),
        ([shared, tensor, signal], false, false) => (shared, tensor, Some(signal), None),
        ([shared, tensor, signal, blocks], false, true) => (shared, tensor, Some(signal), Some(blocks)),
        (other, true, _) => return Err(wrong_count(op, other, "2")),
        (other, false, _) => return Err(wrong_count(op, other, if multicast { "4" } else { "3" })),
    };
    let OperandKind::Image(map, inner) = &tensor.kind else {
        let hint = "write it as `[map, {x, y}]`";
        return Err(Refusal::new("a tensor map with coordinates is needed here", hint).at(tensor.span));
    };
    let [at] = inner.as_slice() else {
        return Err(Refusal::new("a tensor map is followed by its coordinates only", "").at(tensor.span));
    };
    let mut position = Vec::new();
    for operand in elements(op, at, axes)? {
        position.push(cx.src(operand, Type::Bits(32))?);
    }
    let (space, map) = cx.address(&Operand { kind: OperandKind::Address(*map), span: tensor.span }, None)?;
    note(cx);
    let copy = TensorCopy {
        space,
        map,
        position,
        shared: cx.address(shared, Some(Space::Shared))?.1,
        stores,
        reduce: operation,
        signal: object(cx, signal)?,
        multicast: mask(cx, blocks)?,
        by_warp: false,
    };
    Ok(Lowered::new(Sem::Bulk(Box::new(Bulk::Tensor(copy))), "cp.async.bulk", TypeKind::None))
}

/// Consumes the operation of a reduction in a space and its type.
pub(super) fn reduction(op: &mut Opcode<'_>, to: Space) -> Res<(AtomOp, ValueTy)> {
    let operation = op.need("operation", &REDUCTIONS)?;
    let rounds = op.take("noftz");
    let ty = op.ty()?;
    let global = to == Space::Global;
    let exists = match (operation, ty) {
        (AtomOp::Add, Type::F16 | Type::Bf16) => global && rounds,
        (_, _) if rounds => false,
        (AtomOp::Min | AtomOp::Max, Type::F16 | Type::Bf16) => global,
        (AtomOp::Add, Type::F32 | Type::F64) => global,
        (AtomOp::Add, Type::Unsigned(32 | 64) | Type::Signed(32)) => true,
        (AtomOp::Min | AtomOp::Max, Type::Unsigned(32) | Type::Signed(32)) => true,
        (AtomOp::Min | AtomOp::Max, Type::Unsigned(64) | Type::Signed(64)) => global,
        (AtomOp::Inc | AtomOp::Dec, Type::Unsigned(32)) => true,
        (AtomOp::And | AtomOp::Or | AtomOp::Xor, Type::Bits(32)) => true,
        (AtomOp::And | AtomOp::Or | AtomOp::Xor, Type::Bits(64)) => global,
        _ => false,
    };
    match ty.value().filter(|_| exists) {
        Some(ty) => Ok((operation, ty)),
        None => {
            let hint = "sums of .f16 and .bf16 have .noftz; the PTX ISA lists the types of each operation";
            Err(Refusal::new(format!("`{}`: there is no such reduction", op.text), hint))
        }
    }
}
