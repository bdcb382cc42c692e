//! The parser, which turns tokens into an [`Ast`]. A statement that cannot be parsed is reported
//! and skipped, so one run reports every syntax error of a file.
//!
//! Recursion is limited in depth, and every loop consumes tokens.

mod decl;
mod expr;
mod function;
mod operand;

pub(super) use operand::component;

use super::ast::Ast;
use super::lexer::{Kind, Token, lex};
use super::report::Reporter;
use super::span::Span;
use warpbound_core::diag::{Diagnostics, SourceText};

/// The error that a construct could not be parsed, which has been reported.
pub(super) struct Failed;

/// Parses a whole file.
pub(super) fn parse(source: &SourceText) -> Result<Ast, Diagnostics> {
    let mut report = Reporter::new(source);
    if u32::try_from(source.text().len()).is_err() {
        report.general("the file is larger than 4 GiB", "");
        return Err(report.finish());
    }
    let tokens = lex(source.text(), &mut report);
    let ast = Ast { address_bits: 64, ..Ast::default() };
    let mut parser = Parser { text: source.text(), tokens, at: 0, report, ast };
    parser.module();
    parser.check_version();
    let Parser { ast, report, .. } = parser;
    report.finish().into_result(ast)
}

struct Parser<'a> {
    text: &'a str,
    tokens: Vec<Token>,
    at: usize,
    report: Reporter<'a>,
    ast: Ast,
}

impl<'a> Parser<'a> {
    /// Checks that the file begins with `.version`; otherwise it is empty, or not PTX.
    fn check_version(&mut self) {
        if !self.ast.version.is_empty() {
            return;
        }
        let first = self.tokens[0];
        let hint =
            "PTX begins with `.version 8.0` and `.target sm_80`; is this file complete, and is it PTX?";
        if first.kind == Kind::End {
            self.fail(first.span, "the file contains no PTX", hint);
        } else {
            self.fail(first.span, "the directive `.version` is missing", hint);
        }
    }

