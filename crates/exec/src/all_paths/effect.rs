//! The effects of an instruction that continues at the next one, as far as they are known.

use super::super::access::{self, Targets};
use super::super::code::Code;
use super::super::context::Context;
use super::super::fault::{self, Fault};
use super::super::step;
use super::values::Values;
use warpbound_core::base::{LaneMask, Pc};
use warpbound_core::isa::Space;
use warpbound_core::path::{MemoryUse, Step};
use warpbound_core::program::sem::{
    Address, Matrix, Operand, PredOp, PredSrc, Special, exchange, jump, lanewise,
};
use warpbound_core::program::{KernelCode, Sem};

/// The possible steps of an execution, for timing.
pub(super) enum Executions {
    /// This step.
    Exactly(Step),
    /// One of these steps, of which there is at least one: the timing is at most that of one of
    /// them.
    AtMost(Vec<Step>),
}

/// The data needed to execute instructions that continue at the next one.
pub(super) struct Effects {
    /// For each pc, whether the result depends on time, or on where the warp runs.
    varies: Vec<bool>,
    /// Whether constants have the values of the module, and are therefore known.
    pub(super) constants_known: bool,
}

impl Effects {
    pub(super) fn new(program: &KernelCode, constants_known: bool) -> Self {
        let varies = |special: &Special| special.tells_time() || special.tells_place();
        let reads = |sem: &Sem| sem.registers().specials.iter().any(varies);
        Self { varies: program.instrs.iter().map(|instr| reads(&instr.sem)).collect(), constants_known }
    }

    /// Executes an instruction in the lanes that may be active; if the warp reaches the
    /// instruction, the `sure` lanes are active.
    ///
    /// # Errors
    /// Returns an error if the execution requires unknown data, or if the kernel is wrong for all
    /// data.
    pub(super) fn execute(
        &self,
        values: &mut Values,
        context: &mut Context,
        code: &Code,
        pc: Pc,
        (active, sure): (LaneMask, LaneMask),
    ) -> Result<Executions, Fault> {
        let program = context.program;
        let instr = program.instr(pc);
        let guard = values.guard(instr.guard, active);
        let enabled = guard.may;
        let perhaps = guard.may - guard.must;
        let one = |step: Step| Ok(Executions::Exactly(step));
        let dsts = instr.dsts.as_slice();
        let write = |values: &mut Values, unknown: LaneMask, origin: Option<Pc>| {
            dsts.iter().for_each(|&dst| values.written(dst, enabled, unknown | perhaps, origin));
        };
        let places = |values: &mut Values, step: Step, unknown: LaneMask| {
            let origin = values.origin_of(instr.srcs.as_slice()).unwrap_or(pc);
            let unknown = if self.varies[pc.index()] { enabled } else { unknown };
            write(values, unknown, Some(origin));
            Ok(Executions::Exactly(step))
        };
        match &instr.sem {
            Sem::Load { space, addr, dsts: parts, ty } => {
                let size = usize::from(ty.bits / 8) * parts.len();
                let place = (*space, addr);
                let executions =
                    accesses(values, context, pc, place, (size, false), (enabled, guard.must), sure);
                let known = enabled - unknown_address(values, addr);
                let known = match space {
                    Space::Param => known,
                    Space::Const if self.constants_known => known,
                    Space::Global | Space::Generic => {
                        let targets = Targets::new(&values.warp, context, pc, place, size, "load");
                        targets.in_constant_buffers(known, context)
                    }
                    Space::Const | Space::Shared | Space::Local => LaneMask::empty(),
                };
                let mut unknown = enabled;
                if !known.is_empty() {
                    // a load that is not allowed leaves its results unknown; a run that comes here
                    // will report it
                    if access::load(&mut values.warp, context, pc, code.access(pc), known).is_ok() {
                        unknown = enabled - known;
                    }
                }
                write(values, unknown, Some(pc));
                Ok(executions)
            }
            Sem::Store { space, bits, srcs, addr } => {
                let size = usize::from(bits / 8) * srcs.len();
                Ok(accesses(values, context, pc, (*space, addr), (size, false), (enabled, guard.must), sure))
            }
            Sem::Atomic(atomic) => {
                let place = (atomic.space, &atomic.addr);
                let size = (atomic.bytes(), true);
                let executions = accesses(values, context, pc, place, size, (enabled, guard.must), sure);
                write(values, enabled, Some(pc));
                Ok(executions)
            }
            Sem::Fetch(_) | Sem::Surface(_) => places(
                values,
                Step::with(pc, MemoryUse { space: Space::Global, extra_transactions: 0 }),
                enabled,
            ),
            Sem::ImageQuery(_) => places(values, Step::plain(pc), enabled),
            Sem::AsyncCopy { .. } => {
                let slot = values.warp.groups.copy().ok_or_else(|| {
                    let message = "more than 31 groups of asynchronous copies in flight".to_owned();
                    fault::at(program, pc, message, "wait with cp.async.wait_group before committing more")
                })?;
                one(Step::with(pc, slot))
            }
            Sem::Matrix(matrix) => {
                let address = match &**matrix {
                    Matrix::Load { from, .. } => Some(&from.addr),
                    Matrix::Store { to, .. } => Some(&to.addr),
                    Matrix::LoadRows { from, .. } => Some(&from.addr),
                    Matrix::StoreRows { to, .. } => Some(&to.addr),
                    Matrix::Multiply(_) | Matrix::Transpose { .. } => None,
                };
                if address.is_some_and(|address| !unknown_address(values, address).is_empty()) {
                    let hint = "this analysis needs to know where a matrix is";
                    return Err(fault::at(
                        program,
                        pc,
                        "the place of a matrix depends on data".to_owned(),
                        hint,
                    ));
                }
                let step = step::data(&mut values.warp, context, code, pc, enabled)?;
                places(values, step, enabled)
            }
            exchange!() => {
                let known = values.unknown_of(instr.srcs.as_slice()).is_empty();
                // a shuffle also reads lanes that are elsewhere, with their values at that time,
                // which are unknown
                let all = !matches!(instr.sem, Sem::Shuffle(_)) || active == values.warp.stack.live();
                if known && perhaps.is_empty() && sure == active && all {
                    let step = step::data(&mut values.warp, context, code, pc, enabled)?;
                    return places(values, step, LaneMask::empty());
                }
                places(values, Step::plain(pc), enabled)
            }
            Sem::Mbarrier(_) => {
                let message =
                    "mbarrier objects take no time here, so there is no bound for kernels that wait for them";
                Err(fault::at(program, pc, message.to_owned(), ""))
            }
            Sem::Sleep { time } if *time != Operand::Imm(0) => {
                let message = "a sleep takes a time that the hardware chooses, so there is no bound on it";
                Err(fault::at(program, pc, message.to_owned(), ""))
            }
            Sem::PredLogic { op: op @ (PredOp::And | PredOp::Or), a, b, .. } => {
                let (a, b) = (values.pred(*a), values.pred(*b));
                // the value in known lanes must not depend on unknown values
                let (may, holds) = if *op == PredOp::And {
                    (a.may & b.may, a.must & b.must)
                } else {
                    (a.may | b.may, a.must | b.must)
                };
                instr.dsts.as_slice().iter().for_each(|&dst| values.warp.set_pred(dst, holds, enabled));
                places(values, Step::plain(pc), may - holds)
            }
            lanewise!() | Sem::Nop | Sem::Sleep { .. } | Sem::AsyncCommit | Sem::AsyncWait { .. } => {
                let unknown = match &instr.sem {
                    Sem::Select { p, a, b, .. } => unknown_selection(values, *p, *a, *b),
                    _ => values.unknown_of(instr.srcs.as_slice()),
                };
                let step = step::data(&mut values.warp, context, code, pc, enabled)?;
                places(values, step, unknown)
            }
            Sem::None | Sem::Traced(_) | Sem::Barrier(_) | Sem::Call(_) | Sem::CallPointer(_) | jump!() => {
                unreachable!("the walk handles these itself")
            }
        }
    }
}

