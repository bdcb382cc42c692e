//! The options of `list`.

use crate::format::Format;

#[derive(Debug, clap::Args)]
pub struct List {
    /// What to list: kernels, machines, plans, policies or bounds; and words to search for
    ///
    /// Only lines with every word in the name or the description are listed. The case of letters
    /// does not matter [default: list everything]
    #[arg(value_name = "KIND|WORD")]
    pub words: Vec<String>,
    /// Form of the output
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
}
