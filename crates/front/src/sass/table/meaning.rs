//! The names by which a table gives instructions their semantics.
//!
//! `lower` has a function for each name, in the file of its family, and does not compile without
//! one. Names are those of opcodes with the same semantics in all tables that use them; an opcode
//! that does something else in another generation has another name there.

use serde::Deserialize;

/// The semantics of an instruction: a family and a name in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Meaning {
    /// Integer sums, products and minima.
    Int(Int),
    /// Shifts, logic and bit fields.
    Bits(Bits),
    /// Comparisons.
    Compare(Compare),
    /// Moves, selections, logic on predicates, and special registers.
    Moves(Moves),
    /// Single precision.
    Float(Float),
    /// Double precision.
    Double(Double),
    /// Conversions.
    Convert(Convert),
    /// Loads, stores, atomic operations and fences.
    Memory(Memory),
    /// Exchanges between the threads of a warp or a block.
    Warp(Warp),
    /// Branches, divergent regions, calls and exits.
    Control(Control),
}

/// Integer sums, products and minima.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "the names are those of opcodes")]
pub enum Int {
    Iadd,
    Iadd3,
    Iscadd,
    Lea,
    LeaHi,
    Imnmx,
    Vmnmx,
    Xmad,
    Imul,
}

/// Shifts, logic and bit fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "the names are those of opcodes")]
pub enum Bits {
    Shl,
    Shr,
    ShfLeft,
    ShfRight,
    Lop,
    Lop3,
    Bfe,
    Bfi,
    Popc,
    Flo,
    Prmt,
}

/// Comparisons.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "the names are those of opcodes")]
pub enum Compare {
    Isetp,
    Iset,
    Icmp,
    Fsetp,
    Fset,
    Fcmp,
    Dsetp,
    Dset,
    Fchk,
}

/// Moves, selections, logic on predicates, and special registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "the names are those of opcodes")]
pub enum Moves {
    Mov,
    Sel,
    Psetp,
    Pset,
    P2r,
    R2p,
    S2r,
}

/// Single precision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "the names are those of opcodes")]
pub enum Float {
    Fadd,
    Fmul,
    Ffma,
    Fmnmx,
    Rro,
    Mufu,
}

/// Double precision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "the names are those of opcodes")]
pub enum Double {
    Dadd,
    Dmul,
    Dfma,
    Dmnmx,
}

/// Conversions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "the names are those of opcodes")]
pub enum Convert {
    F2f,
    F2i,
    I2f,
    I2i,
}

/// Loads, stores, atomic operations and fences.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "the names are those of opcodes")]
pub enum Memory {
    Load,
    Store,
    LoadConst,
    Atom,
    AtomCas,
    Red,
    Membar,
    Depbar,
}

/// Exchanges between the threads of a warp or a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "the names are those of opcodes")]
pub enum Warp {
    Shfl,
    Vote,
    Bar,
    B2r,
}

/// Branches, divergent regions, calls and exits.
///
/// `Ssy` to `Cont` push and pop the stack by which warps reconverge, and `Cal` and `Ret` push and
/// pop return addresses. Generations without these stacks have other opcodes, and thus other names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "the names are those of opcodes")]
pub enum Control {
    Nop,
    Bra,
    Brx,
    Ssy,
    Pbk,
    Pcnt,
    Sync,
    Brk,
    Cont,
    Cal,
    Ret,
    Exit,
    Bpt,
}
