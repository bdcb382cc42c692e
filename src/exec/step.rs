//! One instruction of one warp.

use super::access;
use super::arith::{compare, convert, float, int};
use super::barrier::Arrival;
use super::collective;
use super::control;
use super::divergence::Divergence;
use super::fault::{self, Fault};
use super::lanes::{Lanes, map1, sign_extend, width_mask};
use super::memory::Memory;
use super::record::Record;
use super::warp::{Shape, Warp};
use crate::base::{LaneMask, Pc, RegId, WARP_SIZE};
use crate::path::{BarrierUse, Step};
use crate::program::layout::resolve_generic;
use crate::program::sem::{Carry, Compare, CompareInto, Operand, PredOp, Region, Shuffle, VoteMode};
use crate::program::{Instr, Program, Sem};

/// What all warps of a launch share.
pub(super) struct Context<'a> {
    /// The kernel.
    pub(super) program: &'a Program,
    /// Per register, the bits that it has.
    pub(super) widths: Vec<u64>,
    /// Memory of the launch and of the running block.
    pub(super) memory: Memory,
    /// The launch as the running block sees it.
    pub(super) shape: Shape,
    /// What timing wants to know of memory accesses.
    pub(super) record: Record,
    /// What branches did, if somebody wants to know.
    pub(super) divergence: Option<Box<Divergence>>,
}

/// What an executed instruction leaves to the block.
pub(super) struct Executed {
    /// For the warp's path.
    pub(super) step: Step,
    /// Lanes that were active.
    pub(super) active: LaneMask,
    /// Active lanes in which the guard held.
    pub(super) enabled: LaneMask,
    /// Whether that was at a barrier.
    pub(super) meeting: Meeting,
}

/// What an instruction has to do with the barriers of the block.
pub(super) enum Meeting {
    /// Nothing.
    None,
    /// It is a barrier instruction that no lane executes.
    Passed,
    /// The warp is at a barrier.
    At(Arrival),
}

/// Executes the next instruction of a warp that has one.
///
/// # Errors
/// What the kernel does wrong there.
pub(super) fn execute(warp: &mut Warp, context: &mut Context) -> Result<Executed, Fault> {
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
        Sem::Branch { target, reconverge } => {
            if let Some(divergence) = &mut context.divergence {
                let ways = usize::from(!enabled.is_empty()) + usize::from(enabled != active);
                divergence.branch(instr, pc, (active, enabled), ways);
            }
            warp.stack.branch(enabled, *target, *reconverge);
        }
        Sem::BranchTable { targets, index, reconverge } => {
            control::branch_table(warp, context, pc, enabled, (targets, *index, *reconverge))?;
        }
        Sem::OpenRegion { region, join } => warp.stack.open(*region, *join),
        Sem::CloseRegion { region } => {
            if !warp.stack.close(*region, enabled) {
                let (end, start) = match region {
                    Region::Sync => ("SYNC", "SSY"),
                    Region::Break => ("BRK", "PBK"),
                };
                let message = format!("{end} of warp {}, lanes {enabled}, without {start}", warp.id);
                return Err(fault::at(
                    program,
                    pc,
                    message,
                    "every lane has to come through the other first",
                ));
            }
        }
        Sem::Call(call) if !enabled.is_empty() => {
            control::transfer(warp, context, &call.pass, enabled);
            if !warp.stack.call(enabled, call.target) {
                let message = format!("warp {} is in more than 256 calls at once", warp.id);
                return Err(fault::at(
                    program,
                    pc,
                    message,
                    "simulate a kernel whose calls nest less deeply",
                ));
            }
        }
        Sem::Return => {
            let caller = warp.stack.caller().map(|call| &program.instr(call).sem);
            if let Some(Sem::Call(call)) = caller {
                control::transfer(warp, context, &call.give_back, enabled);
            }
            warp.stack.leave(enabled);
        }
        Sem::Exit => warp.stack.end(enabled),
        Sem::Trap { message } if !enabled.is_empty() => {
            let message = format!("the kernel gave up: {message} (warp {}, lanes {enabled})", warp.id);
            return Err(fault::at(program, pc, message, ""));
        }
        Sem::Barrier(barrier) => {
            done.meeting = control::arrive(warp, context, pc, barrier, active, enabled)?;
            if let Meeting::At(arrival) = &done.meeting {
                let used = BarrierUse { id: arrival.id as u8, warps: arrival.warps as u8 };
                done.step = Step::with(pc, used);
            }
            warp.stack.advance();
        }
        _ => {
            done.step = data(warp, context, pc, instr, enabled)?;
            warp.stack.advance();
        }
    }
    warp.executed += 1;
    Ok(done)
}

