//! The report of a PTX file.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde::Serialize;

use warpbound_core::program::{Param, ParamType, names};
use warpbound_front::ptx::{self, Inspection};

/// The contents of a PTX file.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PtxFile {
    /// The directive `.version`.
    pub ptx_version: String,
    /// The directive `.target`.
    pub target: String,
    /// The directive `.address_size`.
    pub address_bits: u8,
    /// The kernels.
    pub entries: Vec<Entry>,
    /// The other functions with a body.
    pub functions: Vec<Function>,
    /// The constructs that are not supported, by line.
    pub unsupported: Vec<Unsupported>,
    /// The number of further unsupported constructs that are not listed.
    pub unsupported_left_out: usize,
}

/// A kernel.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Entry {
    /// The name of the kernel.
    #[serde(rename = "kernel")]
    pub name: String,
    /// The demangled name, if the name is mangled C++.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub demangled: Option<String>,
    /// Its first line.
    pub line: u32,
    /// Whether it can be simulated.
    pub supported: bool,
    /// Its parameters.
    pub params: Vec<Parameter>,
    /// The most threads per block, if the file limits them.
    pub max_threads: Option<u32>,
    /// The number of predicate registers, including those of functions.
    pub predicate_registers: usize,
    /// The number of other registers by width in bits, including the registers of functions. PTX
    /// registers are virtual.
    pub registers_by_width: BTreeMap<u8, usize>,
    /// Static shared memory, in bytes.
    pub shared_bytes: u64,
    /// Whether it also uses dynamic shared memory, whose size the launch sets.
    pub dynamic_shared: bool,
    /// Local memory per thread, in bytes.
    pub local_bytes: u64,
    /// Constant memory of the module, in bytes.
    pub const_bytes: u64,
    /// Variables of the module in global memory, in bytes.
    pub global_bytes: u64,
    /// The number of instructions, including those of functions.
    pub instructions: usize,
    /// Instructions by op class, the most frequent first.
    pub op_classes: Vec<ClassCount>,
    /// The loops of the kernel and its functions, by line.
    pub loops: Vec<Loop>,
    /// The functions that it can call, directly or not.
    pub calls: Vec<String>,
    /// Remarks that concern a run.
    pub notes: Vec<String>,
}

/// A parameter.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Parameter {
    /// The name of the parameter.
    pub name: String,
    /// Its type.
    #[serde(rename = "type")]
    pub ty: String,
    /// Its offset.
    pub offset_bytes: u32,
    /// Its size.
    pub size_bytes: u32,
}

/// The number of instructions of an op class.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ClassCount {
    /// The op class.
    pub class: String,
    /// The number of instructions.
    pub instructions: usize,
}

/// A loop.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Loop {
    /// The function that contains it.
    pub function: String,
    /// Its first line.
    pub line: u32,
    /// Its last line.
    pub end_line: u32,
    /// The nesting depth: 1 for an outermost loop.
    pub depth: usize,
}

/// A function that is not a kernel.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Function {
    /// The name of the function.
    pub name: String,
    /// Its first line.
    pub line: u32,
    /// The number of its instructions.
    pub instructions: usize,
}

/// A construct that is not supported.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Unsupported {
    /// The opcode or other construct.
    pub construct: String,
    /// The line of its first occurrence.
    pub line: u32,
    /// The number of its occurrences in kernels and in functions that kernels can call.
    pub count: usize,
    /// Why it is not supported.
    pub message: String,
    /// How to avoid it.
    pub hint: String,
}

fn param_type(param: &Param) -> String {
    match param.ty {
        ParamType::Int => format!("b{}", param.size * 8),
        ParamType::Float => format!("f{}", param.size * 8),
        ParamType::Bytes => format!("{} bytes", param.size),
    }
}

