//! The options of `explain`.

use crate::format::Format;

#[derive(Debug, clap::Args)]
pub struct Explain {
    /// The term: a policy, bound, stall reason, unit, test or setting, or a word of the glossary
    ///
    /// Upper and lower case are alike, and so are spaces, hyphens and underscores. A setting is named
    /// by its path, as --set accepts it, or by the last part of the path. A name of several kinds is
    /// explained for each of them [default: list all terms]
    pub term: Vec<String>,
    /// Form of the output
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
}
