//! The report of a file of machine code.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde::Serialize;

use super::ptx::ClassCount;
use warpbound_core::diag::MAX_KEPT;
use warpbound_core::program::names;
use warpbound_front::sass::{Encoding, Line, Module};

/// The contents of a file of machine code.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CubinFile {
    /// The architecture, such as `sm_61`.
    pub target: String,
    /// The kernels.
    pub kernels: Vec<Kernel>,
    /// The constructs that are not supported, each with its first occurrence.
    pub unsupported: Vec<Unsupported>,
    /// The number of further unsupported constructs that are not listed.
    pub unsupported_left_out: usize,
}

/// A kernel.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Kernel {
    /// The name of the kernel.
    #[serde(rename = "kernel")]
    pub name: String,
    /// The demangled name, if the name is mangled C++.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub demangled: Option<String>,
    /// Whether it can be simulated.
    pub supported: bool,
    /// Its parameters.
    pub params: Vec<Parameter>,
    /// The most threads per block, if the file limits them.
    pub max_threads: Option<u32>,
    /// Registers per thread.
    pub registers: Option<u32>,
    /// Static shared memory, in bytes.
    pub shared_bytes: u64,
    /// Local memory per thread, in bytes.
    pub local_bytes: u64,
    /// The constants of the compiler, in bytes.
    pub const_bytes: usize,
    /// The code, including control codes and functions, in bytes.
    pub code_bytes: usize,
    /// The number of instructions, including those of functions.
    pub instructions: usize,
    /// Instructions by mnemonic without modifiers, the most frequent first.
    pub opcodes: Vec<OpcodeCount>,
    /// Instructions by op class, the most frequent first; `*` stands for the space of a generic
    /// access.
    pub op_classes: Vec<ClassCount>,
    /// The functions in its code.
    pub functions: Vec<String>,
    /// Remarks that concern a run.
    pub notes: Vec<String>,
    /// The instructions, with `--disasm`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disassembly: Option<Vec<Instruction>>,
}

/// A parameter.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Parameter {
    /// Its offset among the parameters.
    pub offset_bytes: u32,
    /// Its size.
    pub size_bytes: u32,
}

/// The number of instructions with an opcode.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct OpcodeCount {
    /// The mnemonic.
    pub opcode: String,
    /// The number of instructions.
    pub instructions: usize,
}

/// An instruction.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Instruction {
    /// The offset of its first byte in the code of the kernel.
    pub byte: usize,
    /// Its encoding, in hexadecimal digits.
    pub word: String,
    /// Its text; null if it cannot be decoded.
    pub text: Option<String>,
    /// Cycles until the warp may issue its next instruction.
    pub stall: u8,
    /// Whether the scheduler may prefer another warp after it.
    pub yields: bool,
    /// The barrier that is released once its result is written.
    pub write_barrier: Option<u8>,
    /// The barrier that is released once its sources are read.
    pub read_barrier: Option<u8>,
    /// The barriers that it waits for, one bit each.
    pub wait: u8,
    /// The sources that stay in the reuse cache, one bit each.
    pub reuse: u8,
}

/// An instruction that cannot be simulated.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Unsupported {
    /// The kernel.
    pub kernel: String,
    /// The offset of its first byte in the code of the kernel.
    pub byte: usize,
    /// Its text, as far as it can be decoded.
    pub construct: String,
    /// The number of occurrences with the same message.
    pub count: usize,
    /// Why it is not supported.
    pub message: String,
    /// How to avoid it.
    pub hint: String,
}

impl CubinFile {
    /// Returns the contents of a module; with every instruction, if `disassemble`.
    pub fn new(module: &Module, encoding: &Encoding, disassemble: bool) -> Self {
        let mut unsupported: Vec<Unsupported> = Vec::new();
        let mut kernels = Vec::new();
        for kernel in module.kernels() {
            let built = module.build(kernel, encoding);
            let supported = built.problems.is_empty();
            for problem in built.problems {
                let same = |known: &&mut Unsupported| {
                    known.kernel == kernel.name && known.message == problem.message
                };
                match unsupported.iter_mut().find(same) {
                    Some(known) => known.count += 1,
                    None => unsupported.push(Unsupported {
                        kernel: kernel.name.clone(),
                        byte: problem.byte,
                        construct: problem.construct,
                        count: 1,
                        message: problem.message,
                        hint: problem.hint,
                    }),
                }
            }
            let opcodes = counted(built.listing.iter().map(|line| line.name.as_str()));
            let classes = counted(built.listing.iter().map(|line| line.class.as_str()));
            let parameter = |&(offset_bytes, size_bytes): &(u32, u32)| Parameter { offset_bytes, size_bytes };
            kernels.push(Kernel {
                name: kernel.name.clone(),
                demangled: names::demangled(&kernel.name),
                supported,
                params: kernel.params.iter().map(parameter).collect(),
                max_threads: kernel.max_threads,
                registers: kernel.registers,
                shared_bytes: kernel.shared_bytes,
                local_bytes: kernel.local_bytes,
                const_bytes: kernel.constants.len(),
                code_bytes: kernel.code.len(),
                instructions: built.listing.len(),
                opcodes: opcodes
                    .into_iter()
                    .map(|(opcode, instructions)| OpcodeCount { opcode, instructions })
                    .collect(),
                op_classes: classes
                    .into_iter()
                    .map(|(class, instructions)| ClassCount { class, instructions })
                    .collect(),
                functions: built.program.functions.iter().map(|function| function.name.clone()).collect(),
                notes: built.program.notes.clone(),
                disassembly: disassemble.then(|| built.listing.iter().map(Instruction::new).collect()),
            });
        }
        let unsupported_left_out = unsupported.len().saturating_sub(MAX_KEPT);
        unsupported.truncate(MAX_KEPT);
        Self { target: format!("sm_{}", module.target()), kernels, unsupported, unsupported_left_out }
    }

