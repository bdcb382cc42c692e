//! The source text of the instructions of a program, for traces.

use warpbound_core::base::Pc;

/// The source line and text of every instruction.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listing {
    instrs: Vec<(u32, String)>,
}

impl Listing {
    /// Creates a listing of a program whose instructions, in order, have this line (from 1; 0 if
    /// unknown) and text.
    #[inline]
    pub fn new(instrs: impl IntoIterator<Item = (u32, String)>) -> Self {
        Self { instrs: instrs.into_iter().collect() }
    }

    /// Returns the line of an instruction, or 0 if it is unknown.
    #[inline]
    pub fn line(&self, pc: Pc) -> u32 {
        self.instrs.get(pc.index()).map_or(0, |(line, _)| *line)
    }

    /// Returns the text of an instruction, or an empty text if it is unknown.
    #[inline]
    pub fn text(&self, pc: Pc) -> &str {
        self.instrs.get(pc.index()).map_or("", |(_, text)| text)
    }

    /// Returns the texts, in program order.
    #[inline]
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        self.instrs.iter().map(|(_, text)| text.as_str())
    }
}
