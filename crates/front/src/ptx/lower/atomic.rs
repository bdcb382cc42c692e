//! Atomic operations.

use super::memory::{elements, ignore_neutral, without_policy};
use super::opcode::Opcode;
use super::operand::{Cx, Fit};
use super::{Lowered, Refusal, Res, convert, exactly};
use crate::ptx::ast::Operand;
use crate::ptx::types::Type;
use warpbound_core::isa::Space;
use warpbound_core::program::MemoryOp;
use warpbound_core::program::sem::{AtomOp, Atomic, AtomicPart, FloatTy, Operand as Src, Sem, ValueTy};

/// The names of the operations that reductions have.
pub(super) const REDUCTIONS: [(&str, AtomOp); 8] = [
    ("add", AtomOp::Add),
    ("min", AtomOp::Min),
    ("max", AtomOp::Max),
    ("inc", AtomOp::Inc),
    ("dec", AtomOp::Dec),
    ("and", AtomOp::And),
    ("or", AtomOp::Or),
    ("xor", AtomOp::Xor),
];

/// Lowers `atom` and `red`.
pub(super) fn lower<'a>(cx: &mut Cx<'a, '_>, op: &mut Opcode<'a>, args: &[Operand]) -> Res<Lowered<'a>> {
    let red = op.root == "red";
    ignore_neutral(op);
    let wanted = convert::space(op);
    let exchanges = [("exch", AtomOp::Exch), ("cas", AtomOp::Cas)];
    let operation = op.need("operation", &[&REDUCTIONS[..], &exchanges[..]].concat())?;
    let vector = op.choose(&[("v2", 2), ("v4", 4), ("v8", 8)]);
    // 128 bits are two parts of 64 bits
    let (ty, count) = match op.types().as_slice() {
        [Type::Bits(128)] if vector.is_none() && matches!(operation, AtomOp::Exch | AtomOp::Cas) => {
            (Type::Bits(64), 2)
        }
        [ty] => (op.known(*ty)?, vector.unwrap_or(1)),
        _ => return Err(op.types_wrong(1)),
    };
    op.finish()?;
    let value = cell(op, operation, ty, vector)?;
    let args = without_policy(op, args);
    let (d, a, b, c) = match (red, operation) {
        (true, AtomOp::Exch | AtomOp::Cas) => {
            return Err(Refusal::new(format!("`{}`: there is no such reduction", op.text), "use atom"));
        }
        (true, _) => {
            let [a, b] = exactly(op, args)?;
            (None, a, b, None)
        }
        (false, AtomOp::Cas) => {
            let [d, a, b, c] = exactly(op, args)?;
            (Some(d), a, b, Some(c))
        }
        (false, _) => {
            let [d, a, b] = exactly(op, args)?;
            (Some(d), a, b, None)
        }
    };
    let (space, addr) = cx.address(a, wanted)?;
    if vector.is_some() && !matches!(space, Space::Global | Space::Generic) {
        let hint = "only global memory has atomic operations on vectors";
        return Err(Refusal::new(format!("`{}` does not work on .{}", op.text, space.name()), hint));
    }
    let mut parts = parts(cx, op, (ty, count), (d, b, c))?;
    let AtomicPart { dst, b, c } = parts.remove(0);
    let sem = Sem::Atomic(Box::new(Atomic { space, op: operation, ty: value, dst, addr, b, c, more: parts }));
    Ok(Lowered::access(sem, op.root, ty.kind(), MemoryOp::Atomic(space.into())))
}

/// Lowers the result and the operands of an operation on this number of elements, element by
/// element.
fn parts<'a>(
    cx: &mut Cx<'a, '_>,
    op: &Opcode<'a>,
    (ty, count): (Type, usize),
    (d, b, c): (Option<&Operand>, &Operand, Option<&Operand>),
) -> Res<Vec<AtomicPart>> {
    let mut parts = Vec::with_capacity(count);
    for index in 0..count {
        let part = |operand: Option<&Operand>| match operand {
            Some(operand) => Ok(elements(op, operand, count)?.get(index).cloned()),
            None => Ok(None),
        };
        let b = match part(Some(b))? {
            Some(b) => cx.src(&b, ty)?,
            None => Src::Imm(0),
        };
        let c = match part(c)? {
            Some(c) => cx.src(&c, ty)?,
            None => Src::Imm(0),
        };
        let dst = match part(d)? {
            Some(d) => cx.maybe_destination(&d, ty, Fit::Exact)?,
            None => None,
        };
        parts.push(AtomicPart { dst, b, c });
    }
    Ok(parts)
}

/// Returns the type of the memory cell.
fn cell(op: &Opcode<'_>, operation: AtomOp, ty: Type, vector: Option<usize>) -> Res<ValueTy> {
    let wrong = |hint: &str| {
        Err(Refusal::new(format!("`{}`: this atomic operation on this type is not supported", op.text), hint))
    };
    let half = |ty: FloatTy| matches!(ty, FloatTy::F16 | FloatTy::F16x2 | FloatTy::Bf16 | FloatTy::Bf16x2);
    let most = if ty.bits() == 16 { 8 } else { 4 };
    match (ty.value(), operation) {
        _ if vector.is_some_and(|count| count > most) => wrong("a vector has at most 16 bytes"),
        (Some(value @ ValueTy::Float(float)), AtomOp::Add) if half(float) => Ok(value),
        (Some(value @ ValueTy::Float(float)), AtomOp::Min | AtomOp::Max)
            if half(float) && vector.is_some() =>
        {
            Ok(value)
        }
        (Some(value @ ValueTy::Float(FloatTy::F32)), AtomOp::Add) if vector.is_some() => Ok(value),
        _ if vector.is_some() => wrong("vectors are of .f32 with add, or of halves with add, min and max"),
        (Some(value), AtomOp::Cas) if ty == Type::Bits(16) => Ok(value),
        _ if ty.bits() < 32 => wrong("atomic operations work on 32 and 64 bits, cas on 16 as well"),
        (Some(value @ ValueTy::Float(FloatTy::F32 | FloatTy::F64)), AtomOp::Add) => Ok(value),
        (Some(ValueTy::Float(FloatTy::F32 | FloatTy::F64)), AtomOp::Exch | AtomOp::Cas) => {
            Ok(ValueTy::Int(ty.raw()))
        }
        (Some(ValueTy::Int(int)), AtomOp::Inc | AtomOp::Dec) if int.bits == 32 => Ok(ValueTy::Int(int)),
        (_, AtomOp::Inc | AtomOp::Dec) => wrong("inc and dec work on .u32"),
        (Some(value @ ValueTy::Int(_)), _) => Ok(value),
        _ => wrong("use a loop of compare and swap"),
    }
}
