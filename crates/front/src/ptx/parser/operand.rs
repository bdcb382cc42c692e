//! Parses the operands of instructions.

use super::{Failed, Parser};
use crate::ptx::ast::{AddressExpr, ArrayElement, Operand, OperandKind, SymbolExpr};
use crate::ptx::lexer::Kind;
use crate::ptx::span::Span;

impl Parser<'_> {
    /// Parses operands up to the semicolon, which is not consumed. In a `call`, lists are in
    /// parentheses.
    pub(super) fn operands(&mut self, call: bool) -> Result<Vec<Operand>, Failed> {
        let mut operands = Vec::new();
        while self.peek().kind != Kind::Semicolon {
            operands.push(if call && self.peek().kind == Kind::LeftParen {
                self.group()?
            } else {
                self.operand()?
            });
            if !self.eat(Kind::Comma) {
                break;
            }
        }
        Ok(operands)
    }

    fn group(&mut self) -> Result<Operand, Failed> {
        let start = self.bump().span;
        let list = self.list(Kind::RightParen)?;
        let end = self.expect(Kind::RightParen, "`)`")?.span;
        Ok(Operand { kind: OperandKind::Group(list), span: start.to(end) })
    }

    fn list(&mut self, close: Kind) -> Result<Vec<Operand>, Failed> {
        let mut list = Vec::new();
        while self.peek().kind != close {
            if self.peek().kind == Kind::LeftBrace || self.peek().kind == Kind::LeftBracket {
                return Err(self.unexpected("a register or constant"));
            }
            list.push(self.operand()?);
            if !self.eat(Kind::Comma) {
                break;
            }
        }
        Ok(list)
    }

    fn operand(&mut self) -> Result<Operand, Failed> {
        let start = self.peek();
        let kind = match start.kind {
            Kind::LeftBracket => self.address()?,
            Kind::LeftBrace => {
                self.bump();
                let list = self.list(Kind::RightBrace)?;
                self.expect(Kind::RightBrace, "`}`")?;
                OperandKind::Vector(list)
            }
            Kind::Not if self.peek_at(1).kind == Kind::Ident => {
                self.bump();
                OperandKind::Not(self.bump().span)
            }
            Kind::Minus
                if self.peek_at(1).kind == Kind::Ident && self.slice(self.peek_at(1).span) != "WARP_SZ" =>
            {
                self.bump();
                let (first, kind) = (self.peek().span, self.named()?);
                OperandKind::Minus(Box::new(Operand { kind, span: first.to(self.previous().span) }))
            }
            Kind::Ident if self.slice(start.span) == "WARP_SZ" => OperandKind::Const(self.constant()?),
            Kind::Ident => self.named()?,
            _ => OperandKind::Const(self.constant()?),
        };
        let end = self.previous().span;
        Ok(Operand { kind, span: start.span.to(end) })
    }

    fn named(&mut self) -> Result<OperandKind, Failed> {
        let name = self.bump().span;
        let next = self.peek();
        match next.kind {
            Kind::Dot if is_component(self.slice(next.span)) => {
                self.bump();
                Ok(OperandKind::Component(name, next.span))
            }
            Kind::Pipe if self.peek_at(1).kind == Kind::Ident => {
                self.bump();
                Ok(OperandKind::Pair(name, self.bump().span))
            }
            Kind::LeftParen if self.slice(name) == "generic" => Ok(OperandKind::Symbol(self.generic_of()?)),
            Kind::Plus | Kind::Minus => {
                Ok(OperandKind::Symbol(SymbolExpr { name, offset: self.offset()?, generic: false }))
            }
            Kind::LeftBracket => {
                self.bump();
                let register = match self.peek().kind {
                    Kind::Ident if self.slice(self.peek().span) != "WARP_SZ" => Some(self.bump().span),
                    _ => None,
                };
                let index = if register.is_some() { self.offset()? } else { self.integer()? };
                self.expect(Kind::RightBracket, "`]` of the index")?;
                Ok(OperandKind::Indexed(ArrayElement { name, register, index }))
            }
            _ if self.slice(name) == "_" => Ok(OperandKind::Sink),
            _ => Ok(OperandKind::Name(name)),
        }
    }

    /// Parses `(name) + offset` after `generic`.
    pub(super) fn generic_of(&mut self) -> Result<SymbolExpr, Failed> {
        self.expect(Kind::LeftParen, "`(`")?;
        let name = self.expect(Kind::Ident, "the name of a variable")?.span;
        let inner = self.offset()?;
        self.expect(Kind::RightParen, "`)`")?;
        let offset = inner.wrapping_add(self.offset()?);
        Ok(SymbolExpr { name, offset, generic: true })
    }

    fn address(&mut self) -> Result<OperandKind, Failed> {
        self.bump();
        let address = if self.peek().kind == Kind::Ident && self.slice(self.peek().span) != "WARP_SZ" {
            let base = self.bump().span;
            AddressExpr { base: Some(base), offset: self.offset()? }
        } else {
            AddressExpr { base: None, offset: self.integer()? }
        };
        let mut rest = Vec::new();
        while self.eat(Kind::Comma) {
            // operands in brackets are not nested further
            if self.peek().kind == Kind::LeftBracket {
                return Err(self.unexpected("coordinates such as `{%r1, %r2}`"));
            }
            rest.push(self.operand()?);
        }
        self.expect(Kind::RightBracket, "`]`")?;
        while self.peek().kind == Kind::Dot {
            // `.unified`, `.yes`: properties of the variable that have no effect here
            self.bump();
        }
        Ok(if rest.is_empty() { OperandKind::Address(address) } else { OperandKind::Image(address, rest) })
    }
}

/// Returns whether it is a component of a vector, or a selector of bytes or halves in a video
/// instruction.
fn is_component(text: &str) -> bool {
    let selects = |digits: &str| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    matches!(text, ".x" | ".y" | ".z" | ".w" | ".r" | ".g" | ".b" | ".a")
        || text.strip_prefix(".b").or(text.strip_prefix(".h")).is_some_and(selects)
}

/// Returns the text of a component without its dot.
pub(in crate::ptx) fn component(text: &str, span: Span) -> &str {
    text.get(span.range()).map_or("", |dotted| dotted.trim_start_matches('.'))
}
