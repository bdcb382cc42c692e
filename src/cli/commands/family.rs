//! `warpbound family`: kernels with parameters.

use std::process::ExitCode;

use crate::cli::args::{Family, FamilyName};
use crate::cli::output::{self, Failure};
use crate::diag::Diagnostic;
use crate::micro::family::PingPong;

/// File names in the folder.
const KERNEL: &str = "kernel.warp";
const MACHINE: &str = "machine.ron";

/// Runs the command.
pub fn run(args: &Family) -> Result<ExitCode, Failure> {
    let files = match args.name {
        FamilyName::PingPong => {
            PingPong { period: args.p, stages: args.m, length: args.n, gated: args.gated }.files(MACHINE)?
        }
    };
    let Some(dir) = &args.out else {
        output::print(&format!("# {KERNEL}\n{}\n// {MACHINE}\n{}", files.kernel, files.machine))?;
        return Ok(ExitCode::SUCCESS);
    };
    std::fs::create_dir_all(dir).map_err(|error| {
        Diagnostic::general(dir.display().to_string(), format!("cannot create the folder: {error}"))
    })?;
    output::write_file(&dir.join(MACHINE), files.machine.as_bytes())?;
    let kernel = dir.join(KERNEL);
    output::write_file(&kernel, files.kernel.as_bytes())?;
    let word = super::check::shell_word(&kernel.display().to_string());
    output::print(&format!(
        "wrote {word} and its machine; to check it:\n  warpbound check {word} --scheduler lrr\n"
    ))?;
    Ok(ExitCode::SUCCESS)
}
