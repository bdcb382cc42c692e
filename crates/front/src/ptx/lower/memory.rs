//! Lowers loads, stores and memory hints.

use super::opcode::Opcode;
use super::operand::{Cx, Fit};
use super::{Lowered, Refusal, Res, convert, exactly, wrong_count};
use crate::ptx::ast::{Operand, OperandKind};
use crate::ptx::types::Type;
use warpbound_core::isa::{Space, TypeKind};
use warpbound_core::program::sem::{Operand as Src, Sem};
use warpbound_core::program::{Area, MemoryOp};

/// The modifiers for ordering, scope and caching, which have no effect here: there is a single
/// memory order, and timing models caches.
pub(super) const NEUTRAL: [&str; 22] = [
    "weak", "volatile", "relaxed", "acquire", "release", "acq_rel", "mmio", "cta", "cluster", "gpu", "sys",
    "ca", "cg", "cs", "lu", "cv", "wb", "wt", "nc", "noftz", "unified", "sc",
];

/// Consumes modifiers that have no effect here.
pub(super) fn ignore_neutral(op: &mut Opcode<'_>) {
    op.ignore(&NEUTRAL);
    op.ignore_if(|part| part.starts_with("L1::") || part.starts_with("L2::") || part.starts_with("level::"));
}

pub(super) fn lower<'a>(cx: &mut Cx<'a, '_>, op: &mut Opcode<'a>, args: &[Operand]) -> Res<Lowered<'a>> {
    match op.root {
        "ld" | "ldu" => load(cx, op, args),
        "st" => store(cx, op, args),
        "createpolicy" => policy(cx, op, args),
        _ => {
            op.ignore_if(|_| true);
            Ok(Lowered::new(Sem::Nop, op.root, TypeKind::None))
        }
    }
}

/// Consumes the number of elements of the vector and their type.
fn shape(op: &mut Opcode<'_>) -> Res<(usize, Type)> {
    const MAX_BITS: usize = 256;
    let count = op.choose(&[("v2", 2), ("v4", 4), ("v8", 8)]).unwrap_or(1);
    let ty = match op.types().as_slice() {
        // in memory these types are untyped bits
        [ty @ (Type::Bf16 | Type::Bf16x2 | Type::Tf32)] => Type::Bits(ty.bits()),
        // a 128-bit register has two parts
        [Type::Bits(128)] if count == 1 => return Ok((2, Type::Bits(64))),
        [ty] if !matches!(ty, Type::Pred | Type::Opaque) => *ty,
        _ => return Err(op.finish().err().unwrap_or_else(|| wrong_type(op))),
    };
    if count * usize::from(ty.bits()) > MAX_BITS {
        let message = format!("`{}` is wider than {MAX_BITS} bits", op.text);
        return Err(Refusal::new(message, "use several accesses"));
    }
    Ok((count, ty))
}

fn wrong_type(op: &Opcode<'_>) -> Refusal {
    Refusal::new(format!("`{}` has no type that memory can hold", op.text), "")
}

/// Returns the elements of a vector operand, or the operand itself.
pub(super) fn elements<'a>(op: &Opcode<'_>, operand: &'a Operand, count: usize) -> Res<&'a [Operand]> {
    let list = match &operand.kind {
        OperandKind::Vector(list) => list.as_slice(),
        _ => std::slice::from_ref(operand),
    };
    if list.len() == count {
        return Ok(list);
    }
    Err(Refusal::new(format!("`{}` takes {count} elements, {} given", op.text, list.len()), "")
        .at(operand.span))
}

/// Returns the operands without the cache policy of a hint.
pub(super) fn without_policy<'a>(op: &Opcode<'_>, args: &'a [Operand]) -> &'a [Operand] {
    if op.has("L2::cache_hint") { args.split_last().map_or(args, |(_, rest)| rest) } else { args }
}

/// Returns the area of an access whose opcode names the space `wanted`, which distinguishes
/// parameters of functions from other local memory.
fn area(space: Space, wanted: Option<Space>) -> Area {
    match (space, wanted) {
        (Space::Local, Some(Space::Param)) => Area::FunctionParam,
        _ => space.into(),
    }
}

fn load<'a>(cx: &mut Cx<'a, '_>, op: &mut Opcode<'a>, args: &[Operand]) -> Res<Lowered<'a>> {
    ignore_neutral(op);
    let wanted = convert::space(op).or(op.take("param::func").then_some(Space::Param));
    let (count, ty) = shape(op)?;
    op.finish()?;
    let [d, a] = exactly(op, without_policy(op, args))?;
    let (space, addr) = cx.address(a, wanted)?;
    let mut dsts = Vec::with_capacity(count);
    for operand in elements(op, d, count)? {
        dsts.push(cx.maybe_destination(operand, ty, Fit::Wider)?);
    }
    let sem = Sem::Load { space, ty: ty.raw(), dsts, addr };
    Ok(Lowered::access(sem, op.root, ty.kind(), MemoryOp::Load(area(space, wanted))))
}

fn store<'a>(cx: &mut Cx<'a, '_>, op: &mut Opcode<'a>, args: &[Operand]) -> Res<Lowered<'a>> {
    ignore_neutral(op);
    let wanted = convert::space(op).or(op.take("param::func").then_some(Space::Param));
    let (count, ty) = shape(op)?;
    op.finish()?;
    let [a, b] = exactly(op, without_policy(op, args))?;
    let (space, addr) = cx.address(a, wanted)?;
    let mut srcs = Vec::with_capacity(count);
    for operand in elements(op, b, count)? {
        srcs.push(cx.source(operand, ty, Fit::Wider)?);
    }
    let sem = Sem::Store { space, bits: ty.bits(), srcs, addr };
    Ok(Lowered::access(sem, op.root, ty.kind(), MemoryOp::Store(area(space, wanted))))
}

/// Lowers the creation of a cache policy. Since it is only a hint, any value is correct.
fn policy<'a>(cx: &mut Cx<'a, '_>, op: &mut Opcode<'a>, args: &[Operand]) -> Res<Lowered<'a>> {
    op.ignore_if(|_| true);
    let Some(d) = args.first() else { return Err(wrong_count(op, args, "at least 1")) };
    let dst = cx.dst(d, Type::Bits(64))?;
    Ok(Lowered::new(Sem::Mov { dst, src: Src::Imm(0) }, op.root, TypeKind::Int))
}
