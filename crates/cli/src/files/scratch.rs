//! A temporary folder for other programs.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use super::part::Parts;
use warpbound_core::diag::Diagnostic;

/// A folder among the temporary files of the system, which is removed with its contents when it is
/// dropped.
#[derive(Debug)]
pub struct Scratch {
    dir: PathBuf,
    parts: Parts,
    /// The handle whose lock shows other processes that the folder is in use.
    _lock: File,
}

impl Scratch {
    /// Creates the folder.
    ///
    /// # Errors
    /// If it cannot be created.
    pub fn new(parts: &Parts) -> Result<Self, Diagnostic> {
        let all = std::env::temp_dir();
        let made = parts.make_folder(&all).map_err(|error| problem(&all, &error))?;
        Ok(Self { dir: made.0, parts: parts.clone(), _lock: made.1 })
    }

    /// Returns its path.
    pub fn path(&self) -> &Path {
        &self.dir
    }

    /// Writes a file, and the folders that its name has.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn write(&self, name: &str, contents: &[u8]) -> Result<(), Diagnostic> {
        let path = self.dir.join(name);
        let folder = path.parent().map_or(Ok(()), fs::create_dir_all);
        folder.and_then(|()| fs::write(&path, contents)).map_err(|error| problem(&path, &error))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // an error leaves a temporary folder, which a later process removes
        let _ = fs::remove_dir_all(&self.dir);
        self.parts.forget(&self.dir);
    }
}

fn problem(path: &Path, error: &io::Error) -> Diagnostic {
    let problem =
        Diagnostic::general(path.display().to_string(), format!("cannot write a temporary file: {error}"));
    problem.hint("TMPDIR names the folder of temporary files")
}
