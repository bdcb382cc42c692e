//! Folders that a run is asked to write.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::part::{Part, Parts};
use crate::diag::Diagnostic;

/// A folder for results, made if it was not there. What stays empty of what was made is removed again.
#[derive(Debug)]
pub struct Folder {
    option: &'static str,
    dir: PathBuf,
    /// What was made to have it, the outermost first.
    made: Vec<PathBuf>,
    force: bool,
    parts: Parts,
}

impl Folder {
    /// Makes the folder and tries whether files can be made in it. `option` is what the command line calls
    /// it; only with `force` are files replaced in it.
    ///
    /// # Errors
    /// Where no folder or no file can be made.
    pub fn prepare(option: &'static str, dir: &Path, force: bool, parts: &Parts) -> Result<Self, Diagnostic> {
        let missing = dir.ancestors().take_while(|dir| !dir.as_os_str().is_empty() && !dir.exists());
        let mut made: Vec<PathBuf> = missing.map(Path::to_owned).collect();
        made.reverse();
        made.iter().for_each(|dir| parts.add(dir));
        let folder = Self { option, dir: dir.to_owned(), made, force, parts: parts.clone() };
        fs::create_dir_all(dir).map_err(|error| folder.problem("", "cannot create the folder", &error))?;
        Part::create(&dir.join("probe"), parts)
            .map_err(|error| folder.problem("", "cannot create files in the folder", &error))?;
        Ok(folder)
    }

    /// Where a folder in this one is.
    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.join(name)
    }

    /// Says whether these files may be written into this folder: none of them is there, unless it may be
    /// replaced.
    ///
    /// # Errors
    /// The first that may not.
    pub fn check_files(&self, files: &[&str]) -> Result<(), Diagnostic> {
        let there = |file: &&&str| fs::symlink_metadata(self.dir.join(file)).is_ok();
        match files.iter().find(there).filter(|_| !self.force) {
            Some(file) => Err(self.taken(&self.dir.join(file), "the file is there already")),
            None => Ok(()),
        }
    }

    /// Says whether a folder `name` may be written in this one: it is not there, unless its files may be
    /// replaced, and none of the inputs is in it.
    ///
    /// # Errors
    /// Why not.
    pub fn check_folder(&self, name: &str, inputs: &[PathBuf]) -> Result<(), Diagnostic> {
        let dir = self.path(name);
        let within = |input: &&PathBuf| {
            let parent = fs::canonicalize(input).ok()?.parent().map(Path::to_owned);
            (parent? == fs::canonicalize(&dir).ok()?).then_some(())
        };
        if let Some(input) = inputs.iter().find(|input| within(input).is_some()) {
            let place = format!("{} {}", self.option, dir.display());
            let message = format!("{} is in this folder, and is read", input.display());
            return Err(Diagnostic::general(place, message).hint("choose another folder"));
        }
        if fs::symlink_metadata(&dir).is_ok() && !self.force {
            return Err(self.taken(&dir, "the folder is there already"));
        }
        Ok(())
    }

    fn taken(&self, path: &Path, message: &str) -> Diagnostic {
        Diagnostic::general(format!("{} {}", self.option, path.display()), message)
            .hint("--force replaces what is written; or choose another folder")
    }

    /// Writes files into `name`, a folder in this one or `""` for this one, and gives its path. A folder that
    /// was not there appears with all files in it, or not at all.
    ///
    /// # Errors
    /// What cannot be written.
    pub fn write(&self, name: &str, files: &[(String, Vec<u8>)]) -> Result<PathBuf, Diagnostic> {
        let dir = self.dir.join(name);
        if dir.exists() {
            for (file, bytes) in files {
                write(&dir.join(file), bytes, &self.parts)
                    .map_err(|error| self.problem(name, &format!("cannot write {file}"), &error))?;
            }
            return Ok(dir);
        }
        let unwritten = |error| self.problem(name, "cannot write the folder", &error);
        let draft = self.draft().map_err(unwritten)?;
        let written = files.iter().try_for_each(|(file, bytes)| fs::write(draft.dir.join(file), bytes));
        written.and_then(|()| fs::rename(&draft.dir, &dir)).map(|()| dir).map_err(unwritten)
    }

    /// Begins files that appear in this folder together, or not at all.
    ///
    /// # Errors
    /// If nothing can be written there.
    pub fn draft(&self) -> io::Result<Draft> {
        let (dir, lock) = self.parts.make_folder(&self.dir)?;
        Ok(Draft { dir, target: self.dir.clone(), names: Vec::new(), parts: self.parts.clone(), _lock: lock })
    }

    fn problem(&self, name: &str, what: &str, error: &io::Error) -> Diagnostic {
        let dir = if name.is_empty() { self.dir.clone() } else { self.dir.join(name) };
        Diagnostic::general(format!("{} {}", self.option, dir.display()), format!("{what}: {error}"))
    }
}

/// Files that are being written and belong together. Dropped before they are in place, they leave nothing.
#[derive(Debug)]
pub struct Draft {
    dir: PathBuf,
    target: PathBuf,
    names: Vec<String>,
    parts: Parts,
    /// Open as long as somebody works on it.
    _lock: File,
}

impl Draft {
    /// Begins a file.
    ///
    /// # Errors
    /// If it cannot be made.
    pub fn file(&mut self, name: &str) -> io::Result<File> {
        let file = File::create_new(self.dir.join(name))?;
        self.names.push(name.to_owned());
        Ok(file)
    }

    /// All are whole, and get their names. The last one, which tells of the others, is not there meanwhile.
    ///
    /// # Errors
    /// If one cannot be moved there.
    pub fn place(self) -> io::Result<()> {
        if let Some(last) = self.names.last() {
            match fs::remove_file(self.target.join(last)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        self.names.iter().try_for_each(|name| fs::rename(self.dir.join(name), self.target.join(name)))
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        // best effort; where it has got another name there is nothing under this one
        let _ = fs::remove_dir_all(&self.dir);
        self.parts.forget(&self.dir);
    }
}

/// Writes a whole file, or nothing.
fn write(path: &Path, bytes: &[u8], parts: &Parts) -> io::Result<()> {
    let mut part = Part::create(path, parts)?;
    part.write_all(bytes)?;
    part.place()
}

impl Drop for Folder {
    fn drop(&mut self) {
        for dir in self.made.iter().rev() {
            // fails where something is in it, which is as it should be
            let _ = fs::remove_dir(dir);
            self.parts.forget(dir);
        }
    }
}
