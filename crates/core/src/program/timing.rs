//! The op classes of a program bound to a machine: the unit and the latency of each step.
//!
//! This module combines the machine description with the instruction sequence for both the
//! simulation and the bounds. It stores durations as the machine states them and computes no points
//! in time.

use super::codes::{Barriers, Codes};
use super::sem::{Operand, exchange, jump, lanewise, no_effect};
use super::{Access, Flow, Instr, KernelCode, MemoryOp, PortReads, RegList, Sem};
use crate::base::{Cycles, Pc, RegId, UnitId};
use crate::diag::{Diagnostic, Diagnostics, closest};
use crate::isa::Space;
use crate::machine::{BankTiming, Hazards, Machine, OpTiming, Pipeline, SubCores};
use crate::path::{AsyncRing, Step};

/// The properties of an instruction that timing depends on.
#[derive(Clone, Debug)]
pub struct TimedInstr {
    /// The unit, initiation interval and latency, unless [`TimedInstr::by_space`] overrides them.
    pub op: OpTiming,
    /// The unit, initiation interval and latency of a generic access for each resolved space.
    pub by_space: Option<Box<[OpTiming; Space::RESOLVED.len()]>>,
    /// The registers that must be available before issue: the sources or, if control codes apply,
    /// the registers of the barriers that are waited for.
    pub srcs: RegList,
    /// The registers that become available on completion: the destinations, or none if control
    /// codes apply.
    pub dsts: RegList,
    /// The registers that are written through the register file: none if the instruction is
    /// [unscored](Self::unscored).
    pub results: RegList,
    /// The control codes, if they apply; otherwise the default.
    pub codes: Codes,
    /// The effect on control flow and synchronisation.
    pub flow: Flow,
    /// Whether the instruction's result may come from global memory, see
    /// [`TimingTable::loads_global`].
    pub loads_global: bool,
    /// The kind of memory access, if any.
    pub access: Option<Access>,
    /// The registers that are read through the register file: the sources without the guard,
    /// preceded by the destination if the instruction is [unscored](Self::unscored). Registers
    /// whose names contain the same number share a place in the register file, so only the first of
    /// them is listed.
    pub operands: RegList,
    /// Whether the pipeline reads the destination register instead of writing it, so that no
    /// instruction waits for the result ([`crate::machine::PipelineSpec::unscored`]).
    pub unscored: bool,
    /// The cost of bank conflicts if the instruction may have any. Without conflicts its timing is
    /// that of [`TimedInstr::op`] or [`TimedInstr::by_space`].
    pub banks: Option<BankTiming>,
    /// Whether the instruction may transfer lines of device memory, see
    /// [`TimingTable::moves_lines`].
    pub moves_lines: bool,
}

/// The timing of every instruction of a program on a machine.
#[derive(Clone, Debug)]
pub struct TimingTable {
    instrs: Vec<TimedInstr>,
    units: usize,
    /// The number of registers of the program. The ring of asynchronous copies is numbered after
    /// them, followed by the barriers of control codes.
    program_regs: usize,
    /// The registers of barriers, if control codes apply.
    barriers: Option<Barriers>,
    hazards: Hazards,
    exit_issues: bool,
    /// The end of the code that can be fetched; `None` if other code follows.
    fetch_end: Option<u32>,
    bounded_queues: bool,
    pairs_share_units: bool,
    write_back: Cycles,
    /// The number in the name of each register of the program.
    numbers: Vec<usize>,
    sub_cores: SubCores,
    /// Whether accesses to constants and parameters transfer lines.
    constants: bool,
    /// For each operation, the number of its instruction in the machine code; `None` if each
    /// operation is an instruction.
    places: Option<Vec<u32>>,
    /// For each operation, the registers that it reads through ports of register banks; `None` if
    /// they do not count.
    port_reads: Option<Vec<PortReads>>,
}