    fn slice(&self, span: Span) -> &'a str {
        self.text.get(span.range()).unwrap_or_default()
    }

    fn peek(&self) -> Token {
        self.peek_at(0)
    }

    fn peek_at(&self, ahead: usize) -> Token {
        self.tokens[(self.at + ahead).min(self.tokens.len() - 1)]
    }

    /// Returns the token that was consumed last (at the start, the first token).
    fn previous(&self) -> Token {
        self.tokens[self.at.saturating_sub(1)]
    }

    /// Consumes a token other than the end.
    fn bump(&mut self) -> Token {
        let token = self.peek();
        self.at = (self.at + 1).min(self.tokens.len() - 1);
        token
    }

    fn eat(&mut self, kind: Kind) -> bool {
        let found = self.peek().kind == kind;
        if found {
            self.bump();
        }
        found
    }

    fn expect(&mut self, kind: Kind, expected: &str) -> Result<Token, Failed> {
        if self.peek().kind == kind { Ok(self.bump()) } else { Err(self.unexpected(expected)) }
    }

    fn fail(&mut self, span: Span, message: impl Into<String>, hint: &str) -> Failed {
        self.report.error(span, message, hint);
        Failed
    }

    fn unexpected(&mut self, expected: &str) -> Failed {
        let token = self.peek();
        if token.kind == Kind::End {
            return self.fail(
                token.span,
                format!("the file ends where {expected} is expected"),
                "is the file complete?",
            );
        }
        let shown: String = self.slice(token.span).chars().take(40).collect();
        self.fail(token.span, format!("expected {expected}, found `{shown}`"), "")
    }

    /// Returns whether the next token is this directive.
    fn at_directive(&self, name: &str) -> bool {
        let token = self.peek();
        token.kind == Kind::Dot && self.slice(token.span) == name
    }

    /// Skips the rest of a statement, up to and including its semicolon, or up to the brace that
    /// closes its scope.
    fn recover(&mut self) {
        let mut depth = 0u32;
        loop {
            match self.peek().kind {
                Kind::End => return,
                Kind::Semicolon => {
                    self.bump();
                    return;
                }
                // a scope opens on a new line, a vector does not
                Kind::LeftBrace if self.peek().line != self.previous().line => return,
                Kind::LeftBrace => depth += 1,
                Kind::RightBrace if depth > 0 => depth -= 1,
                Kind::RightBrace if !matches!(self.peek_at(1).kind, Kind::Comma | Kind::Semicolon) => return,
                Kind::Dot if self.starts_function() => return,
                _ => {}
            }
            self.bump();
        }
    }

    /// Returns whether a kernel or function begins here, which cannot be nested.
    fn starts_function(&self) -> bool {
        let mut ahead = 0;
        loop {
            let token = self.peek_at(ahead);
            if token.kind != Kind::Dot {
                return false;
            }
            match self.slice(token.span) {
                ".entry" | ".func" => return true,
                ".visible" | ".weak" | ".extern" if ahead < 2 => ahead += 1,
                _ => return false,
            }
        }
    }

    /// Skips a declaration at module scope, including its semicolon or its braces.
    fn recover_module(&mut self) {
        loop {
            match self.peek().kind {
                Kind::End => return,
                Kind::Semicolon => {
                    self.bump();
                    return;
                }
                Kind::LeftBrace => {
                    self.skip_braces();
                    return;
                }
                Kind::Dot if self.starts_function() || self.starts_item() => return,
                _ => {
                    self.bump();
                }
            }
        }
    }

    /// Returns whether an item of module scope begins here.
    fn starts_item(&self) -> bool {
        self.peek().line != self.previous().line
            && matches!(
                self.slice(self.peek().span),
                ".version"
                    | ".target"
                    | ".address_size"
                    | ".file"
                    | ".section"
                    | ".global"
                    | ".const"
                    | ".shared"
                    | ".extern"
                    | ".visible"
                    | ".weak"
                    | ".common"
            )
    }

    /// Skips balanced braces `{ ... }`; unbalanced ones are reported.
    fn skip_braces(&mut self) {
        let open = self.peek();
        let mut depth = 0u32;
        loop {
            match self.peek().kind {
                Kind::End => {
                    self.fail(open.span, "this `{` is never closed", "is the file complete?");
                    return;
                }
                Kind::LeftBrace => depth += 1,
                Kind::RightBrace => depth -= 1,
                _ => {}
            }
            self.bump();
            if depth == 0 {
                return;
            }
        }
    }

    fn module(&mut self) {
        while self.peek().kind != Kind::End {
            let before = self.at;
            let item = match self.peek().kind {
                Kind::Semicolon => {
                    self.bump();
                    Ok(())
                }
                Kind::Dot => self.module_item(),
                _ => Err(self.unexpected("a directive such as `.entry` or `.global`")),
            };
            if item.is_err() {
                self.recover_module();
                if self.at == before {
                    self.bump();
                }
            }
        }
    }

    fn module_item(&mut self) -> Result<(), Failed> {
        let token = self.peek();
        match self.slice(token.span) {
            ".version" => {
                self.bump();
                let number = self.expect(Kind::Number, "a version number")?;
                self.ast.version = self.slice(number.span).to_owned();
            }
            ".target" => {
                self.bump();
                let mut names = vec![self.expect(Kind::Ident, "a target such as `sm_61`")?];
                while self.eat(Kind::Comma) {
                    names.push(self.expect(Kind::Ident, "a target option")?);
                }
                self.ast.target = names.iter().map(|n| self.slice(n.span)).collect::<Vec<_>>().join(", ");
            }
            ".address_size" => {
                self.bump();
                let at = self.peek().span;
                match self.integer()? {
                    32 => self.ast.address_bits = 32,
                    64 => self.ast.address_bits = 64,
                    _ => return Err(self.fail(at, "addresses have 32 or 64 bits", "")),
                }
            }
            ".file" => self.skip_file()?,
            ".loc" => self.skip_loc()?,
            ".section" => {
                self.bump();
                while !matches!(self.peek().kind, Kind::LeftBrace | Kind::End | Kind::Semicolon) {
                    self.bump();
                }
                if self.peek().kind != Kind::LeftBrace {
                    return Err(self.unexpected("`{` of the section"));
                }
                self.skip_braces();
            }
            ".pragma" => {
                self.bump();
                while self.eat(Kind::Text) || self.eat(Kind::Comma) {}
                self.expect(Kind::Semicolon, "`;`")?;
            }
            ".alias" => {
                self.bump();
                let name = self.expect(Kind::Ident, "a function")?.span;
                self.expect(Kind::Comma, "`,`")?;
                let target = self.expect(Kind::Ident, "a function")?.span;
                self.expect(Kind::Semicolon, "`;`")?;
                self.ast.aliases.push((name, target));
            }
            _ => self.declaration_or_function()?,
        }
        Ok(())
    }

    /// Skips `.file 1 "name"` and its optional time and size.
    fn skip_file(&mut self) -> Result<(), Failed> {
        self.bump();
        self.expect(Kind::Number, "a file number")?;
        self.expect(Kind::Text, "a file name")?;
        while self.eat(Kind::Comma) {
            self.expect(Kind::Number, "a number")?;
        }
        Ok(())
    }

    /// Skips `.loc file line column` and the extensions for inlined code.
    fn skip_loc(&mut self) -> Result<(), Failed> {
        self.bump();
        for _ in 0..3 {
            self.expect(Kind::Number, "file, line and column")?;
        }
        while self.peek().kind == Kind::Comma {
            self.bump();
            self.expect(Kind::Ident, "`function_name` or `inlined_at`")?;
            loop {
                match self.peek().kind {
                    Kind::Number | Kind::Plus => {
                        self.bump();
                    }
                    // a name, unless it is the label or opcode of the next line
                    Kind::Ident
                        if self.peek().line == self.previous().line
                            && !self
                                .slice(self.previous().span)
                                .starts_with(|c: char| c.is_ascii_digit()) =>
                    {
                        self.bump();
                    }
                    _ => break,
                }
            }
        }
        // clang writes these words without commas: `prologue_end`, `is_stmt 1`
        while self.peek().kind == Kind::Ident
            && matches!(self.slice(self.peek().span), "prologue_end" | "is_stmt" | "epilogue_begin")
        {
            self.bump();
            self.eat(Kind::Number);
        }
        Ok(())
    }
}
