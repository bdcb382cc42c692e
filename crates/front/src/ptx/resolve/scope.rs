//! The scopes of one function, which map names to registers, variables and labels.

use std::collections::HashMap;

use super::{Problem, has_length, natural_align, size_of};
use crate::ptx::ast::{Ast, DeclSpace, Function, Stmt, VarDecl};
use crate::ptx::span::Span;
use crate::ptx::types::Type;
use warpbound_core::base::RegId;
use warpbound_core::program::RegKind;
use warpbound_core::program::layout::Segment;

/// The meaning of a name in a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::ptx) enum Symbol {
    /// A register that is in use.
    Reg(RegId, RegKind),
    /// A declared register that is not in use yet.
    Unused(RegKind),
    /// A vector register, whose parts are separate registers.
    Vector(VectorRegister),
    /// A declared vector register that is not in use yet.
    UnusedVector(VectorRegister),
    /// A variable of the module, or a static variable of the function: the index in [`Ast::vars`].
    Static(u32),
    /// A parameter of the kernel: the offset in the parameter block, and the size.
    KernelParam(u64, u64),
    /// A `.local` variable: the offset in local memory, or in the frame of a recursive function,
    /// and the size.
    Local(u64, u64),
    /// A parameter of a function or call: the offset as for `.local` variables, and the size.
    Param(u64, u64),
    /// A label: the index of the instruction in the function.
    Label(u32),
    /// The statement with the targets of an indirect branch.
    Targets(u32),
    /// The statement with the prototype or the targets of an indirect call.
    Prototype(u32),
}

/// A register with several parts: a vector, or a 128-bit register, which has two parts of 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::ptx) struct VectorRegister {
    /// The kind of each part.
    pub kind: RegKind,
    /// The number of parts.
    pub len: u8,
    /// Whether it is declared as 128 bits, so that its parts have no names.
    pub whole: bool,
    /// The parts, once the register is in use.
    pub parts: [RegId; Self::MAX],
}

impl VectorRegister {
    /// The maximum number of parts.
    pub const MAX: usize = 4;

    /// Returns the parts.
    pub fn parts(&self) -> &[RegId] {
        &self.parts[..usize::from(self.len)]
    }

    /// Returns the symbol of a declaration in the register space, or `None` if its type is not
    /// possible there.
    fn declared(var: &VarDecl) -> Option<Symbol> {
        let (kind, len, whole) = match (var.ty, var.vector) {
            (Type::Bits(128), 1) => (RegKind::Bits(64), 2, true),
            (Type::Pred, 2..) => return None,
            (ty, len) => (ty.register()?, len, false),
        };
        let parts = [RegId::new(0); Self::MAX];
        Some(match len {
            1 => Symbol::Unused(kind),
            _ => Symbol::UnusedVector(Self { kind, len, whole, parts }),
        })
    }
}

/// One scope.
#[derive(Debug, Default)]
struct Scope<'a> {
    parent: Option<u32>,
    names: HashMap<&'a str, Symbol>,
    /// The declared ranges `prefix<count>`: the count, and the symbol of each register.
    ranges: HashMap<&'a str, (u32, Symbol)>,
    /// The size in bytes of the elements of variables and parameters.
    elements: HashMap<&'a str, u64>,
    /// The local memory that can be reused once the scope is closed.
    released: Vec<((&'a str, u64, u64), u64)>,
}

/// All scopes of a function, numbered in the order in which they open.
#[derive(Debug, Default)]
pub(in crate::ptx) struct Scopes<'a> {
    list: Vec<Scope<'a>>,
    /// Whether any vector register is declared.
    pub vectors: bool,
}

/// The data that is needed to build the scopes of a function.
pub(in crate::ptx) struct Frame<'a, 'b> {
    pub ast: &'a Ast,
    pub text: &'a str,
    /// The segment for local variables and parameters of functions.
    pub local: &'b mut Segment,
    /// The maximum size of local memory in bytes.
    pub most_local: u64,
    /// The size in bytes of the function's last parameter, if that is an array without a length.
    pub rest_bytes: u64,
    pub problems: &'b mut Vec<Problem>,
}

