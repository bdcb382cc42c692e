//! The effects of an instruction that continues at the next one, as far as they are known.

use super::super::access::{self, Targets};
use super::super::code::Code;
use super::super::context::Context;
use super::super::fault::{self, Fault};
use super::super::lanes::width_mask;
use super::super::span::KeptPositions;
use super::super::step;
use super::values::{Holds, Values};
use warpbound_core::base::{LaneMask, Pc, RegId};
use warpbound_core::isa::Space;
use warpbound_core::path::{Accessed, Elsewhere, LineUse, MemoryUse, Step};
use warpbound_core::program::sem::{
    Address, Matrix, Operand, PredOp, PredSrc, Registers, Special, exchange, jump, lanewise,
};
use warpbound_core::program::{Instr, KernelCode, Sem};

/// The possible steps of an execution, for timing.
pub(super) enum Executions {
    /// This step.
    Exactly(Step),
    /// A step whose timing is at most that of some step of this list, which is not empty.
    AtMost(Vec<Step>),
}

/// An execution, and what it may access in global and local memory.
pub(super) struct Executed {
    pub(super) steps: Executions,
    lines: Vec<LineUse>,
    elsewhere: Elsewhere,
}

impl Executed {
    pub(super) fn accessed(&self) -> Accessed<'_> {
        Accessed { lines: &self.lines, elsewhere: self.elsewhere }
    }
}

/// The data needed to execute instructions that continue at the next one.
pub(super) struct Effects {
    /// For each pc, the registers of the operation. An instruction of several operations names those of
    /// all of them together.
    registers: Vec<Registers>,
    /// For each pc, whether the result depends on time, on where the warp runs, or on constants that
    /// are unknown.
    varies: Vec<bool>,
    /// Whether constants have the values of the module, and are therefore known.
    pub(super) constants_known: bool,
}

impl Effects {
    pub(super) fn new(program: &KernelCode, constants_known: bool) -> Self {
        let varies = |special: &Special| {
            let of_launch = matches!(special, Special::Const(_)) && !constants_known;
            of_launch || special.tells_time() || special.tells_place()
        };
        let registers: Vec<Registers> = program.instrs.iter().map(|instr| instr.sem.registers()).collect();
        let varies = registers.iter().map(|used| used.specials.iter().any(varies)).collect();
        Self { registers, varies, constants_known }
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
    ) -> Result<Executed, Fault> {
        let instr = context.program.instr(pc);
        let guard = values.guard(instr.guard, active);
        let (used, varies) = (&self.registers[pc.index()], self.varies[pc.index()]);
        let constants_known = self.constants_known;
        let accessed = None;
        let mut execution = Execution {
            values,
            context,
            code,
            pc,
            instr,
            used,
            active,
            sure,
            guard,
            varies,
            constants_known,
            accessed,
        };
        let steps = execution.execute()?;
        let (lines, elsewhere) = execution.accessed();
        Ok(Executed { steps, lines, elsewhere })
    }
}

/// The execution of one instruction, and the state that it changes.
struct Execution<'e, 'a> {
    values: &'e mut Values,
    context: &'e mut Context<'a>,
    code: &'e Code,
    pc: Pc,
    instr: &'a Instr,
    /// The registers of the operation.
    used: &'e Registers,
    /// The lanes that may execute the instruction.
    active: LaneMask,
    /// The lanes that execute it if the warp reaches it.
    sure: LaneMask,
    /// The active lanes in which the guard may hold, and those in which it certainly holds.
    guard: Holds,
    /// Whether the result depends on time, on where the warp runs, or on unknown constants.
    varies: bool,
    constants_known: bool,
    /// What it accesses, if that is known before its effects are: the lines of lanes whose address
    /// is known, and those of other lanes.
    accessed: Option<(Vec<LineUse>, Elsewhere)>,
}

