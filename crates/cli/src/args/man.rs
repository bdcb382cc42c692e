//! The options of `man`.

use std::path::PathBuf;

use super::Writing;

#[derive(Debug, clap::Args)]
pub struct Man {
    /// Write a page for every command into DIR [default: one page on stdout]
    pub dir: Option<PathBuf>,
    #[command(flatten)]
    pub writing: Writing,
}
