//! Files that a run is asked to write: tried before anything is simulated.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::part::{Part, Parts};
use crate::diag::Diagnostic;

/// The outputs of a run, which must differ from its inputs and from each other.
#[derive(Debug)]
pub struct Outputs {
    inputs: Vec<PathBuf>,
    /// Absolute names of what will be written.
    taken: Vec<PathBuf>,
    force: bool,
    parts: Parts,
}

impl Outputs {
    /// For a run that reads these files. Only with `force` is a file replaced that is there already.
    pub fn new(inputs: &[PathBuf], force: bool, parts: &Parts) -> Self {
        Self { inputs: inputs.to_vec(), taken: Vec::new(), force, parts: parts.clone() }
    }

    /// Starts an output; `option` is what the command line calls it.
    ///
    /// # Errors
    /// A file that is there, an input, an output that was named before, a place where no file can be made.
    pub fn file(&mut self, option: &str, path: &Path) -> Result<Part, Diagnostic> {
        self.claim(option, path)?;
        Part::create(path, &self.parts).map_err(|error| impossible(option, path, &error))
    }

    /// Says that an output will have this name.
    ///
    /// # Errors
    /// A file that is there, an input, an output that was named before.
    pub fn claim(&mut self, option: &str, path: &Path) -> Result<(), Diagnostic> {
        let problem = |message: &str| Diagnostic::general(format!("{option} {}", path.display()), message);
        if path.as_os_str().to_string_lossy().ends_with(std::path::is_separator) {
            return Err(problem("this is the name of a directory").hint("name a file"));
        }
        let name = absolute(path)
            .map_err(|error| impossible(option, path, &error).hint("its folder has to be there"))?;
        if let Some(input) = self.inputs.iter().find(|input| is_same(input, &name)) {
            let message = format!("this would overwrite {}, which is read", input.display());
            return Err(problem(&message).hint("choose another name"));
        }
        match fs::metadata(path) {
            Ok(there) if there.is_dir() => return Err(problem("this is a directory").hint("name a file")),
            // a device or a pipe: nothing of it is lost
            Ok(there) if !there.is_file() => return Ok(()),
            _ => {}
        }
        if self.taken.iter().any(|other| is_same(other, &name)) {
            return Err(problem("another output has this name already").hint("each needs a file of its own"));
        }
        // a link to nowhere is there, too
        if fs::symlink_metadata(path).is_ok() && !self.force {
            return Err(
                problem("the file is there already").hint("--force replaces it; or choose another name")
            );
        }
        self.taken.push(name);
        Ok(())
    }
}

fn impossible(option: &str, path: &Path, error: &io::Error) -> Diagnostic {
    Diagnostic::general(format!("{option} {}", path.display()), format!("cannot create the file: {error}"))
}

/// Whether two names are one, or lead to one regular file.
fn is_same(a: &Path, b: &Path) -> bool {
    a == b || identity(a).is_some_and(|file| Some(file) == identity(b))
}

#[cfg(unix)]
fn identity(path: &Path) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    fs::metadata(path).ok().filter(fs::Metadata::is_file).map(|file| (file.dev(), file.ino()))
}

#[cfg(not(unix))]
fn identity(path: &Path) -> Option<PathBuf> {
    fs::canonicalize(path).ok().filter(|path| path.is_file())
}

/// The name with every link on the way resolved, its own excepted.
fn absolute(path: &Path) -> io::Result<PathBuf> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    Ok(fs::canonicalize(folder)?.join(path.file_name().unwrap_or_default()))
}
