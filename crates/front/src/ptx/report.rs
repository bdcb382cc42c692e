//! Collects the problems of a PTX file at bounded cost.
//!
//! Finding the column of a problem takes time proportional to the length of its line. To avoid
//! quadratic time for garbage without line breaks, only the first problems of a line are located;
//! the others are counted.

use warpbound_core::diag::{Diagnostic, Diagnostics, MAX_KEPT, SourceText};

use super::span::Span;

/// The maximum number of problems that are located per line.
const PER_LINE: u32 = 8;

/// Collects the problems of one source.
pub(super) struct Reporter<'a> {
    source: &'a SourceText,
    problems: Diagnostics,
    /// The byte range of the line of the latest problem.
    line: std::ops::Range<usize>,
    on_line: u32,
    /// The number of problems that were not located because their line had too many.
    skipped: u64,
}

impl<'a> Reporter<'a> {
    /// Creates a reporter without problems.
    pub fn new(source: &'a SourceText) -> Self {
        Self { source, problems: Diagnostics::new(), line: 0..0, on_line: 0, skipped: 0 }
    }

    /// Adds a problem at a location.
    pub fn error(&mut self, span: Span, message: impl Into<String>, hint: impl Into<String>) {
        if !self.line.contains(&(span.start as usize)) {
            let text = self.source.text().as_bytes();
            let at = (span.start as usize).min(text.len());
            // only problems that are kept need their line
            if self.problems.list().len() < MAX_KEPT {
                let start = text[..at].iter().rposition(|b| *b == b'\n').map_or(0, |i| i + 1);
                let end = text[at..].iter().position(|b| *b == b'\n').map_or(text.len(), |i| at + i);
                self.line = start..end + 1;
            }
            self.on_line = 0;
        }
        self.on_line += 1;
        if self.problems.list().len() >= MAX_KEPT {
            // beyond the limit a problem is only counted, so it needs no location
            self.problems.push(Diagnostic::general("", ""));
        } else if self.on_line > PER_LINE {
            self.skipped += 1;
        } else {
            self.problems.push(self.source.error(span.range(), message).hint(hint));
        }
    }

    /// Adds a problem of the file as a whole.
    pub fn general(&mut self, message: impl Into<String>, hint: impl Into<String>) {
        self.problems.push(Diagnostic::general(self.source.name(), message).hint(hint));
    }

    /// Returns all problems.
    pub fn finish(mut self) -> Diagnostics {
        if self.skipped > 0 {
            let message = format!("and {} more problems on the lines named above", self.skipped);
            self.problems.push(Diagnostic::general(self.source.name(), message));
        }
        self.problems
    }
}
