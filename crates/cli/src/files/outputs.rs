//! The output files of a command, which are checked before the simulation starts.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::part::{Part, Parts};
use warpbound_core::diag::Diagnostic;

/// The outputs of a run, which must differ from its inputs and from each other.
#[derive(Debug)]
pub struct Outputs {
    inputs: Vec<PathBuf>,
    /// The absolute names of the outputs so far.
    taken: Vec<PathBuf>,
    /// Whether existing files are replaced, and if not, what the user can do about one.
    existing: Result<(), &'static str>,
    parts: Parts,
}

impl Outputs {
    /// Returns the outputs of a run that reads these files. An existing file is replaced only with
    /// `force`.
    pub fn new(inputs: &[PathBuf], force: bool, parts: &Parts) -> Self {
        let existing = if force { Ok(()) } else { Err("--force replaces it; or choose another name") };
        Self { inputs: inputs.to_vec(), taken: Vec::new(), existing, parts: parts.clone() }
    }

    /// Returns the outputs of a command that replaces no file.
    pub fn that_are_new(parts: &Parts) -> Self {
        let existing = Err("choose another name, or remove the file");
        Self { inputs: Vec::new(), taken: Vec::new(), existing, parts: parts.clone() }
    }

    /// Creates an output; `option` is the name of its option.
    ///
    /// # Errors
    /// If the file exists, is an input or an earlier output, or cannot be created.
    pub fn file(&mut self, option: &str, path: &Path) -> Result<Part, Diagnostic> {
        self.claim(option, path)?;
        Part::create(path, &self.parts).map_err(|error| impossible(option, path, &error))
    }

    /// Reserves a name for an output.
    ///
    /// # Errors
    /// If the file exists, or is an input or an earlier output.
    pub fn claim(&mut self, option: &str, path: &Path) -> Result<(), Diagnostic> {
        let problem = |message: &str| Diagnostic::general(format!("{option} {}", path.display()), message);
        if path.as_os_str().to_string_lossy().ends_with(std::path::is_separator) {
            return Err(problem("this is the name of a directory").hint("name a file"));
        }
        let name = absolute(path)
            .map_err(|error| impossible(option, path, &error).hint("create its folder first"))?;
        if let Some(input) = self.inputs.iter().find(|input| is_same(input, &name)) {
            let message = format!("this would overwrite {}, which is read", input.display());
            return Err(problem(&message).hint("choose another name"));
        }
        match fs::metadata(path) {
            Ok(there) if there.is_dir() => return Err(problem("this is a directory").hint("name a file")),
            // a device or a pipe, whose contents are not replaced
            Ok(there) if !there.is_file() => return Ok(()),
            _ => {}
        }
        if self.taken.iter().any(|other| is_same(other, &name)) {
            return Err(problem("another output has this name already").hint("each needs a file of its own"));
        }
        // a dangling link counts as an existing file
        if let (Ok(_), Err(hint)) = (fs::symlink_metadata(path), self.existing) {
            return Err(problem("the file is there already").hint(hint));
        }
        self.taken.push(name);
        Ok(())
    }
}

fn impossible(option: &str, path: &Path, error: &io::Error) -> Diagnostic {
    Diagnostic::general(format!("{option} {}", path.display()), format!("cannot create the file: {error}"))
}

/// Returns whether two names are equal or refer to the same regular file.
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

/// Returns the name with every link in its folders resolved, but not the file itself.
fn absolute(path: &Path) -> io::Result<PathBuf> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    Ok(fs::canonicalize(folder)?.join(path.file_name().unwrap_or_default()))
}
