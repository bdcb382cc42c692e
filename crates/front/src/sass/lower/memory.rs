//! Lowers loads, stores, atomic operations and fences.

use super::{Cx, Decoded, Register, Res, Role, Value, refuse};
use crate::sass::table::Bank;
use crate::sass::table::meaning::Memory as Name;
use warpbound_core::base::RegId;
use warpbound_core::isa::Space;
use warpbound_core::program::sem::{
    Address, AtomOp, Atomic, ClusterOp, Cmp, FloatTy, IntOp, IntTy, Operand as Src, PredSrc, Sem, ValueTy,
};
use warpbound_core::program::{Area, Flow, MemoryOp};

pub(super) fn lower(cx: &mut Cx, d: &Decoded, name: Name) -> Res<Role> {
    let space = d.op.space.unwrap_or(Space::Global);
    let area = Area::from(space);
    let known = matches!(name, Name::Ldgsts | Name::QuerySpace | Name::Atom | Name::AtomCas);
    if let Some(p) = d.operand("p").filter(|_| !known)
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
            // ordered with other SMs, as `ld.cg` and `ld.relaxed.gpu` are, so that the L2 must answer
            let order = d.modifier("order");
            let strong = order.ends_with("STRONG.GPU") || order.ends_with("STRONG.SYS");
            let memory = if strong && matches!(area, Area::Global | Area::Generic) {
                MemoryOp::LoadUncached(area)
            } else {
                MemoryOp::Load(area)
            };
            Ok(Role { memory: Some(memory), ..Role::PLAIN })
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
        // it waits; of the operations of the engine only asynchronous copies have to be waited for
        Name::Depbar => {
            if let (Some(Value::Barrier(0)), Some(Value::Small(pending))) =
                (d.operand("sb").map(|operand| operand.value), d.operand("n").map(|operand| operand.value))
                && cx.copies
            {
                cx.push(Sem::AsyncWait { pending: pending as u32, all: false });
                return Ok(Role::flow(Flow::AsyncWait));
            }
            Ok(Role::PLAIN)
        }
        Name::Atom | Name::AtomCas | Name::Red | Name::Count | Name::Cast => atomic(cx, d, name, space),
        Name::Ldsm => {
            let addr = address(cx, d)?;
            super::matrix::load(cx, d, addr)
        }
        Name::Stsm => {
            let addr = address(cx, d)?;
            super::matrix::store(cx, d, addr)
        }
        Name::QuerySpace => query_space(cx, d),
        Name::Ldgsts => copy(cx, d),
        Name::Ldgdepbar => {
            cx.push(Sem::AsyncCommit);
            Ok(Role::PLAIN)
        }
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
        Some(value @ Value::Uniform(_)) => Ok((0..count).map(|step| cx.register_of(value, step)).collect()),
        Some(Value::Register(Register::Number(first)))
            if u32::from(first) + u32::from(count) <= cx.encoding.registers.general.count().into() =>
        {
            Ok((0..count).map(|index| Some(cx.register(first + index))).collect())
        }
        _ => refuse(format!("{} of registers that do not exist", d.op.name), ""),
    }
}

/// Returns the address of an instruction.
pub(super) fn address(cx: &mut Cx, d: &Decoded) -> Res<Address> {
    address_of(cx, d, "m")
}

