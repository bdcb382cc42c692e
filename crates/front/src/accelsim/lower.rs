//! Lowering of the instructions of a trace to a program.

use std::collections::{BTreeMap, HashMap};

use super::code::Found;
use super::header::{Header, Operands};
use super::opcodes::{OpcodeEffect, Opcodes, Rule, bytes_of, class_in};
use super::registers::{self, ZERO};
use warpbound_core::base::RegId;
use warpbound_core::isa::Space;
use warpbound_core::path::Step;
use warpbound_core::program::sem::{Operand, TracedAccess};
use warpbound_core::program::{
    Area, Flow, Guard, Instr, KernelCode, MemoryOp, RegKind, RegList, Register, Sem,
};

/// Options for the interpretation of a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceOptions {
    /// Whether each branch, predicated instruction and other reader of predicates depends on the
    /// last instruction that sets a predicate.
    pub conservative_predicates: bool,
    /// The op class of unknown opcodes.
    pub unknown: String,
}

impl Default for TraceOptions {
    fn default() -> Self {
        Self { conservative_predicates: false, unknown: "alu.misc".to_owned() }
    }
}

/// The data that an execution of an instruction contributes to a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    /// No data.
    Plain,
    /// An exit that may terminate the warp.
    Exit,
    /// A barrier.
    Barrier,
    /// An arrival at a barrier without waiting.
    Arrive,
    /// A memory access.
    Access { space: Space, bytes: u8, atomic: bool },
    /// An asynchronous copy.
    Copy { bytes: u8 },
    /// The end of a group of asynchronous copies.
    Commit,
    /// A wait for groups of asynchronous copies.
    Wait,
}

/// A program, and the data that is needed to create its paths.
pub(super) struct Lowered {
    pub(super) program: KernelCode,
    pub(super) actions: Vec<Action>,
    /// The number of executions of each unknown opcode.
    pub(super) unknown: BTreeMap<String, u64>,
    /// The index in the program of each instruction that was found.
    pub(super) places: Vec<u32>,
    /// For each index in the program, the instruction that was found there.
    pub(super) order: Vec<Option<usize>>,
}

/// The statistics of an instruction.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct InstrStats {
    /// The number of warp executions.
    pub(super) count: u64,
    /// The number of lanes in these executions.
    pub(super) lanes: u64,
    /// Whether an execution had fewer lanes than the preceding instruction, which was not a branch,
    /// so that the instruction must have a guard.
    pub(super) guarded: bool,
}

/// Builds a program from the instructions that were found.
pub(super) fn lower(
    file: &str,
    header: &Header,
    found: &[Found],
    seen: &[InstrStats],
    opcodes: &Opcodes,
    options: &TraceOptions,
) -> Lowered {
    let mut lower = Lower {
        header,
        opcodes,
        options,
        program: KernelCode { name: name(header), file: format!("{file} (code)"), ..KernelCode::default() },
        registers: HashMap::new(),
        predicates: None,
        unknown: BTreeMap::new(),
    };
    let (places, size) = places(header, found);
    let control = lower.program.classes.intern("control");
    let mut order = vec![None; size + 1];
    for (index, place) in places.iter().enumerate() {
        order[*place as usize] = Some(index);
    }
    let mut actions = Vec::with_capacity(order.len());
    for (place, index) in order.iter().enumerate() {
        let line = place as u32 + 1;
        let (instr, action) = match index {
            Some(index) => lower.instr(&found[*index], &seen[*index], line),
            // an instruction that is never executed
            None if place < size => (bare(control, Flow::Plain, line), Action::Plain),
            None => (bare(control, Flow::Exit, line), Action::Exit),
        };
        lower.program.instrs.push(instr);
        actions.push(action);
    }
    Lowered { program: lower.program, actions, unknown: lower.unknown, places, order }
}

