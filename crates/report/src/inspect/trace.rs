//! The report of traces of other tools.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde::Serialize;

use crate::count;
use crate::style::Style;
use crate::table::Table;
use warpbound_core::program::names;
use warpbound_front::accelsim::TracedKernel;

/// The contents of a trace of one kernel.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct TraceFile {
    /// The trace file.
    pub trace: String,
    /// The name of the kernel.
    #[serde(rename = "kernel")]
    pub name: String,
    /// The demangled name, if the name is mangled C++.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub demangled: Option<String>,
    /// The number of blocks along x, y and z.
    pub grid: [u32; 3],
    /// The number of threads per block along x, y and z.
    pub block: [u32; 3],
    /// Shared memory per block.
    pub shared_bytes: u32,
    /// Registers per thread, if the trace states them.
    pub registers: Option<u32>,
    /// The architecture, such as `sm_86`.
    pub target: Option<String>,
    /// The table of opcodes with which it is read.
    pub opcode_table: String,
    /// The version of the tracer; 0 if the trace does not state it.
    pub tracer_version: u32,
    /// The number of warps of all blocks.
    pub warps: u64,
    /// The number of instructions that were executed at least once.
    pub instructions: usize,
    /// Every executed instruction, counted once per warp that executed it.
    pub warp_instructions: u64,
    /// The active lanes, summed over all executed instructions.
    pub thread_instructions: u64,
    /// Instructions by op class, the most executed first.
    pub op_classes: Vec<ClassUse>,
    /// Executions by opcode without modifiers, the most frequent first.
    pub opcodes: Vec<OpcodeUse>,
    /// Unknown opcodes, with modifiers.
    pub unknown: Vec<OpcodeUse>,
    /// Remarks that concern a run.
    pub notes: Vec<String>,
}

/// The instructions of an op class.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ClassUse {
    /// The op class; `*` stands for the space of a generic access.
    pub class: String,
    /// The number of instructions.
    pub instructions: usize,
    /// Their executions, counted once per warp.
    pub warp_instructions: u64,
}

/// The executions of an opcode.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct OpcodeUse {
    /// The opcode.
    pub opcode: String,
    /// Its executions, counted once per warp.
    pub warp_instructions: u64,
}

/// A list of traces.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct TraceList {
    /// The kernels, in order.
    pub kernels: Vec<TraceFile>,
    /// The number of copies from the host to the GPU.
    pub copies: usize,
    /// The number of bytes copied.
    pub copied_bytes: u64,
    /// Every executed instruction of all kernels, counted once per warp that executed it.
    pub warp_instructions: u64,
}

impl TraceFile {
    /// Returns the report of a trace that has been read.
    pub fn new(kernel: &TracedKernel) -> Self {
        let (program, summary) = (&kernel.program, &kernel.summary);
        let mut classes: BTreeMap<String, (usize, u64)> = BTreeMap::new();
        let mut opcodes: BTreeMap<&str, u64> = BTreeMap::new();
        for (index, (instr, count)) in program.instrs.iter().zip(&summary.executions).enumerate() {
            if *count == 0 {
                continue;
            }
            let class = program.classes.name(instr.class);
            let class = match (&instr.class_by_space, class.split_once('.')) {
                (Some(_), Some((root, _))) => format!("{root}.*"),
                _ => class.to_owned(),
            };
            let row = classes.entry(class).or_default();
            (row.0, row.1) = (row.0 + 1, row.1 + count);
            let root = kernel.opcode(index).split('.').next().unwrap_or_default();
            *opcodes.entry(root).or_default() += count;
        }
        let mut op_classes: Vec<ClassUse> = classes
            .into_iter()
            .map(|(class, (instructions, warp_instructions))| ClassUse {
                class,
                instructions,
                warp_instructions,
            })
            .collect();
        op_classes.sort_by_key(|row| std::cmp::Reverse(row.warp_instructions));
        let header = &kernel.header;
        Self {
            trace: kernel.file_name().to_owned(),
            name: program.name.clone(),
            demangled: names::demangled(&program.name),
            grid: header.grid,
            block: header.block,
            shared_bytes: header.shared_bytes,
            registers: (header.registers > 0).then_some(header.registers),
            target: header.binary_version.map(|version| format!("sm_{version}")),
            opcode_table: summary.opcodes.clone(),
            tracer_version: header.tracer,
            warps: summary.warps,
            instructions: summary.executions.iter().filter(|&&count| count > 0).count(),
            warp_instructions: summary.warp_instructions,
            thread_instructions: summary.thread_instructions,
            op_classes,
            opcodes: sorted(opcodes.into_iter()),
            unknown: sorted(summary.unknown.iter().map(|(opcode, count)| (opcode.as_str(), *count))),
            notes: program.notes.clone(),
        }
    }

    /// Returns the report as text for people.
    pub fn text(&self, style: Style) -> String {
        let shape = |[x, y, z]: [u32; 3]| format!("({x}, {y}, {z})");
        let target = self.target.as_deref().unwrap_or("an unknown GPU");
        let mut text = format!("{}: trace of {} on {target}\n", self.trace, names::shown(&self.name));
        let registers = self.registers.map_or("not stated".to_owned(), |count| count.to_string());
        let _ = writeln!(
            text,
            "  grid {}, block {}, shared memory {} bytes, registers {registers}, tracer version {}",
            shape(self.grid),
            shape(self.block),
            self.shared_bytes,
            self.tracer_version
        );
        let _ = writeln!(
            text,
            "  {} warps, {} instructions, {} warp instructions, {} thread instructions\n",
            self.warps, self.instructions, self.warp_instructions, self.thread_instructions
        );
        let mut table = Table::new(["op class", "instructions", "warp insts"], &[0]);
        for row in &self.op_classes {
            table.row([row.class.clone(), row.instructions.to_string(), row.warp_instructions.to_string()]);
        }
        text.push_str(&table.render(2, style.width));
        let list = |rows: &[OpcodeUse]| {
            rows.iter()
                .map(|row| format!("{} {}", row.opcode, row.warp_instructions))
                .collect::<Vec<_>>()
                .join(", ")
        };
        let _ = writeln!(text, "\n  opcodes: {}", list(&self.opcodes));
        if !self.unknown.is_empty() {
            let _ = writeln!(text, "\n  not known: {}", list(&self.unknown));
        }
        for note in &self.notes {
            let _ = writeln!(text, "\n  note: {note}");
        }
        text
    }
}

fn sorted<'a>(counts: impl Iterator<Item = (&'a str, u64)>) -> Vec<OpcodeUse> {
    let row =
        |(opcode, warp_instructions): (&str, u64)| OpcodeUse { opcode: opcode.to_owned(), warp_instructions };
    let mut rows: Vec<OpcodeUse> = counts.map(row).collect();
    rows.sort_by_key(|row| std::cmp::Reverse(row.warp_instructions));
    rows
}

impl TraceList {
    /// Returns the report as text for people.
    pub fn text(&self, file: &str, style: Style) -> String {
        let mut text = format!(
            "{file}: {}, {} warp instructions; {} copies of {} bytes to the GPU\n\n",
            count(self.kernels.len(), "kernel"),
            self.warp_instructions,
            self.copies,
            self.copied_bytes
        );
        for kernel in &self.kernels {
            text.push_str(&kernel.text(style));
            text.push('\n');
        }
        text
    }
}
