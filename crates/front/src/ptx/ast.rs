//! The syntax tree of a PTX file before name resolution.
//!
//! Names are byte ranges of the source. The body of a function is a flat list in which scopes open
//! and close, so only initialisers are nested.

use super::span::Span;
use super::types::Type;

/// A parsed file.
#[derive(Debug, Default)]
pub(super) struct Ast {
    /// The value of `.version`.
    pub version: String,
    /// The value of `.target`.
    pub target: String,
    /// The value of `.address_size`: 32 or 64.
    pub address_bits: u8,
    /// All variables that have one address for all threads, or one per block: those of module scope
    /// and, if [`VarDecl::function`] is set, those declared in functions.
    pub vars: Vec<VarDecl>,
    /// The kernels and functions in order, including prototypes.
    pub functions: Vec<Function>,
    /// The pairs of `.alias a, b`.
    pub aliases: Vec<(Span, Span)>,
}

/// The state space of a declaration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DeclSpace {
    Reg,
    Param,
    Const,
    Global,
    Shared,
    Local,
}

/// The declaration of one name.
#[derive(Debug)]
pub(super) struct VarDecl {
    pub space: DeclSpace,
    /// Whether it is `.extern`, that is, defined elsewhere.
    pub external: bool,
    /// The alignment in bytes; 0 means the natural one.
    pub align: u64,
    /// The number of elements of a vector type; 1 for scalars.
    pub vector: u8,
    pub ty: Type,
    pub name: Span,
    /// The number of registers that `name<count>` declares.
    pub count: Option<u32>,
    /// The array dimensions; the first one is 0 if it is written `[]`.
    pub dims: Vec<u64>,
    pub init: Option<Init>,
    /// The index of the function that contains the declaration.
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
    /// The address of a variable; `mask` selects a byte range of it (`0xFF00(x)`).
    Address {
        symbol: SymbolExpr,
        mask: Option<u64>,
    },
}

/// A symbolic address: `name + offset` or `generic(name) + offset`.
#[derive(Clone, Copy, Debug)]
pub(super) struct SymbolExpr {
    pub name: Span,
    pub offset: i64,
    pub generic: bool,
}

/// A constant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Const {
    /// A 64-bit integer, and whether it is unsigned.
    Int(u64, bool),
    /// A literal `0f...`.
    F32(u32),
    /// A literal `0d...` or a decimal fraction.
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
    /// The maximum number of threads: the smaller product of `.maxntid` and `.reqntid`.
    pub max_threads: Option<u32>,
    /// The number of blocks of a cluster per axis that `.reqnctapercluster` asks for.
    pub cluster: Option<[u32; 3]>,
    /// The body; `None` for a prototype.
    pub body: Option<Body>,
}

/// The results and parameters of a function.
#[derive(Debug)]
pub(super) struct Signature {
    pub returns: Vec<VarDecl>,
    pub params: Vec<VarDecl>,
}

/// The body of a function.
#[derive(Debug, Default)]
pub(super) struct Body {
    pub stmts: Vec<Stmt>,
    /// The number of statements that are instructions.
    pub instructions: usize,
    /// The callee of each call that names one.
    pub callees: Vec<Span>,
    /// The line of the closing brace.
    pub end_line: u32,
}

/// A statement.
#[derive(Debug)]
pub(super) enum Stmt {
    Open,
    Close,
    Label(Span),
    /// A declaration of registers, a local variable or a call parameter.
    Decl(Box<VarDecl>),
    /// A variable in [`Ast::vars`].
    Static(u32),
    Instr(Box<Instr>),
    /// `name: .branchtargets a, b;`
    Targets(Span, Vec<Span>),
    /// `name: .callprototype (results) _ (parameters);`
    Prototype(Span, Box<Signature>),
    /// `name: .calltargets f, g;`
    CallTargets(Span, Vec<Span>),
}

/// An instruction.
#[derive(Debug)]
pub(super) struct Instr {
    /// The guard predicate, and whether it is negated.
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

/// The kind of an operand.
#[derive(Clone, Debug)]
pub(super) enum OperandKind {
    /// `name`
    Name(Span),
    /// `%tid.x`, `%r1.b2` or `vector.x`
    Component(Span, Span),
    /// One part of a register with several parts that the source names as a whole.
    Element(Span, u8),
    /// `array[3]` or `array[%r1 + 3]`
    Indexed(ArrayElement),
    /// `!name`
    Not(Span),
    /// `-name` or `-name.h1`
    Minus(Box<Operand>),
    /// `p|q`
    Pair(Span, Span),
    /// A constant expression.
    Const(Const),
    /// `name+4` or `generic(name)`
    Symbol(SymbolExpr),
    /// `[...]`
    Address(AddressExpr),
    /// `{a, b}`
    Vector(Vec<Operand>),
    /// `(a, b)` in a call
    Group(Vec<Operand>),
    /// `_`
    Sink,
    /// `[name, sampler, {x, y}]` of texture, surface and tensor instructions: the first address,
    /// and the remaining operands.
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

/// The address in brackets.
#[derive(Clone, Copy, Debug)]
pub(super) struct AddressExpr {
    /// A register or variable; `None` for an absolute address.
    pub base: Option<Span>,
    pub offset: i64,
}
