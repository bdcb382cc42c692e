//! A program's op classes bound to a machine: what each step runs on and how long that takes.
//!
//! This is the machine description and the instruction sequence brought together, shared by the
//! simulator and the analyser. It holds durations as the machine states them and computes no
//! point in time.

use super::codes::{Barriers, Codes};
use super::sem::Operand;
use super::{Access, Flow, Instr, MemoryOp, Program, RegList, Sem};
use crate::base::{Pc, RegId};
use crate::diag::{Diagnostic, Diagnostics, closest};
use crate::isa::Space;
use crate::machine::{BankTiming, Hazards, Machine, OpTiming, SubCores};
use crate::path::{AsyncRing, Step};

/// What timing needs to know of an instruction.
#[derive(Clone, Debug)]
pub struct TimedInstr {
    /// Unit, initiation and latency, unless [`TimedInstr::by_space`] has them.
    pub op: OpTiming,
    /// Unit, initiation and latency per resolved space of a generic access.
    pub by_space: Option<Box<[OpTiming; Space::RESOLVED.len()]>>,
    /// Registers that must be available: those read, or, where control codes count, those of the barriers waited for.
    pub srcs: RegList,
    /// Registers that are available once it is done: those written, or none where control codes count.
    pub dsts: RegList,
    /// Registers that it writes through the register file: none if it is [unscored](Self::unscored).
    pub results: RegList,
    /// What its control codes say, where they count.
    pub codes: Codes,
    /// How it takes part in the warp's flow.
    pub flow: Flow,
    /// Whether it waits for global memory when it waits for a source; see
    /// [`TimingTable::loads_global`].
    pub loads_global: bool,
    /// How it accesses memory, if it does.
    pub access: Option<Access>,
    /// Registers that it reads through the register file: sources without the guard, and before them, if it is
    /// [unscored](Self::unscored), its destination. Of those with the same number in their names only the first one,
    /// since a number is a place in the register file.
    pub operands: RegList,
    /// Whether the pipeline reads its destination register instead of writing it, so that no instruction waits for the
    /// result ([`crate::machine::PipelineSpec::unscored`]).
    pub unscored: bool,
    /// What bank conflicts cost, where the instruction may meet them. Without conflicts it has the
    /// timing of [`TimedInstr::op`] or [`TimedInstr::by_space`] all the same.
    pub banks: Option<BankTiming>,
    /// See [`TimingTable::moves_lines`].
    pub moves_lines: bool,
}

/// The timing of every instruction of a program on a machine.
#[derive(Clone, Debug)]
pub struct TimingTable {
    instrs: Vec<TimedInstr>,
    units: usize,
    /// Registers of the program; the ring of asynchronous copies follows them, and then the barriers of control codes.
    program_regs: usize,
    /// Where control codes count.
    barriers: Option<Barriers>,
    hazards: Hazards,
    exit_issues: bool,
    /// Where the code ends that can be fetched.
    fetch_end: Option<u32>,
    bounded_queues: bool,
    /// By register of the program: the number in its name.
    numbers: Vec<usize>,
    sub_cores: SubCores,
    /// Whether constants and parameters move lines.
    constants: bool,
}