impl Execution<'_, '_> {
    /// Executes the instruction, and returns its possible steps.
    fn execute(&mut self) -> Result<Executions, Fault> {
        let (instr, pc, enabled) = (self.instr, self.pc, self.guard.may);
        match &instr.sem {
            Sem::Load { space, addr, dsts, ty } => {
                Ok(self.load((*space, addr), usize::from(ty.bits / 8) * dsts.len()))
            }
            Sem::Store { space, bits, srcs, addr } => {
                let size = usize::from(bits / 8) * srcs.len();
                Ok(self.accesses((*space, addr), size, false))
            }
            Sem::Atomic(atomic) => {
                let executions = self.accesses((atomic.space, &atomic.addr), atomic.bytes(), true);
                self.write(enabled, Some(pc));
                Ok(executions)
            }
            Sem::Fetch(fetch) => {
                // a texel lies within a sector
                let texels = match fetch.float {
                    true => 1 << fetch.geometry.dims.max(2),
                    false => 1,
                };
                Ok(self.image(texels))
            }
            Sem::Surface(_) => Ok(self.image(1)),
            Sem::ImageQuery(_) => Ok(self.finish(Step::plain(pc), enabled)),
            Sem::AsyncCopy { bytes, src, src_bytes, .. } => {
                self.async_source(usize::from(*bytes), src, *src_bytes);
                let slot = access::async_slot(&mut self.values.warp, self.context, pc)?;
                Ok(Executions::Exactly(Step::with(pc, slot)))
            }
            Sem::Matrix(matrix) => self.matrix(matrix),
            exchange!() => self.exchange(),
            Sem::Mbarrier(_) => {
                let message =
                    "mbarrier objects take no time here, so there is no bound for kernels that wait for them";
                Err(self.fault(message, ""))
            }
            Sem::Cluster(_) => {
                let message =
                    "waits for other blocks take no time here, so there is no bound for kernels in clusters";
                Err(self.fault(message, ""))
            }
            Sem::Bulk(_) => {
                let message = "bulk copies take no time here, so there is no bound for kernels that use them";
                Err(self.fault(message, ""))
            }
            Sem::Sleep { time } if *time != Operand::Imm(0) => {
                let message = "a sleep takes a time that the hardware chooses, so there is no bound on it";
                Err(self.fault(message, ""))
            }
            Sem::PredLogic { op: op @ (PredOp::And | PredOp::Or), a, b, .. } => {
                Ok(self.and_or(*op == PredOp::And, *a, *b))
            }
            lanewise!() | Sem::Nop | Sem::Sleep { .. } | Sem::AsyncCommit | Sem::AsyncWait { .. } => {
                let unknown = match &instr.sem {
                    Sem::Select { p, a, b, .. } => unknown_selection(self.values, *p, *a, *b),
                    _ => self.values.unknown_of(self.used.srcs.as_slice()),
                };
                let step = self.run()?;
                Ok(self.finish(step, unknown))
            }
            Sem::None | Sem::Traced(_) | Sem::Barrier(_) | Sem::Call(_) | Sem::CallPointer(_) | jump!() => {
                unreachable!("the walk handles these itself")
            }
        }
    }

    /// Executes a load. Its results are known where it reads known addresses of memory whose
    /// contents are known.
    fn load(&mut self, place: (Space, &Address), size: usize) -> Executions {
        let executions = self.accesses(place, size, false);
        let enabled = self.guard.may;
        let known = enabled - unknown_address(self.values, place.1);
        let known = match place.0 {
            Space::Param => known,
            Space::Const if self.constants_known => known,
            Space::Global | Space::Generic => {
                let targets = Targets::new(&self.values.warp, self.context, self.pc, place, size, "load");
                targets.in_constant_buffers(known, self.context)
            }
            Space::Const | Space::Shared | Space::Local => LaneMask::empty(),
        };
        let mut unknown = enabled;
        if !known.is_empty() {
            // a load that is not allowed leaves its results unknown; a run that comes here will
            // report it
            let access = (self.code.access(self.pc), &mut KeptPositions::default());
            if access::load(&mut self.values.warp, self.context, self.pc, access, known).is_ok() {
                unknown = enabled - known;
            }
        }
        self.write(unknown, Some(self.pc));
        executions
    }

