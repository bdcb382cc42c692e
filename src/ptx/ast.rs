//! What a PTX file says, before names mean anything.
//!
//! Names are byte ranges of the source. A function's body is a flat list in which scopes open and
//! close, so that nothing here nests deeper than an initialiser.

use super::span::Span;
use super::types::Type;

/// A parsed file.
#[derive(Debug, Default)]
pub(super) struct Ast {
    /// `.version`.
    pub version: String,
    /// `.target`.
    pub target: String,
    /// `.address_size`; 32 or 64.
    pub address_bits: u8,
    /// Every variable with one address for all threads or one per block: module scope and, as
    /// [`VarDecl::function`] says, those declared inside functions.
    pub vars: Vec<VarDecl>,
    /// Kernels and functions, prototypes included, in order.
    pub functions: Vec<Function>,
    /// `.alias a, b`.
    pub aliases: Vec<(Span, Span)>,
}

/// Where a variable or parameter is declared to live.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DeclSpace {
    Reg,
    Param,
    Const,
    Global,
    Shared,
    Local,
}

/// A declaration of one name.
#[derive(Debug)]
pub(super) struct VarDecl {
    pub space: DeclSpace,
    /// `.extern`: defined elsewhere.
    pub external: bool,
    /// In bytes; 0 for the natural one.
    pub align: u64,
    /// Elements of a vector type, 1 for scalars.
    pub vector: u8,
    pub ty: Type,
    pub name: Span,
    /// `name<count>`: that many registers.
    pub count: Option<u32>,
    /// Array dimensions; the first may be 0, which is written `[]`.
    pub dims: Vec<u64>,
    pub init: Option<Init>,
    /// Index of the function it is declared in.
    pub function: Option<u32>,
}

/// An initialiser.
#[derive(Debug)]
pub(super) enum Init {
    Value(InitValue, Span),
    List(Vec<Init>),
}

/// One value of an initialiser.
#[derive(Clone, Copy, Debug)]
pub(super) enum InitValue {
    Const(Const),
    /// The address of a variable, of which `mask` selects a byte range (`0xFF00(x)`).
    Address {
        symbol: SymbolExpr,
        mask: Option<u64>,
    },
}

/// `name + offset`, `generic(name) + offset`.
#[derive(Clone, Copy, Debug)]
pub(super) struct SymbolExpr {
    pub name: Span,
    pub offset: i64,
    pub generic: bool,
}

/// A constant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Const {
    /// 64 bits and whether they are unsigned.
    Int(u64, bool),
    /// `0f...`.
    F32(u32),
    /// `0d...` and decimal fractions.
    F64(u64),
}

/// A kernel or function.
#[derive(Debug)]
pub(super) struct Function {
    pub entry: bool,
    pub name: Span,
    pub line: u32,
    pub returns: Vec<VarDecl>,
    pub params: Vec<VarDecl>,
    /// Product of `.maxntid` or `.reqntid`, the smaller one.
    pub max_threads: Option<u32>,
    /// Nothing for a prototype.
    pub body: Option<Body>,
}

/// What a function gives and takes.
#[derive(Debug)]
pub(super) struct Signature {
    pub returns: Vec<VarDecl>,
    pub params: Vec<VarDecl>,
}

/// A body.
#[derive(Debug, Default)]
pub(super) struct Body {
    pub stmts: Vec<Stmt>,
    /// How many of the statements are instructions.
    pub instructions: usize,
    /// Names that calls name as their callee.
    pub callees: Vec<Span>,
    /// Line of the closing brace.
    pub end_line: u32,
}

/// A statement.
#[derive(Debug)]
pub(super) enum Stmt {
    Open,
    Close,
    Label(Span),
    /// Registers, local variables and call-site parameters.
    Decl(Box<VarDecl>),
    /// A variable in [`Ast::vars`].
    Static(u32),
    Instr(Box<Instr>),
    /// `name: .branchtargets a, b;`.
    Targets(Span, Vec<Span>),
    /// `name: .callprototype (results) _ (parameters);`.
    Prototype(Span, Box<Signature>),
    /// `name: .calltargets f, g;`.
    CallTargets(Span, Vec<Span>),
}

/// An instruction.
#[derive(Debug)]
pub(super) struct Instr {
    /// Predicate and whether it is negated.
    pub guard: Option<(Span, bool)>,
    /// The opcode with its modifiers.
    pub opcode: Span,
    pub operands: Vec<Operand>,
    pub line: u32,
}

/// An operand.
#[derive(Clone, Debug)]
pub(super) struct Operand {
    pub kind: OperandKind,
    pub span: Span,
}

/// Kinds of operands.
#[derive(Clone, Debug)]
pub(super) enum OperandKind {
    /// `name`.
    Name(Span),
    /// `%tid.x`, `%r1.b2`, `vector.x`.
    Component(Span, Span),
    /// A part of a register that has several, which the source names as a whole.
    Element(Span, u8),
    /// `array[3]`, `array[%r1 + 3]`.
    Indexed(ArrayElement),
    /// `!name`.
    Not(Span),
    /// `-name`, `-name.h1`.
    Minus(Box<Operand>),
    /// `p|q`.
    Pair(Span, Span),
    /// A constant expression.
    Const(Const),
    /// `name+4`, `generic(name)`.
    Symbol(SymbolExpr),
    /// `[...]`.
    Address(AddressExpr),
    /// `{a, b}`.
    Vector(Vec<Operand>),
    /// `(a, b)` of a call.
    Group(Vec<Operand>),
    /// `_`.
    Sink,
    /// `[name, sampler, {x, y}]` of texture, surface and tensor instructions: the first address and
    /// what follows it.
    Image(AddressExpr, Vec<Operand>),
}

/// An element of an array variable.
#[derive(Clone, Copy, Debug)]
pub(super) struct ArrayElement {
    pub name: Span,
    /// The register in the index.
    pub register: Option<Span>,
    /// The constant in the index.
    pub index: i64,
}

/// What stands between brackets.
#[derive(Clone, Copy, Debug)]
pub(super) struct AddressExpr {
    /// Register or variable; nothing for an absolute address.
    pub base: Option<Span>,
    pub offset: i64,
}
