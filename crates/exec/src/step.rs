//! The execution of one instruction of one warp.

use super::access;
use super::arith::{bits, compare, convert, float, int, small, video};
use super::calls;
use super::code::{Code, Op};
use super::collective;
use super::context::{Context, Meeting};
use super::control;
use super::fault::{self, Fault};
use super::image;
use super::lanes::{Lanes, map1, map3, mask_where, sign_extend, width_mask};
use super::matrix;
use super::mbarrier;
use super::stack::SimtStack;
use super::warp::Warp;
use warpbound_core::base::{LaneMask, Pc, RegId, WARP_SIZE};
use warpbound_core::path::{BarrierUse, Step};
use warpbound_core::program::Sem;
use warpbound_core::program::layout::resolve_generic;
use warpbound_core::program::sem::{
    Carry, Compare, CompareInto, MbarrierOp, PredOp, Region, ValueTy, exchange, lanewise, memory, no_effect,
};

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
        Sem::CloseRegion { region } => {
            if !warp.stack.close(*region, enabled) {
                let (end, start) = match region {
                    Region::Sync => ("SYNC", "SSY"),
                    Region::Break => ("BRK", "PBK"),
                    Region::Continue => ("CONT", "PCNT"),
                };
                let message = format!("{end} of warp {}, lanes {enabled}, without {start}", warp.id);
                return Err(fault::at(
                    program,
                    pc,
                    message,
                    "every lane has to execute the other instruction first",
                ));
            }
        }
        Sem::Call(call) if !enabled.is_empty() => calls::call(warp, context, pc, call, enabled)?,
        Sem::CallPointer(call) if !enabled.is_empty() => {
            calls::call_pointer(warp, context, pc, call, (active, enabled))?;
        }
        Sem::Return => {
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
        Sem::Trap { message } if !enabled.is_empty() => {
            let message = format!("the kernel gave up: {message} (warp {}, lanes {enabled})", warp.id);
            return Err(fault::at(program, pc, message, ""));
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

/// Executes an instruction that continues at the next one, and returns its step.
pub(super) fn data(
    warp: &mut Warp,
    context: &mut Context,
    code: &Code,
    pc: Pc,
    enabled: LaneMask,
) -> Result<Step, Fault> {
    let shape = context.shape;
    let instr = context.program.instr(pc);
    let memory_step = |used| Step::with(pc, used);
    match &instr.sem {
        Sem::Load { .. } => {
            return access::load(warp, context, pc, code.access(pc), enabled).map(memory_step);
        }
        Sem::Store { .. } => {
            return access::store(warp, context, pc, code.access(pc), enabled).map(memory_step);
        }
        Sem::Atomic(atomic) => {
            return access::atomic(warp, context, pc, atomic, enabled).map(memory_step);
        }
        Sem::Fetch(fetch) => return image::fetch(warp, context, pc, fetch, enabled).map(memory_step),
        Sem::Surface(access) => return image::surface(warp, context, pc, access, enabled).map(memory_step),
        Sem::ImageQuery(query) => image::query(warp, context, pc, query, enabled)?,
        Sem::AsyncCopy { bytes, dst, src, src_bytes } => {
            access::async_copy(warp, context, pc, (*bytes, *src_bytes), (dst, src), enabled)?;
            let slot = warp.groups.copy().ok_or_else(|| {
                let message = "more than 31 groups of asynchronous copies in flight".to_owned();
                fault::at(
                    context.program,
                    pc,
                    message,
                    "wait with cp.async.wait_group before committing more",
                )
            })?;
            return Ok(Step::with(pc, slot));
        }
        Sem::AsyncCommit => {
            warp.groups.commit();
            if let Some(detector) = &mut context.detector {
                detector.commit_copies(warp.id);
            }
        }
        Sem::AsyncWait { pending, all } => {
            if *all {
                warp.groups.commit();
            }
            let pending = if *all { 0 } else { *pending };
            if let Some(detector) = &mut context.detector {
                if *all {
                    detector.commit_copies(warp.id);
                }
                detector.wait_for_copies(warp.id, pending as usize, enabled);
            }
            return Ok(Step::with(pc, warp.groups.wait(u64::from(pending))));
        }
        Sem::Int { op, ty, dst, src: [a, b, c, d], carry, saturate } => {
            let a = warp.operand(*a, &shape);
            let b = warp.operand(*b, &shape);
            let c = warp.operand(*c, &shape);
            if *carry == Carry::default() {
                let d = warp.operand(*d, &shape);
                let value = int::lanes(*op, *ty, *saturate, [&a, &b, &c, &d]);
                warp.set(*dst, &value, enabled);
            } else {
                let carry_in = carry.read.map(|reg| warp.registers.preds[reg.index()]);
                let (value, out) = int::with_carry(*op, *ty, [&a, &b, &c], carry_in);
                warp.set(*dst, &value, enabled);
                if let Some(reg) = carry.write {
                    warp.set_pred(reg, out, enabled);
                }
            }
        }
        Sem::Float { op, ty, mode, dst, src: [a, b, c] } => {
            let a = warp.operand(*a, &shape);
            let b = warp.operand(*b, &shape);
            let c = warp.operand(*c, &shape);
            let value = float::lanes(*op, *ty, *mode, [&a, &b, &c]);
            warp.set(*dst, &value, enabled);
        }
        Sem::Mov { dst, src } => {
            let value = warp.operand(*src, &shape);
            warp.set(*dst, &value, enabled);
        }
        Sem::Moves(moves) => {
            let values: Vec<Lanes> = moves.iter().map(|(_, src)| warp.operand(*src, &shape)).collect();
            moves.iter().zip(&values).for_each(|((dst, _), value)| warp.set(*dst, value, enabled));
        }
        Sem::Compare(compare) => compare_into(warp, context, compare, enabled),
        Sem::Select { dst, a, b, p } => {
            let holds = warp.pred(*p);
            let (a, b) = (warp.operand(*a, &shape), warp.operand(*b, &shape));
            let value = std::array::from_fn(|lane| if holds.has(lane) { a[lane] } else { b[lane] });
            warp.set(*dst, &value, enabled);
        }
        Sem::SelectSign { dst, a, b, c, float, ftz } => {
            let (a, b) = (warp.operand(*a, &shape), warp.operand(*b, &shape));
            let c = warp.operand(*c, &shape);
            let value = std::array::from_fn(|lane| {
                let at_least_zero = if *float {
                    let x = f32::from_bits(c[lane] as u32);
                    x >= 0.0 || *ftz && x.is_subnormal()
                } else {
                    sign_extend(c[lane], 32) >= 0
                };
                if at_least_zero { a[lane] } else { b[lane] }
            });
            warp.set(*dst, &value, enabled);
        }
        Sem::Convert(c) => {
            let src = warp.operand(c.src, &shape);
            let low = c.src2.map(|low| warp.operand(low, &shape));
            let value = convert::lanes(c, &src, low.as_ref());
            warp.set(c.dst, &value, enabled);
        }
        Sem::SmallConvert(c) => {
            let mut sources = c.sources().map(|source| warp.operand(source, &shape));
            let (first, second) = (sources.next().unwrap_or([0; WARP_SIZE]), sources.next());
            let value = small::lanes(c, &first, second.as_ref());
            warp.set(c.dst, &value, enabled);
        }
        Sem::MixedFloat { op, from, mode, dst, src } => {
            let [a, b, c] = src.map(|source| warp.operand(source, &shape));
            let value = float::mixed(*op, *from, *mode, [&a, &b, &c]);
            warp.set(*dst, &value, enabled);
        }
        Sem::Lop3Pred(logic) => {
            let [a, b, c] = logic.src.map(|source| warp.operand(source, &shape));
            let value = map3(&a, &b, &c, |a, b, c| bits::lop3(a, b, c, logic.table));
            let holds = self::logic(logic.op, mask_where(|lane| value[lane] != 0), warp.pred(logic.with));
            if let Some(dst) = logic.dst {
                warp.set(dst, &value, enabled);
            }
            if let Some(pred) = logic.pred {
                warp.set_pred(pred, holds, enabled);
            }
        }
        Sem::ToTf32 { dst, src, mode } => {
            let value = map1(&warp.operand(*src, &shape), |v| convert::tf32(v as u32, *mode).into());
            warp.set(*dst, &value, enabled);
        }
        Sem::Video(v) => {
            let [a, b, c] = [v.a, v.b, v.c].map(|source| warp.operand(source, &shape));
            warp.set(v.dst, &video::lanes(v, [&a, &b, &c]), enabled);
        }
        Sem::TestFloat { test, ty, dst, src } => {
            let value = float::test(*test, *ty, &warp.operand(*src, &shape));
            set_flags(warp, *dst, &value, enabled);
        }
        Sem::IsSpace { dst, space, src } => {
            let value = map1(&warp.operand(*src, &shape), |v| u64::from(resolve_generic(v).0 == *space));
            set_flags(warp, *dst, &value, enabled);
        }
        Sem::PredLogic { op, dst, a, b } => {
            let value = logic(*op, warp.pred(*a), warp.pred(*b));
            warp.set_pred(*dst, value, enabled);
        }
        Sem::Pack { dst, parts, bits } => {
            let width = width_mask(u32::from(*bits));
            let mut value = [0; WARP_SIZE];
            for (index, part) in parts.iter().enumerate() {
                let shift = (index as u32 * u32::from(*bits)).min(63);
                let part = warp.operand(*part, &shape);
                value.iter_mut().zip(part).for_each(|(v, p)| *v |= (p & width) << shift);
            }
            warp.set(*dst, &value, enabled);
        }
        Sem::Unpack { dsts, src, bits } => {
            let width = width_mask(u32::from(*bits));
            let value = warp.operand(*src, &shape);
            for (index, dst) in dsts.iter().enumerate() {
                let Some(dst) = dst else { continue };
                let shift = (index as u32 * u32::from(*bits)).min(63);
                let part = map1(&value, |v| v >> shift & width);
                warp.set(*dst, &part, enabled);
            }
        }
        Sem::Matrix(op) => return matrix::execute(warp, context, pc, op, enabled),
        Sem::ActiveMask { dst } => {
            let value = [u64::from(enabled.bits()); WARP_SIZE];
            warp.set(*dst, &value, enabled);
        }
        Sem::Mbarrier(barrier) => mbarrier::execute(warp, context, pc, barrier, enabled)?,
        Sem::Shuffle(_)
        | Sem::Vote { .. }
        | Sem::Match { .. }
        | Sem::Reduce { .. }
        | Sem::ReduceFloat { .. }
        | Sem::WarpSync { .. } => collective::execute(warp, context, pc, enabled)?,
        // no effect on values; control instructions reach this when no lane is enabled, and
        // `Executor::new` rejects programs without semantics
        Sem::None
        | Sem::Traced(_)
        | Sem::Nop
        | Sem::Sleep { .. }
        | Sem::Barrier(_)
        | Sem::Branch { .. }
        | Sem::BranchTable { .. }
        | Sem::OpenRegion { .. }
        | Sem::CloseRegion { .. }
        | Sem::Call(_)
        | Sem::CallPointer(_)
        | Sem::Return
        | Sem::Exit
        | Sem::Trap { .. } => {}
    }
    Ok(Step::plain(pc))
}

fn set_flags(warp: &mut Warp, dst: RegId, value: &Lanes, enabled: LaneMask) {
    let holds = super::lanes::mask_where(|lane| value[lane] != 0);
    warp.set_pred(dst, holds, enabled);
}

pub(super) fn logic(op: PredOp, a: LaneMask, b: LaneMask) -> LaneMask {
    match op {
        PredOp::Mov => a,
        PredOp::Not => !a,
        PredOp::And => a & b,
        PredOp::Or => a | b,
        PredOp::Xor => a ^ b,
    }
}

fn compare_into(warp: &mut Warp, context: &Context, compare: &Compare, enabled: LaneMask) {
    let a = warp.operand(compare.a, &context.shape);
    let b = warp.operand(compare.b, &context.shape);
    if let ValueTy::Float(packed) = compare.ty
        && let Some(half) = packed.half()
    {
        let [a_high, b_high] = [&a, &b].map(|row| map1(row, |v| v >> 16));
        let related = |a, b| compare::lanes(compare.cmp, ValueTy::Float(half), compare.ftz, a, b);
        let halves = [related(&a, &b), related(&a_high, &b_high)];
        return finish_packed(warp, compare, halves, enabled);
    }
    finish_compare(warp, compare, compare::lanes(compare.cmp, compare.ty, compare.ftz, &a, &b), enabled);
}

/// Finishes a comparison like [`finish_compare`], for a relation of the lower and one of the upper
/// halves.
fn finish_packed(warp: &mut Warp, compare: &Compare, halves: [LaneMask; 2], enabled: LaneMask) {
    let [low, high] = halves.map(|holds| match compare.combine {
        Some((op, p)) => logic(op, holds, warp.pred(p)),
        None => holds,
    });
    let (dst, yes) = match compare.into {
        CompareInto::Preds(first, second) => {
            for (dst, value) in [(first, low), (second, high)] {
                if let Some(dst) = dst {
                    warp.set_pred(dst, value, enabled);
                }
            }
            return;
        }
        CompareInto::Ones(dst) => (dst, 0xffff),
        CompareInto::Float(dst, ty) => (dst, ty.one() & 0xffff),
    };
    let part = |holds: LaneMask, lane| if holds.has(lane) { yes } else { 0 };
    let value = std::array::from_fn(|lane| part(low, lane) | part(high, lane) << 16);
    warp.set(dst, &value, enabled);
}

#[inline]
/// Finishes a comparison, given the lanes in which its relation holds.
pub(super) fn finish_compare(warp: &mut Warp, compare: &Compare, relation: LaneMask, enabled: LaneMask) {
    let combined = |value| match compare.combine {
        Some((op, p)) => logic(op, value, warp.pred(p)),
        None => value,
    };
    let (holds, complement) = (combined(relation), combined(!relation));
    match compare.into {
        CompareInto::Preds(first, second) => {
            for (dst, value) in [(first, holds), (second, complement)] {
                if let Some(dst) = dst {
                    warp.set_pred(dst, value, enabled);
                }
            }
        }
        CompareInto::Ones(dst) | CompareInto::Float(dst, _) => {
            let yes = match compare.into {
                CompareInto::Float(_, ty) => ty.one(),
                _ => u64::MAX,
            };
            let value = std::array::from_fn(|lane| if holds.has(lane) { yes } else { 0 });
            warp.set(dst, &value, enabled);
        }
    }
}
