//! The options of `list`.

use crate::format::Format;

#[derive(Debug, clap::Args)]
pub struct List {
    /// Form of the output
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
}
