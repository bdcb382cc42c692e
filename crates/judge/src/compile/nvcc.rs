//! Compilation with nvcc, which has the headers of its toolkit.

use std::process::Command;

use super::{Compiler, Folders, Output, Request, process};
use crate::load::read;
use warpbound_core::base::ProgressMonitor;
use warpbound_core::diag::Diagnostic;

/// Runs nvcc.
///
/// # Errors
/// Returns an error if it cannot be run, or if its output cannot be read.
pub fn compile(
    request: &Request,
    compiler: &Compiler,
    folders: Folders,
    monitor: &ProgressMonitor,
) -> Result<Output, Diagnostic> {
    let mut options = vec!["-ptx".to_owned(), format!("-arch={}", request.arch)];
    if request.lines {
        options.push("-lineinfo".to_owned());
    }
    options.extend(request.for_preprocessor());
    options.extend(request.more.iter().cloned());
    let out = folders.scratch.join("nvcc.ptx");
    let mut command = Command::new(&compiler.program);
    command.args(&options).arg(request.file()).arg("-o").arg(&out);
    let ended = process::run(&mut command, Vec::new(), monitor)?;
    let ptx = match ended.success {
        true => Some(String::from_utf8_lossy(&read::bytes(&out, read::PTX_BYTES)?).into_owned()),
        false => None,
    };
    Ok(Output { ptx, log: ended.stderr + &String::from_utf8_lossy(&ended.stdout), options })
}