/// Returns the index of each instruction in the program, and the program's length. The order is
/// that of the code, with gaps for instructions that were not executed, since fetching depends on
/// adjacency. A second instruction at the same address, which belongs to another function, comes
/// after all others.
fn places(header: &Header, found: &[Found]) -> (Vec<u32>, usize) {
    let word = |pc: u64| match header.binary_version {
        _ if header.own.whole => pc / 16,
        Some(0..=49) => pc / 8 - pc / 64,
        Some(50..=69) => pc / 8 - pc / 32,
        _ => pc / 16,
    };
    let mut order: Vec<usize> = (0..found.len()).collect();
    order.sort_by_key(|&index| (found[index].pc, index));
    let first = order.first().map_or(0, |&index| word(found[index].pc));
    let span = order.last().map_or(0, |&index| word(found[index].pc) - first + 1);
    let fits =
        span <= 16 * found.len() as u64 + 4096 && span + (found.len() as u64) < u64::from(Step::MAX_PC);
    let mut places = vec![0; found.len()];
    if !fits {
        order.iter().enumerate().for_each(|(place, &index)| places[index] = place as u32);
        return (places, found.len());
    }
    let mut size = span as usize;
    let mut before = None;
    for &index in &order {
        let at = word(found[index].pc);
        places[index] = match before.replace(at) {
            Some(before) if before == at => {
                size += 1;
                size as u32 - 1
            }
            _ => (at - first) as u32,
        };
    }
    (places, size)
}

fn name(header: &Header) -> String {
    if header.name.is_empty() { "kernel".to_owned() } else { header.name.clone() }
}

fn bare(class: warpbound_core::base::OpClass, flow: Flow, line: u32) -> Instr {
    Instr {
        class,
        class_by_space: None,
        dsts: RegList::new(),
        srcs: RegList::new(),
        guard: None,
        flow,
        memory: None,
        sem: Sem::Traced(None),
        line,
        folded: false,
    }
}

struct Lower<'a> {
    header: &'a Header,
    opcodes: &'a Opcodes,
    options: &'a TraceOptions,
    program: KernelCode,
    registers: HashMap<u32, RegId>,
    /// The register that represents all predicates, if dependences on them are modelled.
    predicates: Option<RegId>,
    unknown: BTreeMap<String, u64>,
}

impl Lower<'_> {
    fn register(&mut self, number: u32) -> RegId {
        let program = &mut self.program;
        let keys = &self.header.own;
        *self.registers.entry(number).or_insert_with(|| {
            let name = keys.registers.get(&number).cloned().unwrap_or_else(|| registers::name(number));
            let kind = if registers::is_predicate(number) { RegKind::Pred } else { RegKind::Bits(32) };
            program.regs.push(Register { name, kind });
            RegId::from_index(program.regs.len() - 1)
        })
    }

    fn list(&mut self, numbers: &[u32]) -> RegList {
        let lists_all = self.header.own.whole;
        let mut list = RegList::new();
        for &number in numbers {
            if lists_all || !registers::is_constant(number, self.header.binary_version) {
                let register = self.register(number);
                list.insert(register);
            }
        }
        list
    }

    fn instr(&mut self, found: &Found, seen: &InstrStats, line: u32) -> (Instr, Action) {
        let fixed = &found.fixed;
        let rule = self.opcodes.find(&fixed.opcode).cloned();
        let stated_class = self.header.own.classes.get(&fixed.opcode).cloned();
        if rule.is_none() && stated_class.is_none() {
            *self.unknown.entry(fixed.opcode.clone()).or_default() += seen.count;
        }
        let rule = rule.unwrap_or_else(|| Rule::new(self.options.unknown.clone()));
        let bytes = rule.bytes.unwrap_or_else(|| bytes_of(&fixed.opcode));
        let (flow, memory, action, access) = meaning(&rule, fixed.width > 0, bytes);
        let generic = access.is_some_and(|(space, _)| space == Space::Generic);
        let (class, class_by_space) = match stated_class {
            Some(class) => (class, None),
            None if generic => (
                class_in(&rule.class, Space::Global),
                Some(Box::new(
                    Space::RESOLVED.map(|space| self.program.classes.intern(&class_in(&rule.class, space))),
                )),
            ),
            // the trace does not record the space that the access resolves to
            None if access_space(rule.does) == Some(Space::Generic) => {
                (class_in(&rule.class, Space::Global), None)
            }
            None => (rule.class.clone(), None),
        };
        let class = self.program.classes.intern(&class);
        let listed = Operands { dsts: fixed.dsts.clone(), srcs: fixed.srcs.clone(), guard: None };
        let operands = self.header.own.operands.get(&found.pc).cloned().unwrap_or(listed);
        let mut dsts = self.list(&operands.dsts);
        if let (OpcodeEffect::Load(_), false, [first], true) =
            (rule.does, self.header.own.whole, operands.dsts.as_slice(), fixed.width > 0)
        {
            // wide loads name only the first of several registers
            let more = (1..loaded(&fixed.opcode, bytes)).map(|more| first + more);
            for number in more.filter(|&number| *first != ZERO && number < ZERO) {
                let register = self.register(number);
                dsts.insert(register);
            }
        }
        let mut srcs = self.list(&operands.srcs);
        let guard = operands.guard.map(|number| Guard { reg: self.register(number), negate: false });
        if let Some(guard) = guard {
            srcs.insert(guard.reg);
        }
        if self.options.conservative_predicates && !self.header.own.whole {
            let all = self.all_predicates();
            if rule.sets {
                dsts.insert(all);
            }
            if rule.reads || seen.guarded {
                srcs.insert(all);
            }
        }
        let atomic = match action {
            Action::Access { atomic: true, .. } => srcs.as_slice().first().copied(),
            _ => None,
        };
        let sem = match rule.does {
            // the trace does not record the duration
            OpcodeEffect::Sleep => Sem::Sleep { time: Operand::Imm(1) },
            _ => Sem::Traced(access.map(|(space, bytes)| TracedAccess { space, bytes, atomic })),
        };
        let instr = Instr { class_by_space, dsts, srcs, guard, memory, sem, ..bare(class, flow, line) };
        (instr, action)
    }

    fn all_predicates(&mut self) -> RegId {
        let program = &mut self.program;
        *self.predicates.get_or_insert_with(|| {
            program.regs.push(Register { name: "predicates".to_owned(), kind: RegKind::Pred });
            RegId::from_index(program.regs.len() - 1)
        })
    }
}

