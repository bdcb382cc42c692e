//! Matrix instructions of a warp: products, loads, stores.

use super::memory::elements;
use super::opcode::Opcode;
use super::operand::{Cx, Fit};
use super::{Lowered, Refusal, Res, convert, exactly, wrong_count};
use crate::ptx::ast::Operand;
use crate::ptx::types::Type;
use MatrixTy::{Bf16, E4m3, E5m2, F16, F32, F64, S4, S8, S32, Tf32, U4, U8};
use warpbound_core::base::RegId;
use warpbound_core::isa::{Space, TypeKind};
use warpbound_core::program::sem::{
    Fragment, Matrix, MatrixBlock, MatrixRole, MatrixRows, MatrixTy, Product, RegisterFragment,
};
use warpbound_core::program::{Area, MemoryOp, Sem};

const B32: Type = Type::Bits(32);

/// The dimensions m, n and k.
pub(super) type Shape = [usize; 3];

/// The shapes of an instruction, with the supported types of factors and the name of the product in
/// the ISA table.
type Shapes = [(Shape, &'static [MatrixTy], &'static str)];

const WMMA: &Shapes = &[
    ([16, 16, 16], &[F16, Bf16, S8, U8], "wmma.m16n16k16"),
    ([8, 32, 16], &[F16, Bf16, S8, U8], "wmma.m8n32k16"),
    ([32, 8, 16], &[F16, Bf16, S8, U8], "wmma.m32n8k16"),
    ([16, 16, 8], &[Tf32], "wmma.m16n16k8"),
    ([8, 8, 32], &[S4, U4], "wmma.m8n8k32"),
    ([8, 8, 4], &[F64], "wmma.m8n8k4"),
];

const MMA: &Shapes = &[
    ([16, 8, 4], &[Tf32], "mma.m16n8k4"),
    ([16, 8, 8], &[F16, Bf16, Tf32], "mma.m16n8k8"),
    ([8, 8, 16], &[S8, U8], "mma.m8n8k16"),
    ([16, 8, 16], &[F16, Bf16, S8, U8, E4m3, E5m2], "mma.m16n8k16"),
    ([8, 8, 32], &[S4, U4], "mma.m8n8k32"),
    ([16, 8, 32], &[S8, U8, S4, U4, E4m3, E5m2], "mma.m16n8k32"),
    ([16, 8, 64], &[S4, U4], "mma.m16n8k64"),
    ([8, 8, 4], &[F64], "mma.m8n8k4"),
];

pub(super) fn lower<'a>(cx: &mut Cx<'a, '_>, op: &mut Opcode<'a>, args: &[Operand]) -> Res<Lowered<'a>> {
    if !op.take("sync") {
        return Err(Refusal::new(
            format!("`{}` is not supported", op.text),
            "matrix instructions need .sync",
        ));
    }
    op.take("aligned");
    match op.root {
        "mma" => multiply(cx, op, args, false),
        "ldmatrix" => load_rows(cx, op, args),
        "stmatrix" => store_rows(cx, op, args),
        "movmatrix" => transpose(cx, op, args),
        _ => match op.need("operation", &[("mma", 0), ("load", 1), ("store", 2)])? {
            0 => multiply(cx, op, args, true),
            1 => load(cx, op, args),
            _ => store(cx, op, args),
        },
    }
}

pub(super) fn matrix_type(name: &str) -> Option<MatrixTy> {
    Some(match name {
        "f16" => F16,
        "bf16" => Bf16,
        "tf32" => Tf32,
        "f32" => F32,
        "f64" => F64,
        "s4" => S4,
        "u4" => U4,
        "s8" => S8,
        "u8" => U8,
        "s32" => S32,
        "e4m3" => E4m3,
        "e5m2" => E5m2,
        _ => return None,
    })
}

/// Parses a shape such as `m16n8k16`.
fn shape(name: &str) -> Option<Shape> {
    let (m, rest) = name.strip_prefix('m')?.split_once('n')?;
    let (n, k) = rest.split_once('k')?;
    Some([m.parse().ok()?, n.parse().ok()?, k.parse().ok()?])
}

/// Consumes the shape of a product.
pub(super) fn need_shape(op: &mut Opcode<'_>) -> Res<Shape> {
    match op.all(shape).as_slice() {
        [shape] => Ok(*shape),
        _ => Err(Refusal::new(format!("`{}` names no shape", op.text), "for instance .m16n16k16")),
    }
}

