//! Compilation of CUDA C++ to PTX with a compiler of the caller: clang, nvcc, or NVRTC in its Python
//! package.
//!
//! [`compile`] looks for a compiler in the [`Places`] of the caller, runs it, and returns PTX that
//! states the source line of each instruction. clang and NVRTC need no CUDA toolkit: they get the
//! [`headers`] of this library. Messages of a compiler become [`Diagnostics`] with their places.
//!
//! The PTX does not depend on the folders of the caller: the paths in it are relative to the working
//! directory, or to the folder of the headers.

mod arch;
mod assembler;
mod clang;
mod find;
mod messages;
mod nvcc;
mod nvrtc;
mod process;
mod tidy;

use std::path::{Path, PathBuf};

use crate::load::{EmbeddedFolder, Location};
use warpbound_core::base::ProgressMonitor;
use warpbound_core::diag::{Diagnostic, Diagnostics, SourceText};

pub use arch::Arch;
pub use assembler::Assembler;
pub use find::Places;

/// The largest source that is read, in bytes.
const SOURCE_BYTES: u64 = 64 << 20;

/// The folder of the headers in messages and in stated options: `warpbound headers headers` writes
/// it.
const SHOWN_HEADERS: &str = "headers";

/// A kind of compiler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// clang with the target NVPTX.
    Clang,
    /// The compiler of the CUDA toolkit.
    Nvcc,
    /// NVIDIA's library for compilation at run time, in a Python package.
    Nvrtc,
}

impl Kind {
    /// The kinds, in the order in which they are looked for.
    pub const ALL: [Self; 3] = [Self::Clang, Self::Nvcc, Self::Nvrtc];

    /// Returns its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Clang => "clang",
            Self::Nvcc => "nvcc",
            Self::Nvrtc => "NVRTC",
        }
    }
}

/// The compilers among which one is chosen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Choice {
    /// The first one that is found and knows the architecture.
    #[default]
    Auto,
    /// One of this kind.
    Kind(Kind),
    /// This program, by its path or its name; for NVRTC it is a Python interpreter.
    Program(PathBuf),
}

/// A compiler that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compiler {
    /// Its kind.
    pub kind: Kind,
    /// The program that is run: the compiler, or the Python interpreter that loads NVRTC.
    pub program: PathBuf,
    /// Its version.
    pub version: String,
    /// The architectures that it knows, by number; empty if it does not list them.
    known: Vec<u32>,
}

impl Compiler {
    /// Returns its name and version.
    pub fn named(&self) -> String {
        format!("{} {}", self.kind.name(), self.version)
    }
}

/// What is compiled, and how.
#[derive(Clone, Debug)]
pub struct Request {
    /// The source.
    pub source: Location,
    /// The architecture.
    pub arch: Arch,
    /// Macros, each as `NAME` or `NAME=VALUE`.
    pub defines: Vec<String>,
    /// Folders in which included files are looked for.
    pub folders: Vec<PathBuf>,
    /// Further options, which the compiler gets unchanged.
    pub more: Vec<String>,
    /// Whether the PTX states source lines.
    pub lines: bool,
}

impl Request {
    /// Returns the macros and the folders as the options `-D` and `-I`.
    fn for_preprocessor(&self) -> impl Iterator<Item = String> + '_ {
        let defines = self.defines.iter().map(|define| format!("-D{define}"));
        defines.chain(self.folders.iter().map(|folder| format!("-I{}", folder.display())))
    }

    /// Returns the path of the source in a form that no compiler mistakes for an option.
    fn file(&self) -> PathBuf {
        match self.source.path() {
            Some(path) if path.to_string_lossy().starts_with('-') => Path::new(".").join(path),
            Some(path) => path.to_owned(),
            None => PathBuf::from(self.source.shown()),
        }
    }
}

/// The folders of a compilation.
#[derive(Clone, Copy, Debug)]
pub struct Folders<'a> {
    /// The working directory, in each form in which a compiler may state it.
    pub here: &'a [PathBuf],
    /// A folder that contains the [`headers`].
    pub headers: &'a Path,
    /// A folder for files of the compiler.
    pub scratch: &'a Path,
}

/// The result of a compilation.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// The PTX. Its first line states the source, the compiler and the options.
    pub ptx: String,
    /// The compiler.
    pub compiler: Compiler,
    /// Its options, without the files; the folder of the headers is called `headers`.
    pub options: Vec<String>,
    /// The warnings of the compiler.
    pub warnings: Vec<String>,
}

/// Why a compiler gives no PTX.
enum Failure {
    /// It does not know the architecture, so that another one may be tried.
    Arch(Diagnostic),
    /// The source is wrong, or the compiler cannot be run.
    Other(Diagnostics),
}

impl<T: Into<Diagnostics>> From<T> for Failure {
    fn from(problems: T) -> Self {
        Self::Other(problems.into())
    }
}

/// What a compiler printed and made.
struct Output {
    /// The PTX, or `None` if there is none.
    ptx: Option<String>,
    /// Its messages.
    log: String,
    /// The options that it was run with.
    options: Vec<String>,
}

