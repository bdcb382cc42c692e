//! An instruction in the source.

use serde::{Deserialize, Serialize};

/// An instruction in the source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Place {
    /// Its number in the program.
    pub pc: u32,
    /// Its line.
    pub line: u32,
    /// Its text.
    pub text: String,
}

impl Place {
    /// Line and text, as tables show it.
    pub fn shown(&self) -> String {
        format!("{}: {}", self.line, self.text)
    }
}
