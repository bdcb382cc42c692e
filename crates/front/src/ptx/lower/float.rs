//! Floating-point arithmetic.

use super::opcode::Opcode;
use super::operand::Cx;
use super::{Lowered, Refusal, Res, exactly, wrong_count};
use crate::ptx::ast::Operand;
use crate::ptx::types::Type;
use warpbound_core::program::sem::{FloatMode, FloatOp, FloatTest, FloatTy, Operand as Src, Sem};

pub(super) fn lower<'a>(cx: &mut Cx<'a, '_>, op: &mut Opcode<'a>, args: &[Operand]) -> Res<Lowered<'a>> {
    let root = op.root;
    if root == "testp" {
        return test(cx, op, args);
    }
    let (mut operation, mut count) =
        operation(root).ok_or_else(|| Refusal::new(format!("`{root}` is no float operation"), ""))?;
    let extremum = matches!(operation, FloatOp::Min | FloatOp::Max);
    if extremum && args.len() == 4 {
        operation = if operation == FloatOp::Min { FloatOp::Min3 } else { FloatOp::Max3 };
        count = 3;
    }
    let round = op.rounding();
    let mode = FloatMode {
        round: round.unwrap_or_default(),
        ftz: op.take("ftz"),
        sat: op.take("sat"),
        approx: op.take("approx"),
        nan: op.take("NaN"),
        relu: op.take("relu"),
        magnitude: extremum && op.take("abs"),
        sign_product: extremum && op.take("xorsign"),
    };
    // division with full range is exact here
    let full = op.take("full");
    let (ty, from) = match op.types().as_slice() {
        [Type::F32, from @ (Type::F16 | Type::Bf16)] if matches!(root, "add" | "sub" | "fma") => {
            (Type::F32, Some(*from))
        }
        [ty] => (op.known(*ty)?, None),
        _ => return Err(op.types_wrong(1)),
    };
    let float = ty.float().ok_or_else(|| no_float(op))?;
    check(op, operation, float, &FloatMode { approx: mode.approx || full, ..mode }, round.is_some())?;
    if args.len() != count + 1 {
        return Err(wrong_count(op, args, &(count + 1).to_string()));
    }
    let mut src = [Src::Imm(0); 3];
    // the narrower sources, if any, come first
    let narrow = if operation == FloatOp::Fma { 2 } else { 1 };
    for (index, (slot, arg)) in src.iter_mut().zip(&args[1..]).enumerate() {
        *slot = cx.src(arg, from.filter(|_| index < narrow).unwrap_or(ty))?;
    }
    let dst = cx.dst(&args[0], ty)?;
    if let Some(from) = from.and_then(Type::float) {
        let sem = Sem::MixedFloat { op: operation, from, mode, dst, src };
        return Ok(Lowered::new(sem, root, ty.kind()));
    }
    Ok(Lowered::new(Sem::Float { op: operation, ty: float, mode, dst, src }, root, ty.kind()))
}

fn no_float(op: &Opcode<'_>) -> Refusal {
    Refusal::new(format!("`{}` computes on floating-point types only", op.text), "")
}

/// Returns the operation of an opcode root and the number of its sources.
fn operation(root: &str) -> Option<(FloatOp, usize)> {
    Some(match root {
        "add" => (FloatOp::Add, 2),
        "sub" => (FloatOp::Sub, 2),
        "mul" => (FloatOp::Mul, 2),
        // since sm_20 mad rounds once
        "fma" | "mad" => (FloatOp::Fma, 3),
        "div" => (FloatOp::Div, 2),
        "rcp" => (FloatOp::Rcp, 1),
        "sqrt" => (FloatOp::Sqrt, 1),
        "rsqrt" => (FloatOp::Rsqrt, 1),
        "sin" => (FloatOp::Sin, 1),
        "cos" => (FloatOp::Cos, 1),
        "ex2" => (FloatOp::Ex2, 1),
        "lg2" => (FloatOp::Lg2, 1),
        "tanh" => (FloatOp::Tanh, 1),
        "abs" => (FloatOp::Abs, 1),
        "neg" => (FloatOp::Neg, 1),
        "min" => (FloatOp::Min, 2),
        "max" => (FloatOp::Max, 2),
        "copysign" => (FloatOp::Copysign, 2),
        _ => return None,
    })
}

