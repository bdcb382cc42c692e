//! A plot of the page, which can also be written to a file.

/// A plot and its description.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plot {
    /// A name for the file.
    pub name: String,
    /// The title.
    pub title: String,
    /// How to read the plot.
    pub note: String,
    /// The SVG, in its own colours.
    pub svg: String,
}

/// Makes a name for a file.
pub(super) fn file_name(parts: &[&str]) -> String {
    let safe = |c: char| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '-' };
    parts.join("-").chars().map(safe).collect()
}
