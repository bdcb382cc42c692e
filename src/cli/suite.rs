//! The embedded suite.

use crate::diag::Diagnostics;
use crate::load::{EmbeddedFolder, Loader, is_program};
use crate::program::launch::LaunchSpec;

/// Returns the names of the embedded launches with `suite: true`.
pub fn suite_kernels() -> Result<Vec<String>, Diagnostics> {
    let mut names = Vec::new();
    for (name, location) in Loader::embedded(EmbeddedFolder::Kernels) {
        if location.extension() != "ron" {
            continue;
        }
        let source = location.text()?;
        if !is_program(&source) && LaunchSpec::parse(&source)?.suite {
            names.push(name);
        }
    }
    Ok(names)
}
