//! `warpbound compile`: compiles CUDA C++ to PTX.

use std::env;
use std::path::{Path, PathBuf};

use super::again::shell_line;
use crate::args::Compile;
use crate::files::{Outputs, Part, Scratch, loader};
use crate::format::Format;
use crate::output::{self, Ending, Outcome};
use crate::session::Session;
use warpbound_core::diag::{Diagnostic, Diagnostics, SourceText};
use warpbound_core::program::names;
use warpbound_front::ptx::{Inspection, Module};
use warpbound_judge::compile::{self, Compiled, Folders, Places, Request};
use warpbound_judge::load::{FROM_STDIN, ptx_isa};
use warpbound_report::compile::{CompileResult, UsedCompiler};
use warpbound_report::inspect::ptx::PtxFile;
use warpbound_report::output::Output;

/// The folder of the headers in the temporary folder.
const HEADERS: &str = "include";

/// Runs the command.
pub fn run(args: &Compile, session: &Session) -> Outcome {
    let request = request(args)?;
    let target = Target::new(args, session)?;
    let scratch = Scratch::new(&session.parts)?;
    for (name, contents) in compile::headers() {
        scratch.write(&format!("{HEADERS}/{name}"), contents)?;
    }
    session.progress.begin(request.source.shown(), None, "");
    let here = working_directory();
    let folders = Folders { here: &here, headers: &scratch.path().join(HEADERS), scratch: scratch.path() };
    let compiled = compile::compile(&request, &args.compiler, &places(), folders, &session.monitor)?;
    drop(scratch);
    session.conclude();
    session.progress.end();
    for warning in &compiled.warnings {
        tracing::warn!("{warning}");
    }
    let Target::File(path, part) = target else { return output::text(session, &compiled.ptx) };
    part.complete(format!("--out {}", path.display()), compiled.ptx.as_bytes())?;
    let mut ending = Ending::default();
    let shown = path.display().to_string();
    let result = match inspected(&shown, &compiled) {
        Ok(found) => result(args, shown, &compiled, Some(&found)),
        Err(problems) => {
            // the PTX may be right all the same, so the file stays
            ending.late = problems;
            result(args, shown, &compiled, None)
        }
    };
    ending.report(session, args.format, &Output::new("compile", None, vec![result]));
    Ok(ending)
}

/// Returns what is to be compiled.
fn request(args: &Compile) -> Result<Request, Diagnostics> {
    let shown = args.file.display().to_string();
    let problem = |message: &str| Diagnostic::general(shown.clone(), message);
    if shown == FROM_STDIN {
        let problem = problem("the source cannot be read from stdin, since it may include files beside it");
        return Err(problem.hint("name a file").into());
    }
    let source = loader().file(&args.file);
    match source.extension().as_str() {
        "ptx" => {
            return Err(problem("this is PTX already").hint(format!("warpbound inspect {shown}")).into());
        }
        "cubin" | "fatbin" | "warp" | "ron" | "traceg" | "tracez" | "g" => {
            return Err(problem("this is no source in CUDA C++").hint("name a .cu file").into());
        }
        _ => {}
    }
    Ok(Request {
        source,
        arch: args.arch.clone(),
        defines: args.defines.clone(),
        folders: args.folders.clone(),
        more: args.options.clone(),
        lines: args.lineinfo || !args.no_lineinfo,
    })
}

/// Where the PTX is written to.
enum Target {
    Stdout,
    File(PathBuf, Part),
}

impl Target {
    /// Checks and creates the output before the compiler starts.
    fn new(args: &Compile, session: &Session) -> Result<Self, Diagnostics> {
        let path = match &args.out {
            Some(path) if path.as_os_str() == FROM_STDIN => {
                if args.format != Format::Text {
                    let message = "only the PTX is printed with `--out -`";
                    let problem = Diagnostic::general("--format", message);
                    return Err(problem.hint("name a file, or leave --format out").into());
                }
                return Ok(Self::Stdout);
            }
            Some(path) => path.clone(),
            None => Path::new(args.file.file_name().unwrap_or_default()).with_extension("ptx"),
        };
        let inputs = std::slice::from_ref(&args.file);
        let part = Outputs::new(inputs, args.writing.force, &session.parts).file("--out", &path)?;
        Ok(Self::File(path, part))
    }
}

/// Returns where compilers are looked for, by the environment.
pub(super) fn places() -> Places {
    let folder = |variable: &str| env::var_os(variable).filter(|value| !value.is_empty()).map(PathBuf::from);
    let path = env::var_os("PATH").unwrap_or_default();
    let toolkits = ["CUDA_HOME", "CUDA_PATH"].into_iter().filter_map(folder);
    Places {
        path: env::split_paths(&path).filter(|folder| !folder.as_os_str().is_empty()).collect(),
        toolkits: toolkits.chain([PathBuf::from("/usr/local/cuda")]).collect(),
        virtual_env: folder("VIRTUAL_ENV"),
    }
}

/// Returns the working directory, also in the form in which the shell states it, which may contain
/// links.
fn working_directory() -> Vec<PathBuf> {
    let stated = env::var_os("PWD").map(PathBuf::from);
    env::current_dir().ok().into_iter().chain(stated).collect()
}

/// Reads the PTX as a run would.
fn inspected(name: &str, compiled: &Compiled) -> Result<Inspection, Diagnostics> {
    let source = SourceText::new(name, compiled.ptx.as_str());
    Ok(Module::parse(&source)?.inspect(&ptx_isa()))
}

fn result(args: &Compile, out: String, compiled: &Compiled, found: Option<&Inspection>) -> CompileResult {
    let used = UsedCompiler {
        kind: compiled.compiler.kind.name(),
        version: compiled.compiler.version.clone(),
        program: compiled.compiler.program.display().to_string(),
        options: compiled.options.clone(),
    };
    let found = found.map(PtxFile::new);
    let kernels = found.as_ref().map_or(&[][..], |found| &found.entries);
    let launch = Path::new(&out).with_extension("ron").display().to_string();
    let mut inspect = ["warpbound", "inspect", &out, "--template"].map(str::to_owned).to_vec();
    if let [first, _, ..] = kernels {
        inspect.extend(["--entry".to_owned(), names::short(&first.name)]);
    }
    let written = shell_line([&launch]);
    let next = match kernels {
        [] => Vec::new(),
        _ => vec![format!("{} > {written}", shell_line(&inspect)), format!("warpbound run {written}")],
    };
    CompileResult {
        warnings: compiled.warnings.clone(),
        next,
        ..CompileResult::new(args.file.display().to_string(), out, args.arch.to_string(), used, found)
    }
}
