//! The lexer, which splits text into tokens.
//!
//! A token consists of a kind, a byte range and a line; the text stays in the source. Text that is
//! not PTX at all is reported here and skipped, so that the parser receives only tokens.

use logos::{Filter, Logos};

use super::report::Reporter;
use super::span::Span;

/// A token.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token {
    pub kind: Kind,
    pub span: Span,
    /// The line, from 1.
    pub line: u32,
}

/// The maximum length of a token in bytes. The names of template instances are long, but not as
/// long as this.
const MAX_TOKEN: usize = 1 << 15;

/// The kind of a token.
#[derive(Logos, Clone, Copy, Debug, PartialEq, Eq)]
#[logos(skip r"[ \t\r\n\f]+")]
pub(super) enum Kind {
    /// A comment, from `//` to the end of the line; it is skipped.
    #[token("//", |lex| skip_to(lex, "\n"))]
    /// A preprocessor line mark; it is skipped.
    #[token("#", |lex| skip_to(lex, "\n"))]
    /// Debug information of compilers before CUDA 4; it is skipped.
    #[token("@@DWARF", |lex| skip_to(lex, "\n"))]
    #[token("/*", block_comment)]
    Comment,

    /// A name, or `_` alone.
    #[regex(r"[A-Za-z_$][A-Za-z0-9_$]*")]
    #[regex(r"%[A-Za-z0-9_$]+")]
    Ident,
    /// `.name` or `.name::part`
    #[regex(r"\.[A-Za-z0-9_$]+(::[A-Za-z0-9_$]+)*")]
    Dot,
    /// A word that begins like a number.
    #[regex(r"[0-9][0-9A-Za-z_]*")]
    #[regex(r"[0-9]+\.[0-9]*([eE][+-]?[0-9]+)?")]
    #[regex(r"[0-9]+[eE][+-][0-9]+")]
    Number,
    #[regex(r#""([^"\\\n]|\\[^\n])*""#)]
    Text,

    #[token(",")]
    Comma,
    #[token(";")]
    Semicolon,
    #[token(":")]
    Colon,
    #[token("{")]
    LeftBrace,
    #[token("}")]
    RightBrace,
    #[token("[")]
    LeftBracket,
    #[token("]")]
    RightBracket,
    #[token("(")]
    LeftParen,
    #[token(")")]
    RightParen,
    #[token("@")]
    At,
    #[token("!")]
    Not,
    #[token("|")]
    Pipe,
    #[token("||")]
    PipePipe,
    #[token("&")]
    And,
    #[token("&&")]
    AndAnd,
    #[token("^")]
    Caret,
    #[token("~")]
    Tilde,
    #[token("+")]
    Plus,
    #[token("-")]
    Minus,
    #[token("*")]
    Star,
    #[token("/")]
    Slash,
    #[token("%")]
    Percent,
    #[token("?")]
    Question,
    #[token("=")]
    Equal,
    #[token("==")]
    EqualEqual,
    #[token("!=")]
    NotEqual,
    #[token("<")]
    Less,
    #[token("<=")]
    LessEqual,
    #[token("<<")]
    ShiftLeft,
    #[token(">")]
    Greater,
    #[token(">=")]
    GreaterEqual,
    #[token(">>")]
    ShiftRight,

    /// The end of the file.
    End,
}

fn skip_to(lex: &mut logos::Lexer<'_, Kind>, end: &str) -> Filter<()> {
    let rest = lex.remainder();
    lex.bump(rest.find(end).unwrap_or(rest.len()));
    Filter::Skip
}

fn block_comment(lex: &mut logos::Lexer<'_, Kind>) -> logos::FilterResult<(), ()> {
    let rest = lex.remainder();
    let end = rest.find("*/");
    lex.bump(end.map_or(rest.len(), |end| end + 2));
    if end.is_some() { logos::FilterResult::Skip } else { logos::FilterResult::Error(()) }
}