    pub(super) fn text(&self, file: &str) -> String {
        let mut text = format!("{file}: machine code for {}\n", self.target);
        self.kernels.iter().for_each(|kernel| text.push_str(&kernel.text()));
        if self.kernels.is_empty() {
            text.push_str("\nno kernel in this file\n");
        }
        if self.unsupported.is_empty() {
            text.push_str("\nnothing unsupported\n");
            return text;
        }
        let more = match self.unsupported_left_out {
            0 => String::new(),
            more => format!(" (and {more} more kinds)"),
        };
        let _ = writeln!(text, "\nunsupported{more}:");
        for one in &self.unsupported {
            let _ = writeln!(
                text,
                "  {}+{:#x} ({} times): {}; {}",
                one.kernel, one.byte, one.count, one.message, one.hint
            );
        }
        text
    }
}

impl Kernel {
    fn text(&self) -> String {
        let or =
            |list: Vec<String>, none: &str| if list.is_empty() { none.to_owned() } else { list.join(", ") };
        let mut text = format!(
            "\nkernel {}: {} instructions in {} bytes\n",
            self.name, self.instructions, self.code_bytes
        );
        if let Some(name) = &self.demangled {
            let _ = writeln!(text, "  C++ name    {name}");
        }
        let params = self.params.iter().map(|param| format!("{} bytes", param.size_bytes)).collect();
        let _ = writeln!(text, "  parameters  {}", or(params, "none"));
        let registers =
            self.registers.map_or("not stated".to_owned(), |registers| format!("{registers} per thread"));
        let _ = writeln!(text, "  registers   {registers}");
        let _ = writeln!(
            text,
            "  memory      shared {} and dynamic, local {}, compiler's constants {} bytes",
            self.shared_bytes, self.local_bytes, self.const_bytes
        );
        if let Some(threads) = self.max_threads {
            let _ = writeln!(text, "  threads     at most {threads} per block");
        }
        let opcodes = self.opcodes.iter().map(|of| format!("{} {}", of.instructions, of.opcode)).collect();
        let _ = writeln!(text, "  opcodes     {}", or(opcodes, "none"));
        let classes = self.op_classes.iter().map(|of| format!("{} {}", of.instructions, of.class)).collect();
        let _ = writeln!(text, "  op classes  {}", or(classes, "none"));
        if !self.functions.is_empty() {
            let _ = writeln!(text, "  calls       {}", self.functions.join(", "));
        }
        for note in &self.notes {
            let _ = writeln!(text, "  note        {note}");
        }
        if !self.supported {
            text.push_str("  cannot be simulated, see below\n");
        }
        if let Some(instructions) = &self.disassembly {
            text.push_str("\n  byte  wait:read:write:yield:stall  instruction\n");
            for instruction in instructions {
                text.push_str(&instruction.line());
            }
        }
        text
    }
}

impl Instruction {
    fn new(line: &Line) -> Self {
        let control = line.control;
        Self {
            byte: line.byte,
            word: format!("{:016x}", line.word),
            text: line.text.clone(),
            stall: control.stall,
            yields: !control.stay,
            write_barrier: control.write_barrier,
            read_barrier: control.read_barrier,
            wait: control.wait,
            reuse: control.reuse,
        }
    }

    fn line(&self) -> String {
        let digit = |barrier: Option<u8>| barrier.map_or("-".to_owned(), |barrier| barrier.to_string());
        let shown = self.text.clone().unwrap_or_else(|| format!(".word 0x{}", self.word));
        format!(
            "  {:04x}  {:02x}:{}:{}:{}:{:x}  {shown}\n",
            self.byte,
            self.wait,
            digit(self.read_barrier),
            digit(self.write_barrier),
            if self.yields { 'Y' } else { '-' },
            self.stall,
        )
    }
}

/// Counts how often each name occurs; the most frequent comes first.
fn counted<'a>(names: impl Iterator<Item = &'a str>) -> Vec<(String, usize)> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    names.for_each(|name| *counts.entry(name).or_default() += 1);
    let mut list: Vec<(String, usize)> =
        counts.into_iter().map(|(name, count)| (name.to_owned(), count)).collect();
    list.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    list
}
