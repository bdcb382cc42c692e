//! Lowers what warps of Hopper do asynchronously: barriers in shared memory, bulk copies, and products of
//! warp groups.

use super::{Cx, Decoded, Register, Res, Role, U32, Value, matrix, memory, refuse};
use crate::sass::table::meaning::Group as Name;
use warpbound_core::isa::Space;
use warpbound_core::program::sem::{
    Address, AtomOp, Bulk, BulkCopy, BulkStore, ClusterOp, FloatTy, Fragment, GroupFactor, GroupProduct,
    IntOp, IntTy, Matrix, MatrixRole, MatrixTy, Mbarrier, MbarrierArrive, MbarrierOp, Operand as Src,
    PredSrc, RegisterFragment, Sem, SharedFactor, TensorCopy, ValueTy,
};

pub(super) fn lower(cx: &mut Cx, d: &Decoded, name: Name) -> Res<Role> {
    match name {
        Name::Initialise => initialise(cx, d)?,
        Name::Invalidate => object(cx, d, MbarrierOp::Inval)?,
        Name::Arrive => arrive(cx, d)?,
        Name::PhaseCheck => {
            let word = cx.source(d, "b")?;
            let parity = cx.value(IntOp::Shr, U32, &[word, Src::Imm(31)]);
            let done = cx.pred_dst(d, "p").unwrap_or_else(|| cx.pred());
            object(cx, d, MbarrierOp::Wait { done, phase: parity, parity: true, suspends: d.has("try") })?;
        }
        Name::CopiesArrive => match d.modifier("count") {
            ".ARVCNT" => object(cx, d, MbarrierOp::CopiesArrive { counted: true })?,
            // the copies count as a transaction that the instruction before has announced
            ".TRANSCNT" => object(cx, d, MbarrierOp::CopiesArrive { counted: false })?,
            other => return refuse(format!("{}{other}", d.op.name), ""),
        },
        Name::BulkCopy => bulk(cx, d, None)?,
        Name::BulkReduce => {
            let reduce = reduction(d)?;
            bulk(cx, d, Some(reduce))?;
        }
        Name::TensorLoad => tensor(cx, d, false)?,
        Name::TensorStore => tensor(cx, d, true)?,
        Name::SignalledStore => signalled_store(cx, d)?,
        Name::ClusterArrive => cx.push(Sem::Cluster(ClusterOp::Arrive)),
        Name::ClusterWait => cx.push(Sem::Cluster(ClusterOp::Wait)),
        Name::Product => product(cx, d)?,
        Name::Elect => {
            let leader = match d.operand("d").map(|operand| operand.value) {
                Some(Value::Uniform(Register::Number(_))) => Some(cx.dst(d, "d")?),
                _ => None,
            };
            let (elected, p) = (cx.pred_dst(d, "q"), cx.pred_src(d, "p"));
            cx.push(Sem::Elect { leader, elected, p, members: None });
        }
        Name::RequestRegisters => {
            if let Some(granted) = cx.pred_dst(d, "p") {
                cx.set_pred(granted, PredSrc::Const(true));
            }
        }
    }
    Ok(Role::PLAIN)
}

/// Adds an operation on the mbarrier object at the address of an instruction.
fn object(cx: &mut Cx, d: &Decoded, op: MbarrierOp) -> Res<()> {
    let addr = memory::address(cx, d)?;
    cx.push(Sem::Mbarrier(Box::new(Mbarrier { op, space: Space::Shared, addr })));
    Ok(())
}

/// Lowers an exchange with the word of a new object: its bits 1 to 20 are 2^20 minus the number of
/// arrivals that each phase expects.
fn initialise(cx: &mut Cx, d: &Decoded) -> Res<()> {
    if !matches!(d.operand("d").map(|operand| operand.value), Some(Value::Uniform(Register::Fixed))) {
        return refuse(format!("{} whose result is used", d.op.name), "");
    }
    let word = cx.source(d, "b")?;
    let missing = cx.value(IntOp::Bfe, U32, &[word, Src::Imm(1), Src::Imm(20)]);
    let count = cx.value(IntOp::Sub, U32, &[Src::Imm(1 << 20), missing]);
    object(cx, d, MbarrierOp::Init { count })
}

