//! The option `--format`.

/// The form of the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// Text for people.
    Text,
    /// JSON for scripts: one object and nothing else on stdout.
    Json,
    /// Comma-separated values, after a line with the names of the columns; --table selects the table
    Csv,
}

impl Format {
    /// Returns whether people read the output, so that drawings, excerpts and remarks may follow.
    pub const fn is_for_people(self) -> bool {
        match self {
            Self::Text => true,
            Self::Json | Self::Csv => false,
        }
    }
}
