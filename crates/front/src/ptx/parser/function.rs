//! Parses kernels and functions: signature, performance directives, body.

use super::{Failed, Parser, decl::Linkage};
use crate::ptx::ast::{Body, DeclSpace, Function, Instr, Signature, Stmt, VarDecl};
use crate::ptx::lexer::Kind;
use crate::ptx::span::Span;

/// The maximum length of an opcode with its modifiers in bytes.
const MAX_OPCODE: usize = 256;
/// The maximum nesting depth of scopes.
const MAX_SCOPES: usize = 200;

impl Parser<'_> {
    /// Parses a function; the next token is `.entry` or `.func`.
    pub(super) fn function(&mut self, entry: bool) -> Result<(), Failed> {
        let line = self.bump().line;
        // `.func .attribute(...)`, `.func .noreturn`
        let returns =
            if !entry && self.peek().kind == Kind::LeftParen { self.parameters()? } else { Vec::new() };
        let name = self.expect(Kind::Ident, "the name of the function")?.span;
        let params = if self.peek().kind == Kind::LeftParen { self.parameters()? } else { Vec::new() };
        let mut function =
            Function { entry, name, line, returns, params, max_threads: None, cluster: None, body: None };
        self.directives(&mut function)?;
        if self.eat(Kind::Semicolon) {
            self.ast.functions.push(function);
            return Ok(());
        }
        if self.peek().kind != Kind::LeftBrace {
            return Err(self.unexpected("`{` or `;`"));
        }
        let index = u32::try_from(self.ast.functions.len()).unwrap_or(u32::MAX);
        function.body = Some(self.body(index));
        self.ast.functions.push(function);
        Ok(())
    }

    fn parameters(&mut self) -> Result<Vec<VarDecl>, Failed> {
        self.bump();
        let mut params = Vec::new();
        while self.peek().kind != Kind::RightParen {
            params.push(self.parameter()?);
            if !self.eat(Kind::Comma) {
                break;
            }
        }
        self.expect(Kind::RightParen, "`,` or `)`")?;
        Ok(params)
    }

    /// Parses `.maxntid 256, 1, 1`, `.noreturn` and other directives before the body.
    fn directives(&mut self, function: &mut Function) -> Result<(), Failed> {
        while self.peek().kind == Kind::Dot {
            let token = self.bump();
            let mut numbers = Vec::new();
            if self.peek().kind == Kind::Text {
                while self.eat(Kind::Text) || self.eat(Kind::Comma) {}
                self.expect(Kind::Semicolon, "`;` after the pragma")?;
                continue;
            }
            while matches!(self.peek().kind, Kind::Number | Kind::LeftParen) {
                numbers.push(self.integer()?);
                if !self.eat(Kind::Comma) {
                    break;
                }
            }
            match self.slice(token.span) {
                ".maxntid" | ".reqntid" => {
                    let product = numbers.iter().try_fold(1u32, |product, &n| {
                        u32::try_from(n).ok().filter(|&n| n > 0).and_then(|n| product.checked_mul(n))
                    });
                    let Some(threads) = product.filter(|_| !numbers.is_empty()) else {
                        return Err(self.fail(token.span, "this is no block size", "one to three numbers"));
                    };
                    function.max_threads = Some(function.max_threads.map_or(threads, |t| t.min(threads)));
                }
                ".reqnctapercluster" => {
                    let mut blocks = [1; 3];
                    for (blocks, &number) in blocks.iter_mut().zip(&numbers) {
                        *blocks = u32::try_from(number).unwrap_or(u32::MAX).max(1);
                    }
                    function.cluster = Some(blocks);
                }
                ".minnctapersm"
                | ".maxnctapersm"
                | ".maxnreg"
                | ".noreturn"
                | ".pragma"
                | ".unique"
                | ".maxclusterrank"
                | ".explicitcluster"
                | ".blocksareclusters"
                | ".abi_preserve"
                | ".abi_preserve_control" => {}
                ".attribute" => {}
                name => {
                    let message = format!("unknown directive `{name}`");
                    return Err(self.fail(token.span, message, ""));
                }
            }
        }
        Ok(())
    }

    fn body(&mut self, function: u32) -> Body {
        let mut body = Body::default();
        let open = self.bump();
        let mut depth = 1usize;
        loop {
            let token = self.peek();
            match token.kind {
                Kind::End => {
                    self.fail(
                        open.span,
                        "the body that begins here is never closed",
                        "is the file complete?",
                    );
                    break;
                }
                Kind::RightBrace => {
                    self.bump();
                    depth -= 1;
                    if depth == 0 {
                        break;
                    }
                    body.stmts.push(Stmt::Close);
                }
                Kind::LeftBrace if depth == MAX_SCOPES => {
                    self.fail(token.span, format!("scopes nest deeper than {MAX_SCOPES}"), "");
                    self.skip_braces();
                }
                Kind::LeftBrace => {
                    self.bump();
                    depth += 1;
                    body.stmts.push(Stmt::Open);
                }
                Kind::Semicolon => {
                    self.bump();
                }
                Kind::Dot if self.starts_function() => {
                    let hint = "add the missing `}`";
                    self.fail(token.span, "a function cannot begin inside another one", hint);
                    break;
                }
                _ => {
                    let before = self.at;
                    if self.statement(&mut body, function).is_err() {
                        self.recover();
                        if self.at == before {
                            self.bump();
                        }
                    }
                }
            }
        }
        body.end_line = self.previous().line;
        body
    }

    fn statement(&mut self, body: &mut Body, function: u32) -> Result<(), Failed> {
        let token = self.peek();
        match token.kind {
            Kind::Dot => self.body_directive(body, function),
            Kind::Ident if self.peek_at(1).kind == Kind::Colon => {
                self.bump();
                self.bump();
                self.labelled(token.span, body)
            }
            Kind::Ident | Kind::At => self.instruction(body),
            _ => Err(self.unexpected("an instruction, a label or a declaration")),
        }
    }

    /// Parses the text after `name:`.
    fn labelled(&mut self, name: Span, body: &mut Body) -> Result<(), Failed> {
        if self.at_directive(".branchtargets") {
            let targets = self.names("a label")?;
            body.stmts.push(Stmt::Targets(name, targets));
        } else if self.at_directive(".calltargets") {
            let targets = self.names("a function")?;
            body.stmts.push(Stmt::CallTargets(name, targets));
        } else if self.at_directive(".callprototype") {
            let signature = self.prototype()?;
            body.stmts.push(Stmt::Prototype(name, Box::new(signature)));
        } else {
            body.stmts.push(Stmt::Label(name));
        }
        Ok(())
    }

    /// Parses the names after a directive, which is the next token, up to the semicolon.
    fn names(&mut self, expected: &str) -> Result<Vec<Span>, Failed> {
        self.bump();
        let mut names = Vec::new();
        loop {
            names.push(self.expect(Kind::Ident, expected)?.span);
            if !self.eat(Kind::Comma) {
                break;
            }
        }
        self.expect(Kind::Semicolon, "`;`")?;
        Ok(names)
    }

    /// Parses `.callprototype (results) _ (parameters) .noreturn;`, beginning with the directive.
    fn prototype(&mut self) -> Result<Signature, Failed> {
        self.bump();
        let returns = if self.peek().kind == Kind::LeftParen { self.parameters()? } else { Vec::new() };
        self.expect(Kind::Ident, "`_`")?;
        let params = if self.peek().kind == Kind::LeftParen { self.parameters()? } else { Vec::new() };
        // `.noreturn`, and registers that the calling convention preserves
        while !matches!(self.peek().kind, Kind::Semicolon | Kind::End | Kind::RightBrace) {
            self.bump();
        }
        self.expect(Kind::Semicolon, "`;`")?;
        Ok(Signature { returns, params })
    }

    fn body_directive(&mut self, body: &mut Body, function: u32) -> Result<(), Failed> {
        let token = self.peek();
        match self.slice(token.span) {
            ".loc" => return self.skip_loc(),
            ".file" => return self.skip_file(),
            ".pragma" => {
                self.bump();
                while self.eat(Kind::Text) || self.eat(Kind::Comma) {}
                self.expect(Kind::Semicolon, "`;`")?;
                return Ok(());
            }
            _ => {}
        }
        let mut linkage = Linkage::default();
        while matches!(self.slice(self.peek().span), ".extern" | ".visible" | ".weak" | ".common") {
            linkage.external |= self.slice(self.peek().span) == ".extern";
            self.bump();
        }
        let Some(space) = self.space() else {
            let name = self.slice(token.span);
            return Err(self.fail(token.span, format!("unknown directive `{name}`"), ""));
        };
        for var in self.variables(space, linkage, Some(function))? {
            if matches!(space, DeclSpace::Global | DeclSpace::Const | DeclSpace::Shared) {
                let index = u32::try_from(self.ast.vars.len()).unwrap_or(u32::MAX);
                self.ast.vars.push(var);
                body.stmts.push(Stmt::Static(index));
            } else {
                body.stmts.push(Stmt::Decl(Box::new(var)));
            }
        }
        Ok(())
    }

    fn instruction(&mut self, body: &mut Body) -> Result<(), Failed> {
        let line = self.peek().line;
        let guard = if self.eat(Kind::At) {
            let negate = self.eat(Kind::Not);
            Some((self.expect(Kind::Ident, "a predicate")?.span, negate))
        } else {
            None
        };
        let root = self.expect(Kind::Ident, "an opcode")?.span;
        let mut opcode = root;
        while self.peek().kind == Kind::Dot {
            opcode = opcode.to(self.bump().span);
        }
        if opcode.range().len() > MAX_OPCODE {
            return Err(self.fail(root, format!("an opcode has at most {MAX_OPCODE} characters"), ""));
        }
        let call = self.slice(root) == "call";
        let operands = self.operands(call)?;
        if self.peek().kind != Kind::Semicolon {
            // Report the missing semicolon, but do not skip to the next one, which would hide the
            // following statement.
            let missing = self.peek().line != self.previous().line;
            let end = self.previous().span;
            if missing && self.peek().kind != Kind::End {
                self.fail(Span { start: end.end, end: end.end }, "a `;` is missing here", "");
            } else {
                return Err(self.unexpected("`,` or `;`"));
            }
        } else {
            self.bump();
        }
        if call {
            let callee = operands
                .iter()
                .find(|operand| !matches!(operand.kind, crate::ptx::ast::OperandKind::Group(_)));
            if let Some(crate::ptx::ast::OperandKind::Name(name)) = callee.map(|operand| &operand.kind) {
                body.callees.push(*name);
            }
        }
        body.instructions += 1;
        body.stmts.push(Stmt::Instr(Box::new(Instr { guard, opcode, operands, line })));
        Ok(())
    }
}