    /// Executes an access to this many texels of an image in each lane. The image and the
    /// coordinates count as unknown.
    fn image(&mut self, texels: u32) -> Executions {
        let used = MemoryUse { space: Space::Global, extra_transactions: 0 };
        let enabled = self.guard.may;
        self.accessed = Some((Vec::new(), Elsewhere::apart(enabled.count() * texels)));
        self.finish(Step::with(self.pc, used), enabled)
    }

    /// Records what an asynchronous copy reads.
    fn async_source(&mut self, size: usize, src: &Address, src_bytes: Option<Operand>) {
        let (values, context) = (&*self.values, &mut *self.context);
        let enabled = self.guard.may;
        let unknown_bytes =
            src_bytes.and_then(Operand::reg).map_or(LaneMask::empty(), |reg| values.unknown(reg) & enabled);
        let reads = |lane: &usize| {
            let bytes = src_bytes.map(|bytes| values.warp.operand_in(bytes, &context.shape, *lane));
            unknown_bytes.has(*lane) || bytes.is_none_or(|bytes| bytes & width_mask(32) != 0)
        };
        let reading: LaneMask = enabled.lanes().filter(reads).map(LaneMask::lane).collect();
        let unknown = (unknown_address(values, src) | unknown_bytes) & reading;
        let targets =
            Targets::new(&values.warp, context, self.pc, (Space::Global, src), size, "asynchronous copy");
        let elsewhere = targets.may_touch((reading - unknown, unknown), false, &values.warp, context);
        self.accessed = Some((context.record.take_group(), elsewhere));
    }

    /// Returns the lines that the instruction accesses in every run that reaches it, and what it may
    /// access besides.
    fn accessed(&mut self) -> (Vec<LineUse>, Elsewhere) {
        let recorded = self.context.record.take_group();
        let (lines, elsewhere) = self.accessed.take().unwrap_or((recorded, Elsewhere::default()));
        if elsewhere == Elsewhere::default() && self.guard.may == self.guard.must & self.sure {
            (lines, elsewhere)
        } else {
            (Vec::new(), elsewhere.and(Elsewhere::of_lines(&lines)))
        }
    }

    /// Executes an operation on matrices, whose results are unknown.
    fn matrix(&mut self, matrix: &Matrix) -> Result<Executions, Fault> {
        let address = match matrix {
            Matrix::Load { from, .. } => Some(&from.addr),
            Matrix::Store { to, .. } => Some(&to.addr),
            Matrix::LoadRows { from, .. } => Some(&from.addr),
            Matrix::StoreRows { to, .. } => Some(&to.addr),
            Matrix::GroupMultiply(_) => {
                let message = "products of a warp group are completed at a time that is not modelled, so there is no \
                               bound for kernels that use them";
                return Err(self.fault(message, ""));
            }
            Matrix::Multiply(_) | Matrix::Transpose { .. } => None,
        };
        if address.is_some_and(|address| !unknown_address(self.values, address).is_empty()) {
            let hint = "this analysis needs to know where a matrix is";
            return Err(self.fault("the place of a matrix depends on data", hint));
        }
        let step = self.run()?;
        Ok(self.finish(step, self.guard.may))
    }

    /// Executes an exchange of values between lanes. The results are known if everything that they
    /// depend on is known.
    fn exchange(&mut self) -> Result<Executions, Fault> {
        let Self { instr, active, sure, guard, .. } = *self;
        if let Sem::Together { dst, .. } = instr.sem {
            return Ok(self.together(dst));
        }
        let known = self.values.unknown_of(self.used.srcs.as_slice()).is_empty();
        // a shuffle also reads lanes that are elsewhere, with their values at that time, which are
        // unknown
        let all = !matches!(instr.sem, Sem::Shuffle(_)) || active == self.values.warp.stack.live();
        if known && guard.may == guard.must && sure == active && all {
            let step = self.run()?;
            return Ok(self.finish(step, LaneMask::empty()));
        }
        Ok(self.finish(Step::plain(self.pc), guard.may))
    }