/// Splits a text into tokens, of which the last is [`Kind::End`].
pub(super) fn lex(text: &str, report: &mut Reporter) -> Vec<Token> {
    let mut tokens = Vec::with_capacity(text.len() / 4 + 1);
    let mut lines = LineCounter::default();
    let mut bad: Option<Span> = None;
    let text = without_terminator(text);
    for (result, range) in Kind::lexer(text).spanned() {
        let span = Span { start: range.start as u32, end: range.end as u32 };
        let line = lines.at(text, range.start);
        if range.len() > MAX_TOKEN {
            report.error(span, format!("a word has at most {MAX_TOKEN} characters"), "is this file a .ptx?");
            continue;
        }
        if let Ok(kind) = result {
            tokens.push(Token { kind, span, line });
            continue;
        }
        // consecutive unreadable characters are one problem
        bad = match bad {
            Some(run) if run.end == span.start => Some(run.to(span)),
            Some(run) => {
                report_unreadable(text, run, report);
                Some(span)
            }
            None => Some(span),
        };
    }
    if let Some(run) = bad {
        report_unreadable(text, run, report);
    }
    let end = Span { start: text.len() as u32, end: text.len() as u32 };
    tokens.push(Token { kind: Kind::End, span: end, line: lines.at(text, text.len()) });
    tokens
}

/// Returns the text without terminating zero bytes: runtime compilers return PTX as a C string, and
/// many programs write it to a file including the terminator.
fn without_terminator(text: &str) -> &str {
    let ends = |c: char| c == '\0' || c.is_ascii_whitespace();
    let (kept, rest) = text.split_at(text.trim_end_matches(ends).len());
    let blank = rest.find('\0').unwrap_or(rest.len());
    &text[..kept.len() + blank]
}

fn report_unreadable(text: &str, run: Span, report: &mut Reporter) {
    let found = text.get(run.range()).unwrap_or_default();
    if found.starts_with("/*") {
        report.error(run, "this comment is never closed", "close it with `*/`");
    } else if found.starts_with('"') {
        report.error(run, "this string is never closed", "strings end on the line they begin on");
    } else {
        let shown: String = found.chars().take(20).flat_map(char::escape_debug).collect();
        report.error(run, format!("`{shown}` is not PTX"), "PTX is plain ASCII text; is this file a .ptx?");
    }
}

/// A counter of lines for ascending offsets, which passes over the text once.
#[derive(Default)]
struct LineCounter {
    offset: usize,
    newlines: u32,
}

impl LineCounter {
    fn at(&mut self, text: &str, offset: usize) -> u32 {
        let gap = &text.as_bytes()[self.offset..offset];
        self.newlines += gap.iter().filter(|byte| **byte == b'\n').count() as u32;
        self.offset = offset;
        self.newlines + 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpbound_core::diag::SourceText;

    fn check(text: &str, kinds: &[Kind]) {
        let source = SourceText::new("t", text);
        let mut report = Reporter::new(&source);
        let found: Vec<Kind> = lex(text, &mut report).iter().map(|t| t.kind).collect();
        assert_eq!(found[..found.len() - 1], *kinds, "{text}");
        assert!(report.finish().is_empty(), "{text}");
    }

    #[test]
    fn words_numbers_and_operators() {
        use Kind::*;
        check("@%p1 bra $L__BB0_2;", &[At, Ident, Ident, Ident, Semicolon]);
        check("ld.shared::cta.v4.f32", &[Ident, Dot, Dot, Dot]);
        check("%p<5>", &[Ident, Less, Number, Greater]);
        check("0f3F800000 1.5e-3 0x1FU 1e+5", &[Number; 4]);
        check("a // b\n/* c\n*/ d # e", &[Ident, Ident]);
        check("p|q 1<<2 %r1 % 2", &[Ident, Pipe, Ident, Number, ShiftLeft, Number, Ident, Percent, Number]);
    }

    #[test]
    fn lines_count_through_comments() {
        let source = SourceText::new("t", "a\n/* \n\n */ b\r\n// x\nc");
        let mut report = Reporter::new(&source);
        let lines: Vec<u32> = lex(source.text(), &mut report).iter().map(|t| t.line).collect();
        assert_eq!(lines, [1, 4, 6, 6]);
    }

    #[test]
    fn zero_bytes_are_allowed_only_at_the_end() {
        use Kind::*;
        check("ret;\0", &[Ident, Semicolon]);
        check("ret;\n\0\0\n", &[Ident, Semicolon]);
        check("\0", &[]);
        let source = SourceText::new("t", "ret\0;\n");
        let mut report = Reporter::new(&source);
        lex(source.text(), &mut report);
        assert_eq!(report.finish().list().len(), 1);
    }

    #[test]
    fn runs_of_garbage_are_one_problem() {
        let source = SourceText::new("t", "a \u{1}\u{2}\u{fe} b\n\u{3} /* ");
        let mut report = Reporter::new(&source);
        assert_eq!(lex(source.text(), &mut report).len(), 3);
        assert_eq!(report.finish().list().len(), 3);
    }
}
