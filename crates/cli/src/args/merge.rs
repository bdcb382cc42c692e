//! The options of `merge`.

use std::path::PathBuf;

use crate::format::Format;

#[derive(Debug, clap::Args)]
pub struct Merge {
    /// Folders that `sweep` or `merge` wrote, all of one plan
    #[arg(required = true, value_name = "DIR")]
    pub folders: Vec<PathBuf>,
    /// Folder for the merged results; results of the same plan in it are kept
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    /// Form of the output
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
}
