//! The assembler of the CUDA toolkit, `ptxas`, which makes machine code from PTX.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};

use super::{Arch, Places, process};
use crate::load::read;
use warpbound_core::base::ProgressMonitor;
use warpbound_core::diag::{Diagnostic, SourceText};

/// The name of the program.
const NAME: &str = "ptxas";

/// An assembler of the caller.
#[derive(Debug)]
pub struct Assembler {
    program: PathBuf,
    arch: Arch,
    scratch: PathBuf,
    /// The number of files that have been assembled, which names the next one.
    files: AtomicU64,
}

impl Assembler {
    /// Finds the assembler: the program with this path or name, or else `ptxas` in `PATH` and in the
    /// toolkits. It writes its files to the folder `scratch`.
    ///
    /// # Errors
    /// Returns an error if there is none.
    pub fn find(
        program: Option<&Path>,
        arch: Arch,
        places: &Places,
        scratch: &Path,
    ) -> Result<Self, Diagnostic> {
        let found = match program {
            // a name alone may also be that of a tool in a toolkit
            Some(name) => places.named(name).or_else(|| places.tool(&name.to_string_lossy())),
            None => places.tool(NAME),
        };
        let shown = program.map_or_else(|| NAME.to_owned(), |path| format!("--ptxas {}", path.display()));
        let program = found.ok_or_else(|| {
            Diagnostic::general(shown, "there is no such program").hint(
                "ptxas is part of CUDA toolkits and of the Python package nvidia-cuda-nvcc; --ptxas states its path",
            )
        })?;
        Ok(Self { program, arch, scratch: scratch.to_owned(), files: AtomicU64::new(0) })
    }

    /// Returns the machine code of PTX, a cubin.
    ///
    /// # Errors
    /// Returns the messages of the assembler if it refuses the PTX, or what keeps it from running.
    pub fn assemble(&self, ptx: &SourceText, monitor: &ProgressMonitor) -> Result<Vec<u8>, Diagnostic> {
        let number = self.files.fetch_add(1, Ordering::Relaxed);
        let (from, to) =
            (self.scratch.join(format!("{number}.ptx")), self.scratch.join(format!("{number}.cubin")));
        let failed = |error: std::io::Error| {
            Diagnostic::general(from.display().to_string(), format!("cannot write it: {error}"))
        };
        std::fs::write(&from, ptx.text()).map_err(failed)?;
        let mut command = Command::new(&self.program);
        command.arg(format!("-arch={}", self.arch)).arg(&from).arg("-o").arg(&to);
        let ended = process::run(&mut command, Vec::new(), monitor)?;
        if !ended.success {
            let first = ended.stderr.lines().find(|line| !line.trim().is_empty()).unwrap_or("no message");
            let message = format!("{NAME} refuses it for {}: {}", self.arch, first.trim());
            return Err(Diagnostic::general(ptx.name(), message));
        }
        let code = read::bytes(&to, read::PTX_BYTES)?;
        // what cannot be removed goes with the folder
        let _ = (std::fs::remove_file(&from), std::fs::remove_file(&to));
        Ok(code)
    }
}
