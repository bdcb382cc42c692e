//! Diagnostics: what is wrong, where, and how to fix it.
//!
//! Every front end collects all problems of a file in one [`Diagnostics`] and returns them
//! together. This module prints nothing; the command line selects text or JSON.

mod place;
mod printable;
mod ron;
mod ron_words;
mod similar;
mod stated;

pub use place::{Place, Step, Texts};
pub use printable::{
    is_active, printable, printable_in_colour, printable_json, printable_markup, printable_name,
};
pub use ron::{from_ron, from_ron_stated, to_ron, unique_keys};
pub use ron_words::description as ron_problem;
pub use similar::closest;
pub use stated::Stated;

use std::fmt;

/// The maximum number of problems of one input that are kept. Ten megabytes of garbage do not need
/// ten million messages; further problems are only counted.
pub const MAX_KEPT: usize = 200;

/// A text with its name, which converts byte offsets to lines and columns.
#[derive(Clone, Debug)]
pub struct SourceText {
    name: String,
    text: String,
    line_starts: Vec<usize>,
}

impl SourceText {
    /// Creates a source text; `name` is the file name in messages.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Self {
        let text = text.into();
        let line_starts =
            std::iter::once(0).chain(memchr::memchr_iter(b'\n', text.as_bytes()).map(|i| i + 1)).collect();
        Self { name: name.into(), text, line_starts }
    }

    /// Returns the file name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the whole text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the line and column of a byte offset, both from 1. Columns count characters.
    pub fn position(&self, offset: usize) -> (u32, u32) {
        let offset = offset.min(self.text.len());
        let line = self.line_starts.partition_point(|&start| start <= offset) - 1;
        let start = self.line_starts[line];
        let column = String::from_utf8_lossy(&self.text.as_bytes()[start..offset]).chars().count();
        (clamp(line + 1), clamp(column + 1))
    }

    /// Returns a line (from 1) without its end; empty if there is none.
    pub fn line(&self, line: u32) -> &str {
        let index = line as usize;
        if index == 0 || index > self.line_starts.len() {
            return "";
        }
        let start = self.line_starts[index - 1];
        let end = self.line_starts.get(index).copied().unwrap_or(self.text.len());
        self.text[start..end].trim_end_matches(['\n', '\r'])
    }

    /// Creates a diagnostic at a byte range of this text.
    pub fn error(&self, range: std::ops::Range<usize>, message: impl Into<String>) -> Diagnostic {
        let (line, column) = self.position(range.start);
        let width = self.text.get(range).map_or(1, |t| t.chars().take_while(|c| *c != '\n').count().max(1));
        Diagnostic {
            file: self.name.clone(),
            line,
            column,
            width: clamp(width),
            excerpt: excerpt(self.line(line)),
            message: message.into(),
            hint: String::new(),
        }
    }

    /// Creates a diagnostic at the first occurrence of `needle` as a whole word (line 1 if there is
    /// none). If a path such as `launch.end` does not occur literally, its parts are searched one
    /// after the other. This is for checks after parsing, when only the name of the setting is
    /// known.
    pub fn error_at(&self, needle: &str, message: impl Into<String>) -> Diagnostic {
        match self.word(needle, 0) {
            Some(place) => self.error(place, message),
            None => self.error_along(&needle.split('.').collect::<Vec<_>>(), message),
        }
    }

    /// Creates a diagnostic at the last word of `path` that the text contains, where each word is
    /// searched after the previous one. If the text contains none of them, the joined path is
    /// searched literally.
    pub fn error_along(&self, path: &[&str], message: impl Into<String>) -> Diagnostic {
        let mut found = None;
        for part in path {
            let from = found.as_ref().map_or(0, |place: &std::ops::Range<usize>| place.end);
            found = self.word(part, from).or(found);
        }
        let needle = path.join(".");
        let anywhere = || self.text.find(&needle).map(|at| at..at + needle.len());
        self.error(found.or_else(anywhere).unwrap_or(0..needle.len()), message)
    }

    /// Returns the first occurrence of a whole word at or after `from` that is not in a comment.
    fn word(&self, word: &str, from: usize) -> Option<std::ops::Range<usize>> {
        let inner = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
        let places = self.text[from..].match_indices(word).map(|(at, _)| from + at..from + at + word.len());
        places.into_iter().find(|place| {
            !inner(self.text[..place.start].chars().next_back())
                && !inner(self.text[place.end..].chars().next())
                && !self.is_comment(place.start)
        })
    }

    /// Returns whether the offset is after a `//` in its line.
    fn is_comment(&self, offset: usize) -> bool {
        let start = self.text[..offset].rfind('\n').map_or(0, |newline| newline + 1);
        self.text[start..offset].contains("//")
    }
}

fn clamp(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

/// Returns the beginning of a line, since a line of garbage can be megabytes long.
fn excerpt(line: &str) -> String {
    const SHOWN: usize = 160;
    // each character becomes exactly one character, so that the carets stay aligned
    let clean = |c: char| if is_active(c) || c == '\n' { '\u{fffd}' } else { c };
    let mut text: String = line.chars().take(SHOWN).map(clean).collect();
    if line.chars().nth(SHOWN).is_some() {
        text.push_str(" ...");
    }
    text
}

/// Truncates a text that quotes the input to a reasonable length for messages.
pub fn shortened(text: &str) -> String {
    const SHOWN: usize = 300;
    let mut short: String = text.chars().take(SHOWN).collect();
    if text.chars().nth(SHOWN).is_some() {
        short.push_str(" ...");
    }
    short
}

/// A problem of an input.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Diagnostic {
    /// The file, or the name of the input if it is not a file (`--set`, `launch`).
    pub file: String,
    /// The line from 1; 0 if the input has no lines.
    pub line: u32,
    /// The column from 1; 0 if there is none.
    pub column: u32,
    /// The number of characters that the problem spans.
    pub width: u32,
    /// The text of the line.
    pub excerpt: String,
    /// The description of the problem.
    pub message: String,
    /// A hint how to fix it; may be empty.
    pub hint: String,
}