impl TimingTable {
    /// Binds a program to a machine.
    ///
    /// # Errors
    /// Returns a diagnostic for each op class of the program that the machine does not map, with
    /// the first line that uses it.
    pub fn new(program: &KernelCode, machine: &Machine) -> Result<Self, Diagnostics> {
        let mut problems = Diagnostics::new();
        let ops = op_timings(program, machine, &mut problems);
        let program_regs = program.regs.len();
        let numbers: Vec<usize> =
            program.regs.iter().enumerate().map(|(index, reg)| number(&reg.name, index)).collect();
        let counting = program.control_codes_on(machine);
        let barriers = counting.map(|code| Barriers::of(code, program_regs + usize::from(AsyncRing::SLOTS)));
        let timed = |instr: &Instr| {
            let mut timed = TimedInstr::of(instr, program, machine, &ops, &numbers);
            if let Some((code, barriers)) = counting.zip(barriers) {
                (timed.srcs, timed.codes) = barriers.read(code, instr);
                timed.dsts = RegList::new();
            }
            if let (Some(memory), Some(bytes)) = (machine.shared_memory(), instr.shared_bytes()) {
                let op = timed.in_shared_memory();
                let banks = memory.timing(*op, bytes);
                *op = banks.without;
                timed.banks = Some(banks);
            }
            timed
        };
        let instrs: Vec<TimedInstr> = program.instrs.iter().map(timed).collect();
        let port_reads = PortReads::of(program, machine, |index| {
            let TimedInstr { access, op, .. } = &instrs[index];
            access.is_none() && !machine.sub_cores().is_shared(op.unit)
        });
        problems.into_result(Self {
            instrs,
            units: machine.units().len(),
            program_regs,
            barriers,
            hazards: machine.hazards(),
            exit_issues: machine.exit_issues(),
            fetch_end: (program.ends_file && stops_at_end(machine)).then_some(program.instrs.len() as u32),
            bounded_queues: machine.pipeline().is_some_and(|pipeline| pipeline.queue.is_some()),
            pairs_share_units: machine.pipeline().is_some_and(pairs_share_units),
            write_back: Cycles::new(machine.pipeline().map_or(0, |pipeline| pipeline.write_back)),
            numbers,
            sub_cores: machine.sub_cores(),
            constants: machine.caches_constants(),
            places: program
                .machine_code
                .as_ref()
                .map(|code| program.instrs.iter().map(|instr| code.number(instr).unwrap_or(0)).collect()),
            port_reads,
        })
    }

    /// Creates a table of instructions that belong to no program, with the given numbers of units
    /// and registers, RAW hazards, a free exit and one sub-core. Searches use it for the millions
    /// of machines that they generate.
    pub fn of_instrs(instrs: Vec<TimedInstr>, units: usize, regs: usize) -> Self {
        let sub_cores = SubCores::ONE;
        Self {
            instrs,
            units,
            program_regs: regs,
            barriers: None,
            hazards: Hazards::RAW,
            exit_issues: false,
            fetch_end: None,
            bounded_queues: false,
            pairs_share_units: false,
            write_back: Cycles::ZERO,
            numbers: Vec::new(),
            sub_cores,
            constants: false,
            places: None,
            port_reads: None,
        }
    }

    /// Returns the same table for a number of sub-cores.
    #[must_use]
    pub fn on_sub_cores(self, sub_cores: SubCores) -> Self {
        Self { sub_cores, ..self }
    }

    /// Returns the instructions, so that another table can reuse them.
    pub fn into_instrs(self) -> Vec<TimedInstr> {
        self.instrs
    }

    /// Returns the instruction at a program counter.
    #[inline]
    pub fn instr(&self, pc: Pc) -> &TimedInstr {
        &self.instrs[pc.index()]
    }

    /// Returns all instructions, indexed by program counter.
    #[inline]
    pub fn instrs(&self) -> &[TimedInstr] {
        &self.instrs
    }

    /// Returns the unit, initiation interval and latency of one execution.
    #[inline]
    pub fn op(&self, step: Step) -> OpTiming {
        let instr = self.instr(step.pc());
        if let Some(banks) = &instr.banks {
            let used = step.memory();
            if used.space == Space::Shared {
                return banks.with_extra(used.extra_transactions);
            }
        }
        instr.by_space.as_ref().map_or(instr.op, |by_space| by_space[step.memory().space.index()])
    }

    /// Returns the number of transactions of an access to shared memory, and the number without
    /// bank conflicts; `None` for other instructions, and for machines without bank conflicts.
    #[inline]
    pub fn bank_transactions(&self, step: Step) -> Option<(u32, u32)> {
        let banks = self.instr(step.pc()).banks?;
        let used = step.memory();
        (used.space == Space::Shared)
            .then(|| (banks.transactions + u32::from(used.extra_transactions), banks.transactions))
    }

