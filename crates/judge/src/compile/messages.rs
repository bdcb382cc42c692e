//! Messages of compilers, read into diagnostics.
//!
//! clang states a place as `FILE:LINE:COLUMN`, NVIDIA's compilers as `FILE(LINE)`. After a message
//! there is usually the line of the source, and a line with a caret under the place in it.

use warpbound_core::diag::{Diagnostic, Diagnostics, SourceText};

/// The most notes that a hint contains.
const NOTES: usize = 3;

/// The words that state how severe a message is.
const SEVERITIES: [(&str, Severity); 7] = [
    ("fatal error", Severity::Error),
    ("catastrophic error", Severity::Error),
    ("internal error", Severity::Error),
    ("error", Severity::Error),
    ("warning", Severity::Warning),
    ("remark", Severity::Note),
    ("note", Severity::Note),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Severity {
    Error,
    Warning,
    Note,
}

/// The messages of a compiler.
#[derive(Debug, Default)]
pub struct Messages {
    /// The errors.
    pub errors: Diagnostics,
    /// The warnings, each with its place.
    pub warnings: Vec<String>,
}

/// A message with a place.
struct Message<'a> {
    severity: Severity,
    file: &'a str,
    line: u32,
    /// The column, or 0 if only a caret shows it.
    column: u32,
    text: &'a str,
}

/// Reads the messages of a compiler about a source and the files that it includes.
pub fn read(log: &str, source: &SourceText) -> Messages {
    let lines: Vec<&str> = log.lines().collect();
    let mut errors: Vec<(Diagnostic, Vec<String>)> = Vec::new();
    let mut read = Messages::default();
    let mut last = None;
    for (at, line) in lines.iter().enumerate() {
        let Some(message) = message(line) else { continue };
        match message.severity {
            Severity::Error => errors.push((diagnostic(&message, &lines[at + 1..], source), Vec::new())),
            Severity::Warning => {
                read.warnings.push(format!("{}:{}: {}", message.file, message.line, message.text));
            }
            // a note belongs to the message before it
            Severity::Note if last == Some(Severity::Error) => {
                if let Some((_, notes)) = errors.last_mut() {
                    notes.push(format!("{}:{}: {}", message.file, message.line, message.text));
                }
                continue;
            }
            Severity::Note => continue,
        }
        last = Some(message.severity);
    }
    for (problem, notes) in errors {
        let notes: Vec<String> = notes.into_iter().take(NOTES).collect();
        read.errors.push(problem.hint(notes.join("; ")));
    }
    read
}

/// Returns whether the messages say that the compiler does not know the architecture.
pub fn is_unknown_arch(log: &str) -> bool {
    let log = log.to_ascii_lowercase();
    let words = [
        "unsupported cuda gpu architecture",
        "unsupported gpu architecture",
        "invalid value for --gpu-architecture",
        "unknown target cpu 'sm_",
        "does not support the specified gpu",
    ];
    words.iter().any(|words| log.contains(words))
}

/// Returns the message in a line, if there is one with a place.
fn message(line: &str) -> Option<Message<'_>> {
    let found = SEVERITIES.iter().filter_map(|(word, severity)| {
        let at = line.find(&format!(": {word}"))?;
        let rest = &line[at + 2 + word.len()..];
        // NVIDIA's compilers state the number of a message, as in `warning #177-D: `
        let text = match rest.strip_prefix(" #") {
            Some(numbered) => numbered.split_once(": ")?.1,
            None => rest.strip_prefix(": ")?,
        };
        Some((at, *severity, text))
    });
    let (at, severity, text) = found.min_by_key(|(at, ..)| *at)?;
    let place = &line[..at];
    if let Some((file, number)) = place.strip_suffix(')').and_then(|place| place.rsplit_once('(')) {
        return Some(Message { severity, file, line: number.parse().ok()?, column: 0, text });
    }
    let (place, column) = place.rsplit_once(':')?;
    let (file, number) = place.rsplit_once(':')?;
    Some(Message { severity, file, line: number.parse().ok()?, column: column.parse().ok()?, text })
}

