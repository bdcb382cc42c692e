//! Locations of values in a RON text, found after the text has been parsed.
//!
//! Serde does not retain positions. Checks that need a whole file therefore identify a value by its
//! path from the root, and the text is searched for it when a diagnostic is created.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use super::{Diagnostic, SourceText};

/// One step of a path from a value to one inside it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// The value of a field or key.
    Field(Cow<'static, str>),
    /// The element of a list or tuple, or the field of a struct, with this index in the text.
    Item(usize),
}

impl Step {
    /// Returns the step to the value of a field or key.
    pub fn field(name: impl Into<Cow<'static, str>>) -> Self {
        Self::Field(name.into())
    }
}

/// A file, and options of the command line that replace some of its values.
#[derive(Clone, Debug)]
pub struct Texts {
    file: SourceText,
    /// The path of each replaced value and the text that replaces it; later entries override
    /// earlier ones.
    replaced: Vec<(Vec<Step>, SourceText)>,
    /// The entries of the file's lists, which are cached because lists are long and queried element
    /// by element.
    entries: Entries,
}

/// The location of a value in [`Texts`].
#[derive(Clone, Debug)]
pub struct Place<'a> {
    texts: &'a Texts,
    path: Vec<Step>,
}

impl Texts {
    /// Creates the texts of a file without replacements.
    pub fn new(file: SourceText) -> Self {
        Self { file, replaced: Vec::new(), entries: Entries::default() }
    }

    /// Replaces a value by another text.
    pub fn replace(&mut self, path: Vec<Step>, by: SourceText) {
        self.replaced.push((path, by));
    }

    /// Returns the location of the outermost value.
    pub fn root(&self) -> Place<'_> {
        Place { texts: self, path: Vec::new() }
    }

    /// Returns the file.
    pub fn file(&self) -> &SourceText {
        &self.file
    }
}

impl Place<'_> {
    fn with(&self, step: Step) -> Self {
        let mut path = Vec::with_capacity(self.path.len() + 1);
        path.extend_from_slice(&self.path);
        path.push(step);
        Self { texts: self.texts, path }
    }

    /// Returns the location of a field of this value.
    pub fn field(&self, name: impl Into<Cow<'static, str>>) -> Self {
        self.with(Step::field(name))
    }

    /// Returns the location of an element of this value.
    pub fn item(&self, index: usize) -> Self {
        self.with(Step::Item(index))
    }

    /// Creates a diagnostic at this value or, if the text does not contain it, at the innermost
    /// enclosing value.
    pub fn error(&self, message: impl Into<String>) -> Diagnostic {
        let replacement = self.texts.replaced.iter().rev().find(|(path, _)| self.path.starts_with(path));
        let uncached = Entries::default();
        let (source, path, entries) = match replacement {
            Some((replaced, source)) => (source, &self.path[replaced.len()..], &uncached),
            None => (&self.texts.file, self.path.as_slice(), &self.texts.entries),
        };
        source.error(find_with(source.text(), path, entries), message)
    }
}

/// A cache of the offsets of list entries in one text, by the offset of the list.
#[derive(Debug, Default)]
struct Entries(Mutex<HashMap<usize, Arc<[usize]>>>);

impl Clone for Entries {
    fn clone(&self) -> Self {
        // a copy begins with an empty cache
        Self::default()
    }
}

impl Entries {
    /// Returns the offsets of the entries of the list or tuple at `at`.
    fn offsets(&self, text: &str, at: usize) -> Arc<[usize]> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let found = || entries(text, at).map(|(_, value)| value).collect();
        known.entry(at).or_insert_with(found).clone()
    }
}

/// Returns the range of a value, or of the innermost enclosing value that the text contains.
#[cfg(test)]
pub fn find(text: &str, path: &[Step]) -> Range<usize> {
    find_with(text, path, &Entries::default())
}

fn find_with(text: &str, path: &[Step], known: &Entries) -> Range<usize> {
    let mut start = blank(text, 0);
    for step in path {
        let inside = match step {
            Step::Item(wanted) => known.offsets(text, start).get(*wanted).copied(),
            Step::Field(name) => {
                let named = |(key, value): (Option<&str>, usize)| {
                    key.filter(|key| key.trim_matches('"') == name).map(|_| value)
                };
                entries(text, start).find_map(named)
            }
        };
        match inside {
            Some(inside) => start = inside,
            None => break,
        }
    }
    start..value_end(text, start)
}

/// Returns the entries of the value at `at` in order: the name of a field or key, and the offset of
/// its value.
fn entries(text: &str, at: usize) -> impl Iterator<Item = (Option<&str>, usize)> {
    let open = blank(text, word_end(text, at));
    let is_open = text[open..].starts_with(['(', '[', '{']);
    let mut at = if is_open { blank(text, open + 1) } else { text.len() };
    let mut passed: Option<usize> = None;
    std::iter::from_fn(move || {
        // evaluated lazily, since a value can be long and the last one that is needed
        if let Some(value) = passed {
            at = blank(text, value_end(text, value));
            if text[at..].starts_with(',') {
                at = blank(text, at + 1);
            }
        }
        if at >= text.len() || text[at..].starts_with([')', ']', '}']) {
            return None;
        }
        let key = &text[at..value_end(text, at)];
        let colon = blank(text, at + key.len());
        let named = text[colon..].starts_with(':') && !text[colon..].starts_with("::");
        let value = if named { blank(text, colon + 1) } else { at };
        passed = Some(value);
        Some((named.then_some(key), value))
    })
}

