//! The report of the contents of a file; nothing is simulated.

pub mod cubin;
pub mod machine;
pub mod ptx;
pub mod trace;

use std::fmt::Write;

use serde::Serialize;
use serde_json::Value;

use super::output::{Output, Report};
use super::style::Style;
use super::table::Table;
use cubin::CubinFile;
use machine::MachineFile;
use ptx::{ClassCount, PtxFile};
use trace::{TraceFile, TraceList};
use warpbound_core::program::names;

/// A file.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct InspectResult {
    /// The path of the file.
    pub file: String,
    /// Its contents.
    #[serde(flatten)]
    pub contents: Contents,
}

/// The contents of a file, by kind.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Contents {
    /// PTX.
    Ptx(PtxFile),
    /// Machine code.
    Cubin(CubinFile),
    /// A launch.
    Launch(LaunchFile),
    /// A program.
    Program(ProgramFile),
    /// A micro kernel.
    Micro(MicroFile),
    /// A machine.
    Machine(MachineFile),
    /// A trace of another tool.
    Trace(TraceFile),
    /// A list of such traces.
    TraceList(TraceList),
}

/// A launch, and the module of its kernel.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LaunchFile {
    /// The contents of the file.
    pub launch: Value,
    /// The module.
    #[serde(flatten)]
    pub module: PtxFile,
    /// The text before that of the module.
    #[serde(skip)]
    pub heading: String,
    /// The file of the module.
    #[serde(skip)]
    pub module_file: String,
}

/// A program.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ProgramFile {
    /// The number of launches that it makes.
    pub launches: u64,
    /// Its buffers.
    pub buffers: Vec<Buffer>,
    /// Its `Launch` steps.
    pub steps: Vec<Step>,
    /// The contents of the file.
    pub program: Value,
}

/// A buffer in device memory.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Buffer {
    /// The name of the buffer.
    pub name: String,
    /// Its size.
    pub bytes: usize,
}

/// A step that launches a kernel.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Step {
    /// The line of the step.
    pub line: u32,
    /// The number of launches that it makes.
    pub launches: u64,
    /// The name of the kernel.
    pub entry: String,
    /// The module of the kernel.
    pub module: String,
}

/// A micro kernel.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct MicroFile {
    /// The number of blocks.
    pub blocks: usize,
    /// The number of warps per block.
    pub warps: usize,
    /// The number of instructions of each warp.
    pub warp_instructions: Vec<usize>,
    /// The machine that the file names.
    pub machine: Option<String>,
    /// The policy that the file names.
    pub policy: Option<String>,
    /// Instructions by op class, in the order of their first occurrence.
    pub op_classes: Vec<ClassCount>,
}

impl InspectResult {
    fn text(&self, style: Style) -> String {
        let text = match &self.contents {
            Contents::Ptx(ptx) => ptx.text(&self.file),
            // lines of code are not wrapped
            Contents::Cubin(cubin) if cubin.kernels.iter().any(|kernel| kernel.disassembly.is_some()) => {
                return cubin.text(&self.file);
            }
            Contents::Cubin(cubin) => cubin.text(&self.file),
            Contents::Launch(launch) => {
                format!("{}\n{}", launch.heading, launch.module.text(&launch.module_file))
            }
            Contents::Program(program) => program.text(&self.file, style),
            Contents::Micro(micro) => micro.text(&self.file, style),
            Contents::Machine(machine) => machine.text(&self.file, style),
            Contents::Trace(trace) => trace.text(style),
            Contents::TraceList(list) => list.text(&self.file, style),
        };
        style.fill(&text)
    }
}

impl ProgramFile {
    fn text(&self, file: &str, style: Style) -> String {
        let mut text = format!("{file}: program of {} launches\n", self.launches);
        if let Some(doc) = self.program.get("doc").and_then(Value::as_str).filter(|doc| !doc.is_empty()) {
            let _ = writeln!(text, "  {doc}");
        }
        let mut buffers = Table::new(["buffer", "bytes"], &[0]);
        for buffer in &self.buffers {
            buffers.row([buffer.name.clone(), buffer.bytes.to_string()]);
        }
        let mut steps = Table::new(["line", "launches", "kernel", "module"], &[2, 3]);
        for step in &self.steps {
            let numbers = [step.line.to_string(), step.launches.to_string()];
            steps.row(numbers.into_iter().chain([names::shown(&step.entry), step.module.clone()]));
        }
        let _ = write!(text, "\n{}\n{}", buffers.render(2, style.width), steps.render(2, style.width));
        text
    }
}

impl MicroFile {
    fn text(&self, file: &str, style: Style) -> String {
        let not_set = |name: &Option<String>| name.clone().unwrap_or_else(|| "not set".to_owned());
        let mut text = format!(
            "{file}: micro kernel, {}{} warps, machine {}, policy {}\n\n",
            if self.blocks > 1 { format!("{} blocks of ", self.blocks) } else { String::new() },
            self.warps,
            not_set(&self.machine),
            not_set(&self.policy)
        );
        let mut table = Table::new(["op", "instructions"], &[0]);
        for class in &self.op_classes {
            table.row([class.class.clone(), class.instructions.to_string()]);
        }
        text.push_str(&table.render(2, style.width));
        text
    }
}

impl Report for Output<InspectResult> {
    fn text(&self, style: Style) -> String {
        self.results.iter().map(|result| result.text(style)).collect()
    }
}
