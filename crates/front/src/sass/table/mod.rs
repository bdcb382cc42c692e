//! Instruction encodings as data: `isa/pascal.ron`, and tables of other generations.
//!
//! For each instruction, a table states the bits that identify it, the locations of its modifiers
//! and operands, its text in a disassembly, its op class, and its semantics, as a name that the
//! module `lower` of [`crate::sass`] handles. The code for decoding, encoding and printing is the
//! same for all tables.

mod decode;
mod fields;
mod instruction;
mod read;
mod text;

pub use instruction::{Decoded, Operand, Refused, Value};

use std::ops::RangeInclusive;

use warpbound_core::isa::Space;

/// An instruction word, which is large enough for every generation.
pub type Word = u128;

/// The encoding of a GPU generation.
#[derive(Debug)]
pub struct Encoding {
    /// The name.
    pub name: String,
    /// The architectures that use it, such as 61 for sm_61.
    pub targets: Vec<u32>,
    /// The size of an instruction in bytes.
    pub word_bytes: usize,
    /// The location of the control codes.
    pub control: ControlPlace,
    /// The lowest bit of the guard: three bits for the predicate and one that negates it.
    guard: u32,
    choices: Vec<Choice>,
    ops: Vec<Op>,
    /// For each value of the upper byte of a word, the possible forms as (op, form); those with
    /// more fixed bits come first.
    by_top: Vec<Vec<(u16, u8)>>,
}

/// The location of the control codes of instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize)]
pub enum ControlPlace {
    /// In a separate word before a group of instructions.
    Bundle {
        /// The number of instructions after the word.
        instructions: usize,
        /// The number of bits for each instruction; the first one has the lowest bits.
        bits: u32,
    },
    /// In the instruction word.
    Inside {
        /// The lowest bit.
        bit: u32,
    },
}

/// The kind of latency of an instruction, which determines how its control codes express
/// dependences.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Deserialize)]
pub enum Timing {
    /// A fixed latency: readers of the result rely on stall counts.
    #[default]
    Fixed,
    /// A variable latency: readers of the result wait at a barrier of the warp.
    Variable,
}

/// An instruction in one or several forms.
#[derive(Debug)]
pub struct Op {
    /// The mnemonic without modifiers.
    pub name: String,
    /// The semantics, as a name that `lower` handles.
    pub sem: String,
    /// The op class; `*` stands for the space that a generic access resolves to.
    pub class: String,
    /// The space that it accesses.
    pub space: Option<Space>,
    /// The kind of latency.
    pub timing: Timing,
    /// Whether its registers can stay in the reuse cache.
    pub reuse: bool,
    /// Whether it can have a guard.
    pub guarded: bool,
    forms: Vec<Form>,
    /// The text after the mnemonic: modifiers and literals.
    mnemonic: Vec<Part>,
    operands: Vec<OperandSpec>,
}

/// The source of the operand B.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// There is none.
    None,
    /// A register.
    Register,
    /// A word of a constant bank.
    Constant,
    /// A register; operand C is a constant.
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
    /// A text that is printed if the bit is set or, if `inverted`, if it is clear.
    Flag { text: String, inverted: bool },
    /// The index of a choice in [`Encoding::choices`].
    Choice(usize),
}

/// Texts by number; `None` for unknown numbers.
#[derive(Debug)]
struct Choice {
    name: String,
    texts: Vec<Option<String>>,
}

/// A field of a word: the first bit and the width of each piece, low bits first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Field(Vec<(u32, u32)>);

#[derive(Debug)]
struct OperandSpec {
    name: String,
    kind: Kind,
    field: Field,
    /// The field of a number that may replace a register, and the bit that selects it.
    number: Option<(Field, u32)>,
    /// The offset of an address.
    offset: Option<(Field, Signed)>,
    /// Whether the offset is in words of four bytes.
    words: bool,
    /// The bit that is set if the address has 64 bits.
    extended: Option<u32>,
    neg: Option<u32>,
    abs: Option<u32>,
    inv: Option<u32>,
    not: Option<u32>,
    cc: Option<u32>,
    half: Option<u32>,
    /// A choice that selects a part of the operand and is printed after it.
    part: Option<(Field, usize)>,
    /// The value for which the operand is not printed.
    hide: Option<u64>,
    /// Whether a space is printed between the brackets of a constant.
    apart: bool,
    /// Whether it has 64 bits.
    wide: bool,
    /// Whether it is printed without a sign.
    plain: bool,
    /// Whether the following register is an operand, too.
    next: bool,
    /// Whether it is preceded by a space rather than a comma.
    joined: bool,
    /// The operand slot of its reuse mark, if it differs from that of its location.
    slot: Option<u8>,
}

type Signed = bool;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Register,
    Predicate,
    /// The kind depends on the form.
    B,
    Constant,
    IndexedConstant,
    /// A number of this width, signed or unsigned.
    Number(u32, Signed),
    Single,
    Target,
    Address,
    /// A register, or a number of this width.
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

/// Returns a mask of the low `width` bits.
fn low(width: u32) -> Word {
    (1 << width) - 1
}

/// Sign-extends the low bits of a number.
fn signed(value: u64, bits: u32) -> i64 {
    let shift = 64 - bits.clamp(1, 64);
    ((value << shift) as i64) >> shift
}

impl Encoding {
    /// Returns all mnemonics without modifiers, without duplicates, in the order of the table.
    pub fn names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for op in &self.ops {
            if !names.contains(&op.name.as_str()) {
                names.push(&op.name);
            }
        }
        names
    }

    /// Returns the architectures as a range.
    pub fn range(&self) -> RangeInclusive<u32> {
        let (least, most) = (self.targets.iter().min(), self.targets.iter().max());
        least.copied().unwrap_or(0)..=most.copied().unwrap_or(0)
    }

    /// Returns the instruction whose forms share the most upper bits with a word, for messages.
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