/// Consumes `N` layouts; returns whether each one is column-major.
fn layouts<const N: usize>(op: &mut Opcode<'_>) -> Res<[bool; N]> {
    let found = op.all(|part| match part {
        "row" => Some(false),
        "col" => Some(true),
        _ => None,
    });
    found.try_into().map_err(|_| {
        Refusal::new(format!("`{}` does not have {N} layouts", op.text), ".row or .col for each matrix")
    })
}

fn unsupported(op: &Opcode<'_>) -> Refusal {
    Refusal::new(
        format!("`{}`: products of these types and this shape are not simulated", op.text),
        "those of f16, bf16, tf32, e4m3, e5m2, s8, u8, s4, u4 with f16, f32 or s32 results are (not the m8n8k4 of \
         sm_70), and those of f64 in m8n8k4",
    )
}

/// Returns whether factors of a type support this type of result.
fn accumulates(factor: MatrixTy, sum: MatrixTy) -> bool {
    match factor {
        F16 | E4m3 | E5m2 => matches!(sum, F16 | F32),
        Bf16 | Tf32 => sum == F32,
        F64 => sum == F64,
        S4 | U4 | S8 | U8 => sum == S32,
        F32 | S32 => false,
    }
}

/// Returns whether the factors of a product may have these types.
pub(super) fn combine(a: MatrixTy, b: MatrixTy) -> bool {
    a == b || matches!((a, b), (S8, U8) | (U8, S8) | (S4, U4) | (U4, S4) | (E4m3, E5m2) | (E5m2, E4m3))
}

pub(super) fn kind(factor: MatrixTy) -> TypeKind {
    match factor {
        F16 | Bf16 | E4m3 | E5m2 => TypeKind::F16,
        F32 | Tf32 => TypeKind::F32,
        F64 => TypeKind::F64,
        S4 | U4 | S8 | U8 | S32 => TypeKind::Int,
    }
}

/// Returns the fragment of a matrix of a product.
pub(super) fn fragment([m, n, k]: Shape, role: MatrixRole, ty: MatrixTy) -> Fragment {
    let (rows, cols) = match role {
        MatrixRole::A => (m, k),
        MatrixRole::B => (k, n),
        MatrixRole::Accumulator => (m, n),
    };
    Fragment { role, ty, rows, cols }
}

/// Returns the number of registers of a fragment in the source. `wmma` has eight registers for f16
/// factors of any shape.
fn registers(fragment: &Fragment, wmma: bool) -> usize {
    let is_factor = fragment.role != MatrixRole::Accumulator;
    if wmma && is_factor && fragment.ty == F16 { 8 } else { fragment.registers() }
}

pub(super) fn register_type(ty: MatrixTy) -> Type {
    Type::Bits(ty.register_bits() as u8)
}

/// Returns the source registers.
pub(super) fn read(
    cx: &mut Cx<'_, '_>,
    op: &Opcode<'_>,
    arg: &Operand,
    ty: Type,
    count: usize,
) -> Res<Vec<RegId>> {
    let list = elements(op, arg, count)?;
    let reg = |operand: &Operand| match cx.src(operand, ty)?.reg() {
        Some(reg) => Ok(reg),
        None => Err(Refusal::new("a register is needed here", "").at(operand.span)),
    };
    list.iter().map(reg).collect()
}

fn read_fragment(
    cx: &mut Cx<'_, '_>,
    op: &Opcode<'_>,
    arg: &Operand,
    fragment: Fragment,
    wmma: bool,
) -> Res<RegisterFragment> {
    let regs = read(cx, op, arg, register_type(fragment.ty), registers(&fragment, wmma))?;
    Ok(RegisterFragment { fragment, regs })
}

/// Returns the destination registers; `None` for `_`.
fn written(
    cx: &mut Cx<'_, '_>,
    op: &Opcode<'_>,
    arg: &Operand,
    ty: Type,
    count: usize,
) -> Res<Vec<Option<RegId>>> {
    let list = elements(op, arg, count)?;
    list.iter().map(|operand| cx.maybe_destination(operand, ty, Fit::Exact)).collect()
}

