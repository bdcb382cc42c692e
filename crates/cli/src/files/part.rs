//! Files that have a temporary name until they are complete.

use std::collections::HashSet;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use warpbound_core::diag::Diagnostic;

/// The unfinished files and folders of this process. A signal handler can remove them. If the
/// process is killed, a later process can remove them.
#[derive(Clone, Debug, Default)]
pub struct Parts(Arc<Mutex<Known>>);

#[derive(Debug, Default)]
struct Known {
    unfinished: Vec<PathBuf>,
    /// The folders from which the remains of terminated processes have been removed.
    clean: HashSet<PathBuf>,
}

impl Parts {
    /// Removes everything that is unfinished, the newest first. No further file can be started
    /// while the result is alive.
    pub fn remove_all(&self) -> impl Sized + '_ {
        let mut known = self.lock();
        while let Some(path) = known.unfinished.pop() {
            remove(&path);
        }
        known
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn add(&self, path: &Path) {
        self.lock().unfinished.push(path.to_owned());
    }

    pub(super) fn forget(&self, path: &Path) {
        self.lock().unfinished.retain(|known| known != path);
    }

    /// Creates something under a new name in `folder`; `make` must fail if the name exists. The
    /// returned handle holds a lock, which shows other processes that this process is still
    /// running.
    fn make(&self, folder: &Path, make: impl Fn(&Path) -> io::Result<File>) -> io::Result<(PathBuf, File)> {
        self.remove_stale(folder);
        let process = process::id();
        for number in 0u32.. {
            let path = folder.join(format!("{BEFORE}{process}-{number}{BEHIND}"));
            // registered before it is created, so that a signal cannot leave it behind
            self.add(&path);
            match make(&path) {
                Ok(made) => {
                    // errors are ignored, because some file systems have no locks
                    let _ = made.try_lock();
                    // another process may have removed it as stale before it was locked
                    if path.exists() {
                        return Ok((path, made));
                    }
                    self.forget(&path);
                }
                Err(error) => {
                    self.forget(&path);
                    if error.kind() != io::ErrorKind::AlreadyExists {
                        return Err(error);
                    }
                }
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }

    /// Creates a hidden folder, which is filled and then renamed.
    pub(super) fn make_folder(&self, folder: &Path) -> io::Result<(PathBuf, File)> {
        self.make(folder, |path| {
            fs::create_dir(path)?;
            File::open(path)
        })
    }

    /// Removes the unfinished files that killed processes left in a folder.
    pub(super) fn remove_stale(&self, folder: &Path) {
        let mut known = self.lock();
        if !known.clean.insert(folder.to_owned()) {
            return;
        }
        for path in fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()) {
            if !known.unfinished.contains(&path) && is_stale(&path) {
                remove(&path);
            }
        }
    }
}

/// The start and the end of a temporary name; the start is followed by the id of the process.
const BEFORE: &str = ".warpbound-";
const BEHIND: &str = ".part";

/// Returns the process id in a temporary name made by [`Parts`], or `None` for any other name.
fn maker(path: &Path) -> Option<u32> {
    let name = path.file_name()?.to_str()?;
    let (process, number) = name.strip_prefix(BEFORE)?.strip_suffix(BEHIND)?.split_once('-')?;
    number.parse::<u32>().ok()?;
    process.parse().ok()
}

/// Returns whether the path is an unfinished file or folder that no process works on. Its process
/// must have terminated, or have the id of this one, and it must not be locked.
fn is_stale(path: &Path) -> bool {
    let Some(maker) = maker(path) else { return false };
    let gone = || Path::new("/proc/self").exists() && !Path::new("/proc").join(maker.to_string()).exists();
    // links never have temporary names
    let ours = fs::symlink_metadata(path).is_ok_and(|there| there.is_file() || there.is_dir());
    let unlocked =
        || File::open(path).is_ok_and(|file| !matches!(file.try_lock(), Err(TryLockError::WouldBlock)));
    ours && (maker == process::id() || gone()) && unlocked()
}

/// Removes an unfinished file or folder if possible. A folder that has its final name is removed
/// only if it is empty.
fn remove(path: &Path) {
    let folder = || if maker(path).is_some() { fs::remove_dir_all(path) } else { fs::remove_dir(path) };
    let _ = fs::remove_file(path).or_else(|_| folder());
}

/// A file that is being written. If it is dropped before [`Part::place`], the file is removed.
#[derive(Debug)]
pub struct Part {
    target: PathBuf,
    file: File,
    /// The temporary path; `None` for a device or a pipe, which is written to directly.
    part: Option<PathBuf>,
    parts: Parts,
}

impl Part {
    /// Creates a file that is to become `target`, which is replaced if it exists.
    ///
    /// # Errors
    /// If the file cannot be created.
    pub fn create(target: &Path, parts: &Parts) -> io::Result<Self> {
        let parts = parts.clone();
        let there = fs::metadata(target).ok();
        if there.as_ref().is_some_and(|there| !there.is_file()) {
            let file = OpenOptions::new().write(true).open(target)?;
            return Ok(Self { target: target.to_owned(), file, part: None, parts });
        }
        // a link is kept: the file that it points to is replaced
        let target = fs::canonicalize(target).unwrap_or_else(|_| target.to_owned());
        let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty());
        let make = |path: &Path| OpenOptions::new().write(true).create_new(true).open(path);
        let (part, file) = parts.make(folder.unwrap_or(Path::new(".")), make)?;
        let started = Self { target, file, part: Some(part), parts };
        if let Some(there) = there {
            started.file.set_permissions(there.permissions())?;
        }
        Ok(started)
    }

    /// Writes the whole contents and gives the file its final name. `place` is what an error names:
    /// the option with the file, or the file.
    ///
    /// # Errors
    /// If the file cannot be written; it is then removed.
    pub fn complete(mut self, place: impl Into<String>, contents: &[u8]) -> Result<(), Diagnostic> {
        self.write_all(contents)
            .and_then(|()| self.place())
            .map_err(|error| Diagnostic::general(place, format!("cannot write the file: {error}")))
    }

    /// Gives the complete file its final name, atomically.
    ///
    /// # Errors
    /// If the file cannot be moved; it is then removed.
    pub fn place(mut self) -> io::Result<()> {
        self.file.flush()?;
        match &self.part {
            Some(part) => fs::rename(part, &self.target),
            None => Ok(()),
        }
    }

    /// Does the same as [`Part::place`], and synchronizes the file to the disk, so that it survives
    /// a loss of power.
    ///
    /// # Errors
    /// As for [`Part::place`].
    pub fn place_synced(self) -> io::Result<()> {
        let folder = self.part.as_deref().and_then(Path::parent).map(Path::to_owned);
        self.file.sync_all()?;
        self.place()?;
        // the name is stored in the folder; if folders cannot be synchronized, the file is complete
        // all the same
        if let Some(Ok(folder)) = folder.map(File::open) {
            let _ = folder.sync_all();
        }
        Ok(())
    }
}

impl Write for Part {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        if let Some(part) = &self.part {
            // errors are ignored; after `place` there is nothing under this name
            let _ = fs::remove_file(part);
            self.parts.forget(part);
        }
    }
}
