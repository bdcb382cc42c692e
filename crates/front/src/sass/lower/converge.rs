//! Lowers the control flow of generations with barriers of convergence.
//!
//! A barrier of convergence names a region in which the lanes of a warp may diverge, from BSSY to
//! BSYNC. Lanes rejoin only there, and where WARPSYNC makes them: a divergent branch outside of every
//! region has no reconvergence point. An H100 executes as many warp instructions.

use super::registers::held;
use super::{Cx, Decoded, Meaning, Register, Res, Role, U32, Value, calls, refuse};
use crate::sass::table::meaning::Control as Name;
use warpbound_core::program::Guard;
use warpbound_core::program::sem::{Cmp, Operand as Src, PredSrc, Region, Sem, VoteMode};

/// The value of a register in which BMOV saves barrier 0 of the kernel itself.
const SAVED: u64 = 0xb500_0000;

/// The hint for barriers that are saved or restored otherwise.
const SAVED_BY_CALLED: &str = "a called function may save the barriers of its caller and restore them";

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
        Name::BranchDivergent | Name::BranchConverged
            if cx.encoding.has(Meaning::Control(Name::Collective)) =>
        {
            let (target, members, together) = (cx.target(d, next)?, cx.source(d, "b")?, cx.pred());
            cx.push(Sem::Together { dst: together, members });
            let negate = name == Name::BranchDivergent;
            let condition = PredSrc::Reg(Guard { reg: together, negate });
            cx.push_where(d, condition, Sem::Branch { target, reconverge: None });
        }
        Name::BranchDivergent | Name::BranchConverged => {
            // The code for divergent warps calls functions in which the lanes meet. They meet here
            // instead, so it is not reached.
            cx.push(Sem::WarpSync { members: Src::Imm(0xffff_ffff) });
            if name == Name::BranchConverged {
                let target = cx.target(d, next)?;
                cx.push(Sem::Branch { target, reconverge: None });
            }
        }
        Name::Collective => {
            let (onward, members) = (cx.target(d, next)?, cx.source(d, "b")?);
            cx.push(Sem::Collect { members, onward });
        }
        Name::EndCollective => cx.push(Sem::EndCollective),
        Name::Bssy => {
            let join = cx.target(d, next)?;
            cx.opened = true;
            cx.push(Sem::OpenRegion { region: region(d)?, join });
        }
        Name::Bsync => cx.push(Sem::CloseRegion { region: region(d)? }),
        Name::Break => {
            let (region, condition) = (region(d)?, cx.pred_src(d, "c"));
            cx.push_where(d, condition, Sem::LeaveRegion { region });
        }
        Name::Yield => cx.push(Sem::Yield),
        Name::Bmov => save(cx, d, next)?,
        Name::BmovRestore => restore(cx, d, next)?,
        // before the first region, the barriers hold nothing that matters
        Name::BmovBarrier if cx.opened => {
            return refuse(format!("{} after BSSY", d.op.name), "");
        }
        Name::BmovBarrier => {}
        Name::CallRelative => calls::call(cx, d, next)?,
        Name::CallRegister => calls::call_by_offset(cx, d, next)?,
        Name::CallPlace => calls::call_elsewhere(cx, d, next)?,
        Name::ReturnRelative | Name::ReturnAbsolute => calls::return_to(cx, d, name, next)?,
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
        Name::CallAbsolute => calls::call_by_address(cx, d)?,
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

/// Records that an instruction saves or restores a barrier, if it does.
pub(super) fn note_barrier(cx: &mut Cx, d: &Decoded) {
    let saves = d.op.meaning == Some(Meaning::Control(Name::Bmov)) && !is_discarded(d);
    let restores = d.op.meaning == Some(Meaning::Control(Name::BmovRestore));
    if let (true, Ok(barrier)) = (saves || restores, number(d)) {
        if saves { &mut cx.saved } else { &mut cx.restored }.insert(barrier);
    }
}

/// Returns whether BMOV only clears a barrier.
fn is_discarded(d: &Decoded) -> bool {
    matches!(d.operand("d").map(|operand| operand.value), Some(Value::Register(Register::Fixed)))
}

/// Lowers the copy of a barrier to a register. A function saves a barrier of its caller and restores
/// it before it returns. The stack keeps the regions of each call apart, so the value only has to
/// show that it is restored.
fn save(cx: &mut Cx, d: &Decoded, next: i64) -> Res<()> {
    let barrier = number(d)?;
    if !is_discarded(d) && !cx.restored.contains(&barrier) {
        let message = format!("{}: no BMOV of the kernel restores this barrier", d.op.name);
        return refuse(message, SAVED_BY_CALLED);
    }
    let (dst, value) = (cx.dst(d, "d")?, saved(cx, barrier, next));
    cx.push(Sem::Mov { dst, src: Src::Imm(value) });
    Ok(())
}

/// Lowers the copy of a register to a barrier, which has to be the barrier that was saved there.
fn restore(cx: &mut Cx, d: &Decoded, next: i64) -> Res<()> {
    let barrier = number(d)?;
    if !cx.saved.contains(&barrier) {
        return refuse(format!("{}: no BMOV of the kernel saves this barrier", d.op.name), SAVED_BY_CALLED);
    }
    let (value, wanted, other) = (cx.source(d, "a")?, saved(cx, barrier, next), cx.pred());
    super::compare::into(cx, Cmp::Ne, U32, (value, Src::Imm(wanted)), other);
    let message =
        format!("{} restores B{barrier} from a register in which this function did not save it", d.op.name);
    cx.push_where(d, held(other), Sem::Trap { message });
    Ok(())
}
