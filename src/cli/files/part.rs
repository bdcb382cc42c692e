//! Files under a name of their own until they are whole.

use std::collections::HashSet;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Unfinished files and folders, so that a signal can remove them, and so that a later process can remove those of a
/// process that was killed.
#[derive(Clone, Debug, Default)]
pub struct Parts(Arc<Mutex<Known>>);

#[derive(Debug, Default)]
struct Known {
    unfinished: Vec<PathBuf>,
    /// Folders in which nothing of processes that are gone is left.
    clean: HashSet<PathBuf>,
}

impl Parts {
    /// Removes everything that is unfinished, the newest first. Nothing new is begun while somebody holds
    /// the result.
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

    /// Makes something under a new name in `folder`: `make` must fail if the name exists. It is locked while
    /// its handle, which `make` gives, is open, and so is seen to belong to a process that still runs.
    fn make(&self, folder: &Path, make: impl Fn(&Path) -> io::Result<File>) -> io::Result<(PathBuf, File)> {
        self.remove_stale(folder);
        let process = process::id();
        for number in 0u32.. {
            let path = folder.join(format!("{BEFORE}{process}-{number}{BEHIND}"));
            // first of all known, so that no signal finds it made and unknown
            self.add(&path);
            match make(&path) {
                Ok(made) => {
                    // a file system without locks does without
                    let _ = made.try_lock();
                    // between these two steps another process may have taken it for one that is left over
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

    /// Makes a hidden folder, to be filled and to get its name then.
    pub(super) fn make_folder(&self, folder: &Path) -> io::Result<(PathBuf, File)> {
        self.make(folder, |path| {
            fs::create_dir(path)?;
            File::open(path)
        })
    }

    /// Removes what processes left unfinished in a folder that were killed.
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

/// What a name of something unfinished begins and ends with; the number of the process follows on the first.
const BEFORE: &str = ".warpbound-";
const BEHIND: &str = ".part";

/// Whether a path has a name as [`Parts`] gives them, and the number of the process in it.
fn maker(path: &Path) -> Option<u32> {
    let name = path.file_name()?.to_str()?;
    let (process, number) = name.strip_prefix(BEFORE)?.strip_suffix(BEHIND)?.split_once('-')?;
    number.parse::<u32>().ok()?;
    process.parse().ok()
}

/// Whether this is something unfinished, and no process works on it: the process in its name is no more, or has the
/// number of this one, and it has no lock.
fn is_stale(path: &Path) -> bool {
    let Some(maker) = maker(path) else { return false };
    let gone = || Path::new("/proc/self").exists() && !Path::new("/proc").join(maker.to_string()).exists();
    // a link has no such name by us
    let ours = fs::symlink_metadata(path).is_ok_and(|there| there.is_file() || there.is_dir());
    let unlocked =
        || File::open(path).is_ok_and(|file| !matches!(file.try_lock(), Err(TryLockError::WouldBlock)));
    ours && (maker == process::id() || gone()) && unlocked()
}

/// Removes something unfinished, as far as that can be done: of a folder whose name is its own, if it is empty.
fn remove(path: &Path) {
    let folder = || if maker(path).is_some() { fs::remove_dir_all(path) } else { fs::remove_dir(path) };
    let _ = fs::remove_file(path).or_else(|_| folder());
}

/// A file being written. Dropped before it is in place, it leaves nothing.
#[derive(Debug)]
pub struct Part {
    target: PathBuf,
    file: File,
    /// Its present name; none for what is there and no regular file (a device, a pipe), which is written
    /// to directly.
    part: Option<PathBuf>,
    parts: Parts,
}

impl Part {
    /// Starts a file that is to become `target`, which is replaced if it is there.
    ///
    /// # Errors
    /// Where no file can be made.
    pub fn create(target: &Path, parts: &Parts) -> io::Result<Self> {
        let parts = parts.clone();
        let there = fs::metadata(target).ok();
        if there.as_ref().is_some_and(|there| !there.is_file()) {
            let file = OpenOptions::new().write(true).open(target)?;
            return Ok(Self { target: target.to_owned(), file, part: None, parts });
        }
        // a link stays one: what it points to is replaced
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

    /// The file is whole: it gets its name, at once.
    ///
    /// # Errors
    /// If it cannot be moved there; it is removed then.
    pub fn place(mut self) -> io::Result<()> {
        self.file.flush()?;
        match &self.part {
            Some(part) => fs::rename(part, &self.target),
            None => Ok(()),
        }
    }

    /// The same, and it stays there if the machine loses power at once.
    ///
    /// # Errors
    /// As [`Part::place`].
    pub fn place_synced(self) -> io::Result<()> {
        let folder = self.part.as_deref().and_then(Path::parent).map(Path::to_owned);
        self.file.sync_all()?;
        self.place()?;
        // the name is in the folder; where folders cannot be synchronised the file is whole all the same
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
            // best effort; once the file is in place there is nothing under this name
            let _ = fs::remove_file(part);
            self.parts.forget(part);
        }
    }
}
