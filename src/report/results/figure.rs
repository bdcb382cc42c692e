//! A plot of the page, which is a file as well.

/// A plot, and what is to be said of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plot {
    /// A word for its file.
    pub name: String,
    /// What it shows.
    pub title: String,
    /// How it is to be read.
    pub note: String,
    /// SVG, in colours of its own.
    pub svg: String,
}

/// A name for a file.
pub(super) fn file_name(parts: &[&str]) -> String {
    let safe = |c: char| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '-' };
    parts.join("-").chars().map(safe).collect()
}