fn arrive(cx: &mut Cx, d: &Decoded) -> Res<()> {
    if d.modifier("kind") == ".TMASK" {
        let hint = "arrivals that must not complete a phase (.noComplete) are simulated in PTX only";
        return refuse(format!("{}.TMASK", d.op.name), hint);
    }
    let number = cx.source(d, "b")?;
    let (one, none) = (Src::Imm(1), Src::Imm(0));
    let (count, expect) = match d.modifier("count") {
        "" => (one, number),
        ".A1T0" => (one, none),
        ".ART0" => (number, none),
        ".A0TR" => return object(cx, d, MbarrierOp::ExpectTx { bytes: number }),
        ".A0TX" => return object(cx, d, MbarrierOp::CompleteTx { bytes: number }),
        // announces the transaction with which copies arrive, see [`Name::CopiesArrive`]
        _ => return Ok(()),
    };
    let state = match d.operand("d").map(|operand| operand.value) {
        Some(Value::Register(Register::Number(_))) => Some(cx.wide()),
        _ => None,
    };
    let arrive = MbarrierArrive { state, count, expect, drops: d.has("out"), completes: true };
    object(cx, d, MbarrierOp::Arrive(arrive))?;
    if let Some(state) = state {
        cx.unpack(d, "d", state);
    }
    Ok(())
}

/// Lowers a copy or a reduction of many bytes, whose number is given in units of 16 bytes. The register
/// behind the address in shared memory has the address of the object to signal.
fn bulk(cx: &mut Cx, d: &Decoded, reduce: Option<(AtomOp, ValueTy)>) -> Res<()> {
    let (to, from) = match d.modifier("route") {
        ".S.G" => (Space::Shared, Space::Global),
        ".G.S" => (Space::Global, Space::Shared),
        ".S.S" => (Space::Shared, Space::Shared),
        other => return refuse(format!("{}{other}", d.op.name), ""),
    };
    let mut units = cx.source(d, "n")?;
    let mut multicast = None;
    if d.has("multi") {
        // the upper half of the number names the blocks
        multicast = Some(cx.value(IntOp::Shr, U32, &[units, Src::Imm(16)]));
        units = cx.value(IntOp::And, U32, &[units, Src::Imm(0xffff)]);
    }
    let bytes = cx.value(IntOp::Shl, U32, &[units, Src::Imm(BulkCopy::UNIT.ilog2().into())]);
    let (src, dst) = (place(cx, d, "m", from)?, place(cx, d, "t", to)?);
    let signal = match (to, uniform(d, "t")) {
        (Space::Shared, Some(value)) => Some(Address { base: cx.word(value, 1), offset: 0 }),
        _ => None,
    };
    let copy = BulkCopy { from, src, to, dst, bytes, reduce, signal, multicast, by_warp: true };
    cx.push(Sem::Bulk(Box::new(Bulk::Bytes(copy))));
    Ok(())
}

