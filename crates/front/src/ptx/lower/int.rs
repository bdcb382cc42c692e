//! Integer arithmetic.

use super::opcode::Opcode;
use super::operand::Cx;
use super::{Lowered, Refusal, Res, exactly};
use crate::ptx::ast::Operand;
use crate::ptx::types::Type;
use warpbound_core::isa::TypeKind;
use warpbound_core::program::sem::{Carry, HalvesOp, IntOp, IntTy, Operand as Src, Sem};

/// The part of a product.
#[derive(Clone, Copy)]
enum Part {
    Lo,
    Hi,
    Wide,
}

pub(super) fn lower<'a>(cx: &mut Cx<'a, '_>, op: &mut Opcode<'a>, args: &[Operand]) -> Res<Lowered<'a>> {
    let root = op.root;
    let packed = matches!(op.first_type(), Some(Type::Halves { .. }));
    let sem = match root {
        "add" | "min" | "max" if packed => halves(cx, op, args)?,
        "add" | "sub" | "addc" | "subc" => sum(cx, op, args)?,
        "mul" | "mul24" => product(cx, op, args)?,
        "mad" | "madc" | "mad24" => product_sum(cx, op, args)?,
        "dp4a" | "dp2a" => dot(cx, op, args)?,
        _ => plain(cx, op, args)?,
    };
    Ok(Lowered::new(sem, root, TypeKind::Int))
}

/// Consumes an integer type that arithmetic supports.
fn int_type(op: &mut Opcode<'_>) -> Res<(Type, IntTy)> {
    let ty = op.ty()?;
    match ty.int() {
        Some(int) if int.bits >= 16 => Ok((ty, int)),
        _ => Err(Refusal::new(format!("`{}` does not compute on this type", op.text), "")),
    }
}

fn widened(ty: Type) -> Type {
    match ty {
        Type::Signed(bits) => Type::Signed(bits * 2),
        other => Type::Unsigned(other.bits() * 2),
    }
}

fn sum(cx: &mut Cx<'_, '_>, op: &mut Opcode<'_>, args: &[Operand]) -> Res<Sem> {
    let (write, saturate) = (op.take("cc"), op.take("sat"));
    let (ty, int) = int_type(op)?;
    let [d, a, b] = exactly(op, args)?;
    let [a, b] = cx.srcs([a, b], ty)?;
    let dst = cx.dst(d, ty)?;
    let read = op.root.ends_with('c');
    let carry = carry(cx, read, write)?;
    let operation = if op.root.starts_with("add") { IntOp::Add } else { IntOp::Sub };
    Ok(Sem::Int { op: operation, ty: int, dst, src: [a, b, Src::Imm(0), Src::Imm(0)], carry, saturate })
}

fn carry(cx: &mut Cx<'_, '_>, read: bool, write: bool) -> Res<Carry> {
    let flag = if read || write { Some(cx.carry()?) } else { None };
    Ok(Carry { read: flag.filter(|_| read), write: flag.filter(|_| write) })
}

fn part(op: &mut Opcode<'_>) -> Res<Part> {
    op.need("part of the product", &[("lo", Part::Lo), ("hi", Part::Hi), ("wide", Part::Wide)])
}

fn product(cx: &mut Cx<'_, '_>, op: &mut Opcode<'_>, args: &[Operand]) -> Res<Sem> {
    let part = part(op)?;
    let (ty, int) = int_type(op)?;
    let [d, a, b] = exactly(op, args)?;
    let [a, b] = cx.srcs([a, b], ty)?;
    let (operation, to) = match (op.root, part) {
        ("mul24", Part::Lo) => (IntOp::Mul24Lo, ty),
        ("mul24", Part::Hi) => (IntOp::Mul24Hi, ty),
        ("mul", Part::Lo) => (IntOp::MulLo, ty),
        ("mul", Part::Hi) => (IntOp::MulHi, ty),
        ("mul", Part::Wide) if int.bits < 64 => (IntOp::MulWide, widened(ty)),
        _ => return Err(no_wide(op)),
    };
    let dst = cx.dst(d, to)?;
    let src = [a, b, Src::Imm(0), Src::Imm(0)];
    Ok(Sem::Int { op: operation, ty: int, dst, src, carry: Carry::default(), saturate: false })
}

fn no_wide(op: &Opcode<'_>) -> Refusal {
    Refusal::new(format!("`{}`: there is no wide product of this type", op.text), "use .lo or .hi")
}

