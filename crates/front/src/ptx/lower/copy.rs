//! Asynchronous copies.

use super::memory::{ignore_neutral, without_policy};
use super::opcode::Opcode;
use super::operand::Cx;
use super::{Lowered, Refusal, Res, exactly, wrong_count};
use crate::ptx::ast::Operand;
use crate::ptx::types::Type;
use warpbound_core::isa::{Space, TypeKind};
use warpbound_core::program::sem::Sem;
use warpbound_core::program::{Flow, MemoryOp};

pub(super) fn lower<'a>(cx: &mut Cx<'a, '_>, op: &mut Opcode<'a>, args: &[Operand]) -> Res<Lowered<'a>> {
    let asynchronous = op.take("async");
    if asynchronous && op.has("mbarrier") && op.has("arrive") {
        return super::mbarrier::copies_arrive(cx, op, args);
    }
    if asynchronous && op.has("bulk") {
        return super::bulk::lower(cx, op, args);
    }
    if !asynchronous || ["mbarrier", "reduce"].iter().any(|m| op.has(m)) {
        return Err(Refusal::new(
            format!("`{}` is not supported", op.text),
            "the copies that are supported are asynchronous: cp.async and cp.async.bulk",
        ));
    }
    let plain = |sem, root| Ok(Lowered::new(sem, root, TypeKind::None));
    if op.take("commit_group") {
        let [] = exactly(op, args)?;
        return plain(Sem::AsyncCommit, "cp.async.commit_group");
    }
    if op.take("wait_all") {
        let [] = exactly(op, args)?;
        let lowered = plain(Sem::AsyncWait { pending: 0, all: true }, "cp.async.wait_all")?;
        return Ok(lowered.flow(Flow::AsyncWait));
    }
    if op.take("wait_group") {
        let [pending] = exactly(op, args)?;
        let pending = u32::try_from(cx.constant(pending)?)
            .map_err(|_| Refusal::new("this is no number of groups", "").at(pending.span))?;
        let lowered = plain(Sem::AsyncWait { pending, all: false }, "cp.async.wait_group")?;
        return Ok(lowered.flow(Flow::AsyncWait));
    }
    copy(cx, op, args)
}

fn copy<'a>(cx: &mut Cx<'a, '_>, op: &mut Opcode<'a>, args: &[Operand]) -> Res<Lowered<'a>> {
    ignore_neutral(op);
    if !(op.take("shared") || op.take("shared::cta")) || !op.take("global") {
        return Err(Refusal::new(format!("`{}` copies from global to shared memory", op.text), ""));
    }
    op.finish()?;
    let (dst, src, size, src_size) = match without_policy(op, args) {
        [dst, src, size] => (dst, src, size, None),
        [dst, src, size, src_size] => (dst, src, size, Some(src_size)),
        other => return Err(wrong_count(op, other, "3 or 4")),
    };
    let bytes = match cx.constant(size)? {
        bytes @ (4 | 8 | 16) => bytes as u8,
        _ => return Err(Refusal::new("copies are of 4, 8 or 16 bytes", "").at(size.span)),
    };
    let (_, dst) = cx.address(dst, Some(Space::Shared))?;
    let (_, src) = cx.address(src, Some(Space::Global))?;
    let src_bytes = match src_size {
        Some(size) => Some(cx.src(size, Type::Bits(32))?),
        None => None,
    };
    let sem = Sem::AsyncCopy { bytes, dst, src, src_bytes };
    Ok(Lowered::access(sem, "cp.async", TypeKind::Int, MemoryOp::AsyncCopy).flow(Flow::AsyncCopy))
}
