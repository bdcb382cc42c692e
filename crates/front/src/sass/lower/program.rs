//! Builds the [`KernelCode`] of a kernel.

use std::collections::BTreeSet;

use super::accesses::Collector;
use super::calls::{MAX_POINTED, pointed};
use super::flags::Uses;
use super::widths::width;
use super::{Cx, Problem};
use crate::runtime::{self, Runtime};
use crate::sass::control::instruction_at;
use crate::sass::cubin::{Cubin, Kernel};
use crate::sass::table::{
    Decoded, Encoding, Meaning, Op, Operand, Refused, Register as Place, Timing, Value, Word, meaning,
};
use crate::sass::text::{place, text};
use warpbound_core::base::{Few, OpClass, Pc};
use warpbound_core::isa::Space;
use warpbound_core::path::Step;
use warpbound_core::program::hazards::Hazards;
use warpbound_core::program::layout::{STACK_BYTES, Segment, WINDOW_SIZE};
use warpbound_core::program::sem::{Sem, straight};
use warpbound_core::program::{
    ClassTable, Coded, Control, Function, Instr, KernelCode, MachineCode, Param, ParamType, Register, Source,
};

/// A lowered kernel.
pub struct Built {
    /// The program; instructions with problems have no effect.
    pub program: KernelCode,
    /// The instructions that are not supported.
    pub problems: Vec<Problem>,
    /// The machine instructions with offset, op class and control codes.
    pub listing: Vec<Line>,
}

/// A machine instruction as displayed by `inspect`.
#[derive(Clone, Debug)]
pub struct Line {
    /// The offset in bytes.
    pub byte: usize,
    /// The instruction word.
    pub word: Word,
    /// The text; `None` if the word cannot be decoded.
    pub text: Option<String>,
    /// The control codes.
    pub control: Control,
    /// The mnemonic without modifiers.
    pub name: String,
    /// The op class.
    pub class: String,
}

/// Returns the offset of the compiler's constants for a kernel in the constant memory of its
/// module. They come after those of the user, kernel by kernel, since all kernels of a module share
/// the memory.
pub(super) fn compiler_constants(cubin: &Cubin, kernel: &Kernel) -> u64 {
    constants_after(cubin, cubin.kernels.iter().take_while(|other| other.name != kernel.name))
}

/// Returns the offset of the table of addresses in the constant memory of its module, where code
/// reads it by a register. It comes after the constants of all kernels.
pub(super) fn address_table(cubin: &Cubin) -> u64 {
    constants_after(cubin, cubin.kernels.iter())
}

/// Returns the offset of what follows the constants of the user and of these kernels.
fn constants_after<'k>(cubin: &Cubin, kernels: impl Iterator<Item = &'k Kernel>) -> u64 {
    kernels
        .fold(cubin.constants.size, |end, kernel| end.next_multiple_of(256) + kernel.constants.len() as u64)
        .next_multiple_of(256)
}

/// An instruction of a kernel before it is lowered.
struct Coding<'t> {
    byte: usize,
    word: Word,
    control: Control,
    decoded: Result<Decoded<'t>, Refused<'t>>,
}

/// Returns whether a kernel has an instruction with this meaning.
fn has(codings: &[Coding], meaning: Meaning) -> bool {
    codings.iter().flat_map(|coding| &coding.decoded).any(|d| d.op.meaning == Some(meaning))
}

/// The instructions of a kernel that have been lowered so far.
struct Lowering<'a> {
    encoding: &'a Encoding,
    kernel: &'a Kernel,
    first_line: u32,
    instrs: Vec<Instr>,
    /// The index of the first operation of each instruction.
    firsts: Vec<usize>,
    classes: ClassTable,
    listing: Vec<Line>,
    problems: Vec<Problem>,
}