/// Lowers a store or a reduction of registers. The register behind the address has the address of the
/// object to signal.
fn signalled_store(cx: &mut Cx, d: &Decoded) -> Res<()> {
    let (Some(Value::Address { register, uniform, offset, .. }), Some(value)) =
        (d.operand("m").map(|operand| operand.value), d.operand("d").map(|operand| operand.value))
    else {
        return refuse(format!("{} without operands", d.op.name), "");
    };
    if !matches!(uniform, None | Some(Register::Fixed)) {
        return refuse(format!("{} with a uniform register", d.op.name), "");
    }
    let place = Value::Register(register);
    let (dst, signal) = (cx.word(place, 0), cx.word(place, 1));
    let reduce = if d.op.name == "REDAS" { Some(reduction(d)?) } else { None };
    let (ty, count) = match (reduce, d.modifier("bits")) {
        (Some((_, ty)), _) => (ty, 1),
        (None, "") => (ValueTy::Int(U32), 1),
        (None, ".64") => (ValueTy::Int(U32), 2),
        (None, ".128") => (ValueTy::Int(U32), 4),
        (None, other) => return refuse(format!("{}{other}", d.op.name), ""),
    };
    let srcs = match ty.bytes() {
        8 => vec![Src::Reg(cx.packed(value, 0))],
        _ => (0..count).map(|step| cx.word(value, step)).collect(),
    };
    let store = BulkStore {
        ty,
        srcs,
        dst: Address { base: dst, offset },
        reduce,
        signal: Address { base: signal, offset: 0 },
    };
    cx.push(Sem::Bulk(Box::new(Bulk::Store(store))));
    Ok(())
}

/// Lowers a copy of a box of a tensor. The registers behind that of the address in shared memory have the
/// address of the object to signal, if the tensor is read, and the position of the box.
fn tensor(cx: &mut Cx, d: &Decoded, stores: bool) -> Res<()> {
    let axes = match d.modifier("dims") {
        ".1D" => 1,
        ".2D" => 2,
        ".3D" => 3,
        ".4D" => 4,
        _ => 5,
    };
    let Some(first) = uniform(d, "t") else {
        return refuse(format!("{} without an address", d.op.name), "");
    };
    let (signal, before) = match stores {
        true => (None, 1),
        false => (Some(Address { base: cx.word(first, 1), offset: 0 }), 2),
    };
    let position = (0..axes).map(|axis| cx.word(first, before + axis)).collect();
    let reduce = if d.has("op") { Some(memory::named_operation(d)?) } else { None };
    let (shared, map) = (place(cx, d, "t", Space::Shared)?, place(cx, d, "m", Space::Global)?);
    let space = Space::Generic;
    let multicast = match d.operand("n") {
        Some(_) => {
            let word = cx.source(d, "n")?;
            Some(cx.value(IntOp::Shr, U32, &[word, Src::Imm(16)]))
        }
        None => None,
    };
    let copy = TensorCopy { space, map, position, shared, stores, reduce, signal, multicast, by_warp: true };
    cx.push(Sem::Bulk(Box::new(Bulk::Tensor(copy))));
    Ok(())
}

/// Returns the register of the warp that holds an address, or the first one of a descriptor.
fn uniform(d: &Decoded, name: &str) -> Option<Value<'static>> {
    match d.operand(name)?.value {
        Value::Address { uniform: Some(register), .. } | Value::Descriptor(_, register) => {
            Some(Value::Uniform(register))
        }
        _ => None,
    }
}

/// Returns the address of an operand in a space: 64 bits of global memory, or 32 bits of shared memory.
fn place(cx: &mut Cx, d: &Decoded, name: &str, space: Space) -> Res<Address> {
    let Some(value) = uniform(d, name) else {
        return refuse(format!("{} without an address", d.op.name), "");
    };
    let base = match space {
        Space::Shared => cx.word(value, 0),
        _ => Src::Reg(cx.packed(value, 0)),
    };
    Ok(Address { base, offset: 0 })
}

fn reduction(d: &Decoded) -> Res<(AtomOp, ValueTy)> {
    let int = |bits, signed| ValueTy::Int(IntTy { bits, signed });
    let ty = match d.modifier("ty") {
        "" => int(32, false),
        ".S32" => int(32, true),
        ".U64" | ".64" => int(64, false),
        ".S64" => int(64, true),
        ".F16.RN" => ValueTy::Float(FloatTy::F16),
        ".BF16.RN" => ValueTy::Float(FloatTy::Bf16),
        ".F32.RN" => ValueTy::Float(FloatTy::F32),
        ".F64.RN" => ValueTy::Float(FloatTy::F64),
        other => return refuse(format!("{}{}{other}", d.op.name, d.modifier("op")), ""),
    };
    Ok((memory::named_operation(d)?, ty))
}