impl<'a> Scopes<'a> {
    /// Reads the declarations of a function. Parameters of kernels are added with
    /// [`Scopes::define`], since their layout is part of the program's interface.
    pub fn new(function: &'a Function, frame: &mut Frame<'a, '_>) -> Self {
        // most instructions of compiled code write a register of their own, whose name is added
        // here
        let names = HashMap::with_capacity(function.body.as_ref().map_or(0, |body| body.instructions));
        let mut scopes = Self { list: vec![Scope { names, ..Scope::default() }], vectors: false };
        let mut pool: HashMap<(&'a str, u64, u64), Vec<u64>> = HashMap::new();
        if !function.entry {
            for var in function.returns.iter().chain(&function.params) {
                scopes.declare(0, (var, true), frame, &mut pool);
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
                Stmt::Decl(var) => scopes.declare(current, (var, false), frame, &mut pool),
            }
        }
        scopes
    }

    /// Returns the scope that encloses another one.
    pub fn parent(&self, scope: u32) -> u32 {
        self.list[scope as usize].parent.unwrap_or(0)
    }

    /// Defines a name in a scope, replacing an earlier definition.
    pub fn define(&mut self, scope: u32, name: &'a str, symbol: Symbol) {
        self.list[scope as usize].names.insert(name, symbol);
    }

    /// Resolves a name in a scope; returns the scope that defines it, and its meaning.
    pub fn find(&self, scope: u32, name: &str) -> Option<(u32, Symbol)> {
        let mut at = Some(scope);
        while let Some(index) = at {
            let scope = &self.list[index as usize];
            if let Some(symbol) = scope.names.get(name) {
                return Some((index, *symbol));
            }
            if !scope.ranges.is_empty()
                && let Some(symbol) = scope.ranged(name)
            {
                return Some((index, symbol));
            }
            at = scope.parent;
        }
        None
    }

    /// Returns the size in bytes of an element of a variable or parameter that a scope declares.
    pub fn element_bytes(&self, scope: u32, name: &str) -> Option<u64> {
        self.list[scope as usize].elements.get(name).copied()
    }

    /// Sets the size in bytes of an element of a parameter of the kernel.
    pub fn define_element(&mut self, scope: u32, name: &'a str, bytes: u64) {
        self.list[scope as usize].elements.insert(name, bytes);
    }

    /// Returns the names that are visible in a scope, for hints.
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
        (var, parameter): (&'a VarDecl, bool),
        frame: &mut Frame<'a, '_>,
        pool: &mut HashMap<(&'a str, u64, u64), Vec<u64>>,
    ) {
        let name = slice(frame.text, var.name);
        if var.space == DeclSpace::Reg {
            let Some(symbol) = VectorRegister::declared(var) else {
                let message = format!("`{name}` cannot be a register: there are none of this type");
                frame.problems.push(problem(
                    var.name,
                    message,
                    "vectors have 2 or 4 parts, none a predicate",
                ));
                return;
            };
            self.vectors |= matches!(symbol, Symbol::UnusedVector(_));
            match var.count {
                None => self.add(scope, var.name, symbol, frame),
                Some(count) => {
                    if self.list[scope as usize].ranges.insert(name, (count, symbol)).is_some() {
                        let message = format!("registers `{name}<...>` are declared twice");
                        frame.problems.push(problem(var.name, message, "rename some of them"));
                    }
                }
            }
            return;
        }
        let given = match has_length(var) {
            true => size_of(var),
            false if parameter => Some(frame.rest_bytes),
            false => {
                let message = format!("the array `{name}` has no length");
                frame.problems.push(problem(
                    var.name,
                    message,
                    "give it one: only the last parameter of a function needs none",
                ));
                Some(0)
            }
        };
        let Some(size) = given.filter(|size| frame.local.size + size <= frame.most_local) else {
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
        self.list[scope as usize].elements.insert(name, var.ty.bytes());
        self.add(scope, var.name, symbol, frame);
    }
}

impl Scope<'_> {
    /// Returns the symbol of a name that consists of a prefix and a number, if a range declares it.
    fn ranged(&self, name: &str) -> Option<Symbol> {
        let digits = name.bytes().rev().take_while(u8::is_ascii_digit).take(10).count();
        // the prefix itself may end in digits, so every split is tried
        (1..=digits).rev().find_map(|digits| {
            let (prefix, number) = name.split_at(name.len() - digits);
            let &(count, symbol) = self.ranges.get(prefix)?;
            let canonical = digits == 1 || !number.starts_with('0');
            number.parse::<u32>().ok().filter(|&n| canonical && n < count).map(|_| symbol)
        })
    }
}

fn slice(text: &str, span: Span) -> &str {
    text.get(span.range()).unwrap_or_default()
}

fn problem(span: Span, message: String, hint: &str) -> Problem {
    Problem { span, line: 0, construct: "declaration".into(), message, hint: hint.into() }
}
