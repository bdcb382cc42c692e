//! The files of the repository.

use std::path::{Path, PathBuf};

/// Returns every file below a folder of the repository whose name has this extension, sorted. Links
/// are left out, because their targets are in the repository, too.
pub fn below(folder: &str, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join(folder)];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_symlink() {
                continue;
            }
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|has| has == extension) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}
