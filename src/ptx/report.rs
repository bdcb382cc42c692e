//! Collecting problems of a PTX file at bounded cost.
//!
//! Finding the column of a problem takes time proportional to its line. Ten megabytes of garbage
//! without a line break must not cost ten million times ten megabytes, so only the first problems
//! of a line are located; the others are counted.

use crate::diag::{Diagnostic, Diagnostics, MAX_KEPT, SourceText};

use super::span::Span;

/// Problems that are located per line.
const PER_LINE: u32 = 8;

/// Collects the problems of one source.
pub(super) struct Reporter<'a> {
    source: &'a SourceText,
    problems: Diagnostics,
    /// Byte range of the line of the latest problem and how many were located on it.
    line: std::ops::Range<usize>,
    on_line: u32,
    /// Problems not located because their line had its share.
    skipped: u64,
}

impl<'a> Reporter<'a> {
    /// Nothing wrong yet.
    pub fn new(source: &'a SourceText) -> Self {
        Self { source, problems: Diagnostics::new(), line: 0..0, on_line: 0, skipped: 0 }
    }

    /// Adds a problem at a place.
    pub fn error(&mut self, span: Span, message: impl Into<String>, hint: impl Into<String>) {
        if !self.line.contains(&(span.start as usize)) {
            let text = self.source.text().as_bytes();
            let at = (span.start as usize).min(text.len());
            // only problems that are kept are worth looking for their line
            if self.problems.list().len() < MAX_KEPT {
                let start = text[..at].iter().rposition(|b| *b == b'\n').map_or(0, |i| i + 1);
                let end = text[at..].iter().position(|b| *b == b'\n').map_or(text.len(), |i| at + i);
                self.line = start..end + 1;
            }
            self.on_line = 0;
        }
        self.on_line += 1;
        if self.problems.list().len() >= MAX_KEPT {
            // beyond the cap it is only counted, so it needs no place
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

    /// Everything that is wrong.
    pub fn finish(mut self) -> Diagnostics {
        if self.skipped > 0 {
            let message = format!("and {} more problems on the lines named above", self.skipped);
            self.problems.push(Diagnostic::general(self.source.name(), message));
        }
        self.problems
    }
}
