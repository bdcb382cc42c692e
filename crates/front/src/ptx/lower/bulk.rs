//! Bulk copies.

use super::memory::{ignore_neutral, without_policy};
use super::opcode::Opcode;
use super::operand::Cx;
use super::{Lowered, Refusal, Res, exactly, wrong_count};
use crate::ptx::ast::Operand;
use crate::ptx::types::Type;
use warpbound_core::isa::{Space, TypeKind};
use warpbound_core::program::sem::{AtomOp, BulkCopy, FloatTy, Sem, ValueTy};

/// Lowers `cp.async.bulk` and `cp.reduce.async.bulk`, whose `async` has been consumed.
pub(super) fn lower<'a>(cx: &mut Cx<'a, '_>, op: &mut Opcode<'a>, args: &[Operand]) -> Res<Lowered<'a>> {
    let plain = |sem, root| Ok(Lowered::new(sem, root, TypeKind::None));
    op.take("bulk");
    if op.has("tensor") || op.has("multicast::cluster") || op.has("cp_mask") || op.has("ignore_oob") {
        let hint = "bulk copies of contiguous bytes are simulated";
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
        op.ignore_if(|_| true);
        return plain(Sem::Nop, "prefetch");
    }
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
    let reduce = if reduces { Some(reduction(op)?) } else { None };
    ignore_neutral(op);
    op.finish()?;
    let (dst, src, bytes, signal) = match without_policy(op, args) {
        [dst, src, bytes] if !signals => (dst, src, bytes, None),
        [dst, src, bytes, signal] if signals => (dst, src, bytes, Some(signal)),
        other => return Err(wrong_count(op, other, if signals { "4" } else { "3" })),
    };
    cx.note("the kernel copies in bulk: each copy is complete at once here, and no bound is judged");
    let copy = BulkCopy {
        from,
        src: cx.address(src, Some(from))?.1,
        to,
        dst: cx.address(dst, Some(to))?.1,
        bytes: cx.src(bytes, Type::Bits(32))?,
        reduce,
        signal: match signal {
            Some(signal) => Some(cx.address(signal, Some(Space::Shared))?.1),
            None => None,
        },
        by_warp: false,
    };
    plain(Sem::Bulk(Box::new(copy)), "cp.async.bulk")
}

/// Consumes the operation of a reduction and its type.
fn reduction(op: &mut Opcode<'_>) -> Res<(AtomOp, ValueTy)> {
    let operation = op.need(
        "operation",
        &[
            ("add", AtomOp::Add),
            ("min", AtomOp::Min),
            ("max", AtomOp::Max),
            ("inc", AtomOp::Inc),
            ("dec", AtomOp::Dec),
            ("and", AtomOp::And),
            ("or", AtomOp::Or),
            ("xor", AtomOp::Xor),
        ],
    )?;
    op.take("noftz");
    let ty = op.ty()?;
    let is_number = !matches!(operation, AtomOp::Inc | AtomOp::Dec | AtomOp::And | AtomOp::Or | AtomOp::Xor);
    let float = match ty {
        Type::F16 => Some(FloatTy::F16),
        Type::Bf16 => Some(FloatTy::Bf16),
        Type::F32 => Some(FloatTy::F32),
        Type::F64 => Some(FloatTy::F64),
        _ => None,
    };
    match (float, ty.int()) {
        (Some(float), _) if is_number => Ok((operation, ValueTy::Float(float))),
        (None, Some(int)) if int.bits >= 32 => Ok((operation, ValueTy::Int(int))),
        _ => Err(Refusal::new(format!("`{}`: there is no such reduction", op.text), "")),
    }
}
