//! The place of an instruction in the source.

use serde::{Deserialize, Serialize};

/// The place of an instruction in the source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SourceLine {
    /// The index of the instruction in the program.
    pub pc: u32,
    /// The line in the source.
    pub line: u32,
    /// The text of the line.
    pub text: String,
}

impl SourceLine {
    /// Returns line and text in the form that tables show.
    pub fn shown(&self) -> String {
        format!("{}: {}", self.line, self.text)
    }
}
