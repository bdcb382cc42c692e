//! Lowers loads, stores, atomic operations and fences.

use super::{Cx, Decoded, PT, RZ, Refusal, Res, Role, Value, refuse};
use warpbound_core::base::RegId;
use warpbound_core::isa::Space;
use warpbound_core::program::sem::{Address, AtomOp, Atomic, FloatTy, IntTy, Operand as Src, Sem, ValueTy};
use warpbound_core::program::{Area, MemoryOp};

pub(super) fn lower(cx: &mut Cx, d: &Decoded) -> Res<Role> {
    let space = d.op.space.unwrap_or(Space::Global);
    let area = Area::from(space);
    if let Some(p) = d.operand("p")
        && p.value != Value::Predicate(PT)
    {
        return refuse(format!("{} with a predicate", d.op.name), "");
    }
    match d.op.sem.as_str() {
        "load" => {
            let (ty, count) = width(d)?;
            let dsts = registers(cx, d, count)?;
            let addr = address(cx, d)?;
            cx.push(Sem::Load { space, ty, dsts, addr });
            Ok(Role { memory: Some(MemoryOp::Load(area)), ..Role::PLAIN })
        }
        "store" => {
            let (ty, count) = width(d)?;
            let srcs =
                registers(cx, d, count)?.into_iter().map(|reg| reg.map_or(Src::Imm(0), Src::Reg)).collect();
            let addr = address(cx, d)?;
            cx.push(Sem::Store { space, bits: ty.bits, srcs, addr });
            Ok(Role { memory: Some(MemoryOp::Store(area)), ..Role::PLAIN })
        }
        "load_const" => load_const(cx, d),
        "membar" => Ok(Role { memory: Some(MemoryOp::Fence), ..Role::PLAIN }),
        // it waits and has no effect on values
        "depbar" => Ok(Role::PLAIN),
        _ => atomic(cx, d, space),
    }
}

/// Returns the type of the value in each register, and the number of registers.
fn width(d: &Decoded) -> Res<(IntTy, u8)> {
    let ty = |bits, signed| IntTy { bits, signed };
    Ok(match d.modifier("bits") {
        ".U8" => (ty(8, false), 1),
        ".S8" => (ty(8, true), 1),
        ".U16" => (ty(16, false), 1),
        ".S16" => (ty(16, true), 1),
        "" | ".32" => (ty(32, false), 1),
        ".64" => (ty(32, false), 2),
        ".128" => (ty(32, false), 4),
        other => return refuse(format!("{}{other}", d.op.name), ""),
    })
}

/// Returns consecutive destination registers; `None` for RZ.
fn registers(cx: &mut Cx, d: &Decoded, count: u8) -> Res<Vec<Option<RegId>>> {
    match d.operand("d").map(|operand| operand.value) {
        Some(Value::Register(RZ)) => Ok(vec![None; usize::from(count)]),
        Some(Value::Register(first)) if first.checked_add(count).is_some() => {
            Ok((0..count).map(|index| Some(cx.register(first + index))).collect())
        }
        _ => refuse(format!("{} of registers that do not exist", d.op.name), ""),
    }
}

fn address(cx: &mut Cx, d: &Decoded) -> Res<Address> {
    let Some(Value::Address { register, offset, wide }) = d.operand("m").map(|operand| operand.value) else {
        return refuse(format!("{} without an address", d.op.name), "");
    };
    Ok(match register {
        // no register determines the width of the sum
        RZ if wide => Address { base: Src::Imm(offset as u64), offset: 0 },
        RZ => Address { base: Src::Imm(u64::from(offset as u32)), offset: 0 },
        number if wide => {
            let base = cx.wide();
            let parts = [number, number.saturating_add(1)].map(|number| Src::Reg(cx.register(number)));
            cx.push(Sem::Pack { dst: base, parts: parts.to_vec(), bits: 32 });
            Address { base: Src::Reg(base), offset }
        }
        number => Address { base: Src::Reg(cx.register(number)), offset },
    })
}