impl Entry {
    fn new(entry: &ptx::EntrySummary) -> Self {
        let param = |param: &Param| Parameter {
            name: param.name.clone(),
            ty: param_type(param),
            offset_bytes: param.offset,
            size_bytes: param.size,
        };
        let class =
            |class: &ptx::ClassCount| ClassCount { class: class.class.clone(), instructions: class.count };
        let of_loop = |of: &ptx::Loop| Loop {
            function: of.function.clone(),
            line: of.line,
            end_line: of.end_line,
            depth: of.depth,
        };
        Self {
            name: entry.name.clone(),
            demangled: names::demangled(&entry.name),
            line: entry.line,
            supported: entry.supported,
            params: entry.params.iter().map(param).collect(),
            max_threads: entry.max_threads,
            predicate_registers: entry.predicates,
            registers_by_width: entry.registers.clone(),
            shared_bytes: entry.shared_bytes,
            dynamic_shared: entry.dynamic_shared,
            local_bytes: entry.local_bytes,
            const_bytes: entry.const_bytes,
            global_bytes: entry.global_bytes,
            instructions: entry.instructions,
            op_classes: entry.classes.iter().map(class).collect(),
            loops: entry.loops.iter().map(of_loop).collect(),
            calls: entry.calls.clone(),
            notes: entry.notes.clone(),
        }
    }

    fn text(&self) -> String {
        let or =
            |list: Vec<String>, none: &str| if list.is_empty() { none.to_owned() } else { list.join(", ") };
        let mut text =
            format!("\nkernel {} (line {}): {} instructions\n", self.name, self.line, self.instructions);
        if let Some(name) = &self.demangled {
            let _ = writeln!(text, "  C++ name    {name}");
        }
        let params = self.params.iter().map(|p| format!("{}: {}", p.name, p.ty)).collect();
        let _ = writeln!(text, "  parameters  {}", or(params, "none"));
        let widths = self.registers_by_width.iter().map(|(bits, count)| format!("{count} x {bits} bit"));
        let _ = writeln!(
            text,
            "  registers   {} predicates, {} (virtual)",
            self.predicate_registers,
            or(widths.collect(), "no others")
        );
        let dynamic = if self.dynamic_shared { " and dynamic" } else { "" };
        let _ = writeln!(
            text,
            "  memory      shared {}{dynamic}, local {}, const {}, global {} bytes",
            self.shared_bytes, self.local_bytes, self.const_bytes, self.global_bytes
        );
        if let Some(threads) = self.max_threads {
            let _ = writeln!(text, "  threads     at most {threads} per block");
        }
        let classes = self.op_classes.iter().map(|c| format!("{} {}", c.instructions, c.class)).collect();
        let _ = writeln!(text, "  op classes  {}", or(classes, ""));
        for one in &self.loops {
            let inside =
                if one.function == self.name { String::new() } else { format!(" in {}", one.function) };
            let _ = writeln!(
                text,
                "  loop        lines {} to {}, depth {}{inside}",
                one.line, one.end_line, one.depth
            );
        }
        if !self.calls.is_empty() {
            let _ = writeln!(text, "  calls       {}", self.calls.join(", "));
        }
        for note in &self.notes {
            let _ = writeln!(text, "  note        {note}");
        }
        if !self.supported {
            text.push_str("  cannot be simulated, see below\n");
        }
        text
    }
}

impl PtxFile {
    /// Returns the report of an inspected file.
    pub fn new(found: &Inspection) -> Self {
        let function = |f: &ptx::FunctionSummary| Function {
            name: f.name.clone(),
            line: f.line,
            instructions: f.instructions,
        };
        let unsupported = |u: &ptx::Unsupported| Unsupported {
            construct: u.construct.clone(),
            line: u.line,
            count: u.count,
            message: u.message.clone(),
            hint: u.hint.clone(),
        };
        Self {
            ptx_version: found.version.clone(),
            target: found.target.clone(),
            address_bits: found.address_bits,
            entries: found.entries.iter().map(Entry::new).collect(),
            functions: found.functions.iter().map(function).collect(),
            unsupported: found.unsupported.iter().map(unsupported).collect(),
            unsupported_left_out: found.unsupported_left_out,
        }
    }

    pub(super) fn text(&self, file: &str) -> String {
        let mut text = format!(
            "{file}: PTX {}, {}, {}-bit addresses\n",
            self.ptx_version, self.target, self.address_bits
        );
        self.entries.iter().for_each(|entry| text.push_str(&entry.text()));
        if self.entries.is_empty() {
            text.push_str("\nno kernel (.entry) in this file\n");
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
                "  {file}:{}: {} ({} times): {}; {}",
                one.line, one.construct, one.count, one.message, one.hint
            );
        }
        text
    }
}
