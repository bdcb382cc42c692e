//! Compilation with NVRTC, a library that a Python package contains. It needs neither a toolkit nor
//! a GPU. A Python script calls it, because this library contains no unsafe code.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use serde::{Deserialize, Serialize};

use super::{Compiler, Output, Request, headers, process};
use warpbound_core::base::ProgressMonitor;
use warpbound_core::diag::{Diagnostic, SourceText};

/// The script that loads the library.
const SCRIPT: &str = include_str!("nvrtc.py");
/// The header that each source gets first.
const PRELUDE: &str = "nvrtc_min.h";
/// The header with the integer types of C.
const INTEGERS: &str = "nvrtc_stdint.h";
/// Headers whose contents the compiler knows without them, so that a source may include them.
const BUILT_IN: [&str; 18] = [
    "assert.h",
    "cassert",
    "cmath",
    "cstddef",
    "cstdio",
    "cstdlib",
    "cstring",
    "cuda.h",
    "cuda_runtime.h",
    "cuda_runtime_api.h",
    "device_launch_parameters.h",
    "limits.h",
    "math.h",
    "math_constants.h",
    "stddef.h",
    "stdio.h",
    "stdlib.h",
    "string.h",
];

/// What the script says of the library.
#[derive(Deserialize)]
struct Found {
    version: (u32, u32),
    architectures: Vec<u32>,
}

/// What the script compiles.
#[derive(Serialize)]
struct Job<'a> {
    name: &'a str,
    source: &'a str,
    headers: BTreeMap<&'a str, &'a str>,
    options: &'a [String],
}

/// What the script has compiled.
#[derive(Deserialize)]
struct Made {
    log: String,
    ptx: Option<String>,
}

/// Returns the version of the library and the architectures that it knows, or why there is none.
///
/// # Errors
/// Returns the reason, in words.
pub fn probe(python: &Path, monitor: &ProgressMonitor) -> Result<(String, Vec<u32>), String> {
    let ended = process::run(&mut command(python, "find"), Vec::new(), monitor);
    let ended = ended.map_err(|_| "cannot be run".to_owned())?;
    if !ended.success {
        return Err("has no package with NVRTC".to_owned());
    }
    let found: Found =
        serde_json::from_slice(&ended.stdout).map_err(|_| "has a package that cannot be used".to_owned())?;
    Ok((format!("{}.{}", found.version.0, found.version.1), found.architectures))
}

/// Runs NVRTC.
///
/// # Errors
/// Returns an error if it cannot be run.
pub fn compile(
    request: &Request,
    source: &SourceText,
    compiler: &Compiler,
    monitor: &ProgressMonitor,
) -> Result<Output, Diagnostic> {
    let options = options(request);
    let ours: BTreeMap<&str, &str> =
        headers().into_iter().filter_map(|(name, bytes)| Some((name, str::from_utf8(bytes).ok()?))).collect();
    let ours = |name: &str| ours.get(name).copied().unwrap_or_default();
    let mut given = BTreeMap::from([(PRELUDE, ours(PRELUDE))]);
    given.extend(BUILT_IN.map(|name| (name, "")));
    given.extend(["stdint.h", "cstdint"].map(|name| (name, ours(INTEGERS))));
    let job = Job { name: source.name(), source: source.text(), headers: given, options: &options };
    let input = serde_json::to_vec(&job).expect("a job is plain data");
    let ended = process::run(&mut command(&compiler.program, "compile"), input, monitor)?;
    let failed = || {
        let last = ended.stderr.trim().lines().last().unwrap_or("it gave no result").to_owned();
        Diagnostic::general(compiler.program.display().to_string(), format!("NVRTC failed: {last}"))
    };
    let made: Made = serde_json::from_slice(&ended.stdout).map_err(|_| failed())?;
    Ok(Output { ptx: made.ptx, log: made.log, options })
}

fn command(python: &Path, action: &str) -> Command {
    let mut command = Command::new(python);
    command.args(["-c", SCRIPT, action]);
    command
}

fn options(request: &Request) -> Vec<String> {
    let mut options = vec![
        format!("--gpu-architecture={}", request.arch.compute()),
        "--std=c++17".to_owned(),
        format!("--pre-include={PRELUDE}"),
    ];
    if request.lines {
        options.push("--generate-line-info".to_owned());
    }
    options.extend(request.defines.iter().map(|define| format!("--define-macro={define}")));
    // the library does not know the folder of the source
    let own = request.source.path().and_then(Path::parent).filter(|folder| !folder.as_os_str().is_empty());
    let folders =
        std::iter::once(own.unwrap_or(Path::new("."))).chain(request.folders.iter().map(AsRef::as_ref));
    options.extend(folders.map(|folder| format!("--include-path={}", folder.display())));
    options.extend(request.more.iter().cloned());
    options
}