fn product_sum(cx: &mut Cx<'_, '_>, op: &mut Opcode<'_>, args: &[Operand]) -> Res<Sem> {
    let part = part(op)?;
    let (write, saturate) = (op.take("cc"), op.take("sat"));
    let (ty, int) = int_type(op)?;
    let [d, a, b, c] = exactly(op, args)?;
    let (operation, to) = match (op.root, part) {
        ("mad24", Part::Lo) => (IntOp::Mad24Lo, ty),
        ("mad24", Part::Hi) => (IntOp::Mad24Hi, ty),
        ("mad" | "madc", Part::Lo) => (IntOp::MadLo, ty),
        ("mad" | "madc", Part::Hi) => (IntOp::MadHi, ty),
        ("mad", Part::Wide) if int.bits < 64 => (IntOp::MadWide, widened(ty)),
        _ => return Err(no_wide(op)),
    };
    let [a, b] = cx.srcs([a, b], ty)?;
    let c = cx.src(c, to)?;
    let dst = cx.dst(d, to)?;
    let carry = carry(cx, op.root == "madc", write)?;
    Ok(Sem::Int { op: operation, ty: int, dst, src: [a, b, c, Src::Imm(0)], carry, saturate })
}

fn dot(cx: &mut Cx<'_, '_>, op: &mut Opcode<'_>, args: &[Operand]) -> Res<Sem> {
    let half = op.choose(&[("lo", false), ("hi", true)]);
    let (a_ty, b_ty) = op.two_types()?;
    let signed = |ty: Type| match ty {
        Type::Unsigned(32) => Ok(false),
        Type::Signed(32) => Ok(true),
        _ => Err(Refusal::new(format!("`{}` takes .u32 and .s32 only", op.text), "")),
    };
    let (a_signed, b_signed) = (signed(a_ty)?, signed(b_ty)?);
    let [d, a, b, c] = exactly(op, args)?;
    let (a, b) = (cx.src(a, a_ty)?, cx.src(b, b_ty)?);
    let c = cx.src(c, Type::Bits(32))?;
    let dst = cx.dst(d, Type::Bits(32))?;
    let operation = match (op.root, half) {
        ("dp4a", None) => IntOp::Dp4a { a_signed, b_signed },
        ("dp2a", Some(high)) => IntOp::Dp2a { a_signed, b_signed, high },
        _ => return Err(Refusal::new(format!("`{}`: dp2a takes .lo or .hi, dp4a neither", op.text), "")),
    };
    let ty = IntTy { bits: 32, signed: a_signed || b_signed };
    let src = [a, b, c, Src::Imm(0)];
    Ok(Sem::Int { op: operation, ty, dst, src, carry: Carry::default(), saturate: false })
}

/// Lowers an operation on both halves of a register.
fn halves(cx: &mut Cx<'_, '_>, op: &mut Opcode<'_>, args: &[Operand]) -> Res<Sem> {
    let relu = op.take("relu");
    let signed = match op.types().as_slice() {
        [Type::Halves { signed }] => *signed,
        _ => return Err(op.types_wrong(1)),
    };
    let operation = match op.root {
        "add" => HalvesOp::Add,
        "min" => HalvesOp::Min,
        _ => HalvesOp::Max,
    };
    if relu && (!signed || operation == HalvesOp::Add) {
        return Err(no_relu(op));
    }
    let [d, a, b] = exactly(op, args)?;
    let [a, b] = cx.srcs([a, b], Type::Bits(32))?;
    let dst = cx.dst(d, Type::Bits(32))?;
    let ty = IntTy { bits: 32, signed };
    let src = [a, b, Src::Imm(0), Src::Imm(0)];
    Ok(Sem::Int {
        op: IntOp::Halves { op: operation, relu },
        ty,
        dst,
        src,
        carry: Carry::default(),
        saturate: false,
    })
}

fn no_relu(op: &Opcode<'_>) -> Refusal {
    Refusal::new(format!("`{}`: only min and max of .s32 and .s16x2 have .relu", op.text), "")
}

fn plain(cx: &mut Cx<'_, '_>, op: &mut Opcode<'_>, args: &[Operand]) -> Res<Sem> {
    let relu = op.take("relu");
    let (ty, int) = int_type(op)?;
    if relu && !(matches!(op.root, "min" | "max") && ty == Type::Signed(32)) {
        return Err(no_relu(op));
    }
    let (operation, count) = match op.root {
        "min" if relu => (IntOp::MinRelu, 2),
        "max" if relu => (IntOp::MaxRelu, 2),
        "div" => (IntOp::Div, 2),
        "rem" => (IntOp::Rem, 2),
        "min" => (IntOp::Min, 2),
        "max" => (IntOp::Max, 2),
        "abs" => (IntOp::Abs, 1),
        "neg" => (IntOp::Neg, 1),
        "sad" => (IntOp::Sad, 3),
        root => return Err(Refusal::new(format!("`{root}` is no integer operation"), "")),
    };
    let mut src = [Src::Imm(0); 4];
    if args.len() != count + 1 {
        return Err(super::wrong_count(op, args, &(count + 1).to_string()));
    }
    for (slot, arg) in src.iter_mut().zip(&args[1..]) {
        *slot = cx.src(arg, ty)?;
    }
    let dst = cx.dst(&args[0], ty)?;
    Ok(Sem::Int { op: operation, ty: int, dst, src, carry: Carry::default(), saturate: false })
}