    /// Returns whether this execution accesses global memory, local memory or cached constants, so
    /// that a path with traffic has a group of lines for it.
    #[inline]
    pub fn moves_lines(&self, step: Step) -> bool {
        let instr = self.instr(step.pc());
        instr.moves_lines && (instr.flow == Flow::AsyncCopy || step.memory().space.has_lines(self.constants))
    }

    /// Returns the pseudo-register that an asynchronous copy writes or a wait reads; `None` for
    /// other instructions, and if control codes apply. [`TimedInstr::srcs`] and
    /// [`TimedInstr::dsts`] do not include it.
    #[inline]
    pub fn async_reg(&self, step: Step) -> Option<RegId> {
        match self.instr(step.pc()).flow {
            Flow::AsyncCopy | Flow::AsyncWait if self.barriers.is_none() => {
                Some(RegId::from_index(self.program_regs + step.async_ring().index()))
            }
            _ => None,
        }
    }

    /// Returns whether this execution loads from global memory, so that a warp that waits for its
    /// result counts as waiting for a global load (two-level scheduling).
    #[inline]
    pub fn loads_global(&self, step: Step) -> bool {
        let instr = self.instr(step.pc());
        instr.loads_global
            && (!instr.dsts.as_slice().is_empty() || instr.codes.done.is_some())
            && (instr.by_space.is_none() || matches!(step.memory().space, Space::Global | Space::Local))
            || instr.flow == Flow::AsyncCopy
    }

    /// Returns the space that a memory access resolves to.
    #[inline]
    pub fn space(&self, step: Step) -> Space {
        match self.instr(step.pc()).flow {
            Flow::AsyncCopy => Space::Global,
            _ => step.memory().space,
        }
    }

    /// Returns the number in a register's name (5 for `%r5`), which selects its bank, or the
    /// register's index if the name contains none.
    #[inline]
    pub fn reg_number(&self, reg: RegId) -> usize {
        self.numbers.get(reg.index()).copied().unwrap_or(reg.index())
    }

    /// Returns whether a step takes an issue slot. All steps do, except the one that terminates the
    /// warp on machines where the exit is free.
    #[inline]
    pub fn issues(&self, step: Step) -> bool {
        self.exit_issues || !step.ends_warp()
    }

    /// Returns the number of registers, including the pseudo-registers of asynchronous copies and
    /// barriers; every [`RegId`] is smaller.
    #[inline]
    pub fn regs(&self) -> usize {
        self.program_regs + usize::from(AsyncRing::SLOTS) + self.barriers.map_or(0, Barriers::regs)
    }

    /// Returns the pseudo-registers of the barriers if control codes apply instead of register
    /// dependences. The first register of a barrier is available when all instructions that
    /// signalled it have completed, and each following register when one instruction fewer has
    /// completed.
    #[inline]
    pub fn barriers(&self) -> Option<Barriers> {
        self.barriers
    }

    /// Returns the end of the code that can be fetched, or `u32::MAX` if other code follows.
    #[inline]
    pub fn fetch_end(&self) -> u32 {
        self.fetch_end.unwrap_or(u32::MAX)
    }

    /// Returns the position of an instruction in the code, in instructions from its start. An
    /// instruction of machine code may be several operations, which share its position.
    #[inline]
    pub fn place(&self, pc: Pc) -> u32 {
        self.places.as_ref().map_or(pc.get(), |places| places[pc.index()])
    }

    /// Returns the number of instructions of the code.
    pub fn places(&self) -> u32 {
        match &self.places {
            Some(places) => places.last().map_or(0, |&last| last + 1),
            None => self.instrs.len() as u32,
        }
    }

    /// Returns the registers that an instruction reads through ports of register banks; `None` if
    /// no instruction of the program does on this machine.
    #[inline]
    pub fn port_reads(&self, pc: Pc) -> Option<&PortReads> {
        self.port_reads.as_ref().map(|reads| &reads[pc.index()])
    }

    /// Returns whether instructions wait for ports of register banks.
    pub fn has_port_reads(&self) -> bool {
        self.port_reads.is_some()
    }

    /// Returns the number of units of the machine.
    #[inline]
    pub fn units(&self) -> usize {
        self.units
    }

    /// Returns whether an instruction cannot issue while its unit's queue is full.
    #[inline]
    pub fn bounded_queues(&self) -> bool {
        self.bounded_queues
    }

