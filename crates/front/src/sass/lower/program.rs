//! Builds the [`KernelCode`] of a kernel.

use super::flags::Uses;
use super::{Cx, Part};
use crate::sass::control::instruction_at;
use crate::sass::cubin::{Cubin, Kernel};
use crate::sass::table::{Decoded, Refused};
use crate::sass::table::{Encoding, Op, Timing, Value, Word};
use crate::sass::text::text;
use warpbound_core::base::{OpClass, Pc};
use warpbound_core::isa::Space;
use warpbound_core::path::Step;
use warpbound_core::program::layout::{Segment, WINDOW_SIZE, function_address};
use warpbound_core::program::sem::{Sem, straight};
use warpbound_core::program::{
    ClassTable, Coded, Control, Function, Instr, KernelCode, MachineCode, Param, ParamType,
};

/// A problem with an instruction.
#[derive(Debug)]
pub struct Problem {
    /// The offset in the code of the kernel.
    pub byte: usize,
    /// The instruction word.
    pub word: Word,
    /// The text of the instruction, as far as it can be decoded.
    pub construct: String,
    /// The description.
    pub message: String,
    /// A hint.
    pub hint: String,
}

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
    let before = cubin.kernels.iter().take_while(|other| other.name != kernel.name);
    before
        .fold(cubin.constants.size, |end, other| end.next_multiple_of(256) + other.constants.len() as u64)
        .next_multiple_of(256)
}

