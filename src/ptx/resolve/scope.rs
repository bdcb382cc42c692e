//! The scopes of one function: registers, variables and labels by name.

use std::collections::HashMap;

use super::{Problem, natural_align, size_of};
use crate::base::RegId;
use crate::program::RegKind;
use crate::program::layout::Segment;
use crate::ptx::ast::{Ast, DeclSpace, Function, Stmt, VarDecl};
use crate::ptx::span::Span;

/// What a name stands for inside a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::ptx) enum Symbol {
    /// A register in use.
    Reg(RegId, RegKind),
    /// A declared register that nothing has used yet.
    Unused(RegKind),
    /// A variable of the module or a static one of the function: index into [`Ast::vars`].
    Static(u32),
    /// A parameter of the kernel: offset in the parameter block and size.
    KernelParam(u64, u64),
    /// A `.local` variable: offset in local memory, or in the frame of a function that has one, and
    /// size.
    Local(u64, u64),
    /// A parameter of a function or call: as for `.local` variables.
    Param(u64, u64),
    /// The instruction with this index in the function.
    Label(u32),
    /// Statement that holds the targets of an indirect branch.
    Targets(u32),
    /// Statement that says what a call through a pointer calls.
    Prototype(u32),
}

/// One scope.
#[derive(Debug, Default)]
struct Scope<'a> {
    parent: Option<u32>,
    names: HashMap<&'a str, Symbol>,
    /// `prefix<count>`.
    ranges: HashMap<&'a str, (u32, RegKind)>,
    /// Local memory to reuse once the scope is closed.
    released: Vec<((&'a str, u64, u64), u64)>,
}

/// All scopes of a function, numbered in the order in which they open.
#[derive(Debug, Default)]
pub(in crate::ptx) struct Scopes<'a> {
    list: Vec<Scope<'a>>,
}

/// What building the scopes of a function needs.
pub(in crate::ptx) struct Frame<'a, 'b> {
    pub ast: &'a Ast,
    pub text: &'a str,
    /// Receives local variables and parameters of functions.
    pub local: &'b mut Segment,
    /// Most bytes of local memory.
    pub most_local: u64,
    pub problems: &'b mut Vec<Problem>,
}

impl<'a> Scopes<'a> {
    /// Reads the declarations of a function. Parameters of kernels are added by
    /// [`Scopes::define`], since their layout is part of the program's interface.
    pub fn new(function: &'a Function, frame: &mut Frame<'a, '_>) -> Self {
        let mut scopes = Self { list: vec![Scope::default()] };
        let mut pool: HashMap<(&'a str, u64, u64), Vec<u64>> = HashMap::new();
        if !function.entry {
            for var in function.returns.iter().chain(&function.params) {
                scopes.declare(0, var, frame, &mut pool);
            }
        }
        let (mut current, mut instructions) = (0u32, 0u32);
        let stmts = function.body.as_ref().map_or(&[][..], |body| &body.stmts);
        for (index, stmt) in stmts.iter().enumerate() {
            match stmt {
                Stmt::Open => {
                    scopes.list.push(Scope { parent: Some(current), ..Scope::default() });
                    current = scopes.list.len() as u32 - 1;
                }
                Stmt::Close => {
                    let scope = &mut scopes.list[current as usize];
                    for (key, offset) in scope.released.drain(..) {
                        pool.entry(key).or_default().push(offset);
                    }
                    current = scope.parent.unwrap_or(0);
                }
                Stmt::Instr(_) => instructions += 1,
                Stmt::Label(name) => scopes.add(current, *name, Symbol::Label(instructions), frame),
                Stmt::Targets(name, _) => scopes.add(current, *name, Symbol::Targets(index as u32), frame),
                Stmt::Prototype(name, _) | Stmt::CallTargets(name, _) => {
                    scopes.add(current, *name, Symbol::Prototype(index as u32), frame);
                }
                Stmt::Static(var) => {
                    let name = frame.ast.vars[*var as usize].name;
                    scopes.add(current, name, Symbol::Static(*var), frame);
                }
                Stmt::Decl(var) => scopes.declare(current, var, frame, &mut pool),
            }
        }
        scopes
    }

    /// The scope that encloses another one.
    pub fn parent(&self, scope: u32) -> u32 {
        self.list[scope as usize].parent.unwrap_or(0)
    }

    /// Gives a name a meaning, whatever it meant before.
    pub fn define(&mut self, scope: u32, name: &'a str, symbol: Symbol) {
        self.list[scope as usize].names.insert(name, symbol);
    }

    /// What a name means in a scope, and the scope that says so.
    pub fn find(&self, scope: u32, name: &str) -> Option<(u32, Symbol)> {
        let mut at = Some(scope);
        while let Some(index) = at {
            let scope = &self.list[index as usize];
            if let Some(symbol) = scope.names.get(name) {
                return Some((index, *symbol));
            }
            if !scope.ranges.is_empty()
                && let Some(kind) = scope.ranged(name)
            {
                return Some((index, Symbol::Unused(kind)));
            }
            at = scope.parent;
        }
        None
    }

    /// Names that mean something in a scope, for hints.
    pub fn names(&self, scope: u32, wanted: fn(&Symbol) -> bool) -> Vec<&'a str> {
        let mut names = Vec::new();
        let mut at = Some(scope);
        while let Some(index) = at {
            let scope = &self.list[index as usize];
            names.extend(scope.names.iter().filter(|(_, symbol)| wanted(symbol)).map(|(name, _)| *name));
            at = scope.parent;
        }
        names.sort_unstable();
        names
    }