/// Returns the flow, the memory operation, the data of an execution, and the space and width of the
/// access.
fn meaning(rule: &Rule, recorded: bool, bytes: u8) -> (Flow, Option<MemoryOp>, Action, Option<(Space, u8)>) {
    let access = |space: Space, op: fn(Area) -> MemoryOp, atomic: bool| {
        let memory = op(Area::from(space));
        (Flow::Plain, Some(memory), Action::Access { space, bytes, atomic }, Some((space, bytes)))
    };
    let plain = |flow: Flow, action: Action| (flow, None, action, None);
    match rule.does {
        OpcodeEffect::Load(space) if recorded => access(space, MemoryOp::Load, false),
        OpcodeEffect::Store(space) if recorded => access(space, MemoryOp::Store, false),
        OpcodeEffect::Atomic(space) if recorded => access(space, MemoryOp::Atomic, true),
        // The addresses are unknown. The instruction occupies its unit, and the two-level policy
        // treats it as a load.
        OpcodeEffect::Load(Space::Global | Space::Generic) | OpcodeEffect::Fetch => {
            (Flow::Plain, Some(MemoryOp::Unaddressed(Area::Global)), Action::Plain, None)
        }
        OpcodeEffect::Copy if recorded => {
            (Flow::AsyncCopy, Some(MemoryOp::AsyncCopy), Action::Copy { bytes }, None)
        }
        OpcodeEffect::Commit => plain(Flow::Plain, Action::Commit),
        OpcodeEffect::Wait => plain(Flow::AsyncWait, Action::Wait),
        OpcodeEffect::Fence => (Flow::Plain, Some(MemoryOp::Fence), Action::Plain, None),
        OpcodeEffect::Barrier => plain(Flow::Barrier, Action::Barrier),
        OpcodeEffect::Arrive => plain(Flow::Arrive, Action::Arrive),
        OpcodeEffect::Exit => plain(Flow::Exit, Action::Exit),
        OpcodeEffect::Nothing
        | OpcodeEffect::Sleep
        | OpcodeEffect::Branch
        | OpcodeEffect::Copy
        | OpcodeEffect::Load(_)
        | OpcodeEffect::Store(_)
        | OpcodeEffect::Atomic(_) => plain(Flow::Plain, Action::Plain),
    }
}

fn access_space(effect: OpcodeEffect) -> Option<Space> {
    match effect {
        OpcodeEffect::Load(space) | OpcodeEffect::Store(space) | OpcodeEffect::Atomic(space) => Some(space),
        _ => None,
    }
}

/// Returns the number of registers that a load writes.
fn loaded(opcode: &str, bytes: u8) -> u32 {
    if opcode.starts_with("LDSM") {
        let words = || opcode.split('.').skip(1);
        return if words().any(|word| word == "4") {
            4
        } else if words().any(|word| word == "2") {
            2
        } else {
            1
        };
    }
    u32::from(bytes).div_ceil(4)
}