fn multiply<'a>(cx: &mut Cx<'a, '_>, op: &mut Opcode<'a>, args: &[Operand], wmma: bool) -> Res<Lowered<'a>> {
    let shape = need_shape(op)?;
    let [a_by_column, b_by_column] = layouts(op)?;
    let [d, a, b, c] = match *op.all(matrix_type).as_slice() {
        [d, c] if wmma => [d, F16, F16, c],
        [d, a, b, c] => [d, a, b, c],
        _ => return Err(unsupported(op)),
    };
    let shapes = if wmma { WMMA } else { MMA };
    let known = shapes.iter().find(|(known, types, _)| *known == shape && types.contains(&a));
    let Some(&(_, _, root)) = known else { return Err(unsupported(op)) };
    // Only `wmma` supports different types of addend and result, and both layouts for factors of at
    // least 8 bits.
    let fixed_layout = !wmma || a.bits() < 8;
    if !combine(a, b)
        || !accumulates(a, c)
        || !accumulates(a, d)
        || !wmma && c != d
        || fixed_layout && (a_by_column || !b_by_column)
    {
        return Err(unsupported(op));
    }
    let saturate = kind(a) == TypeKind::Int && op.take("satfinite");
    if a == F64 {
        op.take("rn");
    }
    op.finish()?;
    let [d_arg, a_arg, b_arg, c_arg] = exactly(op, args)?;
    let a_source = read_fragment(cx, op, a_arg, fragment(shape, MatrixRole::A, a), wmma)?;
    let b_source = read_fragment(cx, op, b_arg, fragment(shape, MatrixRole::B, b), wmma)?;
    let c_source = read_fragment(cx, op, c_arg, fragment(shape, MatrixRole::Accumulator, c), wmma)?;
    let d_fragment = fragment(shape, MatrixRole::Accumulator, d);
    let mut dsts = Vec::new();
    for operand in elements(op, d_arg, d_fragment.registers())? {
        dsts.push(cx.dst(operand, register_type(d))?);
    }
    let product = Product { a: a_source, b: b_source, c: c_source, d: d_fragment, dsts, saturate };
    Ok(Lowered::new(Sem::Matrix(Box::new(Matrix::Multiply(product))), root, kind(a)))
}

/// Returns the fragment that `wmma.load` or `wmma.store` transfers, and whether it is column-major.
fn moved_fragment(op: &mut Opcode<'_>, roles: &[(&str, MatrixRole)]) -> Res<(Fragment, bool)> {
    let role = op.need("matrix", roles)?;
    let shape = need_shape(op)?;
    let [by_column] = layouts(op)?;
    let [ty] = *op.all(matrix_type).as_slice() else { return Err(unsupported(op)) };
    let mut factors = WMMA.iter().filter(|(known, ..)| *known == shape).flat_map(|(_, types, _)| *types);
    let exists = factors.any(|&factor| match role {
        MatrixRole::Accumulator => accumulates(factor, ty),
        MatrixRole::A | MatrixRole::B => factor == ty,
    });
    let fixed_layout = ty.bits() < 8 && by_column != (role == MatrixRole::B);
    if !exists || fixed_layout {
        return Err(unsupported(op));
    }
    Ok((fragment(shape, role, ty), by_column))
}

/// Returns the matrix in memory that `wmma.load` or `wmma.store` accesses.
fn block(
    cx: &mut Cx<'_, '_>,
    addr: &Operand,
    stride: Option<&Operand>,
    wanted: Option<Space>,
    by_column: bool,
) -> Res<MatrixBlock> {
    let (space, addr) = cx.address(addr, wanted)?;
    let stride = stride.map(|stride| cx.src(stride, B32)).transpose()?;
    Ok(MatrixBlock { space, addr, stride, by_column })
}

fn load<'a>(cx: &mut Cx<'a, '_>, op: &mut Opcode<'a>, args: &[Operand]) -> Res<Lowered<'a>> {
    let wanted = convert::space(op);
    let roles = [("a", MatrixRole::A), ("b", MatrixRole::B), ("c", MatrixRole::Accumulator)];
    let (fragment, by_column) = moved_fragment(op, &roles)?;
    op.finish()?;
    let (dsts, addr, stride) = match args {
        [dsts, addr] => (dsts, addr, None),
        [dsts, addr, stride] => (dsts, addr, Some(stride)),
        _ => return Err(wrong_count(op, args, "2 or 3")),
    };
    let from = block(cx, addr, stride, wanted, by_column)?;
    let space = from.space;
    let dsts = written(cx, op, dsts, register_type(fragment.ty), registers(&fragment, true))?;
    let sem = Sem::Matrix(Box::new(Matrix::Load { from, fragment, dsts }));
    Ok(Lowered::access(sem, "wmma.load", kind(fragment.ty), MemoryOp::Load(space.into())))
}

