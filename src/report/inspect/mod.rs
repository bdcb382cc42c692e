//! What is in a file, before anything is run.

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
use crate::program::names;
use cubin::CubinFile;
use machine::MachineFile;
use ptx::{ClassCount, PtxFile};
use trace::{TraceFile, TraceList};

/// A file.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct InspectResult {
    /// Where it is.
    pub file: String,
    /// What is in it.
    #[serde(flatten)]
    pub is: Contents,
}

/// A kind of file.
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
    /// A list of those.
    TraceList(TraceList),
}

/// A launch: what it starts, and the module it starts it from.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LaunchFile {
    /// The file as it is.
    pub launch: Value,
    /// The module.
    #[serde(flatten)]
    pub module: PtxFile,
    /// What text says before the module.
    #[serde(skip)]
    pub heading: String,
    /// The module's file.
    #[serde(skip)]
    pub module_file: String,
}

/// A program.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ProgramFile {
    /// Launches that it makes.
    pub launches: u64,
    /// Its buffers.
    pub buffers: Vec<Buffer>,
    /// Its `Launch` steps.
    pub steps: Vec<Step>,
    /// The file as it is.
    pub program: Value,
}

/// A buffer in device memory.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Buffer {
    /// Its name.
    pub name: String,
    /// How long it is.
    pub bytes: usize,
}

/// A step that launches.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Step {
    /// Its line.
    pub line: u32,
    /// How often.
    pub launches: u64,
    /// The kernel.
    pub entry: String,
    /// The kernel's module.
    pub module: String,
}

/// A micro kernel.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct MicroFile {
    /// Its blocks.
    pub blocks: usize,
    /// Warps of a block.
    pub warps: usize,
    /// Instructions of each warp.
    pub warp_instructions: Vec<usize>,
    /// The machine that it names.
    pub machine: Option<String>,
    /// The policy that it names.
    pub scheduler: Option<String>,
    /// Instructions by op class, in the order in which they first stand there.
    pub op_classes: Vec<ClassCount>,
}

impl InspectResult {
    fn text(&self, style: Style) -> String {
        let text = match &self.is {
            Contents::Ptx(ptx) => ptx.text(&self.file),
            // lines of code are not filled
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
            "{file}: micro kernel, {}{} warps, machine {}, scheduler {}\n\n",
            if self.blocks > 1 { format!("{} blocks of ", self.blocks) } else { String::new() },
            self.warps,
            not_set(&self.machine),
            not_set(&self.scheduler)
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
