//! Machine encodings as data: `isa/pascal.ron` and what another generation would have.
//!
//! A table says of each instruction which bits make it what it is, where its modifiers and operands lie, how a
//! disassembler prints it, which op class it has and what it does, by a name that [`crate::sass`]'s `lower` knows.
//! Decoding, encoding and printing are the same code for every table.

mod decode;
mod fields;
mod instruction;
mod read;
mod text;

pub use instruction::{Decoded, Operand, Refused, Value};

use std::ops::RangeInclusive;

use crate::isa::Space;

/// An instruction word. Two bytes hold what no generation has yet.
pub type Word = u128;

/// The encoding of a generation.
#[derive(Debug)]
pub struct Encoding {
    /// Its name.
    pub name: String,
    /// The architectures that have it: 61 for sm_61.
    pub targets: Vec<u32>,
    /// Bytes of an instruction.
    pub word_bytes: usize,
    /// Where the control codes are.
    pub control: ControlPlace,
    /// Where the guard is: three bits of a predicate and one that negates it.
    guard: u32,
    choices: Vec<Choice>,
    ops: Vec<Op>,
    /// By the upper byte of a word: forms that it may have, as (op, form), those that ask for most bits first.
    by_top: Vec<Vec<(u16, u8)>>,
}

/// Where the control codes of instructions are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize)]
pub enum ControlPlace {
    /// In a word of their own in front of so many instructions, so many bits for each.
    Bundle {
        /// Instructions behind the word.
        instructions: usize,
        /// Bits for each, the first in the low ones.
        bits: u32,
    },
    /// In the instruction's own word, from this bit on.
    Inside {
        /// The lowest bit.
        bit: u32,
    },
}

/// How long an instruction takes, as far as its encoding's control codes tell instructions apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Deserialize)]
pub enum Timing {
    /// Always the same: who reads its result relies on the stall counts in between.
    #[default]
    Fixed,
    /// Who reads its result waits at a barrier of the warp.
    Variable,
}

/// An instruction in one or several forms.
#[derive(Debug)]
pub struct Op {
    /// The mnemonic without modifiers.
    pub name: String,
    /// What it does, as `lower` knows it.
    pub sem: String,
    /// Its op class; `*` stands for the space that a generic access resolves to.
    pub class: String,
    /// The space it accesses.
    pub space: Option<Space>,
    /// How it takes part in control codes.
    pub timing: Timing,
    /// Whether its registers can stay in the reuse cache.
    pub reuse: bool,
    /// Whether a guard may stand before it.
    pub guarded: bool,
    forms: Vec<Form>,
    /// What follows the mnemonic: modifiers and text.
    mnemonic: Vec<Part>,
    operands: Vec<OperandSpec>,
}

/// Where the operand B comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// There is none.
    None,
    /// A register.
    Register,
    /// A word of a constant bank.
    Constant,
    /// The constant is operand C, and a register takes the other's place.
    Swapped,
    /// A number.
    Number,
    /// The upper bits of a single-precision number.
    Single,
    /// The upper bits of a double-precision number.
    Double,
}

#[derive(Clone, Copy, Debug)]
struct Form {
    source: Source,
    bits: Word,
    mask: Word,
}

#[derive(Debug)]
enum Part {
    Text(String),
    Modifier(Modifier),
}

#[derive(Debug)]
struct Modifier {
    name: String,
    field: Field,
    values: Values,
}

#[derive(Debug)]
enum Values {
    /// Printed if the bit is set, or, if `inverted`, if it is not.
    Flag { text: String, inverted: bool },
    /// An index into [`Encoding::choices`].
    Choice(usize),
}

/// Texts by number; nothing for numbers that nobody knows.
#[derive(Debug)]
struct Choice {
    name: String,
    texts: Vec<Option<String>>,
}

/// Bits of a word, low ones first: where a piece begins and how many bits it has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Field(Vec<(u32, u32)>);

#[derive(Debug)]
struct OperandSpec {
    name: String,
    kind: Kind,
    field: Field,
    /// Where a number is that may stand in a register's place, and the bit that says so.
    number: Option<(Field, u32)>,
    /// The offset of an address.
    offset: Option<(Field, Signed)>,
    /// The offset counts words of four bytes.
    words: bool,
    /// Set if the address has 64 bits.
    extended: Option<u32>,
    neg: Option<u32>,
    abs: Option<u32>,
    inv: Option<u32>,
    not: Option<u32>,
    cc: Option<u32>,
    half: Option<u32>,
    /// A choice that selects a part of the operand, printed behind it.
    part: Option<(Field, usize)>,
    /// The value with which it is not printed.
    hide: Option<u64>,
    /// A blank stands between the brackets of a constant.
    apart: bool,
    /// 64 bits wide.
    wide: bool,
    /// Printed without a sign.
    plain: bool,
    /// The register behind it is an operand, too.
    next: bool,
    /// A blank stands before it, and no comma.
    joined: bool,
    /// Whose reuse mark is its own, if not that of its place.
    slot: Option<u8>,
}

type Signed = bool;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Register,
    Predicate,
    /// As the form says.
    B,
    Constant,
    IndexedConstant,
    /// So many bits, signed or not.
    Number(u32, Signed),
    Single,
    Target,
    Address,
    /// A register or so many bits.
    RegisterOrNumber(u32),
    Choice(usize),
    Barrier,
    Barriers,
}

impl Field {
    fn at(bit: u32, width: u32) -> Self {
        Self(vec![(bit, width)])
    }

    fn width(&self) -> u32 {
        self.0.iter().map(|(_, width)| width).sum()
    }

    fn mask(&self) -> Word {
        self.0.iter().fold(0, |mask, &(bit, width)| mask | low(width) << bit)
    }

    fn get(&self, word: Word) -> u64 {
        let mut shift = 0;
        self.0.iter().fold(0, |value, &(bit, width)| {
            let part = (word >> bit & low(width)) as u64;
            let value = value | part << shift;
            shift += width;
            value
        })
    }

    fn put(&self, value: u64) -> Word {
        let mut left = Word::from(value);
        self.0.iter().fold(0, |word, &(bit, width)| {
            let part = left & low(width);
            left >>= width;
            word | part << bit
        })
    }
}

/// So many ones.
fn low(width: u32) -> Word {
    (1 << width) - 1
}

/// The low bits of a number, as two's complement.
fn signed(value: u64, bits: u32) -> i64 {
    let shift = 64 - bits.clamp(1, 64);
    ((value << shift) as i64) >> shift
}

impl Encoding {
    /// Every mnemonic without modifiers, each once, in the order of the table.
    pub fn names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for op in &self.ops {
            if !names.contains(&op.name.as_str()) {
                names.push(&op.name);
            }
        }
        names
    }

    /// The architectures, as a range.
    pub fn range(&self) -> RangeInclusive<u32> {
        let (least, most) = (self.targets.iter().min(), self.targets.iter().max());
        least.copied().unwrap_or(0)..=most.copied().unwrap_or(0)
    }

    /// The name that fits a word best, by the upper bits they share: for messages.
    pub fn nearest(&self, word: Word) -> Option<&str> {
        let bits = self.word_bytes as u32 * 8;
        let distance = |form: &Form| {
            let differs = (form.bits ^ word) & form.mask;
            bits - (Word::BITS - differs.leading_zeros()).min(bits)
        };
        let near = |op: &Op| op.forms.iter().map(distance).max();
        self.ops.iter().max_by_key(|op| near(op)).map(|op| op.name.as_str())
    }
}