/// Lowers a kernel and reports as many problems as possible.
pub fn build(file: &str, encoding: &Encoding, cubin: &Cubin, kernel: &Kernel, first_line: u32) -> Built {
    let count = encoding.count(kernel.code.len());
    let codings: Vec<Coding> = (0..count)
        .map(|index| {
            let (byte, word, control) = instruction_at(encoding, &kernel.code, index);
            Coding { byte, word, control, decoded: encoding.decode(word) }
        })
        .collect();
    let mut uses = Uses::default();
    codings.iter().flat_map(|coding| &coding.decoded).for_each(|d| uses.see(d));

    // branches refer to instructions by number until all locations are known
    let targets = |byte: i64| {
        let index = usize::try_from(byte)
            .ok()
            .and_then(|byte| encoding.index_at(byte))
            .filter(|&index| index < count);
        index
            .map(Pc::from_index)
            .ok_or_else(|| (format!("it goes to {byte:#x}, where no instruction is"), String::new()))
    };
    let mut cx = Cx::new(encoding, (cubin, kernel), uses, &targets);
    cx.copies = has(&codings, Meaning::Memory(meaning::Memory::Ldgsts));
    cx.local_bytes = local_bytes(kernel, &codings);
    if calls_pointers(kernel, &codings) {
        cx.pointed = pointed(kernel, &targets);
    }
    for d in codings.iter().flat_map(|coding| &coding.decoded) {
        super::converge::note_barrier(&mut cx, d);
    }
    let mut lowering = Lowering {
        encoding,
        kernel,
        first_line,
        instrs: Vec::with_capacity(count),
        firsts: Vec::with_capacity(count),
        classes: ClassTable::default(),
        listing: Vec::with_capacity(count),
        problems: Vec::new(),
    };
    codings.iter().for_each(|coding| lowering.instruction(&mut cx, coding));
    let regs = std::mem::take(&mut cx.regs);
    let mut pointed = std::mem::take(&mut cx.pointed);
    pointed.truncate(MAX_POINTED);
    lowering.finish(file, cubin, (regs, pointed), &codings)
}

/// Returns whether a kernel calls its own functions through pointers.
fn calls_pointers(kernel: &Kernel, codings: &[Coding]) -> bool {
    let absolute = || has(codings, Meaning::Control(meaning::Control::CallAbsolute));
    has(codings, Meaning::Control(meaning::Control::CallRegister))
        || !kernel.addresses.is_empty() && absolute()
}

/// Returns the local memory of a thread in bytes. The compiler does not know how much a kernel needs
/// whose functions call themselves, nor which functions are called through pointers.
fn local_bytes(kernel: &Kernel, codings: &[Coding]) -> u64 {
    let unknown = kernel.recursive || calls_pointers(kernel, codings);
    kernel.local_bytes.saturating_add(if unknown { STACK_BYTES } else { 0 })
}

