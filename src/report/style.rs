//! Colour and width, as the reader has them.

use crate::check::Status;

/// How to write for the reader.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Style {
    /// Emit ANSI colours.
    pub colour: bool,
    /// Characters of a line; unlimited where nothing wraps.
    pub width: Option<usize>,
}

impl Style {
    /// A status word in its colour.
    pub fn status(self, status: Status) -> String {
        match status {
            Status::Holds => self.paint("32", status.name()),
            Status::Violated => self.paint("1;31", "VIOLATED"),
            Status::NotApplicable => self.paint("33", status.name()),
        }
    }

    /// A heading.
    pub fn strong(self, text: &str) -> String {
        self.paint("1", text)
    }

    fn paint(self, code: &str, text: &str) -> String {
        if self.colour { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }
}