fn store<'a>(cx: &mut Cx<'a, '_>, op: &mut Opcode<'a>, args: &[Operand]) -> Res<Lowered<'a>> {
    let wanted = convert::space(op);
    let (fragment, by_column) = moved_fragment(op, &[("d", MatrixRole::Accumulator)])?;
    op.finish()?;
    let (addr, srcs, stride) = match args {
        [addr, srcs] => (addr, srcs, None),
        [addr, srcs, stride] => (addr, srcs, Some(stride)),
        _ => return Err(wrong_count(op, args, "2 or 3")),
    };
    let to = block(cx, addr, stride, wanted, by_column)?;
    let space = to.space;
    let src = read_fragment(cx, op, srcs, fragment, true)?;
    let sem = Sem::Matrix(Box::new(Matrix::Store { to, src }));
    Ok(Lowered::access(sem, "wmma.store", kind(fragment.ty), MemoryOp::Store(space.into())))
}

/// Consumes the modifiers of `ldmatrix` and `stmatrix`: the space, the number of matrices, and
/// whether they are transposed.
fn rows_form(op: &mut Opcode<'_>) -> Res<(Option<Space>, usize, bool)> {
    if !op.take("m8n8") || !op.take("b16") {
        return Err(Refusal::new(
            format!("`{}`: only 8 by 8 matrices of 16-bit elements are simulated", op.text),
            "use .m8n8 and .b16",
        ));
    }
    let count = op.need("number of matrices", &[("x1", 1), ("x2", 2), ("x4", 4)])?;
    let transposed = op.take("trans");
    let shared = op.take("shared") || op.take("shared::cta");
    op.finish()?;
    Ok((shared.then_some(Space::Shared), count, transposed))
}

fn load_rows<'a>(cx: &mut Cx<'a, '_>, op: &mut Opcode<'a>, args: &[Operand]) -> Res<Lowered<'a>> {
    let (wanted, count, transposed) = rows_form(op)?;
    let [dsts, addr] = exactly(op, args)?;
    let (space, addr) = cx.address(addr, wanted)?;
    let dsts = written(cx, op, dsts, B32, count)?;
    let from = MatrixRows { space, addr, transposed };
    let sem = Sem::Matrix(Box::new(Matrix::LoadRows { from, dsts }));
    Ok(Lowered::access(sem, op.root, TypeKind::Int, MemoryOp::Load(Area::Shared)))
}

fn store_rows<'a>(cx: &mut Cx<'a, '_>, op: &mut Opcode<'a>, args: &[Operand]) -> Res<Lowered<'a>> {
    let (wanted, count, transposed) = rows_form(op)?;
    let [addr, srcs] = exactly(op, args)?;
    let (space, addr) = cx.address(addr, wanted)?;
    let srcs = read(cx, op, srcs, B32, count)?;
    let to = MatrixRows { space, addr, transposed };
    let sem = Sem::Matrix(Box::new(Matrix::StoreRows { to, srcs }));
    Ok(Lowered::access(sem, op.root, TypeKind::Int, MemoryOp::Store(Area::Shared)))
}

fn transpose<'a>(cx: &mut Cx<'a, '_>, op: &mut Opcode<'a>, args: &[Operand]) -> Res<Lowered<'a>> {
    if !(op.take("m8n8") && op.take("trans") && op.take("b16")) {
        return Err(Refusal::new(format!("`{}` is not supported", op.text), "use .m8n8.trans.b16"));
    }
    let [d, a] = exactly(op, args)?;
    let [src] = read(cx, op, a, B32, 1)?[..] else { return Err(wrong_count(op, args, "2")) };
    let dst = cx.dst(d, B32)?;
    let sem = Sem::Matrix(Box::new(Matrix::Transpose { dst, src }));
    Ok(Lowered::new(sem, op.root, TypeKind::Int))
}
