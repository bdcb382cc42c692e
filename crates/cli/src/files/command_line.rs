//! The files that a command line can name.

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use warpbound_core::diag::Diagnostic;
use warpbound_judge::load::read::{STDIN, unpacked};
use warpbound_judge::load::{Disk, Files, Loader};

/// Returns the loader for the files on disk and stdin.
pub fn loader() -> Loader {
    Loader::new(CommandLine)
}

/// The files on disk, and stdin.
#[derive(Clone, Copy, Debug)]
pub struct CommandLine;

impl Files for CommandLine {
    fn bytes(&self, path: &Path, limit: u64) -> Result<Vec<u8>, Diagnostic> {
        Disk.bytes(path, limit)
    }

    fn open(&self, path: &Path) -> Result<Box<dyn Read + Send>, Diagnostic> {
        Disk.open(path)
    }

    fn exists(&self, path: &Path) -> bool {
        Disk.exists(path)
    }

    fn folder(&self, path: &Path) -> Result<Vec<PathBuf>, Diagnostic> {
        Disk.folder(path)
    }

    fn stdin(&self, limit: u64) -> Result<Vec<u8>, Diagnostic> {
        let problem = |message: String| Diagnostic::general(STDIN, message);
        let mut bytes = Vec::new();
        io::stdin()
            .lock()
            .take(limit + 1)
            .read_to_end(&mut bytes)
            .map_err(|error| problem(format!("cannot read: {error}")))?;
        if bytes.is_empty() {
            return Err(problem("it is empty".to_owned())
                .hint("something has to be written to stdin, and `-` can be named once only"));
        }
        if bytes.len() as u64 > limit {
            return Err(problem(format!("more than {limit} bytes; no more are read")));
        }
        unpacked(bytes, limit, STDIN)
    }
}
