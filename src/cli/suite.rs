//! The embedded suite.

use super::applications;
use super::assets;
use crate::diag::Diagnostics;
use crate::program::launch::LaunchSpec;

/// Returns the names of the embedded launches with `suite: true`.
pub fn suite_kernels() -> Result<Vec<String>, Diagnostics> {
    let mut names = Vec::new();
    for (name, location) in assets::kernels() {
        if location.extension() != "ron" {
            continue;
        }
        let source = location.text()?;
        if !applications::is_program(&source) && LaunchSpec::parse(&source)?.suite {
            names.push(name);
        }
    }
    Ok(names)
}