    /// Returns whether a warp may issue two instructions to the same unit in the same cycle, of
    /// which the second waits for the unit even if every initiation takes one cycle.
    #[inline]
    pub fn pairs_share_units(&self) -> bool {
        self.pairs_share_units
    }

    /// Returns the number of cycles between the end of an operation in its unit and the
    /// availability of its result, in addition to the unit's latency.
    #[inline]
    pub fn write_back(&self) -> Cycles {
        self.write_back
    }

    /// Returns the division of the SM into sub-cores.
    #[inline]
    pub fn sub_cores(&self) -> SubCores {
        self.sub_cores
    }

    /// Returns the hazards that can prevent an instruction from issuing.
    #[inline]
    pub fn hazards(&self) -> Hazards {
        self.hazards
    }
}

/// Returns the timing of each op class of a program, and reports the classes in use that the
/// machine does not map, with the first line that uses them.
fn op_timings(program: &KernelCode, machine: &Machine, problems: &mut Diagnostics) -> Vec<OpTiming> {
    let fallback = OpTiming { unit: UnitId::new(0), init: Cycles::ONE, lat: Cycles::ZERO };
    if program.blocks_of_cluster() > 1 {
        let message = format!(
            "`{}` runs in clusters of {} blocks, which no machine starts together",
            program.name,
            program.blocks_of_cluster()
        );
        let hint = "clusters are executed, but not timed: `bundle` writes the results";
        problems.push(Diagnostic::general(program.file.clone(), message).hint(hint));
    }
    let names = program.classes.names();
    let mut used_at: Vec<Option<u32>> = vec![None; names.len()];
    for instr in &program.instrs {
        // the `ret` of a micro kernel only terminates its warp and has no op class to map
        if instr.flow == Flow::Exit && instr.sem == Sem::None && !machine.exit_issues() {
            continue;
        }
        let generic = instr.class_by_space.iter().flat_map(|classes| classes.iter());
        for class in std::iter::once(&instr.class).chain(generic) {
            used_at[class.index()].get_or_insert(instr.line);
        }
    }
    let timing = |(name, line): (&String, &Option<u32>)| {
        machine.op(name).unwrap_or_else(|| {
            if let Some(line) = line {
                problems.push(missing(program, machine, name, *line));
            }
            fallback
        })
    };
    names.iter().zip(&used_at).map(timing).collect()
}

/// Returns the sources of an instruction; for an atomic operation, those other than the address.
fn without_address(instr: &Instr) -> RegList {
    let atomic = match &instr.sem {
        Sem::Atomic(atomic) => atomic,
        Sem::Traced(Some(access)) => {
            let needed = |reg: &RegId| Some(*reg) != access.atomic;
            return instr.srcs.as_slice().iter().copied().filter(needed).collect();
        }
        Sem::Load { .. }
        | Sem::Store { .. }
        | Sem::Fetch(_)
        | Sem::Surface(_)
        | Sem::ImageQuery(_)
        | Sem::AsyncCopy { .. }
        | Sem::AsyncCommit
        | Sem::AsyncWait { .. }
        | Sem::Matrix(_)
        | Sem::Barrier(_)
        | Sem::Cluster(_)
        | Sem::Mbarrier(_)
        | Sem::Bulk(_)
        | Sem::Call(_)
        | Sem::CallPointer(_)
        | no_effect!()
        | lanewise!()
        | exchange!()
        | jump!() => return instr.srcs.clone(),
    };
    let is_register = |operand: &Operand, reg: RegId| matches!(operand, Operand::Reg(r) if *r == reg);
    let needed = |reg: &RegId| {
        !is_register(&atomic.addr.base, *reg)
            || atomic.operands().any(|operand| is_register(&operand, *reg))
            || instr.guard.is_some_and(|guard| guard.reg == *reg)
    };
    instr.srcs.as_slice().iter().copied().filter(needed).collect()
}

fn operands(instr: &Instr, srcs: &RegList) -> impl Iterator<Item = RegId> {
    let guard = instr.guard.map(|guard| guard.reg);
    srcs.as_slice().iter().copied().filter(move |&reg| Some(reg) != guard)
}

/// Keeps only the first of the registers that have the same number.
fn once_each(regs: impl Iterator<Item = RegId>, numbers: &[usize]) -> RegList {
    let mut seen = Vec::new();
    regs.filter(|reg| {
        let number = numbers.get(reg.index()).copied();
        let is_new = number.is_none() || !seen.contains(&number);
        seen.push(number);
        is_new
    })
    .collect()
}