/// Executes an instruction that goes on to the next one; its step.
fn data(
    warp: &mut Warp,
    context: &mut Context,
    pc: Pc,
    instr: &Instr,
    enabled: LaneMask,
) -> Result<Step, Fault> {
    let shape = context.shape;
    let memory_step = |used| Step::with(pc, used);
    let mut s = [[0; WARP_SIZE]; 4];
    let [s0, s1, s2, s3] = &mut s;
    match &instr.sem {
        Sem::Load { space, ty, dsts, addr } => {
            return access::load(warp, context, pc, (*space, addr), *ty, dsts, enabled).map(memory_step);
        }
        Sem::Store { space, bits, srcs, addr } => {
            return access::store(warp, context, pc, (*space, addr), *bits, srcs, enabled).map(memory_step);
        }
        Sem::Atomic(atomic) => {
            return access::atomic(warp, context, pc, atomic, enabled).map(memory_step);
        }
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
        Sem::AsyncCommit => warp.groups.commit(),
        Sem::AsyncWait { pending, all } => {
            if *all {
                warp.groups.commit();
            }
            return Ok(Step::with(pc, warp.groups.wait(if *all { 0 } else { u64::from(*pending) })));
        }
        Sem::Int { op, ty, dst, src: [a, b, c, d], carry, saturate } => {
            let a = warp.operand(*a, &shape, s0);
            let b = warp.operand(*b, &shape, s1);
            let c = warp.operand(*c, &shape, s2);
            if *carry == Carry::default() {
                let d = warp.operand(*d, &shape, s3);
                let value = int::lanes(*op, *ty, *saturate, [a, b, c, d]);
                warp.set(*dst, context.widths[dst.index()], &value, enabled);
            } else {
                let carry_in = carry.read.map_or(LaneMask::empty(), |reg| warp.preds[reg.index()]);
                let (value, out) = int::with_carry(*op, *ty, [a, b, c], carry_in);
                warp.set(*dst, context.widths[dst.index()], &value, enabled);
                if let Some(reg) = carry.write {
                    warp.set_pred(reg, out, enabled);
                }
            }
        }
        Sem::Float { op, ty, mode, dst, src: [a, b, c] } => {
            let a = warp.operand(*a, &shape, s0);
            let b = warp.operand(*b, &shape, s1);
            let c = warp.operand(*c, &shape, s2);
            let value = float::lanes(*op, *ty, *mode, [a, b, c]);
            warp.set(*dst, context.widths[dst.index()], &value, enabled);
        }
        Sem::Mov { dst, src } => {
            let value = *warp.operand(*src, &shape, s0);
            warp.set(*dst, context.widths[dst.index()], &value, enabled);
        }
        Sem::Compare(compare) => compare_into(warp, context, compare, enabled),
        Sem::Select { dst, a, b, p } => {
            let holds = warp.pred(*p);
            let (a, b) = (warp.operand(*a, &shape, s0), warp.operand(*b, &shape, s1));
            let value = std::array::from_fn(|lane| if holds.has(lane) { a[lane] } else { b[lane] });
            warp.set(*dst, context.widths[dst.index()], &value, enabled);
        }
        Sem::SelectSign { dst, a, b, c, float, ftz } => {
            let (a, b) = (warp.operand(*a, &shape, s0), warp.operand(*b, &shape, s1));
            let c = warp.operand(*c, &shape, s2);
            let value = std::array::from_fn(|lane| {
                let at_least_zero = if *float {
                    let x = f32::from_bits(c[lane] as u32);
                    x >= 0.0 || *ftz && x.is_subnormal()
                } else {
                    sign_extend(c[lane], 32) >= 0
                };
                if at_least_zero { a[lane] } else { b[lane] }
            });
            warp.set(*dst, context.widths[dst.index()], &value, enabled);
        }
        Sem::Convert(c) => {
            let src = warp.operand(c.src, &shape, s0);
            let low = c.src2.map(|low| warp.operand(low, &shape, s1));
            let value = convert::lanes(c, src, low);
            warp.set(c.dst, context.widths[c.dst.index()], &value, enabled);
        }
        Sem::TestFloat { test, ty, dst, src } => {
            let value = float::test(*test, *ty, warp.operand(*src, &shape, s0));
            set_flags(warp, *dst, &value, enabled);
        }
        Sem::IsSpace { dst, space, src } => {
            let value = map1(warp.operand(*src, &shape, s0), |v| u64::from(resolve_generic(v).0 == *space));
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
                let part = warp.operand(*part, &shape, s0);
                value.iter_mut().zip(part).for_each(|(v, p)| *v |= (p & width) << shift);
            }
            warp.set(*dst, context.widths[dst.index()], &value, enabled);
        }
        Sem::Unpack { dsts, src, bits } => {
            let width = width_mask(u32::from(*bits));
            let value = *warp.operand(*src, &shape, s0);
            for (index, dst) in dsts.iter().enumerate() {
                let Some(dst) = dst else { continue };
                let shift = (index as u32 * u32::from(*bits)).min(63);
                let part = map1(&value, |v| v >> shift & width);
                warp.set(*dst, context.widths[dst.index()], &part, enabled);
            }
        }
        Sem::Shuffle(shuffle) => shuffle_lanes(warp, context, shuffle, enabled),
        Sem::Vote { mode, dst, p, members } => {
            let taking_part = enabled & members_of(warp, &shape, *members, enabled);
            let result = collective::vote(*mode, warp.pred(*p), taking_part);
            if *mode == VoteMode::Ballot {
                let value = [u64::from(result.bits()); WARP_SIZE];
                warp.set(*dst, context.widths[dst.index()], &value, enabled);
            } else {
                warp.set_pred(*dst, result, enabled);
            }
        }
        Sem::ActiveMask { dst } => {
            let value = [u64::from(enabled.bits()); WARP_SIZE];
            warp.set(*dst, context.widths[dst.index()], &value, enabled);
        }
        Sem::Match { all, bits, dst, pred, src, members } => {
            let taking_part = enabled & members_of(warp, &shape, Some(*members), enabled);
            let values = warp.operand(*src, &shape, s0);
            let (value, holds) = if *all {
                let agreed = collective::match_all(values, u32::from(*bits), taking_part);
                let mask = agreed.unwrap_or(LaneMask::empty());
                ([u64::from(mask.bits()); WARP_SIZE], if agreed.is_some() { LaneMask::ALL } else { mask })
            } else {
                (collective::match_any(values, u32::from(*bits), taking_part), LaneMask::ALL)
            };
            warp.set(*dst, context.widths[dst.index()], &value, enabled);
            if let Some(pred) = pred {
                warp.set_pred(*pred, holds, enabled);
            }
        }
        Sem::Reduce { op, ty, dst, src, members } => {
            let taking_part = enabled & members_of(warp, &shape, Some(*members), enabled);
            let value = collective::reduce(*op, *ty, warp.operand(*src, &shape, s0), taking_part);
            warp.set(*dst, context.widths[dst.index()], &[value; WARP_SIZE], enabled);
        }
        // no effect on values; control instructions come here when no lane is enabled, and
        // `Executor::new` refuses programs without semantics
        Sem::None
        | Sem::Nop
        | Sem::WarpSync { .. }
        | Sem::Barrier(_)
        | Sem::Branch { .. }
        | Sem::BranchTable { .. }
        | Sem::OpenRegion { .. }
        | Sem::CloseRegion { .. }
        | Sem::Call(_)
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

fn logic(op: PredOp, a: LaneMask, b: LaneMask) -> LaneMask {
    match op {
        PredOp::Mov => a,
        PredOp::Not => !a,
        PredOp::And => a & b,
        PredOp::Or => a | b,
        PredOp::Xor => a ^ b,
    }
}

fn compare_into(warp: &mut Warp, context: &Context, compare: &Compare, enabled: LaneMask) {
    let (mut s0, mut s1) = ([0; WARP_SIZE], [0; WARP_SIZE]);
    let a = warp.operand(compare.a, &context.shape, &mut s0);
    let b = warp.operand(compare.b, &context.shape, &mut s1);
    let relation = compare::lanes(compare.cmp, compare.ty, compare.ftz, a, b);
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
        CompareInto::Ones(dst) | CompareInto::Float(dst) => {
            let yes = match compare.into {
                CompareInto::Float(_) => u64::from(1f32.to_bits()),
                _ => u64::MAX,
            };
            let value = std::array::from_fn(|lane| if holds.has(lane) { yes } else { 0 });
            warp.set(dst, context.widths[dst.index()], &value, enabled);
        }
    }
}

fn shuffle_lanes(warp: &mut Warp, context: &Context, shuffle: &Shuffle, enabled: LaneMask) {
    let mut s = [[0; WARP_SIZE]; 3];
    let [s0, s1, s2] = &mut s;
    let a = warp.operand(shuffle.a, &context.shape, s0);
    let b = warp.operand(shuffle.b, &context.shape, s1);
    let c = warp.operand(shuffle.c, &context.shape, s2);
    let (value, in_range) = collective::shuffle(shuffle.mode, a, b, c);
    warp.set(shuffle.dst, context.widths[shuffle.dst.index()], &value, enabled);
    if let Some(pred) = shuffle.pred {
        warp.set_pred(pred, in_range, enabled);
    }
}

/// The lanes of a member mask; all where there is none. The lanes of a warp agree on it.
fn members_of(warp: &Warp, shape: &Shape, members: Option<Operand>, enabled: LaneMask) -> LaneMask {
    match (members, enabled.lanes().next()) {
        (Some(members), Some(lane)) => {
            LaneMask::from_bits_retain(warp.operand_in(members, shape, lane) as u32)
        }
        _ => LaneMask::ALL,
    }
}
