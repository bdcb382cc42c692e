//! Compilation with clang, which needs no CUDA toolkit with our headers.

use std::process::Command;

use super::{Compiler, Folders, Output, Request, process};
use warpbound_core::base::ProgressMonitor;
use warpbound_core::diag::Diagnostic;

/// The first version that has the option `--cuda-feature`.
const WITH_FEATURES: u32 = 16;

/// Runs clang.
///
/// # Errors
/// Returns an error if it cannot be run.
pub fn compile(
    request: &Request,
    compiler: &Compiler,
    folders: Folders,
    monitor: &ProgressMonitor,
) -> Result<Output, Diagnostic> {
    let options = options(request, compiler, folders);
    let mut command = Command::new(&compiler.program);
    // without line breaks and colours, whatever the terminal is
    command.args(["-fno-color-diagnostics", "-fmessage-length=0"]).args(&options);
    command.arg(request.file()).args(["-S", "-o", "-"]);
    let ended = process::run(&mut command, Vec::new(), monitor)?;
    let ptx = ended.success.then(|| ended.text());
    Ok(Output { ptx, log: ended.stderr, options })
}

fn options(request: &Request, compiler: &Compiler, folders: Folders) -> Vec<String> {
    // -nocudainc, -nocudalib: no toolkit. -fdeclspec: the variables such as threadIdx are properties.
    let mut options: Vec<String> =
        ["-x", "cuda", "--cuda-device-only", "-nocudainc", "-nocudalib", "-fdeclspec", "-O2"]
            .map(str::to_owned)
            .into();
    options.push(format!("--cuda-gpu-arch={}", request.arch));
    let feature = format!("+ptx{}", request.arch.ptx_version());
    let major = compiler.version.split('.').next().and_then(|major| major.parse::<u32>().ok());
    match major.is_none_or(|major| major >= WITH_FEATURES) {
        true => options.push(format!("--cuda-feature={feature}")),
        false => options.extend(["-Xclang", "-target-feature", "-Xclang", &feature].map(str::to_owned)),
    }
    options.push("-Wno-unknown-cuda-version".to_owned());
    if request.lines {
        options.push("-gline-directives-only".to_owned());
    }
    options.extend(request.for_preprocessor());
    options.push(format!("-I{}", folders.headers.display()));
    options.extend(["-include", "cuda_runtime.h"].map(str::to_owned));
    options.extend(request.more.iter().cloned());
    options
}
