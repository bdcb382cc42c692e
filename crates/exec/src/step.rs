//! The execution of one instruction of one warp.

use super::access;
use super::bulk;
use super::calls;
use super::cluster;
use super::code::{Code, Op};
use super::collective;
use super::context::{Context, Meeting};
use super::control;
use super::fault::{self, Fault};
use super::image;
use super::matrix;
use super::mbarrier;
use super::per_lane;
use super::returns;
use super::span::KeptPositions;
use super::stack::SimtStack;
use super::warp::Warp;
use warpbound_core::base::{LaneMask, Pc};
use warpbound_core::path::{BarrierUse, Step};
use warpbound_core::program::Sem;
use warpbound_core::program::sem::{MbarrierOp, exchange, jump, lanewise, memory, no_effect, ungrouped};

/// The result of an executed instruction, for the block.
pub(super) struct Executed {
    /// The step of the warp's path.
    pub(super) step: Step,
    /// The lanes that were active.
    pub(super) active: LaneMask,
    /// The active lanes in which the guard held.
    pub(super) enabled: LaneMask,
    /// The effect on the barriers of the block.
    pub(super) meeting: Meeting,
}

/// Executes a branch, and returns the lanes that take it.
#[inline]
pub(super) fn branch(warp: &mut Warp, context: &mut Context, op: &Op, pc: Pc, active: LaneMask) -> LaneMask {
    let taken = op.guard.map_or(active, |guard| active & warp.guard(guard));
    if let Some(divergence) = &mut context.divergence {
        let ways = usize::from(!taken.is_empty()) + usize::from(taken != active);
        divergence.branch(context.program.instr(pc), pc, (active, taken), ways);
    }
    let join = Pc::new(op.b);
    warp.stack.branch(taken, Pc::new(op.a), (join != SimtStack::END).then_some(join));
    warp.executed += 1;
    taken
}

/// Executes the next instruction of a warp, which must exist and must not be a branch.
///
/// # Errors
/// Returns the error of the kernel at this instruction.
pub(super) fn execute(warp: &mut Warp, context: &mut Context, code: &Code) -> Result<Executed, Fault> {
    let program = context.program;
    let (pc, active) = warp.stack.top().unwrap_or((Pc::new(0), LaneMask::empty()));
    let Some(instr) = program.instrs.get(pc.index()) else {
        let last = Pc::from_index(program.instrs.len().saturating_sub(1));
        let message = format!("warp {} runs past the end of `{}`", warp.id, program.name);
        return Err(fault::at(program, last, message, "end the kernel with `ret` or `exit`"));
    };
    let enabled = instr.guard.map_or(active, |guard| active & warp.guard(guard));
    let mut done = Executed { step: Step::plain(pc), active, enabled, meeting: Meeting::None };
    match &instr.sem {
        Sem::BranchTable { targets, index, reconverge } => {
            control::branch_table(warp, context, pc, enabled, (targets, *index, *reconverge))?;
        }
        Sem::OpenRegion { region, join } => warp.stack.open(*region, *join),
        Sem::CloseRegion { region } => control::close_region(warp, context, pc, *region, enabled)?,
        Sem::LeaveRegion { region } => warp.stack.quit(*region, enabled),
        Sem::Yield if enabled.is_empty() => warp.stack.advance(),
        Sem::Yield => warp.stack.let_others_run(),
        Sem::Collect { members, onward } if !enabled.is_empty() => {
            let members = collective::members(warp, context, pc, *members, enabled)?;
            warp.stack.collect(members, *onward);
        }
        Sem::Collect { .. } => warp.stack.advance(),
        Sem::EndCollective => {
            if !warp.stack.end_collective() {
                let message = format!("ENDCOLLECTIVE of warp {}, without WARPSYNC.COLLECTIVE", warp.id);
                return Err(fault::at(program, pc, message, ""));
            }
        }
        Sem::WarpSync { members } => {
            let members = collective::members(warp, context, pc, *members, enabled)?;
            warp.stack.meet(enabled, members);
        }
        Sem::Call(call) if !enabled.is_empty() => calls::call(warp, context, pc, call, enabled)?,
        Sem::CallPointer(call) if !enabled.is_empty() => {
            calls::call_pointer(warp, context, pc, call, (active, enabled))?;
        }
        Sem::Return { address } => {
            if let Some(address) = *address {
                returns::check(warp, context, pc, address, enabled)?;
            }
            calls::give_back(warp, context, enabled);
            warp.stack.leave(enabled);
            calls::forget(warp);
        }
        Sem::Exit => warp.stack.end(enabled),
        Sem::Mbarrier(barrier) if matches!(barrier.op, MbarrierOp::Wait { .. }) => {
            done.meeting = mbarrier::wait(warp, context, pc, barrier, enabled)?;
            if let Meeting::Suspended = done.meeting {
                return Ok(done);
            }
            warp.stack.advance();
        }
        Sem::Cluster(op) => {
            done.meeting = cluster::execute(warp, context, pc, *op, enabled)?;
            if let Meeting::Suspended = done.meeting {
                return Ok(done);
            }
            warp.stack.advance();
        }
        Sem::Trap { message } if !enabled.is_empty() => {
            let message = format!("the kernel gave up: {message} (warp {}, lanes {enabled})", warp.id);
            return Err(fault::at(program, pc, message, ""));
        }
        Sem::Barrier(barrier) if barrier.partly && warp.stack.gather() => {
            done.meeting = Meeting::Gathering;
            return Ok(done);
        }
        Sem::Barrier(barrier) => {
            done.meeting = control::arrive(warp, context, code, pc, barrier, active, enabled)?;
            if let Meeting::At(arrival) = &done.meeting {
                let used = BarrierUse { id: arrival.id as u8, warps: arrival.warps as u8 };
                done.step = Step::with(pc, used);
            }
            warp.stack.advance();
        }
        // calls and traps get here if no lane is enabled, and [`branch`] executes branches
        lanewise!()
        | exchange!()
        | memory!()
        | no_effect!()
        | Sem::Matrix(_)
        | Sem::Mbarrier(_)
        | Sem::Bulk(_)
        | Sem::Branch { .. }
        | Sem::Call(_)
        | Sem::CallPointer(_)
        | Sem::Trap { .. } => {
            done.step = data(warp, context, code, pc, enabled)?;
            warp.stack.advance();
        }
    }
    warp.executed += 1;
    Ok(done)
}

