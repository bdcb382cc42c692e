//! Parses declarations of variables, registers and parameters, with their initialisers.

use super::{Failed, Parser};
use crate::ptx::ast::{DeclSpace, Init, InitValue, SymbolExpr, VarDecl};
use crate::ptx::lexer::Kind;
use crate::ptx::span::Span;
use crate::ptx::types::Type;

/// The maximum nesting depth of the braces of an initialiser.
const MAX_BRACES: u32 = 16;

/// The linkage directives before a declaration.
#[derive(Clone, Copy, Default)]
pub(super) struct Linkage {
    pub external: bool,
}

/// The properties that all names of a declaration share.
struct Shape {
    space: DeclSpace,
    external: bool,
    align: u64,
    vector: u8,
    ty: Type,
}

impl Parser<'_> {
    /// Parses linkage directives such as `.visible` and `.extern`, followed by a function or
    /// variables.
    pub(super) fn declaration_or_function(&mut self) -> Result<(), Failed> {
        let mut linkage = Linkage::default();
        while self.peek().kind == Kind::Dot {
            match self.slice(self.peek().span) {
                ".extern" => linkage.external = true,
                ".visible" | ".weak" | ".common" => {}
                ".entry" => return self.function(true),
                ".func" => return self.function(false),
                _ => break,
            }
            self.bump();
        }
        let token = self.peek();
        match self.space() {
            Some(DeclSpace::Reg | DeclSpace::Local | DeclSpace::Param) => {
                Err(self.fail(token.span, "only functions declare such variables", "move it into a function"))
            }
            Some(space) => {
                let vars = self.variables(space, linkage, None)?;
                self.ast.vars.extend(vars);
                Ok(())
            }
            None if token.kind == Kind::Dot => {
                let name = self.slice(token.span);
                Err(self.fail(token.span, format!("unknown directive `{name}`"), ""))
            }
            None => Err(self.unexpected("a declaration")),
        }
    }

    /// Returns the state space that the next token names.
    pub(super) fn space(&self) -> Option<DeclSpace> {
        if self.peek().kind != Kind::Dot {
            return None;
        }
        Some(match self.slice(self.peek().span) {
            ".reg" => DeclSpace::Reg,
            ".param" => DeclSpace::Param,
            ".const" => DeclSpace::Const,
            ".global" | ".tex" => DeclSpace::Global,
            ".shared" | ".shared::cta" => DeclSpace::Shared,
            ".local" => DeclSpace::Local,
            _ => return None,
        })
    }

    /// Parses `space attributes type a, b[2] = {..};`.
    pub(super) fn variables(
        &mut self,
        space: DeclSpace,
        linkage: Linkage,
        function: Option<u32>,
    ) -> Result<Vec<VarDecl>, Failed> {
        // `.tex .u32 name` declared texture references before `.texref` existed
        let token = self.bump();
        let texture = self.slice(token.span) == ".tex";
        let mut shape = self.shape(space, linkage.external)?;
        if texture {
            shape.ty = Type::Opaque;
        }
        let mut vars = Vec::new();
        loop {
            vars.push(self.declarator(&shape, function)?);
            if !self.eat(Kind::Comma) {
                break;
            }
        }
        self.expect(Kind::Semicolon, "`;`")?;
        Ok(vars)
    }

    /// Parses a parameter of a signature; in prototypes, the name may be `_` or missing.
    pub(super) fn parameter(&mut self) -> Result<VarDecl, Failed> {
        let token = self.peek();
        let space = match self.space() {
            Some(space @ (DeclSpace::Reg | DeclSpace::Param)) => space,
            _ => return Err(self.unexpected("`.param` or `.reg`")),
        };
        self.bump();
        let shape = self.shape(space, false)?;
        if self.peek().kind == Kind::Ident {
            return self.declarator(&shape, None);
        }
        let Shape { space, external, align, vector, ty } = shape;
        let (name, count) = (Span { start: token.span.start, end: token.span.start }, None);
        Ok(VarDecl {
            space,
            external,
            align,
            vector,
            ty,
            name,
            count,
            dims: Vec::new(),
            init: None,
            function: None,
        })
    }

    fn shape(&mut self, space: DeclSpace, external: bool) -> Result<Shape, Failed> {
        let (mut align, mut vector, mut ty, mut pointer) = (0, 1, None, false);
        while self.peek().kind == Kind::Dot {
            let token = self.bump();
            match self.slice(token.span) {
                ".align" => {
                    let at = self.peek().span;
                    let value = self.integer()?;
                    if !(1..=1 << 16).contains(&value) || value & (value - 1) != 0 {
                        return Err(self.fail(at, "an alignment is a power of two", "at most 65536"));
                    }
                    // after `.ptr` it is the alignment of the memory that the pointer points to
                    if !pointer {
                        align = value as u64;
                    }
                }
                ".v2" => vector = 2,
                ".v4" => vector = 4,
                ".ptr" => pointer = true,
                ".global" | ".const" | ".shared" | ".local" | ".generic" | ".param" if pointer => {}
                ".attribute" => self.attribute()?,
                name => match Type::parse(&name[1..]) {
                    Some(found) if ty.is_none() => ty = Some(found),
                    _ => {
                        let message = format!("`{name}` does not belong in a declaration");
                        return Err(self.fail(token.span, message, ""));
                    }
                },
            }
        }
        let Some(ty) = ty else {
            return Err(self.unexpected("a type such as `.b32`"));
        };
        let at = self.previous().span;
        if space != DeclSpace::Reg && ty == Type::Pred {
            return Err(self.fail(at, "predicates are in registers only", "declare it in .reg"));
        }
        Ok(Shape { space, external, align, vector, ty })
    }

    /// Skips attributes such as `.attribute(.managed)` and `.attribute(.unified(1, 2))`, which have
    /// no effect here.
    fn attribute(&mut self) -> Result<(), Failed> {
        self.expect(Kind::LeftParen, "`(`")?;
        let mut depth = 1u32;
        while depth > 0 {
            match self.peek().kind {
                Kind::LeftParen => depth += 1,
                Kind::RightParen => depth -= 1,
                Kind::End | Kind::Semicolon => return Err(self.unexpected("`)`")),
                _ => {}
            }
            self.bump();
        }
        Ok(())
    }

    fn declarator(&mut self, shape: &Shape, function: Option<u32>) -> Result<VarDecl, Failed> {
        let name = self.expect(Kind::Ident, "a name")?.span;
        let count = if shape.space == DeclSpace::Reg && self.eat(Kind::Less) {
            let at = self.peek();
            let literal = self.expect(Kind::Number, "how many registers")?;
            let count = match super::expr::number(self.slice(literal.span)) {
                Some(super::super::ast::Const::Int(count, _)) if count <= u64::from(u32::MAX) => count as u32,
                _ => {
                    let hint = "write it as `%r<100>`";
                    return Err(self.fail(at.span, "this is not a number of registers", hint));
                }
            };
            self.expect(Kind::Greater, "`>`")?;
            Some(count)
        } else {
            None
        };
        let mut dims = Vec::new();
        while self.eat(Kind::LeftBracket) {
            let at = self.peek().span;
            let dim = if self.peek().kind == Kind::RightBracket { 0 } else { self.integer()? };
            if dim < 0 || dim == 0 && !dims.is_empty() {
                return Err(self.fail(
                    at,
                    "this is not an array length",
                    "only the first one may be left out",
                ));
            }
            dims.push(dim as u64);
            self.expect(Kind::RightBracket, "`]`")?;
            if dims.len() > 16 {
                return Err(self.fail(at, "arrays have at most 16 dimensions here", ""));
            }
        }
        let init = if self.eat(Kind::Equal) { Some(self.initialiser(0)?) } else { None };
        let &Shape { space, external, align, vector, ty } = shape;
        Ok(VarDecl { space, external, align, vector, ty, name, count, dims, init, function })
    }

    fn initialiser(&mut self, depth: u32) -> Result<Init, Failed> {
        let start = self.peek();
        if start.kind != Kind::LeftBrace {
            let value = self.init_value()?;
            return Ok(Init::Value(value, start.span.to(self.previous().span)));
        }
        if depth >= MAX_BRACES {
            return Err(self.fail(start.span, "this initialiser is nested too deeply", ""));
        }
        self.bump();
        let mut list = Vec::new();
        while self.peek().kind != Kind::RightBrace {
            list.push(self.initialiser(depth + 1)?);
            if !self.eat(Kind::Comma) {
                break;
            }
        }
        self.expect(Kind::RightBrace, "`,` or `}`")?;
        Ok(Init::List(list))
    }

    fn init_value(&mut self) -> Result<InitValue, Failed> {
        let token = self.peek();
        if token.kind == Kind::Ident && self.slice(token.span) != "WARP_SZ" {
            return Ok(InitValue::Address { symbol: self.init_symbol()?, mask: None });
        }
        // 0xFF00(name) selects a byte of an address
        if token.kind == Kind::Number && self.peek_at(1).kind == Kind::LeftParen {
            let mask = self.constant_literal()?;
            self.expect(Kind::LeftParen, "`(`")?;
            let symbol = self.init_symbol()?;
            self.expect(Kind::RightParen, "`)`")?;
            return Ok(InitValue::Address { symbol, mask: Some(mask) });
        }
        Ok(InitValue::Const(self.constant()?))
    }

    fn constant_literal(&mut self) -> Result<u64, Failed> {
        let token = self.bump();
        match super::expr::number(self.slice(token.span)) {
            Some(super::super::ast::Const::Int(mask, _)) => Ok(mask),
            _ => Err(self.fail(token.span, "a mask is an integer", "")),
        }
    }

    fn init_symbol(&mut self) -> Result<SymbolExpr, Failed> {
        let name = self.expect(Kind::Ident, "the name of a variable")?.span;
        if self.slice(name) == "generic" && self.peek().kind == Kind::LeftParen {
            return self.generic_of();
        }
        Ok(SymbolExpr { name, offset: self.offset()?, generic: false })
    }
}