/// Returns the lanes in which the result of a selection is unknown.
fn unknown_selection(values: &Values, p: PredSrc, a: Operand, b: Operand) -> LaneMask {
    let chosen = values.pred(p);
    let unknown = |operand: Operand| operand.reg().map_or(LaneMask::empty(), |reg| values.unknown(reg));
    (chosen.may - chosen.must) | unknown(a) & chosen.may | unknown(b) & (LaneMask::ALL - chosen.must)
}

/// Returns the lanes whose address is unknown.
fn unknown_address(values: &Values, address: &Address) -> LaneMask {
    address.base.reg().map_or(LaneMask::empty(), |reg| values.unknown(reg))
}

/// Returns the possible timings of an access. `apart` says that lanes that access the same bytes
/// need separate transactions. The `enabled` lanes may access memory. The `guarded` lanes among
/// them access it if they execute the instruction. The `sure` lanes execute the instruction if the
/// warp reaches it.
fn accesses(
    values: &Values,
    context: &mut Context,
    pc: Pc,
    place: (Space, &Address),
    (size, apart): (usize, bool),
    (enabled, guarded): (LaneMask, LaneMask),
    sure: LaneMask,
) -> Executions {
    let targets = Targets::new(&values.warp, context, pc, place, size, "access");
    let unknown = unknown_address(values, place.1) & enabled;
    if unknown.is_empty() && enabled == guarded & sure {
        return Executions::Exactly(Step::with(pc, targets.used(enabled, apart, &values.warp, context)));
    }
    let spaces = targets.may_resolve(enabled, unknown, guarded & sure);
    let extra = targets.most_extra_transactions(context.record.banks, enabled, unknown);
    let step_in = |space: Space| {
        let extra_transactions = if space == Space::Shared { extra } else { 0 };
        Step::with(pc, MemoryUse { space, extra_transactions })
    };
    match spaces.as_slice() {
        [space] if extra == 0 || *space != Space::Shared => Executions::Exactly(step_in(*space)),
        _ => Executions::AtMost(spaces.into_iter().map(step_in).collect()),
    }
}