impl Lowering<'_> {
    /// Lowers an instruction, or adds one without effect in its place.
    fn instruction(&mut self, cx: &mut Cx, coding: &Coding) {
        let &Coding { byte, word, control, ref decoded } = coding;
        let line = self.first_line + self.firsts.len() as u32;
        self.firsts.push(self.instrs.len());
        let (mut name, mut class, mut shown) = ("?".to_owned(), "unknown".to_owned(), None);
        match decoded {
            Ok(d) => {
                name = d.op.name.clone();
                class = d.op.class.clone();
                shown = Some(self.decoded(cx, coding, d, line));
            }
            Err(refused) => {
                self.problems.push(Problem::unknown(self.encoding, refused, byte, word));
                placeholder(cx, line, &mut self.instrs);
                let class = self.classes.intern(&class);
                self.instrs.last_mut().into_iter().for_each(|instr| instr.class = class);
            }
        }
        self.listing.push(Line { byte, word, text: shown, control, name, class });
    }

    /// Lowers an instruction that the table describes; returns its text.
    fn decoded(&mut self, cx: &mut Cx, coding: &Coding, d: &Decoded, line: u32) -> String {
        let &Coding { byte, word, .. } = coding;
        let next = byte + self.encoding.word_bytes;
        let shown = text(d, next, coding.control.reuse, place);
        self.problems.extend(Problem::unresolved(self.kernel, byte, word, &shown));
        let role = cx.instruction(d, next as i64).unwrap_or_else(|(message, hint)| {
            cx.parts.clear();
            let message = format!("`{shown}`: {message}");
            self.problems.push(Problem { byte, word, construct: shown.clone(), message, hint });
            super::Role::PLAIN
        });
        let first = self.instrs.len();
        cx.finish(d, role, line, &mut self.instrs);
        class_of(d.op, &mut self.instrs[first..], &mut self.classes);
        shown
    }

    /// Returns the program.
    fn finish(
        mut self,
        file: &str,
        cubin: &Cubin,
        (regs, pointed): (Vec<Register>, Vec<(u64, Pc)>),
        codings: &[Coding],
    ) -> Built {
        let most = Step::MAX_PC as usize;
        if self.instrs.len() > most {
            let message =
                format!("the kernel has {} operations, at most {most} are supported", self.instrs.len());
            self.problems.push(Problem::general("size", message));
            self.instrs.truncate(1);
        }
        let functions = self.connect(codings, &pointed);
        let instructions = codings.iter().map(coded).collect();
        let hazards = self.hazards(codings);
        let kernel = self.kernel;
        let mut program = KernelCode {
            name: kernel.name.clone(),
            cluster: kernel.cluster,
            file: file.to_owned(),
            instrs: self.instrs,
            regs,
            classes: self.classes,
            functions,
            max_threads: kernel.max_threads,
            machine_code: Some(MachineCode {
                first_line: self.first_line,
                instructions,
                hazards,
                independent: self.encoding.has(Meaning::Control(meaning::Control::Bssy)),
            }),
            ..KernelCode::default()
        };
        let mut problems = self.problems;
        memory(&mut program, cubin, (kernel, local_bytes(kernel, codings)), &mut problems);
        program.notes.extend(program.order_note().map(str::to_owned));
        if has(codings, Meaning::Control(meaning::Control::CallAbsolute))
            && cubin.functions.iter().any(|name| runtime::function(name) == Some(Runtime::Print))
        {
            program.notes.push(runtime::PRINT_NOTE.to_owned());
        }
        Built { program, problems, listing: self.listing }
    }

    /// Returns the accesses that the control codes have to cover.
    fn hazards(&self, codings: &[Coding]) -> Option<Hazards> {
        let mut collector = Collector::new(self.encoding)?;
        for (coding, line) in codings.iter().zip(&self.listing) {
            match &coding.decoded {
                Ok(d) => collector.instruction(d, line.text.clone().unwrap_or_default()),
                Err(_) => collector.unknown(),
            }
        }
        Some(collector.finish())
    }

    /// Sets the targets of branches, regions and calls; returns the called functions.
    fn connect(&mut self, codings: &[Coding], pointed: &[(u64, Pc)]) -> Vec<Function> {
        let firsts = &self.firsts;
        let place = |target: Pc| firsts.get(target.index()).map_or(target, |&first| Pc::from_index(first));
        let called = self.instrs.iter().filter_map(|instr| match &instr.sem {
            Sem::Call(call) => Some(call.target),
            _ => None,
        });
        let called: BTreeSet<Pc> = called.chain(pointed.iter().map(|(_, first)| *first)).collect();
        let called: Vec<Pc> = called.into_iter().collect();
        for instr in &mut self.instrs {
            match &mut instr.sem {
                Sem::Branch { target, .. } => *target = place(*target),
                Sem::BranchTable { targets, .. } => {
                    targets.iter_mut().for_each(|target| *target = place(*target))
                }
                Sem::OpenRegion { join, .. } => *join = place(*join),
                Sem::Collect { onward, .. } => *onward = place(*onward),
                Sem::Call(call) => {
                    call.function = called.binary_search(&call.target).unwrap_or(0) as u32;
                    call.target = place(call.target);
                }
                straight!() | Sem::CallPointer(_) | Sem::CloseRegion { .. } | Sem::LeaveRegion { .. } => {}
                Sem::Yield | Sem::EndCollective | Sem::Return { .. } | Sem::Exit | Sem::Trap { .. } => {}
            }
        }
        let (kernel, first_bytes) = (self.kernel, self.encoding.first_bytes() as u64);
        let function = |target: &Pc| {
            let byte = codings.get(target.index()).map_or(0, |coding| coding.byte as u64);
            // a function begins with the control word before its first instruction, if there is one
            let named = kernel.functions.iter().find(|(at, _)| *at <= byte && byte < at + first_bytes);
            Function {
                name: named.map_or_else(|| format!("{}+{byte:#x}", kernel.name), |(_, name)| name.clone()),
                address: pointed
                    .iter()
                    .find(|(_, first)| first == target)
                    .map_or(byte, |(address, _)| *address),
                first: place(*target),
                params: Vec::new(),
                returns: Vec::new(),
                frame: None,
            }
        };
        called.iter().map(function).collect()
    }
}

/// Returns the control codes of an instruction and what else determines when it waits.
fn coded(coding: &Coding) -> Coded {
    let decoded = coding.decoded.as_ref();
    Coded {
        byte: coding.byte as u32,
        control: coding.control,
        variable: decoded.is_ok_and(|d| d.op.timing == Timing::Variable),
        waits: decoded.map_or(0, waited),
        drains: decoded.ok().and_then(drained),
        sources: decoded.map_or_else(|_| Few::default(), sources),
    }
}

