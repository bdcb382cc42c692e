//! Lowers the control flow of generations with barriers of convergence, and calls that keep the
//! return address in a register.
//!
//! A barrier of convergence names a region in which the lanes of a warp may diverge, from BSSY to
//! BSYNC. The engine's stack orders the paths of such a region one after the other. Instructions
//! that only a warp reaches whose threads run independently of each other have no meaning on a
//! stack, and stop a run that reaches them.

use super::registers::held;
use super::{Cx, Decoded, Register, Res, Role, U32, U64, Value, refuse};
use crate::runtime::{self, Runtime};
use crate::sass::table::meaning::Control as Name;
use warpbound_core::program::Guard;
use warpbound_core::program::layout::function_address;
use warpbound_core::program::sem::{
    Call, Cmp, Operand as Src, PointerCall, PredOp, PredSrc, Region, Sem, VoteMode,
};

/// The register in which a function returns a word.
const RESULT: u8 = 4;
/// The value of a register in which BMOV saves barrier 0 of the kernel itself.
const SAVED: u64 = 0xb500_0000;
/// The maximum number of functions that a call by an offset may call.
pub(super) const MAX_POINTED: usize = 256;
/// The maximum number of functions that a message names.
const SHOWN: usize = 3;

pub(super) fn lower(cx: &mut Cx, d: &Decoded, name: Name, next: i64) -> Res<Role> {
    match name {
        Name::BranchIf => {
            let (target, condition) = (cx.target(d, next)?, cx.pred_src(d, "c"));
            cx.push_where(d, condition, Sem::Branch { target, reconverge: None });
        }
        Name::BranchAny => {
            let target = cx.target(d, next)?;
            let condition = cx.pred_src(d, "c");
            let (own, any) = (cx.guarded(d, condition), cx.pred());
            cx.push(Sem::Vote { mode: VoteMode::Any, dst: any, p: held(own), members: None });
            cx.push_if(any, false, Sem::Branch { target, reconverge: None });
        }
        Name::BranchDivergent | Name::BranchConverged => {
            // the lanes that run on a stack are together, as for instructions of PTX with a mask of
            // members
            cx.push(Sem::WarpSync { members: Src::Imm(0xffff_ffff) });
            if name == Name::BranchConverged {
                let target = cx.target(d, next)?;
                cx.push(Sem::Branch { target, reconverge: None });
            }
        }
        Name::Bssy => {
            let join = cx.target(d, next)?;
            cx.opened = true;
            cx.push(Sem::OpenRegion { region: region(d)?, join });
        }
        Name::Bsync => cx.push(Sem::CloseRegion { region: region(d)? }),
        // the lanes leave the region at the BSYNC of an outer one, or at their end
        Name::Break => {
            region(d)?;
        }
        Name::Bmov => save(cx, d, next)?,
        Name::BmovRestore => restore(cx, d, next)?,
        // before the first region, the barriers hold nothing that matters
        Name::BmovBarrier if cx.opened => {
            return refuse(format!("{} after BSSY", d.op.name), "");
        }
        Name::BmovBarrier => {}
        Name::CallRelative => call(cx, d, next)?,
        Name::CallRegister => call_by_offset(cx, d, next)?,
        Name::ReturnRelative => return_to(cx, d, next)?,
        Name::Lepc => {
            // the address from which the code computes where a function returns to
            let (dst, offset) = (cx.wide(), d.operand("t").map(|operand| operand.value));
            let address = match offset {
                Some(Value::Target(offset)) => next + offset,
                _ => next - cx.encoding.word_bytes as i64,
            };
            cx.push(Sem::Mov { dst, src: Src::Imm(address as u64) });
            cx.unpack(d, "d", dst);
        }
        Name::CallAbsolute => call_by_address(cx, d)?,
        _ => {
            let message = format!("`{}` of a divergent warp is not modelled", d.op.name);
            cx.push(Sem::Trap { message });
        }
    }
    Ok(Role::PLAIN)
}

fn region(d: &Decoded) -> Res<Region> {
    match d.operand("x").map(|operand| operand.value) {
        Some(Value::Choice(_, number)) => Ok(Region::Barrier(number as u8)),
        _ => refuse(format!("{} without a barrier", d.op.name), ""),
    }
}

/// Returns the number of a barrier of convergence.
fn number(d: &Decoded) -> Res<u8> {
    match region(d)? {
        Region::Barrier(number) => Ok(number),
        _ => refuse(format!("{} without a barrier", d.op.name), ""),
    }
}

/// Returns the value that stands for a saved barrier in a register. It names the function, so that no
/// other function takes it for its own.
fn saved(cx: &Cx, barrier: u8, next: i64) -> u64 {
    let here = next - cx.encoding.word_bytes as i64;
    let function =
        cx.kernel.functions.partition_point(|(at, _)| i64::try_from(*at).is_ok_and(|at| at <= here));
    SAVED | (function as u64 & 0xffff) << 4 | u64::from(barrier)
}