impl Diagnostic {
    /// Creates a problem of an input that has no lines.
    pub fn general(file: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            file: file.into(),
            line: 0,
            column: 0,
            width: 0,
            excerpt: String::new(),
            message: message.into(),
            hint: String::new(),
        }
    }

    /// Sets the hint.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = hint.into();
        self
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "error: {}", printable(&self.message))?;
        if self.line == 0 {
            writeln!(f, "  --> {}", printable_name(&self.file))?;
        } else {
            writeln!(f, "  --> {}:{}:{}", printable_name(&self.file), self.line, self.column)?;
            let number = self.line.to_string();
            let pad = " ".repeat(number.len());
            writeln!(f, " {pad} |")?;
            writeln!(f, " {number} | {}", self.excerpt)?;
            let before: String = self
                .excerpt
                .chars()
                .take(self.column.saturating_sub(1) as usize)
                .map(|c| if c == '\t' { '\t' } else { ' ' })
                .collect();
            let shown = self.excerpt.chars().count().saturating_sub(before.chars().count());
            let carets = (self.width as usize).clamp(1, shown.max(1));
            writeln!(f, " {pad} | {before}{}", "^".repeat(carets))?;
        }
        if !self.hint.is_empty() {
            writeln!(f, "  = hint: {}", printable(&self.hint))?;
        }
        Ok(())
    }
}

/// All problems of an input; as an `Err` it contains at least one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diagnostics {
    list: Vec<Diagnostic>,
    dropped: usize,
}

impl Diagnostics {
    /// Creates an empty list.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a problem; beyond [`MAX_KEPT`] problems are only counted.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        if self.list.len() < MAX_KEPT {
            self.list.push(diagnostic);
        } else {
            self.dropped += 1;
        }
    }

    /// Adds all problems of `other`.
    pub fn append(&mut self, other: Self) {
        self.dropped += other.dropped;
        for diagnostic in other.list {
            self.push(diagnostic);
        }
    }

    /// Applies a function to each problem, for callers that have more information about its
    /// location.
    #[must_use]
    pub fn map(mut self, change: impl FnMut(Diagnostic) -> Diagnostic) -> Self {
        self.list = self.list.into_iter().map(change).collect();
        self
    }

    /// Adds the excerpt of the text to problems of that file that only have a line number.
    #[must_use]
    pub fn with_excerpts(mut self, source: &SourceText) -> Self {
        for problem in
            self.list.iter_mut().filter(|p| p.file == source.name() && p.excerpt.is_empty() && p.line > 0)
        {
            let line = source.line(problem.line);
            let code = line.trim_start();
            problem.excerpt = excerpt(line);
            problem.column = clamp(line.chars().count() - code.chars().count() + 1);
            problem.width = clamp(code.trim_end().chars().count().max(1));
        }
        self
    }

    /// Returns whether there are no problems.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Returns the problems that were kept.
    pub fn list(&self) -> &[Diagnostic] {
        &self.list
    }

    /// Returns the message of the first problem; empty if there is none.
    pub fn first_message(&self) -> String {
        self.list.first().map_or_else(String::new, |problem| problem.message.clone())
    }

    /// Returns the number of problems that were only counted.
    pub fn dropped(&self) -> usize {
        self.dropped
    }

    /// Returns `value` if there are no problems, else the problems.
    pub fn into_result<T>(self, value: T) -> Result<T, Self> {
        if self.is_empty() { Ok(value) } else { Err(self) }
    }
}

impl From<Diagnostic> for Diagnostics {
    fn from(diagnostic: Diagnostic) -> Self {
        Self { list: vec![diagnostic], dropped: 0 }
    }
}

impl fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, diagnostic) in self.list.iter().enumerate() {
            if index > 0 {
                writeln!(f)?;
            }
            diagnostic.fmt(f)?;
        }
        if self.dropped > 0 {
            writeln!(f, "\n... and {} more errors", self.dropped)?;
        }
        Ok(())
    }
}

impl std::error::Error for Diagnostics {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_lines_and_characters() {
        let source = SourceText::new("x", "ab\ncäd\n");
        assert_eq!(source.position(0), (1, 1));
        assert_eq!(source.position(3), (2, 1));
        assert_eq!(source.position(6), (2, 3));
        assert_eq!(source.position(99), (3, 1));
        assert_eq!(source.line(2), "cäd");
        let shown = source.error(6..7, "bad").hint("better").to_string();
        assert!(
            shown.contains("x:2:3") && shown.contains("  ^") && shown.contains("hint: better"),
            "{shown}"
        );
    }

    #[test]
    fn map_changes_every_problem() {
        let mut problems = Diagnostics::new();
        (0..MAX_KEPT + 3).for_each(|_| problems.push(Diagnostic::general("x", "bad")));
        let changed = problems.map(|problem| problem.hint("better"));
        assert_eq!((changed.list().len(), changed.dropped()), (MAX_KEPT, 3));
        assert!(changed.list().iter().all(|problem| problem.hint == "better"));
    }

    #[test]
    fn problems_beyond_the_cap_are_counted() {
        let mut all = Diagnostics::new();
        for i in 0..MAX_KEPT + 7 {
            all.push(Diagnostic::general("f", i.to_string()));
        }
        assert_eq!((all.list().len(), all.dropped()), (MAX_KEPT, 7));
    }
}