/// Returns whether a warp that is suspended at this instruction can continue.
pub(super) fn can_go_on(warp: &Warp, context: &mut Context, pc: Pc) -> bool {
    let instr = context.program.instr(pc);
    let active = warp.stack.top().map_or(LaneMask::empty(), |(_, active)| active);
    let enabled = instr.guard.map_or(active, |guard| active & warp.guard(guard));
    match &instr.sem {
        Sem::Cluster(_) => cluster::is_over(warp, context, enabled),
        Sem::Mbarrier(barrier) => mbarrier::can_go_on(warp, context, pc, barrier, enabled),
        // no other instruction suspends a warp
        _ => true,
    }
}

/// Executes an instruction that continues at the next one, and returns its step.
///
/// # Errors
/// Returns the error of the kernel at this instruction.
pub(super) fn data(
    warp: &mut Warp,
    context: &mut Context,
    code: &Code,
    pc: Pc,
    enabled: LaneMask,
) -> Result<Step, Fault> {
    match &context.program.instr(pc).sem {
        lanewise!() => per_lane::execute(warp, context, pc, enabled),
        memory!() => return memory(warp, context, code, pc, enabled),
        exchange!() => collective::execute(warp, context, pc, enabled)?,
        Sem::Matrix(op) => return matrix::execute(warp, context, pc, op, enabled),
        Sem::Mbarrier(barrier) => mbarrier::execute(warp, context, pc, barrier, enabled)?,
        Sem::Bulk(copy) => bulk::execute(warp, context, pc, copy, enabled)?,
        // no effect on values; control instructions reach this when no lane is enabled, and
        // `Executor::new` rejects programs without semantics
        no_effect!() | jump!() | Sem::Barrier(_) | Sem::Cluster(_) | Sem::Call(_) | Sem::CallPointer(_) => {}
    }
    Ok(Step::plain(pc))
}

/// Executes an operation on memory, and returns its step.
///
/// # Errors
/// Returns an error if an access is not allowed, or if too many groups of copies are in flight.
#[inline]
fn memory(
    warp: &mut Warp,
    context: &mut Context,
    code: &Code,
    pc: Pc,
    enabled: LaneMask,
) -> Result<Step, Fault> {
    let used = match &context.program.instr(pc).sem {
        Sem::Load { .. } => {
            access::load(warp, context, pc, (code.access(pc), &mut KeptPositions::default()), enabled)?
        }
        Sem::Store { .. } => {
            access::store(warp, context, pc, (code.access(pc), &mut KeptPositions::default()), enabled)?
        }
        Sem::Atomic(atomic) => access::atomic(warp, context, pc, atomic, enabled)?,
        Sem::Fetch(fetch) => image::fetch(warp, context, pc, fetch, enabled)?,
        Sem::Surface(access) => image::surface(warp, context, pc, access, enabled)?,
        Sem::ImageQuery(query) => {
            image::query(warp, context, pc, query, enabled)?;
            return Ok(Step::plain(pc));
        }
        Sem::AsyncCopy { bytes, dst, src, src_bytes } => {
            access::async_copy(warp, context, pc, (*bytes, *src_bytes), (dst, src), enabled)?;
            return access::async_slot(warp, context, pc).map(|slot| Step::with(pc, slot));
        }
        Sem::AsyncCommit => {
            access::async_commit(warp, context);
            return Ok(Step::plain(pc));
        }
        Sem::AsyncWait { pending, all } => {
            let pending = if *all { None } else { Some(*pending) };
            return Ok(Step::with(pc, access::async_wait(warp, context, pending, enabled)));
        }
        lanewise!() | exchange!() | no_effect!() | jump!() | ungrouped!() => {
            unreachable!("these are not operations on memory")
        }
    };
    Ok(Step::with(pc, used))
}
