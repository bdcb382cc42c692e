//! Lowers loads, stores, atomic operations and fences.

use super::{Cx, Decoded, Register, Res, Role, Value, refuse};
use crate::sass::table::Bank;
use crate::sass::table::meaning::Memory as Name;
use warpbound_core::base::RegId;
use warpbound_core::isa::Space;
use warpbound_core::program::sem::{Address, AtomOp, Atomic, FloatTy, IntTy, Operand as Src, Sem, ValueTy};
use warpbound_core::program::{Area, MemoryOp};

pub(super) fn lower(cx: &mut Cx, d: &Decoded, name: Name) -> Res<Role> {
    let space = d.op.space.unwrap_or(Space::Global);
    let area = Area::from(space);
    if let Some(p) = d.operand("p")
        && p.value != Value::Predicate(Register::Fixed)
    {
        return refuse(format!("{} with a predicate", d.op.name), "");
    }
    match name {
        Name::Load => {
            let (ty, count) = width(d)?;
            let dsts = registers(cx, d, count)?;
            let addr = address(cx, d)?;
            cx.push(Sem::Load { space, ty, dsts, addr });
            Ok(Role { memory: Some(MemoryOp::Load(area)), ..Role::PLAIN })
        }
        Name::Store => {
            let (ty, count) = width(d)?;
            let srcs =
                registers(cx, d, count)?.into_iter().map(|reg| reg.map_or(Src::Imm(0), Src::Reg)).collect();
            let addr = address(cx, d)?;
            cx.push(Sem::Store { space, bits: ty.bits, srcs, addr });
            Ok(Role { memory: Some(MemoryOp::Store(area)), ..Role::PLAIN })
        }
        Name::LoadConst => load_const(cx, d),
        Name::Membar => Ok(Role { memory: Some(MemoryOp::Fence), ..Role::PLAIN }),
        // it waits and has no effect on values
        Name::Depbar => Ok(Role::PLAIN),
        Name::Atom | Name::AtomCas | Name::Red => atomic(cx, d, name, space),
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

/// Returns consecutive destination registers; `None` for the register that is always zero.
fn registers(cx: &mut Cx, d: &Decoded, count: u8) -> Res<Vec<Option<RegId>>> {
    match d.operand("d").map(|operand| operand.value) {
        Some(Value::Register(Register::Fixed)) => Ok(vec![None; usize::from(count)]),
        Some(Value::Register(Register::Number(first)))
            if u32::from(first) + u32::from(count) <= cx.encoding.registers.general.count().into() =>
        {
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
        Register::Fixed if wide => Address { base: Src::Imm(offset as u64), offset: 0 },
        Register::Fixed => Address { base: Src::Imm(u64::from(offset as u32)), offset: 0 },
        Register::Number(number) if wide => {
            let base = cx.wide();
            let parts = [number, cx.further(number, 1)].map(|number| Src::Reg(cx.register(number)));
            cx.push(Sem::Pack { dst: base, parts: parts.to_vec(), bits: 32 });
            Address { base: Src::Reg(base), offset }
        }
        Register::Number(number) => Address { base: Src::Reg(cx.register(number)), offset },
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
    let (space, start, area) = match cx.encoding.abi.banks.content(bank) {
        Some(Bank::Launch) => (Space::Param, -i64::from(cx.kernel.param_base), Area::KernelParam),
        Some(Bank::Compiler) => {
            (Space::Const, super::program::compiler_constants(cx.cubin, cx.kernel) as i64, Area::Const)
        }
        Some(Bank::User) => (Space::Const, 0, Area::Const),
        Some(Bank::Addresses) | None => return refuse(format!("LDC from bank {bank}"), cx.banks_hint()),
    };
    let (ty, count) = width(d)?;
    let dsts = registers(cx, d, count)?;
    let addr = match register {
        Register::Fixed => Address { base: Src::Imm((offset + start) as u64), offset: 0 },
        Register::Number(number) => Address { base: Src::Reg(cx.register(number)), offset: offset + start },
    };
    cx.push(Sem::Load { space, ty, dsts, addr });
    Ok(Role { memory: Some(MemoryOp::Load(area)), ..Role::PLAIN })
}

fn atomic(cx: &mut Cx, d: &Decoded, name: Name, space: Space) -> Res<Role> {
    let (op, ty) = operation(d, name)?;
    let wide = ty.bytes() == 8;
    let operand = if name == Name::Red { "d" } else { "b" };
    let Some(Value::Register(first)) = d.operand(operand).map(|operand| operand.value) else {
        return refuse(format!("{} without an operand", d.op.name), "");
    };
    let b = value(cx, first, wide);
    let c = match first {
        Register::Number(first) if name == Name::AtomCas => {
            let second = cx.further(first, if wide { 2 } else { 1 });
            value(cx, cx.encoding.registers.general.register(second), wide)
        }
        _ => Src::Imm(0),
    };
    let addr = address(cx, d)?;
    let dst = match d.operand("d").map(|operand| operand.value) {
        _ if name == Name::Red => None,
        Some(Value::Register(Register::Fixed)) => None,
        Some(Value::Register(Register::Number(_))) if wide => Some(cx.wide()),
        _ => Some(cx.dst(d, "d")?),
    };
    let main = cx.parts.len();
    cx.push(Sem::Atomic(Box::new(Atomic { space, op, ty, dst, addr, b, c, more: Vec::new() })));
    if let (true, Some(dst)) = (wide, dst) {
        cx.unpack(d, "d", dst);
    }
    Ok(Role { main: Some(main), memory: Some(MemoryOp::Atomic(space.into())), ..Role::PLAIN })
}

/// Returns the operation and the type of an atomic operation.
fn operation(d: &Decoded, name: Name) -> Res<(AtomOp, ValueTy)> {
    let op = match d.modifier("op") {
        _ if name == Name::AtomCas => AtomOp::Cas,
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
    Ok((op, ty))
}

/// Returns the value of a register or of a pair of registers.
fn value(cx: &mut Cx, register: Register, wide: bool) -> Src {
    let number = match register {
        Register::Fixed => return Src::Imm(0),
        Register::Number(number) => number,
    };
    if !wide {
        return Src::Reg(cx.register(number));
    }
    let (low, high) = (cx.register(number), cx.register(cx.further(number, 1)));
    let dst = cx.wide();
    cx.push(Sem::Pack { dst, parts: vec![Src::Reg(low), Src::Reg(high)], bits: 32 });
    Src::Reg(dst)
}