/// Lowers the copy of a barrier to a register. A function saves a barrier of its caller and restores
/// it before it returns. The stack keeps the regions of each call apart, so the value only has to
/// show that it is restored.
fn save(cx: &mut Cx, d: &Decoded, next: i64) -> Res<()> {
    let barrier = number(d)?;
    let unused =
        matches!(d.operand("d").map(|operand| operand.value), Some(Value::Register(Register::Fixed)));
    if !unused && !cx.restored.contains(&barrier) {
        let message = format!("{}: no BMOV of the kernel restores this barrier", d.op.name);
        return refuse(message, "only the code around a call is known to save a barrier, and it restores it");
    }
    let (dst, value) = (cx.dst(d, "d")?, saved(cx, barrier, next));
    cx.push(Sem::Mov { dst, src: Src::Imm(value) });
    Ok(())
}

/// Lowers the copy of a register to a barrier, which has to be the barrier that was saved there.
fn restore(cx: &mut Cx, d: &Decoded, next: i64) -> Res<()> {
    let barrier = number(d)?;
    let (value, wanted, other) = (cx.source(d, "a")?, saved(cx, barrier, next), cx.pred());
    super::compare::into(cx, Cmp::Ne, U32, (value, Src::Imm(wanted)), other);
    let message =
        format!("{} restores B{barrier} from a register in which this function did not save it", d.op.name);
    cx.push_where(d, held(other), Sem::Trap { message });
    Ok(())
}

/// Lowers a call. The code before it puts the return address into a register, with which the function
/// returns.
fn call(cx: &mut Cx, d: &Decoded, next: i64) -> Res<()> {
    let target = cx.target(d, next)?;
    // the number is set once all functions are known
    let call = Call { target, function: 0, pass: Vec::new(), give_back: Vec::new() };
    cx.push(Sem::Call(Box::new(call)));
    Ok(())
}

/// Lowers a call of a function by its offset in the code. A pointer to a function selects an entry of
/// a table of the compiler's constants, which has the offset.
fn call_by_offset(cx: &mut Cx, d: &Decoded, next: i64) -> Res<()> {
    let (Some(address), Some(Value::Target(offset))) = (d.operand("a"), d.operand("t").map(|t| t.value))
    else {
        return refuse(format!("{} by this operand", d.op.name), "");
    };
    if offset + next != 0 {
        return refuse(format!("{} from another place than the start of the kernel", d.op.name), "");
    }
    if cx.pointed.is_empty() || cx.pointed.len() > MAX_POINTED {
        let message =
            format!("{}: the file names {} functions that it may call", d.op.name, cx.pointed.len());
        return refuse(message, format!("1 to {MAX_POINTED} functions are supported"));
    }
    let pointer = cx.pair(address)?;
    let targets = Some(cx.pointed.iter().map(|(offset, _)| *offset).collect());
    let call = PointerCall { pointer, targets, args: Vec::new(), results: Vec::new() };
    cx.push(Sem::CallPointer(Box::new(call)));
    Ok(())
}

/// Lowers a call of a function of the CUDA runtime by its address, which comes from the table of
/// addresses.
fn call_by_address(cx: &mut Cx, d: &Decoded) -> Res<()> {
    let (Some(address), Some(Value::Number(0))) = (d.operand("a"), d.operand("t").map(|t| t.value)) else {
        return refuse(format!("{} by this operand", d.op.name), "");
    };
    if cx.cubin.functions.is_empty() {
        return refuse(format!("{}: the file has no address of a function", d.op.name), "");
    }
    let address = cx.pair(address)?;
    let (elsewhere, here) = (cx.pred(), cx.pred());
    cx.set_pred(elsewhere, PredSrc::Const(true));
    let mut unknown = Vec::new();
    for (index, name) in cx.cubin.functions.iter().enumerate() {
        let Some(function) = runtime::function(name) else {
            unknown.push(name.as_str());
            continue;
        };
        let place = Src::Imm(function_address(index as u32));
        super::compare::into(cx, Cmp::Eq, U64, (address, place), here);
        let not_here = PredSrc::Reg(Guard { reg: here, negate: true });
        cx.push(Sem::PredLogic { op: PredOp::And, dst: elsewhere, a: held(elsewhere), b: not_here });
        let effect = match function {
            Runtime::Print => Sem::Mov { dst: cx.register(RESULT), src: Src::Imm(0) },
            Runtime::Fail => Sem::Trap { message: runtime::FAILED.into() },
        };
        cx.push_where(d, held(here), effect);
    }
    let mut message =
        "the kernel calls a function by its address that is neither printf nor assert".to_owned();
    if !unknown.is_empty() {
        unknown.truncate(SHOWN);
        message += &format!(" (the file has the address of {})", unknown.join(", "));
    }
    cx.push_where(d, held(elsewhere), Sem::Trap { message });
    Ok(())
}

/// Lowers a return to an address in a register, which has to be that of the call.
fn return_to(cx: &mut Cx, d: &Decoded, next: i64) -> Res<()> {
    let Some(Value::Target(offset)) = d.operand("t").map(|operand| operand.value) else {
        return refuse(format!("{} without an offset", d.op.name), "");
    };
    if offset + next != 0 {
        return refuse(format!("{} from another place than the start of the kernel", d.op.name), "");
    }
    let address = Some(cx.source(d, "a")?);
    cx.push(Sem::Return { address });
    Ok(())
}
