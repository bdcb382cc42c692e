//! Text or JSON.

/// Form of the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// For people.
    Text,
    /// For scripts: one object on stdout and nothing else there.
    Json,
}
