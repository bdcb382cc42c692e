//! Files under a name of their own until they are whole.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Unfinished files and folders, so that a signal can remove them.
#[derive(Clone, Debug, Default)]
pub struct Parts(Arc<Mutex<Vec<PathBuf>>>);

impl Parts {
    /// Removes everything that is unfinished, the newest first. Nothing new is begun while somebody holds
    /// the result.
    pub fn remove_all(&self) -> impl Sized + '_ {
        let mut paths = self.lock();
        while let Some(path) = paths.pop() {
            // best effort: a folder goes only if it is empty, which is as it should be
            let _ = fs::remove_file(&path).or_else(|_| fs::remove_dir(&path));
        }
        paths
    }

    fn lock(&self) -> MutexGuard<'_, Vec<PathBuf>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn add(&self, path: &Path) {
        self.lock().push(path.to_owned());
    }

    pub(super) fn forget(&self, path: &Path) {
        self.lock().retain(|known| known != path);
    }

    /// Makes something under a name in `folder` that nobody has: `make` must fail if it exists.
    pub(super) fn make<T>(
        &self,
        folder: &Path,
        make: impl Fn(&Path) -> io::Result<T>,
    ) -> io::Result<(PathBuf, T)> {
        let process = std::process::id();
        for number in 0u32.. {
            let path = folder.join(format!(".warpbound-{process}-{number}.part"));
            // first of all known, so that no signal finds it made and unknown
            self.add(&path);
            match make(&path) {
                Ok(made) => return Ok((path, made)),
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