fn load_const(cx: &mut Cx, d: &Decoded) -> Res<Role> {
    let Some(Value::IndexedConstant { bank, register, offset }) = d.operand("m").map(|operand| operand.value)
    else {
        return refuse("LDC without an address", "");
    };
    if d.has("mode") {
        return refuse(format!("LDC{}", d.modifier("mode")), "");
    }
    // the compiler's constants are after those of the user, where `program` places them
    let (space, start, area) = match bank {
        0 => (Space::Param, -i64::from(cx.kernel.param_base), Area::KernelParam),
        2 => (Space::Const, super::program::compiler_constants(cx.cubin, cx.kernel) as i64, Area::Const),
        3 => (Space::Const, 0, Area::Const),
        _ => return refuse(format!("LDC from bank {bank}"), "0 parameters, 2 and 3 constants"),
    };
    let (ty, count) = width(d)?;
    let dsts = registers(cx, d, count)?;
    let base = match register {
        RZ => Src::Imm(0),
        number => Src::Reg(cx.register(number)),
    };
    let addr = match base {
        Src::Imm(_) => Address { base: Src::Imm((offset + start) as u64), offset: 0 },
        base => Address { base, offset: offset + start },
    };
    cx.push(Sem::Load { space, ty, dsts, addr });
    Ok(Role { memory: Some(MemoryOp::Load(area)), ..Role::PLAIN })
}

fn atomic(cx: &mut Cx, d: &Decoded, space: Space) -> Res<Role> {
    let swaps = d.op.sem == "atom_cas";
    let op = match d.modifier("op") {
        _ if swaps => AtomOp::Cas,
        ".ADD" => AtomOp::Add,
        ".MIN" => AtomOp::Min,
        ".MAX" => AtomOp::Max,
        ".INC" => AtomOp::Inc,
        ".DEC" => AtomOp::Dec,
        ".AND" => AtomOp::And,
        ".OR" => AtomOp::Or,
        ".XOR" => AtomOp::Xor,
        ".EXCH" => AtomOp::Exch,
        other => return refuse(format!("{}{other}", d.op.name), ""),
    };
    let int = |bits, signed| ValueTy::Int(IntTy { bits, signed });
    let ty = match d.modifier("ty") {
        "" => int(32, false),
        ".S32" => int(32, true),
        ".U64" | ".64" => int(64, false),
        ".S64" => int(64, true),
        ".F32.FTZ.RN" => ValueTy::Float(FloatTy::F32),
        other => return refuse(format!("{}{other}", d.op.name), ""),
    };
    let known = match op {
        AtomOp::Inc | AtomOp::Dec => ty == int(32, false),
        AtomOp::Add => true,
        _ => matches!(ty, ValueTy::Int(_)),
    };
    if !known {
        let hint = "floats can only be added, and counters are unsigned words";
        return refuse(format!("{}{}{}", d.op.name, d.modifier("op"), d.modifier("ty")), hint);
    }
    let wide = ty.bytes() == 8;
    let operand = if d.op.sem == "red" { "d" } else { "b" };
    let Some(Value::Register(first)) = d.operand(operand).map(|operand| operand.value) else {
        return refuse(format!("{} without an operand", d.op.name), "");
    };
    let step = if wide { 2 } else { 1 };
    let b = value(cx, first, wide)?;
    let c = if swaps && first != RZ { value(cx, first.saturating_add(step), wide)? } else { Src::Imm(0) };
    let addr = address(cx, d)?;
    let dst = match d.operand("d").map(|operand| operand.value) {
        _ if d.op.sem == "red" => None,
        Some(Value::Register(RZ)) => None,
        Some(Value::Register(_)) if wide => Some(cx.wide()),
        _ => Some(cx.dst(d, "d")?),
    };
    let main = cx.parts.len();
    cx.push(Sem::Atomic(Box::new(Atomic { space, op, ty, dst, addr, b, c, more: Vec::new() })));
    if let (true, Some(dst)) = (wide, dst) {
        cx.unpack(d, "d", dst);
    }
    Ok(Role { main: Some(main), memory: Some(MemoryOp::Atomic(space.into())), ..Role::PLAIN })
}

/// Returns a register or a pair of registers.
fn value(cx: &mut Cx, number: u8, wide: bool) -> Result<Src, Refusal> {
    if number == RZ {
        return Ok(Src::Imm(0));
    }
    if !wide {
        return Ok(Src::Reg(cx.register(number)));
    }
    let (low, high) = (cx.register(number), cx.register(number.saturating_add(1)));
    let dst = cx.wide();
    cx.push(Sem::Pack { dst, parts: vec![Src::Reg(low), Src::Reg(high)], bits: 32 });
    Ok(Src::Reg(dst))
}
