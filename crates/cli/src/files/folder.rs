//! Folders for the results of a command.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::part::{Part, Parts};
use warpbound_core::diag::Diagnostic;

/// A folder for results, created if it did not exist. Folders that were created and stay empty are
/// removed again.
#[derive(Debug)]
pub struct Folder {
    option: &'static str,
    dir: PathBuf,
    /// The folders that were created for it, the outermost first.
    made: Vec<PathBuf>,
    force: bool,
    parts: Parts,
}

impl Folder {
    /// Creates the folder and checks that files can be created in it. `option` is the name of the
    /// option; existing files are replaced only with `force`.
    ///
    /// # Errors
    /// If the folder or a file in it cannot be created.
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

    /// Returns the path of a folder inside this one.
    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.join(name)
    }

    /// Checks that these files may be written into this folder: none exists, unless it may be
    /// replaced.
    ///
    /// # Errors
    /// The first file that may not be written.
    pub fn check_files(&self, files: &[&str]) -> Result<(), Diagnostic> {
        let there = |file: &&&str| fs::symlink_metadata(self.dir.join(file)).is_ok();
        match files.iter().find(there).filter(|_| !self.force) {
            Some(file) => Err(self.taken(&self.dir.join(file), "the file is there already")),
            None => Ok(()),
        }
    }

    /// Checks that a folder `name` may be written inside this one: it does not exist, unless its
    /// files may be replaced, and it contains none of the inputs.
    ///
    /// # Errors
    /// If the folder may not be written: the reason.
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

    /// Writes files into `name`, which is a folder inside this one or `""` for this one, and
    /// returns its path. The names of files may begin with a folder, as in `before/a.bin`. A folder
    /// that did not exist appears with all its files, or not at all.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub fn write(&self, name: &str, files: &[(String, Vec<u8>)]) -> Result<PathBuf, Diagnostic> {
        let dir = self.dir.join(name);
        if dir.exists() {
            for (file, bytes) in files {
                write_in(&dir, file, |path| write(path, bytes, &self.parts))
                    .map_err(|error| self.problem(name, &format!("cannot write {file}"), &error))?;
            }
            return Ok(dir);
        }
        let unwritten = |error| self.problem(name, "cannot write the folder", &error);
        let draft = self.draft().map_err(unwritten)?;
        let written = files
            .iter()
            .try_for_each(|(file, bytes)| write_in(&draft.dir, file, |path| fs::write(path, bytes)));
        written.and_then(|()| fs::rename(&draft.dir, &dir)).map(|()| dir).map_err(unwritten)
    }

    /// Starts a set of files that appear in this folder together, or not at all.
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

/// A set of files that are being written and belong together. If it is dropped before
/// [`Draft::place`], the files are removed.
#[derive(Debug)]
pub struct Draft {
    dir: PathBuf,
    target: PathBuf,
    names: Vec<String>,
    parts: Parts,
    /// The handle whose lock shows other processes that the folder is in use.
    _lock: File,
}

impl Draft {
    /// Creates a file.
    ///
    /// # Errors
    /// If the file cannot be created.
    pub fn file(&mut self, name: &str) -> io::Result<File> {
        let file = File::create_new(self.dir.join(name))?;
        self.names.push(name.to_owned());
        Ok(file)
    }

    /// Moves all files to their final names, now that they are complete. The last file, which
    /// refers to the others, is removed first and placed last.
    ///
    /// # Errors
    /// If a file cannot be moved.
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
        // errors are ignored: after `place` there is nothing under this name
        let _ = fs::remove_dir_all(&self.dir);
        self.parts.forget(&self.dir);
    }
}

/// Writes the file `name` in a folder, in which its own folder is created if its name has one.
fn write_in(dir: &Path, name: &str, write: impl FnOnce(&Path) -> io::Result<()>) -> io::Result<()> {
    let path = dir.join(name);
    path.parent().map_or(Ok(()), fs::create_dir_all)?;
    write(&path)
}

/// Writes a complete file, or nothing.
fn write(path: &Path, bytes: &[u8], parts: &Parts) -> io::Result<()> {
    let mut part = Part::create(path, parts)?;
    part.write_all(bytes)?;
    part.place()
}

impl Drop for Folder {
    fn drop(&mut self) {
        for dir in self.made.iter().rev() {
            // fails if the folder is not empty, as it should
            let _ = fs::remove_dir(dir);
            self.parts.forget(dir);
        }
    }
}