/// Returns whether two instructions that a warp issues in one cycle may use the same unit. Without
/// a queue the second of them cannot issue.
fn pairs_share_units(pipeline: &Pipeline) -> bool {
    pipeline.issue.per_warp > 1 && !pipeline.issue.distinct_units && pipeline.queue != Some(0)
}

fn stops_at_end(machine: &Machine) -> bool {
    let front_end = machine.pipeline().and_then(|pipeline| pipeline.front_end);
    front_end.is_some_and(|front_end| front_end.stops_at_end)
}

/// Returns the first number in a name, or `index` if there is none.
fn number(name: &str, index: usize) -> usize {
    let digits = name.trim_start_matches(|c: char| !c.is_ascii_digit());
    let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
    digits[..end].parse().unwrap_or(index)
}

impl TimedInstr {
    /// Binds an instruction to a machine without control codes and without bank conflicts, given
    /// the timing of each op class and the number of each register of its program.
    fn of(
        instr: &Instr,
        program: &KernelCode,
        machine: &Machine,
        ops: &[OpTiming],
        numbers: &[usize],
    ) -> Self {
        let blind = machine
            .pipeline()
            .and_then(|pipeline| pipeline.load_store)
            .is_some_and(|load_store| !load_store.atomics_wait_for_addresses);
        let unscored = machine.pipeline().is_some_and(|pipeline| {
            pipeline.unscored.iter().any(|class| class == program.classes.name(instr.class))
        });
        let srcs = if blind { without_address(instr) } else { instr.srcs.clone() };
        let taken = if unscored { instr.dsts.clone() } else { RegList::new() };
        let operands = taken.as_slice().iter().copied().chain(operands(instr, &srcs));
        let by_space = instr.class_by_space.as_ref();
        Self {
            op: ops[instr.class.index()],
            by_space: by_space.map(|classes| Box::new(classes.map(|class| ops[class.index()]))),
            operands: once_each(operands, numbers),
            srcs,
            dsts: instr.dsts.clone(),
            results: if unscored { RegList::new() } else { instr.dsts.clone() },
            codes: Codes::default(),
            flow: instr.flow,
            loads_global: instr.loads_global(),
            banks: None,
            moves_lines: instr.moves_lines(machine.caches_constants()),
            access: instr.memory.and_then(MemoryOp::access),
            unscored,
        }
    }

    /// Creates an instruction that belongs to no program, for [`TimingTable::of_instrs`].
    pub fn bare(flow: Flow, op: OpTiming, dsts: RegList, srcs: RegList) -> Self {
        Self {
            op,
            by_space: None,
            srcs,
            dsts,
            results: RegList::new(),
            codes: Codes::default(),
            flow,
            loads_global: false,
            access: None,
            operands: RegList::new(),
            unscored: false,
            banks: None,
            moves_lines: false,
        }
    }

    /// Returns the timing of accesses to shared memory.
    fn in_shared_memory(&mut self) -> &mut OpTiming {
        match &mut self.by_space {
            Some(by_space) => &mut by_space[Space::Shared.index()],
            None => &mut self.op,
        }
    }

    /// Returns every timing that an execution can have. Of timings that differ only by bank
    /// conflicts, only the longest is included.
    #[inline]
    pub fn timings(&self) -> impl Iterator<Item = OpTiming> + '_ {
        let by_space = self.by_space.iter().flat_map(|ops| ops.iter().copied());
        let conflicts = self.banks.map(|banks| banks.with_extra(u8::MAX));
        std::iter::once(self.op).chain(by_space).chain(conflicts)
    }
}

fn missing(program: &KernelCode, machine: &Machine, class: &str, line: u32) -> Diagnostic {
    let known: Vec<&str> = machine.ops().map(|(name, _)| name).collect();
    let near =
        closest(class, known.iter().copied()).map_or(String::new(), |n| format!("did you mean `{n}`? "));
    let mut diagnostic = Diagnostic::general(
        program.file.clone(),
        format!("machine `{}` maps op class `{class}` to no unit", machine.name()),
    )
    .hint(format!("{near}add \"{class}\": \"UNIT\" to its ops; it maps {}", known.join(", ")));
    diagnostic.line = line;
    diagnostic.column = 1;
    diagnostic
}