/// Returns the offset after white space, comments and `#![..]`.
fn blank(text: &str, mut at: usize) -> usize {
    loop {
        let rest = &text[at..];
        let skipped = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |end| end + 2)
        } else if rest.starts_with("#![") {
            rest.find(']').map_or(rest.len(), |end| end + 1)
        } else {
            rest.len() - rest.trim_start().len()
        };
        if skipped == 0 {
            return at;
        }
        at += skipped;
    }
}

/// Returns the offset after a name or number, if there is one.
fn word_end(text: &str, at: usize) -> usize {
    let inner = |c: char| c.is_alphanumeric() || "_.+-#".contains(c);
    at + text[at..].find(|c| !inner(c)).unwrap_or(text.len() - at)
}

/// Returns the offset after the value that starts here: at least one character further, unless the
/// text ends.
fn value_end(text: &str, at: usize) -> usize {
    let word = word_end(text, at);
    let next = if word > at { blank(text, word) } else { at };
    let end = match text[next..].chars().next() {
        Some('(') => group_end(text, next),
        Some('[' | '{') if word == at => group_end(text, next),
        Some('"') if word == at || &text[at..next] == "r" => string_end(text, next),
        _ => word,
    };
    let least = text[at..].chars().next().map_or(at, |c| at + c.len_utf8());
    end.max(least)
}

/// Returns the offset after the matching closing bracket.
fn group_end(text: &str, open: usize) -> usize {
    let mut depth = 0usize;
    let mut at = open;
    while let Some(c) = text[at..].chars().next() {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' if depth == 1 => return at + 1,
            ')' | ']' | '}' => depth -= 1,
            '"' => {
                at = string_end(text, at);
                continue;
            }
            _ => {}
        }
        let past = blank(text, at);
        at = if past > at { past } else { at + c.len_utf8() };
    }
    text.len()
}

/// Returns the offset after the matching closing quote.
fn string_end(text: &str, open: usize) -> usize {
    let mut escaped = false;
    for (at, c) in text[open + 1..].char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return open + at + 2,
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"// Launch(args: [1])
#![enable(implicit_some)]
Launch(
    module: "a, (b).ptx", /* args: [0], */ grid: (4, "n*2", 1),
    args: [ Buffer(name: "a\"]", init: Values([1, -2.5])), Ptr("a", 64), U32 (7) ],
    let: { "n": 4, "m" : "n" },
)"#;

    fn at(path: &[&str]) -> &'static str {
        let step = |s: &&str| s.parse().map_or_else(|_| Step::field((*s).to_owned()), Step::Item);
        let path: Vec<Step> = path.iter().map(step).collect();
        &TEXT[find(TEXT, &path)]
    }

    #[test]
    fn values_are_found_again() {
        assert_eq!(at(&["grid"]), "(4, \"n*2\", 1)");
        assert_eq!(at(&["grid", "1"]), "\"n*2\"");
        assert_eq!(at(&["args", "0", "init"]), "Values([1, -2.5])");
        assert_eq!(at(&["args", "0", "init", "0", "1"]), "-2.5");
        assert_eq!(at(&["args", "1", "1"]), "64");
        assert_eq!(at(&["args", "2"]), "U32 (7)");
        assert_eq!(at(&["let", "m"]), "\"n\"");
        assert_eq!(at(&["1"]), "(4, \"n*2\", 1)");
        // a missing value is shown by the innermost enclosing value
        assert_eq!(at(&["args", "1", "9"]), "Ptr(\"a\", 64)");
        assert!(at(&["block"]).starts_with("Launch(\n    module"));
    }

    #[test]
    fn no_text_causes_a_panic() {
        for cut in 0..TEXT.len() {
            for path in [vec![Step::Field("let".into())], vec![Step::Item(4), Step::Item(2), Step::Item(0)]] {
                let found = find(&TEXT[..cut], &path);
                assert!(found.start <= found.end && found.end <= cut);
                find(&TEXT[cut..], &path);
            }
        }
        assert_eq!(find("", &[Step::Item(0)]), 0..0);
        assert_eq!(find("é(", &[Step::Item(0)]), 0..3);
    }

    #[test]
    fn options_replace_values_of_the_file() {
        let mut texts = Texts::new(SourceText::new("k.ron", TEXT));
        let path = vec![Step::Field("args".into()), Step::Item(1)];
        texts.replace(path, SourceText::new("--arg 1=Ptr(\"b\")", "Ptr(\"b\")"));
        let args = texts.root().field("args");
        assert_eq!(args.item(1).item(0).error("x").file, "--arg 1=Ptr(\"b\")");
        assert_eq!(args.item(1).item(0).error("x").column, 5);
        assert_eq!((args.item(2).error("x").line, args.item(2).error("x").column), (5, 74));
    }
}
