//! The source lines from which a compiler made the instructions of a PTX file.
//!
//! Compilers state them if they are asked to (`nvcc -lineinfo`, `clang -gline-tables-only`):
//! `.loc FILE LINE COLUMN` applies to the instructions after it, and `.file FILE "NAME"` names a
//! file, often at the end.

use super::lexer::{Kind, Token, lex};
use super::report::Reporter;
use warpbound_core::diag::SourceText;

/// The source lines of a PTX file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origins {
    /// The files by number, in the order of the text.
    files: Vec<(u32, String)>,
    /// The line of the PTX from which each mark applies, in ascending order, with the number of the
    /// file and the line in it, which is 0 where none is known.
    marks: Vec<(u32, u32, u32)>,
}

impl Origins {
    /// Reads the marks of a file. Directives that are not well-formed are skipped, because the
    /// parser reports them.
    pub fn of(source: &SourceText) -> Self {
        let text = source.text();
        // files without lines are read fast; `.local` is frequent in them
        if !text.contains(".loc ") && !text.contains(".loc\t") {
            return Self::default();
        }
        let tokens = lex(text, &mut Reporter::new(source));
        let slice = |token: &Token| text.get(token.span.range()).unwrap_or_default();
        let number = |token: Option<&Token>| {
            token
                .filter(|token| token.kind == Kind::Number)
                .and_then(|token| slice(token).parse::<u32>().ok())
        };
        let mut origins = Self::default();
        let mut depth = 0u32;
        for (at, token) in tokens.iter().enumerate() {
            let next = |ahead: usize| tokens.get(at + ahead);
            match token.kind {
                Kind::LeftBrace => depth += 1,
                Kind::RightBrace => {
                    depth = depth.saturating_sub(1);
                    // the marks of a function do not apply to the next one
                    if depth == 0 {
                        origins.marks.push((token.line, 0, 0));
                    }
                }
                Kind::Dot if slice(token) == ".file" => {
                    let name = next(2).filter(|token| token.kind == Kind::Text).map(slice);
                    if let (Some(file), Some(name)) = (number(next(1)), name) {
                        origins.files.push((file, unquoted(name)));
                    }
                }
                Kind::Dot if slice(token) == ".loc" => {
                    if let (Some(file), Some(line)) = (number(next(1)), number(next(2))) {
                        origins.marks.push((token.line, file, line));
                    }
                }
                _ => {}
            }
        }
        origins
    }

    /// Returns the name of the file and the line from which the instruction in a line of the PTX
    /// was made, if they are known.
    pub fn at(&self, line: u32) -> Option<(&str, u32)> {
        let index = self.marks.partition_point(|(from, ..)| *from <= line).checked_sub(1)?;
        let (_, file, line) = self.marks[index];
        let (_, name) = self.files.iter().find(|(number, _)| *number == file)?;
        (line > 0).then_some((name.as_str(), line))
    }
}

/// Returns the text of a string without quotes and escapes.
fn unquoted(quoted: &str) -> String {
    let inside = quoted.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(quoted);
    let mut text = String::new();
    let mut chars = inside.chars();
    while let Some(c) = chars.next() {
        text.push(if c == '\\' { chars.next().unwrap_or(c) } else { c });
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_applies_until_the_next_one_or_the_end_of_the_function() {
        let text = ".visible .entry a()\n{\nret;\n.loc 1 7 3\nadd;\n// .loc 1 99 0\n{ sub; }\n\
                    .loc 2 4 1, function_name $L__info, inlined_at 1 8 2\nmul;\n.loc 1 0 9\nshl;\n}\n\
                    .visible .entry b()\n{\nret;\n.loc 1 20 0\nret;\n}\n.section .debug { .b8 1 }\n\
                    .file 1 \"a \\\"b\\\".cu\", 12, 34\n.file 2 \"c.h\"\n";
        let origins = Origins::of(&SourceText::new("t.ptx", text));
        let at = |line| origins.at(line);
        assert_eq!((at(1), at(3)), (None, None), "no mark yet");
        assert_eq!((at(5), at(7)), (Some(("a \"b\".cu", 7)), Some(("a \"b\".cu", 7))));
        assert_eq!((at(9), at(11)), (Some(("c.h", 4)), None), "line 0 is no line");
        assert_eq!((at(15), at(17)), (None, Some(("a \"b\".cu", 20))));
    }

    #[test]
    fn a_file_without_marks_or_with_broken_ones_has_no_origins() {
        for text in ["ret;", ".loc", ".loc x 1 2\nret;", ".loc 1 2 3\nret;", ".file \".loc\"", "} .loc 1"] {
            assert_eq!(Origins::of(&SourceText::new("t.ptx", text)).at(2), None, "{text}");
        }
    }
}
