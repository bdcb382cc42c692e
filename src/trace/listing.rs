//! What traces say of the instructions of a program.

use crate::base::Pc;

/// Source line and text of every instruction.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listing {
    instrs: Vec<(u32, String)>,
}

impl Listing {
    /// Of a program whose instructions, in order, have this line (from 1; 0 if unknown) and text.
    pub fn new(instrs: impl IntoIterator<Item = (u32, String)>) -> Self {
        Self { instrs: instrs.into_iter().collect() }
    }

    /// The line of an instruction; 0 if unknown.
    pub fn line(&self, pc: Pc) -> u32 {
        self.instrs.get(pc.index()).map_or(0, |(line, _)| *line)
    }

    /// The text of an instruction; empty if unknown.
    pub fn text(&self, pc: Pc) -> &str {
        self.instrs.get(pc.index()).map_or("", |(_, text)| text)
    }

    /// The texts, in program order.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        self.instrs.iter().map(|(_, text)| text.as_str())
    }
}
