//! Lowers products, loads and transpositions of matrices that the lanes of a warp hold together.

use super::{Cx, Decoded, Register, Res, Role, Value, refuse};
use crate::sass::table::meaning::Warp as Name;
use warpbound_core::base::RegId;
use warpbound_core::isa::Space;
use warpbound_core::program::sem::{
    Address, Fragment, Matrix, MatrixRole, MatrixRows, MatrixTy, Operand as Src, Product, RegisterFragment,
    Sem,
};
use warpbound_core::program::{Area, MemoryOp};

pub(super) fn lower(cx: &mut Cx, d: &Decoded, name: Name) -> Res<Role> {
    match name {
        Name::Movm => {
            let src = single(cx, d, "a")?;
            let dst = cx.dst(d, "d")?;
            cx.push(Sem::Matrix(Box::new(Matrix::Transpose { dst, src })));
        }
        _ => product(cx, d)?,
    }
    Ok(Role::PLAIN)
}

/// Lowers a load of matrices of 8 by 8 elements, of which each lane gives the address of a row.
pub(super) fn load(cx: &mut Cx, d: &Decoded, addr: Address) -> Res<Role> {
    let Some(value) = d.operand("d").map(|operand| operand.value) else {
        return refuse("LDSM without a destination", "");
    };
    let dsts = (0..count(d)).map(|step| cx.register_of(value, step)).collect();
    let from = MatrixRows { space: Space::Shared, addr, transposed: d.modifier("shape") == ".MT88" };
    cx.push(Sem::Matrix(Box::new(Matrix::LoadRows { from, dsts })));
    Ok(Role { memory: Some(MemoryOp::Load(Area::Shared)), ..Role::PLAIN })
}

/// Lowers a store of such matrices.
pub(super) fn store(cx: &mut Cx, d: &Decoded, addr: Address) -> Res<Role> {
    let Some(value) = d.operand("d").map(|operand| operand.value) else {
        return refuse(format!("{} without a source", d.op.name), "");
    };
    let srcs = (0..count(d)).map(|step| register(cx, value, step)).collect();
    let to = MatrixRows { space: Space::Shared, addr, transposed: d.modifier("shape") == ".MT88" };
    let main = cx.parts.len();
    cx.push(Sem::Matrix(Box::new(Matrix::StoreRows { to, srcs })));
    Ok(Role { main: Some(main), memory: Some(MemoryOp::Store(Area::Shared)), ..Role::PLAIN })
}

/// Returns the number of matrices of 8 by 8 elements.
fn count(d: &Decoded) -> u8 {
    match d.modifier("count") {
        "" => 1,
        ".2" => 2,
        _ => 4,
    }
}

/// Returns the register of an operand; for the one that is always zero, one that holds zero.
fn single(cx: &mut Cx, d: &Decoded, name: &str) -> Res<RegId> {
    match d.operand(name).map(|operand| operand.value) {
        Some(value) => Ok(register(cx, value, 0)),
        None => refuse(format!("{} without operand {name}", d.op.name), ""),
    }
}

/// Returns the register of a value `step` registers further; for the one that is always zero, a register
/// that holds zero.
pub(super) fn register(cx: &mut Cx, value: Value, step: u8) -> RegId {
    match cx.register_of(value, step) {
        Some(reg) => reg,
        None => {
            let reg = cx.narrow();
            cx.push(Sem::Mov { dst: reg, src: Src::Imm(0) });
            reg
        }
    }
}

/// Lowers a product of matrices.
fn product(cx: &mut Cx, d: &Decoded) -> Res<()> {
    let signed = |name: &&str| d.operand(name).is_some_and(|operand| operand.neg || operand.abs);
    if ["a", "b", "c"].iter().any(signed) || d.has("round") {
        return refuse(
            format!("{}{} of matrices with signs, or rounded like this", d.op.name, d.modifier("round")),
            "",
        );
    }
    let doubles = d.op.name.starts_with("DMMA");
    let integers = d.op.name.strip_prefix("IMMA");
    let [m, n, k] = match integers.unwrap_or(d.modifier("shape")) {
        ".8816" => [8, 8, 16],
        ".8832" => [8, 8, 32],
        ".16864" => [16, 8, 64],
        ".16832" => [16, 8, 32],
        ".1688" => [16, 8, 8],
        ".16816" => [16, 8, 16],
        ".1684" => [16, 8, 4],
        "" | ".8x8x4" if doubles => [8, 8, 4],
        other => return refuse(format!("{}{other}", d.op.name), ""),
    };
    let int = |name: &str| match d.modifier(name) {
        ".S8" => MatrixTy::S8,
        ".S4" => MatrixTy::S4,
        ".U4" => MatrixTy::U4,
        _ => MatrixTy::U8,
    };
    let factor = match d.modifier("ty") {
        "" => MatrixTy::F16,
        ".BF16" => MatrixTy::Bf16,
        _ => MatrixTy::Tf32,
    };
    let small = |name: &str| if d.modifier(name) == ".E4M3" { MatrixTy::E4m3 } else { MatrixTy::E5m2 };
    let (a, b, sum) = match d.modifier("sum") {
        ".F16" if d.op.name == "QMMA" => (small("aty"), small("bty"), MatrixTy::F16),
        _ if d.op.name == "QMMA" => (small("aty"), small("bty"), MatrixTy::F32),
        _ if integers.is_some() => (int("aty"), int("bty"), MatrixTy::S32),
        _ if doubles => (MatrixTy::F64, MatrixTy::F64, MatrixTy::F64),
        ".F16" => (factor, factor, MatrixTy::F16),
        _ => (factor, factor, MatrixTy::F32),
    };
    let fragment = |role, ty, rows, cols| Fragment { role, ty, rows, cols };
    let parts = [
        ("a", fragment(MatrixRole::A, a, m, k)),
        ("b", fragment(MatrixRole::B, b, k, n)),
        ("c", fragment(MatrixRole::Accumulator, sum, m, n)),
    ];
    let mut read = Vec::new();
    for (name, fragment) in parts {
        let Some(value) = d.operand(name).map(|operand| operand.value) else {
            return refuse(format!("{} without operand {name}", d.op.name), "");
        };
        let count = fragment.registers() as u8;
        let regs = (0..count)
            .map(|step| if doubles { cx.packed(value, 2 * step) } else { register(cx, value, step) })
            .collect();
        read.push(RegisterFragment { fragment, regs });
    }
    let result = fragment(MatrixRole::Accumulator, sum, m, n);
    let Some(Value::Register(Register::Number(first))) = d.operand("d").map(|operand| operand.value) else {
        return refuse(format!("{} without a destination", d.op.name), "");
    };
    let dsts: Vec<RegId> = (0..result.registers() as u8)
        .map(|step| {
            if doubles {
                return cx.wide();
            }
            let number = cx.further(first, step);
            cx.register(number)
        })
        .collect();
    let [a, b, c] =
        <[RegisterFragment; 3]>::try_from(read).unwrap_or_else(|_| unreachable!("three matrices"));
    let results = if doubles { dsts.clone() } else { Vec::new() };
    let product = Product { a, b, c, d: result, dsts, saturate: d.has("sat") };
    cx.push(Sem::Matrix(Box::new(Matrix::Multiply(product))));
    for (step, src) in (0..).step_by(2).zip(results) {
        let [low, high] = [step, step + 1].map(|step| cx.further(first, step));
        let (low, high) = (cx.register(low), cx.register(high));
        cx.halves(low, high, src);
    }
    Ok(())
}
