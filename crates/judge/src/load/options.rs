//! The options that describe a launch, or change what a file says about it.

use std::fmt;
use std::sync::Arc;

use warpbound_core::diag::{Diagnostic, SourceText};

/// The options of a launch: bare code needs a shape and arguments; for a launch file, a program or
/// a list of traces, the options replace parts of it.
#[derive(Clone, Debug, Default)]
pub struct LaunchOptions {
    /// The kernel: its name or a part of it, mangled or not. It may be left out if the file has a
    /// single kernel.
    pub entry: Option<String>,
    /// The number of blocks along x, y and z.
    pub grid: Option<[u32; 3]>,
    /// The threads per block along x, y and z.
    pub block: Option<[u32; 3]>,
    /// Arguments, as in a launch file, or numbers. `WHICH=ARG` replaces one argument: `WHICH` is
    /// its position from 0, or the name of its buffer or parameter. Arguments without `WHICH` are
    /// the whole list, in order.
    pub args: Vec<String>,
    /// The dynamic shared memory of a block, in bytes.
    pub dynamic_shared: Option<u32>,
    /// The registers of a thread, if they are to limit occupancy.
    pub registers: Option<u32>,
    /// The compiler whose code is used: `MODULE.NAME.ptx` instead of `MODULE.ptx`, or the machine
    /// code `MODULE.NAME.cubin` if this is an architecture.
    pub compiler: Option<String>,
    /// What makes machine code from the PTX of modules, if that is to be executed.
    pub assemble: Option<Assemble>,
    /// The number, from 0, of the launch of a program or the kernel of a list of traces that is
    /// loaded alone.
    pub launch: Option<u64>,
    /// New values of the numbers that the `let` of a program defines, as `NAME=VALUE`.
    pub constants: Vec<String>,
    /// Whether an instruction of a trace that may read a predicate depends on the last instruction
    /// that set one.
    pub conservative_predicates: bool,
    /// The op class of opcodes in traces that are not known; `None` for the default.
    pub unknown_op: Option<String>,
    /// The seed of random buffer contents.
    pub seed: u64,
    /// The names of these options in messages.
    pub names: OptionNames,
}

/// The function that makes machine code from PTX.
type Assembling = dyn Fn(&SourceText) -> Result<Vec<u8>, Diagnostic> + Send + Sync;

/// A way to make machine code from PTX.
#[derive(Clone)]
pub struct Assemble(Arc<Assembling>);

impl Assemble {
    /// Returns the way that calls this function.
    pub fn by(function: impl Fn(&SourceText) -> Result<Vec<u8>, Diagnostic> + Send + Sync + 'static) -> Self {
        Self(Arc::new(function))
    }

    /// Returns the machine code of PTX.
    pub(super) fn machine_code(&self, ptx: &SourceText) -> Result<Vec<u8>, Diagnostic> {
        (self.0)(ptx)
    }
}

impl fmt::Debug for Assemble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Assemble")
    }
}

/// The names of launch options in messages.
#[derive(Clone, Copy, Debug)]
pub struct OptionNames {
    /// The text before the name of an option, such as `--` on a command line.
    pub prefix: &'static str,
    /// The place that messages about the text of arguments give, as others give the name of a file.
    pub together: &'static str,
}

impl Default for OptionNames {
    fn default() -> Self {
        Self { prefix: "", together: "launch options" }
    }
}

impl OptionNames {
    /// Returns the name of an option in messages; `option` is its name in plans, such as `grid`.
    pub(super) fn of(self, option: &str) -> String {
        format!("{}{option}", self.prefix)
    }
}

impl LaunchOptions {
    /// Returns the name of an option in messages; `option` is its name in plans, such as `grid`.
    pub(super) fn name(&self, option: &str) -> String {
        self.names.of(option)
    }

    /// Returns the names of options that describe a launch, as the start of a list.
    pub(super) fn some_names(&self) -> String {
        ["entry", "grid", "block", "arg"].map(|option| self.name(option)).join(", ")
    }

    /// Returns whether any option was given that changes what is loaded from code or a launch file.
    pub(super) fn is_given(&self) -> bool {
        self.describes_a_launch()
            || self.launch.is_some()
            || !self.constants.is_empty()
            || self.compiler.is_some()
    }

    /// Returns whether an option was given that replaces an entry of a launch file.
    pub(super) fn describes_a_launch(&self) -> bool {
        self.entry.is_some()
            || self.grid.is_some()
            || self.block.is_some()
            || !self.args.is_empty()
            || self.dynamic_shared.is_some()
            || self.registers.is_some()
    }

    /// Returns the file to load for a module that a launch or program names: that of the chosen
    /// compiler.
    pub(super) fn module(&self, file: &str) -> String {
        match &self.compiler {
            // an architecture stands for machine code
            Some(name) => {
                let ending = if name.starts_with("sm_") { "cubin" } else { "ptx" };
                format!("{}.{name}.{ending}", file.strip_suffix(".ptx").unwrap_or(file))
            }
            None => file.to_owned(),
        }
    }

    /// Returns the name of a launch or program in reports.
    pub(super) fn name_of(&self, stem: &str) -> String {
        self.compiler.as_ref().map_or_else(|| stem.to_owned(), |compiler| format!("{stem}@{compiler}"))
    }
}