    /// Tests whether all lanes that have not ended are here. It is known if they are, as far as it is
    /// known which lanes have ended.
    fn together(&mut self, dst: RegId) -> Executions {
        let Self { active, sure, guard, .. } = *self;
        let alive = self.values.warp.stack.live() - self.values.ended;
        if guard.may == guard.must && sure == active && guard.must.contains(alive) {
            self.values.warp.set_pred(dst, LaneMask::ALL, guard.may);
            return self.finish(Step::plain(self.pc), LaneMask::empty());
        }
        self.finish(Step::plain(self.pc), guard.may)
    }

    /// Executes `and` or `or` of two predicates. One known predicate may be enough to know the
    /// result.
    fn and_or(&mut self, is_and: bool, a: PredSrc, b: PredSrc) -> Executions {
        let (a, b) = (self.values.pred(a), self.values.pred(b));
        // the value in known lanes must not depend on unknown values
        let (may, holds) = match is_and {
            true => (a.may & b.may, a.must & b.must),
            false => (a.may | b.may, a.must | b.must),
        };
        self.used
            .dsts
            .as_slice()
            .iter()
            .for_each(|&dst| self.values.warp.set_pred(dst, holds, self.guard.may));
        self.finish(Step::plain(self.pc), may - holds)
    }

    /// Executes the instruction as in a functional run, in the lanes in which its guard may hold.
    fn run(&mut self) -> Result<Step, Fault> {
        step::data(&mut self.values.warp, self.context, self.code, self.pc, self.guard.may)
    }

    /// Records which results are unknown, because of the sources or the instruction itself, and
    /// returns its only step.
    fn finish(&mut self, step: Step, unknown: LaneMask) -> Executions {
        let origin = self.values.origin_of(self.used.srcs.as_slice()).unwrap_or(self.pc);
        let unknown = if self.varies { self.guard.may } else { unknown };
        self.write(unknown, Some(origin));
        Executions::Exactly(step)
    }

    /// Records that the results were written, and are unknown in these lanes and in those in which
    /// the guard is unknown.
    fn write(&mut self, unknown: LaneMask, origin: Option<Pc>) {
        let Holds { may, must } = self.guard;
        self.used
            .dsts
            .as_slice()
            .iter()
            .for_each(|&dst| self.values.written(dst, may, unknown | (may - must), origin));
    }

    /// Returns the possible timings of an access. `apart` says that lanes that access the same
    /// bytes need separate transactions.
    fn accesses(&mut self, place: (Space, &Address), size: usize, apart: bool) -> Executions {
        let Self { pc, guard, sure, .. } = *self;
        let (values, context) = (&*self.values, &mut *self.context);
        let targets = Targets::new(&values.warp, context, pc, place, size, "access");
        // the lanes that access memory if the warp reaches the instruction
        let surely = guard.must & sure;
        let unknown = unknown_address(values, place.1) & guard.may;
        let elsewhere = targets.may_touch((guard.may - unknown, unknown), apart, &values.warp, context);
        self.accessed = Some((context.record.take_group(), elsewhere));
        if unknown.is_empty() && guard.may == surely {
            let used = targets.memory_use(guard.may, apart, context);
            if context.record.collect(pc, used.space).is_none() {
                // the space of the first lane decides what the access does
                self.accessed = Some(Default::default());
            }
            return Executions::Exactly(Step::with(pc, used));
        }
        let spaces = targets.may_resolve(guard.may, unknown, surely);
        let extra = targets.most_extra_transactions(context.record.banks, (guard.may, unknown), apart);
        let extra_in = |space: Space| match space {
            Space::Shared => extra,
            _ if context.record.counts_addresses(space) => targets.further_addresses(guard.may, unknown),
            _ => 0,
        };
        let step_in = |space: Space| Step::with(pc, MemoryUse { space, extra_transactions: extra_in(space) });
        match spaces.as_slice() {
            [space] if extra_in(*space) == 0 => Executions::Exactly(step_in(*space)),
            _ => Executions::AtMost(spaces.into_iter().map(step_in).collect()),
        }
    }

    /// Returns an error at the instruction.
    fn fault(&self, message: &str, hint: &str) -> Fault {
        fault::at(self.context.program, self.pc, message.to_owned(), hint)
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