/// Returns the address of an operand: the sum of a register, a register of the warp, and an offset.
fn address_of(cx: &mut Cx, d: &Decoded, name: &str) -> Res<Address> {
    let Some(operand) = d.operand(name) else {
        return refuse(format!("{} without an address", d.op.name), "");
    };
    let Value::Address { register, offset, wide, uniform, .. } = operand.value else {
        return refuse(format!("{} without an address", d.op.name), "");
    };
    let (scale, narrow) = match operand.part {
        "" => (0, false),
        ".U32" => (0, true),
        ".X4" => (2, false),
        ".X8" => (3, false),
        _ => (4, false),
    };
    if uniform.is_some() || scale > 0 {
        let own = match register {
            Register::Fixed => None,
            Register::Number(number) if narrow => {
                let word = Src::Reg(cx.register(number));
                Some(super::conversion::widened(cx, word, super::U32))
            }
            Register::Number(_) if wide => Some(Src::Reg(cx.packed(Value::Register(register), 0))),
            Register::Number(number) => Some(Src::Reg(cx.register(number))),
        };
        return sum(cx, (own, scale), uniform, offset, wide);
    }
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

/// Lowers a load of words that the driver writes before the parameters, or of addresses of variables.
fn known_words(cx: &mut Cx, d: &Decoded, bank: u8, offset: i64) -> Res<Role> {
    let (ty, count) = width(d)?;
    if ty.bits != 32 {
        return refuse(format!("LDC{} of a property of the launch", d.modifier("bits")), "");
    }
    let dsts = registers(cx, d, count)?;
    for (dst, step) in dsts.into_iter().zip(0..) {
        let src = cx.constant(bank, offset + 4 * step)?;
        if let Some(dst) = dst {
            cx.push(Sem::Mov { dst, src });
        }
    }
    Ok(Role::PLAIN)
}

/// Returns the address that is the sum of a register, which may be scaled, and one of the warp.
fn sum(
    cx: &mut Cx,
    (own, scale): (Option<Src>, u8),
    uniform: Option<Register>,
    offset: i64,
    wide: bool,
) -> Res<Address> {
    let own = match own {
        Some(own) if scale > 0 => Some(cx.value(IntOp::Shl, super::U32, &[own, Src::Imm(scale.into())])),
        own => own,
    };
    let shared = match uniform {
        None | Some(Register::Fixed) => None,
        Some(register) if wide => Some(Src::Reg(cx.packed(Value::Uniform(register), 0))),
        Some(Register::Number(number)) => Some(Src::Reg(cx.shared(number))),
    };
    let base = match (own, shared) {
        (None, None) if wide => return Ok(Address { base: Src::Imm(offset as u64), offset: 0 }),
        (None, None) => return Ok(Address { base: Src::Imm(u64::from(offset as u32)), offset: 0 }),
        (Some(one), None) | (None, Some(one)) => one,
        (Some(one), Some(other)) => {
            let (ty, dst) = if wide { (super::U64, cx.wide()) } else { (super::U32, cx.narrow()) };
            cx.int(IntOp::Add, ty, dst, &[one, other]);
            Src::Reg(dst)
        }
    };
    Ok(Address { base, offset })
}

/// Lowers an asynchronous copy from global to shared memory.
fn copy(cx: &mut Cx, d: &Decoded) -> Res<Role> {
    let bytes = match d.modifier("bits") {
        "" => 4,
        ".64" => 8,
        ".128" => 16,
        other => return refuse(format!("{}{other}", d.op.name), ""),
    };
    let (dst, src) = (address_of(cx, d, "t")?, address_of(cx, d, "m")?);
    let (src, all) = if d.has("zfill") { filled(cx, src, bytes) } else { (src, Src::Imm(bytes.into())) };
    let src_bytes = match cx.pred_src(d, "p") {
        PredSrc::Const(true) => all,
        p => {
            let count = cx.narrow();
            cx.push(Sem::Select { dst: count, a: all, b: Src::Imm(0), p });
            Src::Reg(count)
        }
    };
    // a copy of all bytes needs no count
    let src_bytes = Some(src_bytes).filter(|&count| count != Src::Imm(bytes.into()));
    cx.push(Sem::AsyncCopy { bytes, dst, src, src_bytes });
    let memory = if d.has("bypass") { MemoryOp::AsyncCopyUncached } else { MemoryOp::AsyncCopy };
    Ok(Role { memory: Some(memory), ..Role::flow(Flow::AsyncCopy) })
}

/// Returns the source of a copy that is filled with zeros, and the number of its bytes: the address
/// is that of the source plus the number of bytes that are missing.
fn filled(cx: &mut Cx, src: Address, bytes: u8) -> (Address, Src) {
    let (whole, missing, start) = (cx.wide(), cx.wide(), cx.wide());
    cx.int(IntOp::Add, super::U64, whole, &[src.base, Src::Imm(src.offset as u64)]);
    cx.int(IntOp::And, super::U64, missing, &[Src::Reg(whole), Src::Imm(u64::from(bytes) - 1)]);
    cx.int(IntOp::Sub, super::U64, start, &[Src::Reg(whole), Src::Reg(missing)]);
    let missing_word = cx.narrow();
    cx.low(missing_word, missing);
    let count = cx.value(IntOp::Sub, super::U32, &[Src::Imm(bytes.into()), Src::Reg(missing_word)]);
    (Address { base: Src::Reg(start), offset: 0 }, count)
}

/// Lowers the question whether a generic address lies in a space.
fn query_space(cx: &mut Cx, d: &Decoded) -> Res<Role> {
    let Some(dst) = cx.pred_dst(d, "p") else { return Ok(Role::PLAIN) };
    let addr = address(cx, d)?;
    let whole = cx.wide();
    cx.int(IntOp::Add, super::U64, whole, &[addr.base, Src::Imm(addr.offset as u64)]);
    let src = Src::Reg(whole);
    cx.push(match d.modifier("space") {
        ".G" => Sem::IsSpace { dst, space: Space::Global, src },
        ".L" => Sem::IsSpace { dst, space: Space::Local, src },
        // the shared memory of all blocks of the cluster, as ptxas makes it of isspacep.shared::cluster
        ".D" => Sem::Cluster(ClusterOp::IsShared { dst, address: src }),
        _ => Sem::IsSpace { dst, space: Space::Shared, src },
    });
    Ok(Role::PLAIN)
}

fn load_const(cx: &mut Cx, d: &Decoded) -> Res<Role> {
    let (bank, register, offset, index) = match d.operand("m").map(|operand| operand.value) {
        Some(Value::IndexedConstant { bank, register, offset }) => {
            (bank, register, offset, Value::Register(register))
        }
        Some(Value::UniformConstant { bank, register, offset }) => {
            (bank, register, offset, Value::Uniform(register))
        }
        _ => return refuse(format!("{} without an address", d.op.name), ""),
    };
    if d.has("mode") {
        return refuse(format!("LDC{}", d.modifier("mode")), "");
    }
    // a word that the driver or the compiler knows needs no access
    let known = match cx.encoding.abi.banks.content(bank) {
        Some(Bank::Launch) => offset < i64::from(cx.kernel.param_base),
        Some(Bank::Addresses) => true,
        _ => false,
    };
    if register == Register::Fixed && known {
        return known_words(cx, d, bank, offset);
    }
    // the compiler's constants are after those of the user, where `program` places them
    let (space, start, area) = match cx.encoding.abi.banks.content(bank) {
        Some(Bank::Launch) => (Space::Param, -i64::from(cx.kernel.param_base), Area::KernelParam),
        Some(Bank::Compiler) => {
            (Space::Const, super::program::compiler_constants(cx.cubin, cx.kernel) as i64, Area::Const)
        }
        Some(Bank::User) => (Space::Const, 0, Area::Const),
        Some(Bank::Addresses) => (Space::Const, super::program::address_table(cx.cubin) as i64, Area::Const),
        None => return refuse(format!("{} from bank {bank}", d.op.name), cx.banks_hint()),
    };
    let (ty, count) = width(d)?;
    let dsts = registers(cx, d, count)?;
    let addr = match cx.register_of(index, 0) {
        None => Address { base: Src::Imm((offset + start) as u64), offset: 0 },
        Some(register) => Address { base: Src::Reg(register), offset: offset + start },
    };
    cx.push(Sem::Load { space, ty, dsts, addr });
    Ok(Role { memory: Some(MemoryOp::Load(area)), ..Role::PLAIN })
}

fn atomic(cx: &mut Cx, d: &Decoded, name: Name, space: Space) -> Res<Role> {
    let (op, ty) = operation(d, name)?;
    let wide = ty.bytes() == 8;
    let operand = if matches!(name, Name::Red | Name::Count) { "d" } else { "b" };
    let Some(Value::Register(first)) = d.operand(operand).map(|operand| operand.value) else {
        return refuse(format!("{} without an operand", d.op.name), "");
    };
    let b = if name == Name::Count { Src::Imm(1) } else { value(cx, first, wide) };
    let c = match first {
        _ if let Some(Value::Register(second)) = d.operand("c").map(|operand| operand.value) => {
            value(cx, second, wide)
        }
        Register::Number(first) if name == Name::AtomCas => {
            let second = cx.further(first, if wide { 2 } else { 1 });
            value(cx, cx.encoding.registers.general.register(second), wide)
        }
        _ => Src::Imm(0),
    };
    let addr = address(cx, d)?;
    let dst = match d.operand("d").map(|operand| operand.value) {
        _ if name == Name::Red => None,
        // what memory held is compared with what was expected
        _ if name == Name::Cast => Some(if wide { cx.wide() } else { cx.narrow() }),
        Some(Value::Register(Register::Fixed)) => None,
        Some(Value::Register(Register::Number(_))) if wide => Some(cx.wide()),
        _ => Some(cx.dst(d, "d")?),
    };
    let main = cx.parts.len();
    cx.push(Sem::Atomic(Box::new(Atomic { space, op, ty, dst, addr, b, c, more: Vec::new() })));
    match dst {
        Some(held) if name == Name::Cast => stored(cx, d, Src::Reg(held), b, wide)?,
        Some(dst) if wide => cx.unpack(d, "d", dst),
        _ => {}
    }
    // where hardware cannot perform an operation, the code behind it does; here no space lacks any
    if let Some(done) = cx.pred_dst(d, "p") {
        cx.set_pred(done, PredSrc::Const(true));
    }
    Ok(Role { main: Some(main), memory: Some(MemoryOp::Atomic(space.into())), ..Role::PLAIN })
}

/// Lowers the result of a conditional store: a predicate, or a number that is one or zero.
fn stored(cx: &mut Cx, d: &Decoded, held: Src, expected: Src, wide: bool) -> Res<()> {
    let equal = match cx.pred_dst(d, "x") {
        Some(dst) => dst,
        None => cx.pred(),
    };
    let ty = if wide { super::U64 } else { super::U32 };
    super::compare::into(cx, Cmp::Eq, ty, (held, expected), equal);
    let Some(value) = d.operand("d").map(|operand| operand.value) else { return Ok(()) };
    let word = cx.word_of(super::registers::held(equal));
    for (step, src) in [word, Src::Imm(0)].into_iter().take(if wide { 2 } else { 1 }).enumerate() {
        if let Some(dst) = cx.register_of(value, step as u8) {
            cx.push(Sem::Mov { dst, src });
        }
    }
    Ok(())
}

/// Returns the operation that a modifier names, as reductions have it.
pub(super) fn named_operation(d: &Decoded) -> Res<AtomOp> {
    Ok(match d.modifier("op") {
        ".ADD" => AtomOp::Add,
        ".MIN" => AtomOp::Min,
        ".MAX" => AtomOp::Max,
        ".INC" => AtomOp::Inc,
        ".DEC" => AtomOp::Dec,
        ".AND" => AtomOp::And,
        ".OR" => AtomOp::Or,
        ".XOR" => AtomOp::Xor,
        other => return refuse(format!("{}{other}", d.op.name), ""),
    })
}

/// Returns the operation and the type of an atomic operation.
fn operation(d: &Decoded, name: Name) -> Res<(AtomOp, ValueTy)> {
    let op = match d.modifier("op") {
        _ if name == Name::Count => AtomOp::Add,
        _ if matches!(name, Name::AtomCas | Name::Cast) => AtomOp::Cas,
        // from Hopper on, an instruction that adds floats can do nothing else, and has no such modifier
        "" => AtomOp::Add,
        ".EXCH" => AtomOp::Exch,
        _ => named_operation(d)?,
    };
    let int = |bits, signed| ValueTy::Int(IntTy { bits, signed });
    let ty = match d.modifier("ty") {
        "" => int(32, false),
        ".S32" => int(32, true),
        ".U64" | ".64" => int(64, false),
        ".S64" => int(64, true),
        ".F32.FTZ.RN" => ValueTy::Float(FloatTy::F32),
        ".F64.RN" => ValueTy::Float(FloatTy::F64),
        ".F16x2.RN" => ValueTy::Float(FloatTy::F16x2),
        ".BF16x2.RN" => ValueTy::Float(FloatTy::Bf16x2),
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