    fn add(&mut self, scope: u32, name: Span, symbol: Symbol, frame: &mut Frame<'a, '_>) {
        let text = slice(frame.text, name);
        if text == "_" || text.is_empty() {
            return;
        }
        if self.list[scope as usize].names.insert(text, symbol).is_some() {
            frame.problems.push(problem(name, format!("`{text}` is declared twice"), "rename one of them"));
        }
    }

    fn declare(
        &mut self,
        scope: u32,
        var: &'a VarDecl,
        frame: &mut Frame<'a, '_>,
        pool: &mut HashMap<(&'a str, u64, u64), Vec<u64>>,
    ) {
        let name = slice(frame.text, var.name);
        if var.space == DeclSpace::Reg {
            // instructions refuse 128-bit values and vector registers by themselves, and only
            // where they stand
            let Some(kind) = var.ty.register().filter(|_| var.vector == 1) else { return };
            match var.count {
                None => self.add(scope, var.name, Symbol::Unused(kind), frame),
                Some(count) => {
                    if self.list[scope as usize].ranges.insert(name, (count, kind)).is_some() {
                        let message = format!("registers `{name}<...>` are declared twice");
                        frame.problems.push(problem(var.name, message, "rename some of them"));
                    }
                }
            }
            return;
        }
        let Some(size) = size_of(var).filter(|size| frame.local.size + size <= frame.most_local) else {
            let message = format!("local memory of a thread exceeds {} bytes", frame.most_local);
            frame.problems.push(problem(var.name, message, "declare fewer or smaller variables"));
            self.list[scope as usize].names.insert(name, Symbol::Local(0, 0));
            return;
        };
        let key = (name, size, natural_align(var));
        let offset = match pool.get_mut(&key).and_then(Vec::pop) {
            Some(offset) => offset,
            None => frame.local.place(name, size, natural_align(var)),
        };
        if scope != 0 {
            self.list[scope as usize].released.push((key, offset));
        }
        let symbol = match var.space {
            DeclSpace::Param => Symbol::Param(offset, size),
            _ => Symbol::Local(offset, size),
        };
        self.add(scope, var.name, symbol, frame);
    }
}

impl Scope<'_> {
    /// The kind of `prefix` and number, if a range declares it.
    fn ranged(&self, name: &str) -> Option<RegKind> {
        let digits = name.bytes().rev().take_while(u8::is_ascii_digit).take(10).count();
        // the prefix may end in digits itself, so every split is tried
        (1..=digits).rev().find_map(|digits| {
            let (prefix, number) = name.split_at(name.len() - digits);
            let &(count, kind) = self.ranges.get(prefix)?;
            let canonical = digits == 1 || !number.starts_with('0');
            number.parse::<u32>().ok().filter(|&n| canonical && n < count).map(|_| kind)
        })
    }
}

fn slice(text: &str, span: Span) -> &str {
    text.get(span.range()).unwrap_or_default()
}

fn problem(span: Span, message: String, hint: &str) -> Problem {
    Problem { span, line: 0, construct: "declaration".into(), message, hint: hint.into() }
}