/// Lowers a product of a warp group.
fn product(cx: &mut Cx, d: &Decoded) -> Res<()> {
    let missing = |what: &str| refuse(format!("{} without {what}", d.op.name), "");
    let Some(n) = d.modifier("shape").split('x').nth(1).and_then(|n| n.parse().ok()) else {
        return missing("a shape");
    };
    let int = |name: &str| if d.modifier(name) == ".S8" { MatrixTy::S8 } else { MatrixTy::U8 };
    let small = |name: &str| if d.modifier(name) == ".E4M3" { MatrixTy::E4m3 } else { MatrixTy::E5m2 };
    let sum = if d.modifier("sum") == ".F16" { MatrixTy::F16 } else { MatrixTy::F32 };
    let (a_ty, b_ty, sum) = match (d.op.name.as_str(), d.modifier("ty")) {
        ("IGMMA", _) => (int("aty"), int("bty"), MatrixTy::S32),
        ("QGMMA", _) => (small("aty"), small("bty"), sum),
        (_, ".BF16") => (MatrixTy::Bf16, MatrixTy::Bf16, sum),
        (_, ".TF32") => (MatrixTy::Tf32, MatrixTy::Tf32, sum),
        _ => (MatrixTy::F16, MatrixTy::F16, sum),
    };
    let depth = 256 / a_ty.bits();
    if !d.modifier("shape").ends_with(&format!("x{depth}")) {
        return refuse(format!("{}{} of this type", d.op.name, d.modifier("shape")), "");
    }
    let (Some(group), Some(descriptor)) = (d.operand("g"), uniform(d, "g")) else {
        return missing("a descriptor");
    };
    let says = |what: &str| group.part.contains(what);
    let factor = |cx: &mut Cx, first: u8, ty: MatrixTy, letter: char| SharedFactor {
        descriptor: Src::Reg(cx.packed(descriptor, first)),
        ty,
        transposed: says(&format!(".tnsp{letter}")),
        negated: says(&format!(".neg{letter}")),
    };
    let of = |role, ty, cols| Fragment { role, ty, rows: GroupProduct::ROWS, cols };
    let held = |cx: &mut Cx, name: &str, fragment: Fragment| {
        let value = d.operand(name).map(|operand| operand.value);
        let count = fragment.registers() as u8;
        let regs = value.map(|value| (0..count).map(|step| matrix::register(cx, value, step)).collect());
        regs.map(|regs| RegisterFragment { fragment, regs })
    };
    let (a, b) = match d.operand("a") {
        Some(operand) => {
            let Some(rows) = held(cx, "a", of(MatrixRole::A, a_ty, depth)) else { return missing("A") };
            // the first two registers describe A, also where it is in registers
            (GroupFactor::Registers { held: rows, negated: operand.neg }, factor(cx, 2, b_ty, 'B'))
        }
        None => (GroupFactor::Shared(factor(cx, 0, a_ty, 'A')), factor(cx, 2, b_ty, 'B')),
    };
    let d_fragment = of(MatrixRole::Accumulator, sum, n);
    let Some(c) = held(cx, "c", d_fragment) else { return missing("an addend") };
    let first = match d.operand("d").map(|operand| operand.value) {
        Some(Value::Register(Register::Number(first))) => first,
        // nothing needs the result
        Some(Value::Register(Register::Fixed)) => return Ok(()),
        _ => return missing("a destination"),
    };
    let dsts = (0..d_fragment.registers() as u8)
        .map(|step| {
            let number = cx.further(first, step);
            cx.register(number)
        })
        .collect();
    let (accumulates, saturate) = (cx.pred_src(d, "x"), d.has("sat"));
    let product = GroupProduct { a, b, c, accumulates, d: d_fragment, dsts, saturate };
    cx.push(Sem::Matrix(Box::new(Matrix::GroupMultiply(product))));
    Ok(())
}
