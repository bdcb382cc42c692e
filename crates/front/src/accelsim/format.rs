//! The format of the lines of a trace, which follows from its header.

use super::header::{Header, REFERENCES};

/// The format of the lines of a file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Format {
    /// The number of words before the program counter.
    pub(super) before: usize,
    /// The end of the lines.
    pub(super) tail: Tail,
}

impl Format {
    pub(super) fn of(header: &Header) -> Self {
        // tracers before version 3 begin each line with block and warp
        let place = if header.tracer < 3 { 4 } else { 0 };
        let core = if header.core_numbers { 2 } else { 0 };
        Self { before: place + core + usize::from(header.line_numbers), tail: Tail::of(header) }
    }

    /// Returns a format with nothing before the program counter.
    #[cfg(test)]
    pub(super) fn ending(tail: Tail) -> Self {
        Self { before: 0, tail }
    }
}

/// The end of the lines of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tail {
    /// One immediate or nothing follows.
    One,
    /// Up to two immediates follow.
    Two,
    /// Immediates and the values of registers follow.
    Values,
    /// Two immediates and a description of the memory reference follow.
    References,
    /// The version is unknown, and any of these may follow.
    Newer,
}

impl Tail {
    pub(super) fn of(header: &Header) -> Self {
        match header.tracer {
            0..=4 => Self::One,
            5 => Self::Two,
            6 => Self::Values,
            REFERENCES if header.is_known() => Self::References,
            _ => Self::Newer,
        }
    }
}