/// Rejects combinations that PTX does not have, which the functional run therefore does not
/// support.
fn check(op: &Opcode<'_>, operation: FloatOp, ty: FloatTy, mode: &FloatMode, rounds: bool) -> Res<()> {
    let brain = matches!(ty, FloatTy::Bf16 | FloatTy::Bf16x2);
    let half = matches!(ty, FloatTy::F16 | FloatTy::F16x2) || brain;
    let wrong = |why: &str| Err(Refusal::new(format!("`{}`: {why}", op.text), ""));
    match operation {
        _ if ty == FloatTy::F32x2
            && !matches!(operation, FloatOp::Add | FloatOp::Sub | FloatOp::Mul | FloatOp::Fma) =>
        {
            wrong("pairs in single precision can only be added, subtracted and multiplied")
        }
        _ if mode.sat && (brain || ty == FloatTy::F32x2) => wrong("this type does not saturate"),
        _ if mode.ftz && brain && operation != FloatOp::Ex2 => wrong("bfloat16 keeps its subnormal numbers"),
        FloatOp::Min3 | FloatOp::Max3 if ty != FloatTy::F32 => {
            wrong("with three sources the type must be .f32")
        }
        FloatOp::Min3 | FloatOp::Max3 if mode.sign_product => wrong("`.xorsign` takes two sources"),
        FloatOp::Min | FloatOp::Max if mode.sign_product != mode.magnitude => {
            wrong("two sources take `.xorsign` and `.abs` together, or neither")
        }
        FloatOp::Min | FloatOp::Max if mode.magnitude && ty == FloatTy::F64 => {
            wrong("double precision has no `.xorsign`")
        }
        FloatOp::Div | FloatOp::Rcp | FloatOp::Sqrt | FloatOp::Rsqrt if half => {
            wrong("there is no such operation on halves")
        }
        FloatOp::Sin | FloatOp::Cos | FloatOp::Lg2 if ty != FloatTy::F32 => {
            wrong("this operation exists only in single precision")
        }
        FloatOp::Ex2 | FloatOp::Tanh if ty == FloatTy::F64 => {
            wrong("there is no such operation in double precision")
        }
        FloatOp::Add | FloatOp::Sub | FloatOp::Mul | FloatOp::Fma if mode.approx => {
            wrong("this operation is exact, `.approx` does not apply")
        }
        FloatOp::Abs
        | FloatOp::Neg
        | FloatOp::Min
        | FloatOp::Max
        | FloatOp::Min3
        | FloatOp::Max3
        | FloatOp::Copysign
            if rounds || mode.approx =>
        {
            wrong("this operation does not round")
        }
        FloatOp::Rsqrt | FloatOp::Sin | FloatOp::Cos | FloatOp::Ex2 | FloatOp::Lg2 | FloatOp::Tanh
            if rounds =>
        {
            wrong("this operation is approximate and has no rounding mode")
        }
        _ => Ok(()),
    }
}

fn test<'a>(cx: &mut Cx<'a, '_>, op: &mut Opcode<'a>, args: &[Operand]) -> Res<Lowered<'a>> {
    let test = op.need(
        "test",
        &[
            ("finite", FloatTest::Finite),
            ("infinite", FloatTest::Infinite),
            ("number", FloatTest::Number),
            ("notanumber", FloatTest::NotANumber),
            ("normal", FloatTest::Normal),
            ("subnormal", FloatTest::Subnormal),
        ],
    )?;
    let ty = op.ty()?;
    let float = ty.float().ok_or_else(|| no_float(op))?;
    let [p, a] = exactly(op, args)?;
    let src = cx.src(a, ty)?;
    let dst = cx.pred_dst(p)?;
    Ok(Lowered::new(Sem::TestFloat { test, ty: float, dst, src }, op.root, ty.kind()))
}