/// Returns the diagnostic of a message, with the lines after it.
fn diagnostic(message: &Message, after: &[&str], source: &SourceText) -> Diagnostic {
    let (printed, mark) = match after {
        [printed, mark, ..] if is_mark(mark) => (*printed, *mark),
        [printed, ..] if self::message(printed).is_none() => (*printed, ""),
        _ => ("", ""),
    };
    let is_main = message.file == source.name();
    let excerpt = if is_main { source.line(message.line) } else { printed };
    let indent = |line: &str| line.chars().take_while(|c| c.is_whitespace()).count();
    let from_mark = mark.chars().position(|c| c == '^').map(|at| at + indent(excerpt));
    let from_mark = from_mark.and_then(|at| at.checked_sub(indent(printed)));
    let column = match message.column {
        0 => from_mark.map_or(1, |at| at as u32 + 1),
        column => column,
    };
    let width = mark.chars().skip_while(|c| *c != '^').take_while(|c| matches!(c, '^' | '~')).count();
    Diagnostic {
        line: message.line,
        column,
        width: width.max(1) as u32,
        excerpt: warpbound_core::diag::shortened(excerpt),
        ..Diagnostic::general(message.file, message.text)
    }
}

/// Returns whether a line marks a place in the line before it.
fn is_mark(line: &str) -> bool {
    line.contains('^') && line.chars().all(|c| matches!(c, '^' | '~' | ' ' | '\t'))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = "__global__ void k(float *x) {\n  x[0] = y;\n\tundefined_fn(x);\n}\n";

    fn places(log: &str) -> Vec<(String, u32, u32, u32, String)> {
        let read = read(log, &SourceText::new("bad.cu", SOURCE));
        let place = |p: &Diagnostic| (p.file.clone(), p.line, p.column, p.width, p.message.clone());
        read.errors.list().iter().map(place).collect()
    }

    #[test]
    fn messages_of_both_forms_have_the_same_places() {
        let clang = "bad.cu:2:10: error: use of undeclared identifier 'y'\n  x[0] = y;\n         ^\n\
                     a:b.h:3:2: fatal error: 'x.h' file not found\n#include <x.h>\n         ^~~~~\n\
                     2 errors generated when compiling for sm_80.\n";
        let nvrtc = "bad.cu(2): error: identifier \"y\" is undefined\n    x[0] = y;\n           ^\n\n\
                     bad.cu(3): error #20: identifier \"undefined_fn\" is undefined\n   undefined_fn(x);\n   ^\n\
                     1 error detected in the compilation of \"bad.cu\".\n";
        let y = |message: &str| ("bad.cu".to_owned(), 2, 10, 1, message.to_owned());
        let header = ("a:b.h".to_owned(), 3, 2, 5, "'x.h' file not found".to_owned());
        assert_eq!(places(clang), [y("use of undeclared identifier 'y'"), header]);
        let call = ("bad.cu".to_owned(), 3, 2, 1, "identifier \"undefined_fn\" is undefined".to_owned());
        assert_eq!(places(nvrtc), [y("identifier \"y\" is undefined"), call]);
    }

    #[test]
    fn warnings_and_notes_are_no_errors() {
        let log = "k.cu(4): warning #177-D: variable \"a: error: b\" was declared\n    int a = 3;\n        ^\n\
                   k.cu:5:1: note: of a warning\nk.cu:6:1: error: no\nk.cu:7:1: note: candidate\nclang: error: x\n\
                   error: y\nIn file included from k.cu:1:\n";
        let read = read(log, &SourceText::new("k.cu", ""));
        assert_eq!(read.warnings, ["k.cu:4: variable \"a: error: b\" was declared"]);
        let problems = read.errors.list();
        assert_eq!(
            (problems.len(), problems[0].hint.as_str()),
            (1, "k.cu:7:1: candidate".replace(":1:", ":").as_str())
        );
        assert!(
            is_unknown_arch("nvcc fatal   : Unsupported gpu architecture 'compute_85'")
                && !is_unknown_arch(log)
        );
    }
}