/// Returns the headers with the part of CUDA that the compilers need, each with its path in their
/// folder.
pub fn headers() -> Vec<(&'static str, &'static [u8])> {
    EmbeddedFolder::Kernels.below("include/")
}

/// Compiles a file to PTX. `monitor` can stop the compiler.
///
/// # Errors
/// Returns an error if there is no compiler, if the source is wrong, or if it was stopped.
pub fn compile(
    request: &Request,
    choice: &Choice,
    places: &Places,
    folders: Folders,
    monitor: &ProgressMonitor,
) -> Result<Compiled, Diagnostics> {
    let source = request.source.text_in_any_encoding(SOURCE_BYTES)?;
    let mut unknown = Diagnostics::new();
    let mut missing = Vec::new();
    let kinds: &[Kind] = match choice {
        Choice::Auto => &Kind::ALL,
        Choice::Kind(kind) => std::slice::from_ref(kind),
        Choice::Program(program) => {
            let compiler = find::named(program, places, monitor)?;
            return one(request, &source, compiler, folders, monitor).map_err(Failure::into_problems);
        }
    };
    for kind in kinds {
        let compiler = match find::find(*kind, places, monitor) {
            Ok(compiler) => compiler,
            Err(why) => {
                missing.push(why);
                continue;
            }
        };
        match one(request, &source, compiler, folders, monitor) {
            Err(Failure::Arch(problem)) => unknown.push(problem),
            Err(Failure::Other(problems)) => return Err(problems),
            Ok(compiled) => return Ok(compiled),
        }
    }
    if monitor.is_stopped() {
        return Err(process::stopped(&request.source.shown()).into());
    }
    unknown.into_result(())?;
    Err(find::none(&missing).into())
}

impl Failure {
    fn into_problems(self) -> Diagnostics {
        match self {
            Self::Arch(problem) => problem.into(),
            Self::Other(problems) => problems,
        }
    }
}

/// Compiles with one compiler.
fn one(
    request: &Request,
    source: &SourceText,
    compiler: Compiler,
    folders: Folders,
    monitor: &ProgressMonitor,
) -> Result<Compiled, Failure> {
    if !compiler.known.is_empty() && !compiler.known.contains(&request.arch.number()) {
        return Err(Failure::Arch(unknown_arch(request, &compiler)));
    }
    let output = match compiler.kind {
        Kind::Clang => clang::compile(request, &compiler, folders, monitor)?,
        Kind::Nvcc => nvcc::compile(request, &compiler, folders, monitor)?,
        Kind::Nvrtc => nvrtc::compile(request, source, &compiler, monitor)?,
    };
    let read = messages::read(&output.log, source);
    let Some(ptx) = output.ptx else {
        if messages::is_unknown_arch(&output.log) {
            return Err(Failure::Arch(unknown_arch(request, &compiler)));
        }
        let hint = advice(&output.log, compiler.kind);
        let general = || {
            let log = warpbound_core::diag::shortened(output.log.trim());
            Diagnostic::general(source.name(), format!("{} failed: {log}", compiler.named()))
        };
        let problems = if read.errors.is_empty() { Diagnostics::from(general()) } else { read.errors };
        let add = |problem: Diagnostic| match (&problem.hint, hint) {
            (own, Some(hint)) if own.is_empty() => problem.hint(hint),
            _ => problem,
        };
        return Err(Failure::Other(problems.map(add)));
    };
    let options: Vec<String> = output.options.iter().map(|option| shown(option, folders.headers)).collect();
    let head = format!("{}, compiled by {}: {}", source.name(), compiler.named(), options.join(" "));
    let ptx = tidy::tidy(&ptx, &head, folders);
    Ok(Compiled { ptx, compiler, options, warnings: read.warnings })
}

/// Returns an option without the path of the temporary folder of the headers.
fn shown(option: &str, headers: &Path) -> String {
    option.replace(&*headers.to_string_lossy(), SHOWN_HEADERS)
}

fn unknown_arch(request: &Request, compiler: &Compiler) -> Diagnostic {
    let place = format!("--arch {}", request.arch);
    let message = format!("{} does not know this architecture", compiler.named());
    let known: Vec<String> = compiler.known.iter().map(|number| format!("sm_{number}")).collect();
    let hint = match known.as_slice() {
        [] => "PTX for an older architecture, such as sm_80, runs in warpbound as well".to_owned(),
        known => format!("it knows {}", known.join(", ")),
    };
    Diagnostic::general(place, message).hint(hint)
}

/// Returns what to do about some messages.
fn advice(log: &str, kind: Kind) -> Option<&'static str> {
    if kind == Kind::Nvrtc && log.contains("considered a host function") {
        return Some(
            "NVRTC compiles no host code: put it between `#ifndef __CUDACC_RTC__` and `#endif`, or install clang, which skips it",
        );
    }
    let missing = ["file not found", "cannot open source file", "No such file or directory"];
    missing.iter().any(|words| log.contains(words)).then_some("-I DIR names a folder of included files")
}