/// Returns the operands that an instruction reads from registers of threads. Which registers an
/// address names does not matter, because instructions with addresses have a variable latency.
fn sources(d: &Decoded) -> Few<Source, 4> {
    let reads = d.operands.iter().filter(|operand| !matches!(operand.name, "d" | "upper"));
    let source = |operand: &Operand| match operand.value {
        Value::Register(Place::Number(first)) => {
            Some(Source { first, count: width(d, operand), slot: operand.slot.filter(|_| d.op.reuse) })
        }
        _ => None,
    };
    reads.filter_map(source).collect()
}

/// Returns the barriers that `DEPBAR` waits for.
fn waited(d: &Decoded) -> u8 {
    match d.operand("wait").map(|operand| operand.value) {
        Some(Value::Barriers(barriers)) => barriers,
        _ => 0,
    }
}

/// Returns the barrier that `DEPBAR.LE` waits for, and the number of instructions that may remain
/// in flight.
fn drained(d: &Decoded) -> Option<(u8, u8)> {
    match (d.operand("sb")?.value, d.operand("n")?.value) {
        (Value::Barrier(barrier), Value::Small(left)) => Some((barrier, left as u8)),
        _ => None,
    }
}

/// Sets the op class of the operations of an instruction.
fn class_of(op: &Op, parts: &mut [Instr], classes: &mut ClassTable) {
    let Some(verb) = op.class.strip_suffix('*') else {
        let class = classes.intern(&op.class);
        parts.iter_mut().for_each(|instr| instr.class = class);
        return;
    };
    // a space that has no class counts as global memory
    let known = |space: Space| match verb {
        "ld." => true,
        "st." => !matches!(space, Space::Param | Space::Const),
        _ => matches!(space, Space::Global | Space::Shared),
    };
    let mut by_space = Box::new([OpClass::default(); Space::RESOLVED.len()]);
    for (slot, space) in by_space.iter_mut().zip(Space::RESOLVED) {
        let space = if known(space) { space } else { Space::Global };
        *slot = classes.intern(&format!("{verb}{}", space.name()));
    }
    for instr in parts {
        instr.class = by_space[Space::Global.index()];
        if !instr.folded {
            instr.class_by_space = Some(by_space.clone());
        }
    }
}

fn placeholder(cx: &mut Cx, place: u32, out: &mut Vec<Instr>) {
    cx.parts.clear();
    cx.taken = [0; 3];
    out.push(Instr {
        class: OpClass::default(),
        class_by_space: None,
        dsts: warpbound_core::program::RegList::new(),
        srcs: warpbound_core::program::RegList::new(),
        guard: None,
        flow: warpbound_core::program::Flow::Plain,
        memory: None,
        sem: Sem::Nop,
        line: place,
        folded: false,
    });
}

/// Sets parameters, references, variables, constants, and the sizes of shared and local memory.
fn memory(
    program: &mut KernelCode,
    cubin: &Cubin,
    (kernel, local_bytes): (&Kernel, u64),
    problems: &mut Vec<Problem>,
) {
    let params = kernel.params.iter().enumerate().map(|(index, &(offset, size))| Param {
        name: format!("param_{index}"),
        offset,
        size,
        ty: if matches!(size, 1 | 2 | 4 | 8) { ParamType::Int } else { ParamType::Bytes },
    });
    program.params = params.collect();
    for reference in kernel.references.values() {
        if !program.references.contains(reference) {
            program.references.push(reference.clone());
        }
    }
    let memory = &mut program.memory;
    memory.param_bytes = kernel.param_bytes;
    memory.globals = cubin.globals.clone();
    memory.constants = cubin.constants.clone();
    let compiled = cubin.kernels.iter().map(|other| (compiler_constants(cubin, other), &other.constants));
    let tables = compiled.chain([(address_table(cubin), &cubin.addresses)]);
    for (start, bytes) in tables.filter(|(_, bytes)| !bytes.is_empty()) {
        memory.constants.init.resize(start as usize, 0);
        memory.constants.init.extend_from_slice(bytes);
        memory.constants.size = start + bytes.len() as u64;
    }
    for (what, bytes) in [("shared", kernel.shared_bytes), ("local", local_bytes)] {
        if bytes > WINDOW_SIZE {
            let message = format!("{bytes} bytes of {what} memory exceed 16 MiB");
            problems.push(Problem::general(what, message));
        }
    }
    memory.shared = Segment { size: kernel.shared_bytes.min(WINDOW_SIZE), ..Segment::default() };
    memory.local = Segment { size: local_bytes.min(WINDOW_SIZE), ..Segment::default() };
    memory.uses_dynamic_shared = true;
}
