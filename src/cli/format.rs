//! The option `--format`.

/// The form of the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// Text for people.
    Text,
    /// JSON for scripts: one object and nothing else on stdout.
    Json,
}
