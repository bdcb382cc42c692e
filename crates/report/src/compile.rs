//! The report of a compilation of CUDA C++ to PTX.

use std::fmt::Write;

use serde::Serialize;

use super::count;
use super::inspect::ptx::{PtxFile, Unsupported};
use super::output::{Output, Report};
use super::style::Style;

/// A source that was compiled.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CompileResult {
    /// The source.
    pub source: String,
    /// The file with the PTX.
    pub out: String,
    /// The architecture.
    pub arch: String,
    /// The compiler.
    pub compiler: UsedCompiler,
    /// The kernels in the PTX.
    pub kernels: Vec<CompiledKernel>,
    /// The constructs that warpbound does not support, by line of the PTX.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unsupported: Vec<Unsupported>,
    /// The warnings of the compiler.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// The commands that make a launch file and run it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub next: Vec<String>,
}

/// The compiler that was used.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct UsedCompiler {
    /// Its kind: `clang`, `nvcc` or `NVRTC`.
    pub kind: &'static str,
    /// Its version.
    pub version: String,
    /// The path of the program; for NVRTC that of the Python interpreter.
    pub program: String,
    /// Its options; `headers` stands for the folder that `warpbound headers` writes.
    pub options: Vec<String>,
}

/// A kernel in the PTX.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CompiledKernel {
    /// The name of the kernel.
    #[serde(rename = "kernel")]
    pub name: String,
    /// The demangled name, if the name is mangled C++.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub demangled: Option<String>,
    /// Whether it can be simulated.
    pub supported: bool,
}

impl CompileResult {
    /// Returns the report of a source, with the contents of the PTX, without warnings and commands
    /// that come next.
    pub fn new(
        source: String,
        out: String,
        arch: String,
        compiler: UsedCompiler,
        found: Option<PtxFile>,
    ) -> Self {
        let (entries, unsupported) =
            found.map(|found| (found.entries, found.unsupported)).unwrap_or_default();
        let kernels = entries.into_iter().map(|entry| CompiledKernel {
            name: entry.name,
            demangled: entry.demangled,
            supported: entry.supported,
        });
        let kernels = kernels.collect();
        Self { source, out, arch, compiler, kernels, unsupported, warnings: Vec::new(), next: Vec::new() }
    }

    fn text(&self, style: Style) -> String {
        let Self { source, out, arch, compiler, kernels, .. } = self;
        let UsedCompiler { kind, version, program, options } = compiler;
        let mut text = format!("compiled {source} for {arch} with {kind} {version} ({program})\n");
        text.push_str(&style.fill(&format!("  options  {}\n", options.join(" "))));
        let _ = writeln!(text, "wrote {out}: {}", count(kernels.len(), "kernel"));
        for kernel in kernels {
            let name = kernel.demangled.as_deref().unwrap_or(&kernel.name);
            let note = if kernel.supported { "" } else { "  (cannot be simulated)" };
            let _ = writeln!(text, "  {name}{note}");
        }
        for one in &self.unsupported {
            let line = format!("  line {}: {}: {}\n", one.line, one.construct, one.message);
            text.push_str(&style.fill(&line));
        }
        if !self.next.is_empty() {
            text.push_str("to write a launch file with guessed arguments, and to run it:\n");
            for line in &self.next {
                let _ = writeln!(text, "  {line}");
            }
        }
        text
    }
}

impl Report for Output<CompileResult> {
    fn text(&self, style: Style) -> String {
        self.results.iter().map(|result| result.text(style)).collect()
    }
}
