//! The options of `import-config`.

use std::path::PathBuf;

use super::Writing;
use crate::format::Format;

#[derive(Debug, clap::Args)]
pub struct ImportConfig {
    /// gpgpusim.config or - for stdin, and files that override it, such as trace.config for traces
    ///
    /// The order matters: if an option is given several times, in one file or in several, the last
    /// one counts. trace.config contains the latencies of machine code, for traces.
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<String>,
    /// Name of the machine [default: that of the file; its folder for gpgpusim.config]
    #[arg(long)]
    pub name: Option<String>,
    /// Write the machine to FILE instead of standard output
    #[arg(long, value_name = "FILE", conflicts_with = "format")]
    pub out: Option<PathBuf>,
    #[command(flatten)]
    pub writing: Writing,
    /// Form of the output
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
}