impl TimingTable {
    /// Binds a program to a machine.
    ///
    /// # Errors
    /// Every op class of the program that the machine does not map, with the first line that
    /// uses it.
    pub fn new(program: &Program, machine: &Machine) -> Result<Self, Diagnostics> {
        let mut problems = Diagnostics::new();
        let fallback = OpTiming {
            unit: crate::base::UnitId::new(0),
            init: crate::base::Cycles::ONE,
            lat: crate::base::Cycles::ZERO,
        };
        let mut used_at: Vec<Option<u32>> = vec![None; program.classes.names().len()];
        for instr in &program.instrs {
            // the `ret` of a micro kernel only ever ends its warp
            if instr.flow == Flow::Exit && instr.sem == Sem::None && !machine.exit_issues() {
                continue;
            }
            let generic = instr.class_by_space.iter().flat_map(|classes| classes.iter());
            for class in std::iter::once(&instr.class).chain(generic) {
                used_at[class.index()].get_or_insert(instr.line);
            }
        }
        let ops: Vec<OpTiming> = program
            .classes
            .names()
            .iter()
            .zip(&used_at)
            .map(|(name, line)| {
                machine.op(name).unwrap_or_else(|| {
                    if let Some(line) = line {
                        problems.push(missing(program, machine, name, *line));
                    }
                    fallback
                })
            })
            .collect();
        let program_regs = program.regs.len();
        let numbers: Vec<usize> =
            program.regs.iter().enumerate().map(|(index, reg)| number(&reg.name, index)).collect();
        let counting = program.control_codes_on(machine);
        let barriers = counting.map(|code| Barriers::of(code, program_regs + usize::from(AsyncRing::SLOTS)));
        let instrs = program
            .instrs
            .iter()
            .map(|instr| {
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
                let operands = once_each(operands, &numbers);
                let mut timed = TimedInstr {
                    op: ops[instr.class.index()],
                    by_space: instr
                        .class_by_space
                        .as_ref()
                        .map(|classes| Box::new(classes.map(|c| ops[c.index()]))),
                    operands,
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
                };
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
            })
            .collect();
        problems.into_result(Self {
            instrs,
            units: machine.units().len(),
            program_regs,
            barriers,
            hazards: machine.hazards(),
            exit_issues: machine.exit_issues(),
            fetch_end: (program.ends_file && stops_at_end(machine)).then_some(program.instrs.len() as u32),
            bounded_queues: machine.pipeline().is_some_and(|pipeline| pipeline.queue.is_some()),
            numbers,
            sub_cores: machine.sub_cores(),
            constants: machine.caches_constants(),
        })
    }

    /// A table of instructions that belong to no program, on a machine that was never written down
    /// (a search makes up millions of them): as many units and registers as they use, RAW hazards,
    /// a free exit, one sub-core.
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
            numbers: Vec::new(),
            sub_cores,
            constants: false,
        }
    }

    /// The same on several sub-cores.
    #[must_use]
    pub fn on_sub_cores(self, sub_cores: SubCores) -> Self {
        Self { sub_cores, ..self }
    }

    /// The instructions, to be used for another table.
    pub fn into_instrs(self) -> Vec<TimedInstr> {
        self.instrs
    }

    /// The instruction at a pc.
    pub fn instr(&self, pc: Pc) -> &TimedInstr {
        &self.instrs[pc.index()]
    }

    /// Every instruction, by pc.
    pub fn instrs(&self) -> &[TimedInstr] {
        &self.instrs
    }

    /// Unit, initiation and latency of one execution.
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

    /// Transactions of an access to shared memory, and how many it would take without conflicts;
    /// `None` for other instructions, and where the machine has no bank conflicts.
    pub fn bank_transactions(&self, step: Step) -> Option<(u32, u32)> {
        let banks = self.instr(step.pc()).banks?;
        let used = step.memory();
        (used.space == Space::Shared)
            .then(|| (banks.transactions + u32::from(used.extra_transactions), banks.transactions))
    }

    /// Whether this execution accesses global or local memory, or constants that are cached, so that
    /// a path with traffic has a group of lines for it.
    pub fn moves_lines(&self, step: Step) -> bool {
        let instr = self.instr(step.pc());
        instr.moves_lines && (instr.flow == Flow::AsyncCopy || step.memory().space.has_lines(self.constants))
    }

    /// The pseudo-register that an asynchronous copy writes or a wait reads, `None` for other
    /// instructions and where control codes count. [`TimedInstr::srcs`] and [`TimedInstr::dsts`] do not list it.
    pub fn async_reg(&self, step: Step) -> Option<RegId> {
        match self.instr(step.pc()).flow {
            Flow::AsyncCopy | Flow::AsyncWait if self.barriers.is_none() => {
                Some(RegId::from_index(self.program_regs + step.async_ring().index()))
            }
            _ => None,
        }
    }

    /// Whether this execution fetches from global memory, so that a warp waiting for its result
    /// counts as waiting for a global load (two-level scheduling).
    pub fn loads_global(&self, step: Step) -> bool {
        let instr = self.instr(step.pc());
        instr.loads_global
            && (!instr.dsts.as_slice().is_empty() || instr.codes.done.is_some())
            && (instr.by_space.is_none() || matches!(step.memory().space, Space::Global | Space::Local))
            || instr.flow == Flow::AsyncCopy
    }

    /// The space that a memory access resolved to.
    pub fn space(&self, step: Step) -> Space {
        match self.instr(step.pc()).flow {
            Flow::AsyncCopy => Space::Global,
            _ => step.memory().space,
        }
    }

    /// The number that the source gives a register (5 for `%r5`), which says in which bank it is;
    /// its index where the name has none.
    pub fn reg_number(&self, reg: RegId) -> usize {
        self.numbers.get(reg.index()).copied().unwrap_or(reg.index())
    }

    /// Whether a step takes an issue slot: all do, except the one that ends the warp on machines
    /// where that is free.
    pub fn issues(&self, step: Step) -> bool {
        self.exit_issues || !step.ends_warp()
    }

    /// Registers, pseudo-registers of asynchronous copies and barriers included: every [`RegId`] is below.
    pub fn regs(&self) -> usize {
        self.program_regs + usize::from(AsyncRing::SLOTS) + self.barriers.map_or(0, Barriers::regs)
    }

    /// The registers that stand for barriers, where control codes count and not the registers of the program. The first of
    /// a barrier's is available when all that signalled it are through, each one after it when one less is.
    pub fn barriers(&self) -> Option<Barriers> {
        self.barriers
    }

    /// Where the code ends that can be fetched; the largest number if it goes on.
    pub fn fetch_end(&self) -> u32 {
        self.fetch_end.unwrap_or(u32::MAX)
    }

    /// Units of the machine.
    pub fn units(&self) -> usize {
        self.units
    }

    /// Whether an instruction does not issue while its unit's queue is full.
    pub fn bounded_queues(&self) -> bool {
        self.bounded_queues
    }

    /// How the SM is divided into sub-cores.
    pub fn sub_cores(&self) -> SubCores {
        self.sub_cores
    }

    /// The hazards that hold an instruction back.
    pub fn hazards(&self) -> Hazards {
        self.hazards
    }
}

