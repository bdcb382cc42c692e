//! Access to the files that names refer to.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use super::read;
use warpbound_core::diag::Diagnostic;

/// Access to the files of a caller. Paths are used as they are written, with parts such as `..`.
///
/// The place of every error is the path.
pub trait Files: fmt::Debug + Send + Sync {
    /// Reads the bytes of a file as they are.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read or has more than `limit` bytes.
    fn bytes(&self, path: &Path, limit: u64) -> Result<Vec<u8>, Diagnostic>;

    /// Opens a file of any size as a stream of its bytes as they are.
    ///
    /// # Errors
    /// Returns an error if the file cannot be opened.
    fn open(&self, path: &Path) -> Result<Box<dyn Read + Send>, Diagnostic>;

    /// Returns whether something has this path.
    fn exists(&self, path: &Path) -> bool;

    /// Returns the paths of everything in a folder, in any order.
    ///
    /// # Errors
    /// Returns an error if the folder cannot be read.
    fn folder(&self, path: &Path) -> Result<Vec<PathBuf>, Diagnostic>;

    /// Reads standard input, which the name `-` refers to, decompressed if it is compressed.
    ///
    /// # Errors
    /// Returns an error if there is nothing on it or more than `limit` bytes, or if there is no
    /// standard input, which is the default.
    fn stdin(&self, limit: u64) -> Result<Vec<u8>, Diagnostic> {
        let _ = limit;
        Err(Diagnostic::general(read::STDIN, "there is no standard input here").hint("name a file"))
    }
}

/// The files on disk. Only regular files are read. There is no standard input.
#[derive(Clone, Copy, Debug, Default)]
pub struct Disk;

impl Files for Disk {
    fn bytes(&self, path: &Path, limit: u64) -> Result<Vec<u8>, Diagnostic> {
        read::bytes(path, limit)
    }

    fn open(&self, path: &Path) -> Result<Box<dyn Read + Send>, Diagnostic> {
        read::open(path)
    }

    fn exists(&self, path: &Path) -> bool {
        path.exists()
    }

    fn folder(&self, path: &Path) -> Result<Vec<PathBuf>, Diagnostic> {
        let entries = fs::read_dir(path)
            .map_err(|error| Diagnostic::general(path.display().to_string(), error.to_string()))?;
        Ok(entries.filter_map(Result::ok).map(|entry| entry.path()).collect())
    }
}

/// Files in memory.
#[derive(Clone, Debug, Default)]
pub struct Memory(BTreeMap<PathBuf, Arc<[u8]>>);

impl Memory {
    /// Returns no files.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a file, or replaces the one with this path.
    #[must_use]
    pub fn with(mut self, path: impl AsRef<Path>, bytes: impl Into<Vec<u8>>) -> Self {
        self.0.insert(plain(path.as_ref()), bytes.into().into());
        self
    }

    fn file(&self, path: &Path) -> Result<&Arc<[u8]>, Diagnostic> {
        let missing = || Diagnostic::general(path.display().to_string(), "there is no such file");
        self.0.get(&plain(path)).ok_or_else(missing)
    }
}

impl Files for Memory {
    fn bytes(&self, path: &Path, limit: u64) -> Result<Vec<u8>, Diagnostic> {
        let bytes = self.file(path)?;
        match bytes.len() as u64 > limit {
            true => Err(read::too_large(path, bytes.len() as u64, limit)),
            false => Ok(bytes.to_vec()),
        }
    }

    fn open(&self, path: &Path) -> Result<Box<dyn Read + Send>, Diagnostic> {
        Ok(Box::new(io::Cursor::new(Arc::clone(self.file(path)?))))
    }

    fn exists(&self, path: &Path) -> bool {
        self.0.contains_key(&plain(path))
    }

    fn folder(&self, path: &Path) -> Result<Vec<PathBuf>, Diagnostic> {
        let folder = plain(path);
        let inside = self.0.keys().filter(|file| file.parent() == Some(&folder));
        Ok(inside.filter_map(|file| Some(path.join(file.file_name()?))).collect())
    }
}

/// Returns a path without `.` and `..`, as far as that is possible.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir if plain.file_name().is_some() => {
                plain.pop();
            }
            other => plain.push(other),
        }
    }
    plain
}
