//! Atomic operations.

use super::memory::{ignore_neutral, without_policy};
use super::opcode::Opcode;
use super::operand::{Cx, Fit};
use super::{Lowered, Refusal, Res, convert, exactly};
use crate::program::MemoryOp;
use crate::program::sem::{AtomOp, Atomic, FloatTy, Operand as Src, Sem, ValueTy};
use crate::ptx::ast::Operand;
use crate::ptx::types::Type;

pub(super) fn lower<'a>(cx: &mut Cx<'a, '_>, op: &mut Opcode<'a>, args: &'a [Operand]) -> Res<Lowered<'a>> {
    let red = op.root == "red";
    if op.has("async") {
        return Err(Refusal::new(format!("`{}` is not supported", op.text), "there are no clusters here"));
    }
    ignore_neutral(op);
    let wanted = convert::space(op);
    let what = op.need(
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
            ("exch", AtomOp::Exch),
            ("cas", AtomOp::Cas),
        ],
    )?;
    let ty = op.ty()?;
    op.finish()?;
    let value = cell(op, what, ty)?;
    let args = without_policy(op, args);
    let (d, a, b, c) = match (red, what) {
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
    let b = cx.src(b, ty)?;
    let c = match c {
        Some(c) => cx.src(c, ty)?,
        None => Src::Imm(0),
    };
    let dst = match d {
        Some(d) => cx.maybe_destination(d, ty, Fit::Exact)?,
        None => None,
    };
    let sem = Sem::Atomic(Box::new(Atomic { space, op: what, ty: value, dst, addr, b, c }));
    Ok(Lowered::access(sem, op.root, ty.kind(), MemoryOp::Atomic(space.into())))
}

/// The type of the memory cell.
fn cell(op: &Opcode<'_>, what: AtomOp, ty: Type) -> Res<ValueTy> {
    let wrong = |hint: &str| {
        Err(Refusal::new(format!("`{}`: this atomic operation on this type is not supported", op.text), hint))
    };
    match (ty.value(), what) {
        _ if ty.bits() < 32 => wrong("atomic operations work on 32 and 64 bits"),
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