/// Lowers a kernel and reports as many problems as possible.
pub fn build(file: &str, encoding: &Encoding, cubin: &Cubin, kernel: &Kernel, first_line: u32) -> Built {
    let count = encoding.count(kernel.code.len());
    let mut problems = Vec::new();
    let words: Vec<_> = (0..count).map(|index| instruction_at(encoding, &kernel.code, index)).collect();
    let decoded: Vec<Result<Decoded, Refused>> =
        words.iter().map(|(_, word, _)| encoding.decode(*word)).collect();
    let mut uses = Uses::default();
    decoded.iter().flatten().for_each(|d| uses.see(d));

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
    let mut cx = Cx::new(cubin, kernel, uses, &targets);
    let mut instrs: Vec<Instr> = Vec::with_capacity(count);
    let mut classes = ClassTable::default();
    let mut firsts = Vec::with_capacity(count);
    let mut listing = Vec::with_capacity(count);
    let unresolved: Vec<u64> = kernel.unresolved.iter().map(|(byte, _)| *byte).collect();
    for (&(byte, word, control), decoded) in words.iter().zip(&decoded) {
        let next = (byte + encoding.word_bytes) as i64;
        let line = first_line + firsts.len() as u32;
        let first = instrs.len();
        firsts.push(first);
        let shown = decoded
            .as_ref()
            .ok()
            .map(|d| text(d, next as usize, control.reuse, |target| format!("{target:#x}")));
        let mut problem = |construct: &str, message: String, hint: String| {
            problems.push(Problem { byte, word, construct: construct.to_owned(), message, hint });
        };
        let (mut name, mut class) = ("?".to_owned(), "unknown".to_owned());
        match decoded {
            Ok(d) => {
                let shown = shown.as_deref().unwrap_or_default();
                name = d.op.name.clone();
                class = d.op.class.clone();
                if unresolved.contains(&(byte as u64)) {
                    let of = kernel
                        .unresolved
                        .iter()
                        .find(|(at, _)| *at == byte as u64)
                        .map_or("", |(_, name)| name);
                    problem(
                        shown,
                        format!("`{shown}` needs the address of `{of}`, which a linker fills in"),
                        "link the file (nvlink), or compile it as a whole".to_owned(),
                    );
                }
                let role = match cx.instruction(d, next, control) {
                    Ok(role) => role,
                    Err((message, hint)) => {
                        cx.parts.clear();
                        problem(shown, format!("`{shown}`: {message}"), hint);
                        super::Role::PLAIN
                    }
                };
                cx.finish(d, role, line, &mut instrs);
                class_of(d.op, &mut instrs[first..], &mut classes);
            }
            Err(refused) => {
                let (message, hint) = explained(encoding, refused, word);
                problem("?", message, hint);
                cx.parts.push(Part { sem: Sem::Nop, guard: None });
                placeholder(&mut cx, line, &mut instrs);
                instrs.last_mut().into_iter().for_each(|instr| instr.class = classes.intern(&class));
            }
        }
        listing.push(Line { byte, word, text: shown, control, name, class });
    }
    if instrs.len() > Step::MAX_PC as usize {
        let message = format!("the kernel has {} operations, at most {} work", instrs.len(), Step::MAX_PC);
        problems.push(Problem {
            byte: 0,
            word: 0,
            construct: "size".to_owned(),
            message,
            hint: String::new(),
        });
        instrs.truncate(1);
    }
    let regs = std::mem::take(&mut cx.regs);
    let functions = connect(&mut instrs, &firsts, &words, kernel);
    let coded = |((byte, _, control), decoded): (&(usize, Word, Control), &Result<Decoded, Refused>)| Coded {
        byte: *byte as u32,
        control: *control,
        variable: decoded.as_ref().is_ok_and(|d| d.op.timing == Timing::Variable),
        waits: decoded.as_ref().map_or(0, waited),
        drains: decoded.as_ref().ok().and_then(drained),
    };
    let instructions = words.iter().zip(&decoded).map(coded).collect();
    let mut program = KernelCode {
        name: kernel.name.clone(),
        file: file.to_owned(),
        instrs,
        regs,
        classes,
        functions,
        max_threads: kernel.max_threads,
        machine_code: Some(MachineCode { first_line, instructions }),
        ..KernelCode::default()
    };
    memory(&mut program, cubin, kernel, &mut problems);
    program.notes.extend(program.order_note().map(str::to_owned));
    Built { program, problems, listing }
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

/// Sets the targets of branches, regions and calls; returns the called functions.
fn connect(
    instrs: &mut [Instr],
    firsts: &[usize],
    words: &[(usize, Word, Control)],
    kernel: &Kernel,
) -> Vec<Function> {
    let place = |target: Pc| firsts.get(target.index()).map_or(target, |&first| Pc::from_index(first));
    let mut called: Vec<Pc> = Vec::new();
    for instr in instrs.iter() {
        if let Sem::Call(call) = &instr.sem
            && !called.contains(&call.target)
        {
            called.push(call.target);
        }
    }
    called.sort_unstable();
    for instr in instrs.iter_mut() {
        match &mut instr.sem {
            Sem::Branch { target, .. } => *target = place(*target),
            Sem::BranchTable { targets, .. } => {
                targets.iter_mut().for_each(|target| *target = place(*target))
            }
            Sem::OpenRegion { join, .. } => *join = place(*join),
            Sem::Call(call) => {
                call.function = called.iter().position(|&target| target == call.target).unwrap_or(0) as u32;
                call.target = place(call.target);
            }
            straight!() | Sem::CallPointer(_) | Sem::CloseRegion { .. } => {}
            Sem::Return | Sem::Exit | Sem::Trap { .. } => {}
        }
    }
    let function = |(number, target): (usize, &Pc)| {
        let byte = words.get(target.index()).map_or(0, |(byte, ..)| *byte as u64);
        // the target of a call is the control word before the first instruction
        let named = kernel.functions.iter().find(|(at, _)| *at <= byte && byte < at + 16);
        Function {
            name: named.map_or_else(|| format!("{}+{byte:#x}", kernel.name), |(_, name)| name.clone()),
            address: function_address(number as u32),
            first: place(*target),
            params: Vec::new(),
            returns: Vec::new(),
            frame: None,
        }
    };
    called.iter().enumerate().map(function).collect()
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

fn explained(encoding: &Encoding, refused: &Refused, word: Word) -> (String, String) {
    let digits = encoding.word_bytes * 2;
    let hint = "warpbound's table of encodings (isa/pascal.ron) says what is known".to_owned();
    match refused {
        Refused::Unknown => {
            let near = encoding
                .nearest(word)
                .map_or(String::new(), |name| format!("; the nearest known opcode is {name}"));
            (format!("{word:#0width$x} is not a known instruction{near}", width = digits + 2), hint)
        }
        Refused::Bits(op, bits) => (
            format!(
                "{word:#0width$x} is {} with bits {bits:#x}, whose meaning is not known",
                op.name,
                width = digits + 2
            ),
            hint,
        ),
        Refused::Number(op, what, number) => {
            let message = format!(
                "{word:#0width$x} is {} with a number {number} in `{what}`, whose meaning is not known",
                op.name,
                width = digits + 2
            );
            (message, hint)
        }
    }
}

/// Sets parameters, variables, constants, and the sizes of shared and local memory.
fn memory(program: &mut KernelCode, cubin: &Cubin, kernel: &Kernel, problems: &mut Vec<Problem>) {
    let params = kernel.params.iter().enumerate().map(|(index, &(offset, size))| Param {
        name: format!("param_{index}"),
        offset,
        size,
        ty: if matches!(size, 1 | 2 | 4 | 8) { ParamType::Int } else { ParamType::Bytes },
    });
    program.params = params.collect();
    let memory = &mut program.memory;
    memory.param_bytes = kernel.param_bytes;
    memory.globals = cubin.globals.clone();
    memory.constants = cubin.constants.clone();
    for other in cubin.kernels.iter().filter(|other| !other.constants.is_empty()) {
        let start = compiler_constants(cubin, other);
        memory.constants.init.resize(start as usize, 0);
        memory.constants.init.extend_from_slice(&other.constants);
        memory.constants.size = start + other.constants.len() as u64;
    }
    for (what, bytes) in [("shared", kernel.shared_bytes), ("local", kernel.local_bytes)] {
        if bytes > WINDOW_SIZE {
            let message = format!("{bytes} bytes of {what} memory exceed 16 MiB");
            problems.push(Problem {
                byte: 0,
                word: 0,
                construct: what.to_owned(),
                message,
                hint: String::new(),
            });
        }
    }
    memory.shared = Segment { size: kernel.shared_bytes.min(WINDOW_SIZE), ..Segment::default() };
    memory.local = Segment { size: kernel.local_bytes.min(WINDOW_SIZE), ..Segment::default() };
    memory.uses_dynamic_shared = true;
}
