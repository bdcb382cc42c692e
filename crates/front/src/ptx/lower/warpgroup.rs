//! Products of warp groups.

use super::matrix::{Shape, combine, fragment, kind, matrix_type, need_shape, read, register_type};
use super::opcode::Opcode;
use super::operand::Cx;
use super::{Lowered, Refusal, Res, exactly, wrong_count};
use crate::ptx::ast::{Operand, OperandKind};
use crate::ptx::types::Type;
use warpbound_core::isa::TypeKind;
use warpbound_core::program::Sem;
use warpbound_core::program::sem::{
    GroupFactor, GroupProduct, Matrix, MatrixRole, MatrixTy, RegisterFragment, SharedFactor,
};

const B64: Type = Type::Bits(64);

pub(super) fn lower<'a>(cx: &mut Cx<'a, '_>, op: &mut Opcode<'a>, args: &[Operand]) -> Res<Lowered<'a>> {
    if op.take("mma_async") {
        return multiply(cx, op, args);
    }
    let waits = op.take("wait_group");
    if !waits && !op.take("fence") && !op.take("commit_group") {
        let hint = "one of .mma_async .fence .commit_group .wait_group";
        return Err(Refusal::new(format!("`{}` names no operation", op.text), hint));
    }
    op.ignore(&["sync", "aligned"]);
    op.finish()?;
    if waits {
        let [groups] = exactly(op, args)?;
        if cx.constant(groups)? > 7 {
            return Err(Refusal::new("0 to 7 groups may be pending", "").at(groups.span));
        }
    } else {
        let [] = exactly(op, args)?;
    }
    // products are complete at once
    Ok(Lowered::new(Sem::Nop, "wgmma.wait", TypeKind::None))
}

/// Returns whether products of a type of factors are supported with this type of result, and the number
/// of columns that they may have.
fn exists(factor: MatrixTy, sum: MatrixTy, [m, n, k]: Shape) -> bool {
    let sums: &[MatrixTy] = match factor {
        MatrixTy::F16 | MatrixTy::E4m3 | MatrixTy::E5m2 => &[MatrixTy::F16, MatrixTy::F32],
        MatrixTy::Bf16 | MatrixTy::Tf32 => &[MatrixTy::F32],
        MatrixTy::S8 | MatrixTy::U8 => &[MatrixTy::S32],
        _ => &[],
    };
    // products of integers have no odd multiples of 8 columns beyond 24
    let step = if sum == MatrixTy::S32 && n > 24 { 16 } else { 8 };
    sums.contains(&sum) && m == 64 && k * factor.bits() == 256 && n % step == 0 && (8..=256).contains(&n)
}

fn multiply<'a>(cx: &mut Cx<'a, '_>, op: &mut Opcode<'a>, args: &[Operand]) -> Res<Lowered<'a>> {
    let shape = need_shape(op)?;
    let types = op.all(matrix_type);
    let (d, a, b) = match *types.as_slice() {
        [d, a, b] if exists(a, d, shape) && combine(a, b) && !op.has("sp") => (d, a, b),
        _ => {
            let message = format!("`{}`: products of these types and this shape are not simulated", op.text);
            let hint = "dense ones of f16, bf16, tf32, e4m3, e5m2, s8 and u8 with f16, f32 or s32 results are, for \
                        instance .m64n8k16.f32.f16.f16";
            return Err(Refusal::new(message, hint));
        }
    };
    let saturate = d == MatrixTy::S32 && op.take("satfinite");
    op.ignore(&["sync", "aligned"]);
    op.finish()?;
    let [d_arg, a_arg, b_arg, more @ ..] = args else { return Err(wrong_count(op, args, "4 to 8")) };
    let in_registers = matches!(a_arg.kind, OperandKind::Vector(_));
    // signs, then which factors in shared memory are transposed
    let (signs, transposed) = match (d, a) {
        (MatrixTy::S32, _) => (0, 0),
        (_, MatrixTy::F16 | MatrixTy::Bf16) => (2, if in_registers { 1 } else { 2 }),
        _ => (2, 0),
    };
    let [scale, immediates @ ..] = more else { return Err(wrong_count(op, args, "at least 4")) };
    if immediates.len() != signs + transposed {
        return Err(wrong_count(op, args, &(4 + signs + transposed).to_string()));
    }
    let mut values = Vec::new();
    for operand in immediates {
        values.push(cx.constant(operand)? as i64);
    }
    let sign = |index: usize| match values.get(index) {
        None | Some(1) => Ok(false),
        Some(-1) => Ok(true),
        Some(_) => Err(Refusal::new("the sign of a factor is 1 or -1", "").at(immediates[index].span)),
    };
    let flag = |index: Option<usize>| match index.and_then(|index| Some((index, values.get(index)?))) {
        None | Some((_, 0)) => Ok(false),
        Some((_, 1)) => Ok(true),
        Some((index, _)) => {
            Err(Refusal::new("0 or 1 states whether a factor is transposed", "").at(immediates[index].span))
        }
    };
    let of_warp = [GroupProduct::ROWS, shape[1], shape[2]];
    let accumulator = fragment(of_warp, MatrixRole::Accumulator, d);
    let a_factor = if in_registers {
        let rows = fragment(of_warp, MatrixRole::A, a);
        let regs = read(cx, op, a_arg, register_type(a), rows.registers())?;
        GroupFactor::Registers { held: RegisterFragment { fragment: rows, regs }, negated: sign(0)? }
    } else {
        let (descriptor, transposed) = (cx.src(a_arg, B64)?, flag((transposed == 2).then_some(2))?);
        GroupFactor::Shared(SharedFactor { descriptor, ty: a, transposed, negated: sign(0)? })
    };
    let last = (transposed > 0).then(|| signs + transposed - 1);
    let b =
        SharedFactor { descriptor: cx.src(b_arg, B64)?, ty: b, transposed: flag(last)?, negated: sign(1)? };
    let accumulates = cx.pred_src(scale)?;
    let dsts = read(cx, op, d_arg, register_type(d), accumulator.registers())?;
    let c = RegisterFragment { fragment: accumulator, regs: dsts.clone() };
    let product = GroupProduct { a: a_factor, b, c, accumulates, d: accumulator, dsts, saturate };
    cx.note(
        "the kernel multiplies matrices by groups of warps: each product is complete at once here, and no bound is \
         judged",
    );
    let sem = Sem::Matrix(Box::new(Matrix::GroupMultiply(product)));
    Ok(Lowered::new(sem, "wgmma.mma_async", kind(a)))
}