/// The sources of an atomic but for its address.
fn without_address(instr: &Instr) -> RegList {
    let atomic = match &instr.sem {
        Sem::Atomic(atomic) => atomic,
        Sem::Traced(Some(access)) => {
            let needed = |reg: &RegId| Some(*reg) != access.atomic;
            return instr.srcs.as_slice().iter().copied().filter(needed).collect();
        }
        _ => return instr.srcs.clone(),
    };
    let is = |operand: &Operand, reg: RegId| matches!(operand, Operand::Reg(r) if *r == reg);
    let needed = |reg: &RegId| {
        !is(&atomic.addr.base, *reg)
            || atomic.operands().any(|operand| is(&operand, *reg))
            || instr.guard.is_some_and(|guard| guard.reg == *reg)
    };
    instr.srcs.as_slice().iter().copied().filter(needed).collect()
}

fn operands(instr: &Instr, srcs: &RegList) -> impl Iterator<Item = RegId> {
    let guard = instr.guard.map(|guard| guard.reg);
    srcs.as_slice().iter().copied().filter(move |&reg| Some(reg) != guard)
}

/// The first of the registers with each number.
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

fn stops_at_end(machine: &Machine) -> bool {
    let front_end = machine.pipeline().and_then(|pipeline| pipeline.front_end);
    front_end.is_some_and(|front_end| front_end.stops_at_end)
}

/// The first number in a name.
fn number(name: &str, index: usize) -> usize {
    let digits = name.trim_start_matches(|c: char| !c.is_ascii_digit());
    let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
    digits[..end].parse().unwrap_or(index)
}

impl TimedInstr {
    /// Where the timing of its accesses to shared memory stands.
    fn in_shared_memory(&mut self) -> &mut OpTiming {
        match &mut self.by_space {
            Some(by_space) => &mut by_space[Space::Shared.index()],
            None => &mut self.op,
        }
    }

    /// Every timing that an execution can have, of several on one unit one with the longest
    /// initiation.
    pub fn timings(&self) -> impl Iterator<Item = OpTiming> + '_ {
        let by_space = self.by_space.iter().flat_map(|ops| ops.iter().copied());
        let conflicts = self.banks.map(|banks| banks.with_extra(u8::MAX));
        std::iter::once(self.op).chain(by_space).chain(conflicts)
    }
}

fn missing(program: &Program, machine: &Machine, class: &str, line: u32) -> Diagnostic {
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
