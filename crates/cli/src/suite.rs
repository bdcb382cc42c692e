//! The embedded suite.

use warpbound_core::diag::Diagnostics;
use warpbound_core::program::launch::LaunchSpec;
use warpbound_judge::load::{EmbeddedFolder, Loader, is_program};

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
