//! The text of a configuration: `-option value`, comments from `#` to the end of the line.

use std::ops::Range;

use crate::diag::{Diagnostics, SourceText};

/// An option with its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Given {
    /// With the dash.
    pub name: String,
    /// Its words, with a space between them.
    pub value: String,
    /// Which of the files.
    pub source: usize,
    /// Where the value stands.
    pub range: Range<usize>,
}

impl Given {
    pub fn place(&self, sources: &[SourceText]) -> (String, u32) {
        let source = &sources[self.source];
        (source.name().to_owned(), source.position(self.range.start).0)
    }
}

/// Every option of the files, in order.
///
/// # Errors
/// Values that no option stands before, and options without a value.
pub(super) fn read(sources: &[SourceText]) -> Result<Vec<Given>, Diagnostics> {
    let mut all: Vec<Given> = Vec::new();
    let mut problems = Diagnostics::new();
    for (number, source) in sources.iter().enumerate() {
        let first = all.len();
        for (range, word) in words(source.text()) {
            if is_name(word) {
                all.push(Given { name: word.to_owned(), value: String::new(), source: number, range });
            } else if let Some(option) = all[first..].last_mut() {
                if option.value.is_empty() {
                    option.range = range;
                } else {
                    option.value.push(' ');
                    option.range.end = range.end;
                }
                option.value.push_str(word);
            } else {
                let problem = source.error(range, "a value before any option");
                problems.push(
                    problem.hint("a configuration has `-option value`, such as `-gpgpu_n_clusters 46`"),
                );
                break;
            }
        }
        for option in &all[first..] {
            if option.value.is_empty() {
                let problem = source.error(option.range.clone(), format!("{} has no value", option.name));
                problems.push(problem);
            }
        }
        if all.len() == first && problems.is_empty() {
            let problem = source.error(0..1, "there is no option in it");
            problems
                .push(problem.hint("a configuration has `-option value`, such as `-gpgpu_n_clusters 46`"));
        }
    }
    problems.into_result(all)
}

/// A dash and a letter: numbers may be negative.
fn is_name(word: &str) -> bool {
    let mut letters = word.chars();
    letters.next() == Some('-') && letters.next().is_some_and(|c| c.is_ascii_alphabetic())
}

/// The words outside comments, with their places.
fn words(text: &str) -> impl Iterator<Item = (Range<usize>, &str)> {
    let mut start = 0;
    text.split_inclusive('\n').flat_map(move |line| {
        let base = start;
        start += line.len();
        let code = line.split('#').next().unwrap_or("");
        let mut from = 0;
        std::iter::from_fn(move || {
            let rest = &code[from..];
            let begin = from + rest.find(|c: char| !c.is_whitespace())?;
            let end = code[begin..].find(char::is_whitespace).map_or(code.len(), |length| begin + length);
            from = end;
            Some((base + begin..base + end, &code[begin..end]))
        })
    })
}
