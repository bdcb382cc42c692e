//! Instruction encodings as data: `isa/pascal.ron`, and tables of other generations.
//!
//! A table states the register files, the places of the opcode, the guard and the control codes in
//! a word, and the banks of constants. For each instruction, it states the bits that identify it,
//! the locations of its modifiers and operands, its text in a disassembly, its op class, and its
//! semantics, as a name that the module `lower` of [`crate::sass`] handles. The code for decoding,
//! encoding and printing is the same for all tables.

mod abi;
mod control;
mod decode;
mod delay_table;
mod encode;
mod entry;
mod field;
mod fields;
mod index;
mod instruction;
mod latencies;
pub mod meaning;
mod mistake;
mod operand;
mod read;
mod registers;
mod source;
mod syntax;
mod text;

pub use abi::{Abi, Axis, Bank, Banks, LaunchValue};
pub use control::{ControlFormat, ControlPlace};
pub use field::Word;
pub use instruction::{Decoded, Operand, Refused, Value};
pub use latencies::Latencies;
pub use meaning::Meaning;
pub use registers::{Register, RegisterFile, Registers};
pub use source::Source;

use std::ops::RangeInclusive;

use warpbound_core::isa::Space;

use field::Field;
use mistake::Mistake;

/// The encoding of a GPU generation.
#[derive(Debug)]
pub struct Encoding {
    /// The name.
    pub name: String,
    /// The file of the table, for messages.
    pub file: String,
    /// The architectures that use it, such as 61 for sm_61.
    pub targets: Vec<u32>,
    /// The size of an instruction in bytes.
    pub word_bytes: usize,
    /// The control codes.
    pub control: ControlFormat,
    /// The register files.
    pub registers: Registers,
    /// The banks of constants.
    pub abi: Abi,
    /// The times that accesses to registers need, if they are known.
    pub latencies: Option<Latencies>,
    /// The bits that identify an instruction.
    opcode: Field,
    /// The guard: the bits of the predicate and one that negates it.
    guard: Field,
    /// The first bits of the registers in the operand slots.
    slots: Vec<u32>,
    choices: Vec<Choice>,
    ops: Vec<Op>,
    /// For each value of the upper byte of an opcode, the possible forms as (op, form); those with
    /// more fixed bits come first.
    by_top: Vec<Vec<(u16, u8)>>,
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
    /// The semantics; `None` if the instruction can be decoded, but not executed.
    pub meaning: Option<Meaning>,
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
    /// Whether its guard is a predicate that the threads of a warp share.
    pub uniform: bool,
    /// The conditions one of which its words fulfil; none if there are none.
    when: Vec<Condition>,
    forms: Vec<Form>,
    /// The text after the mnemonic: modifiers and literals.
    mnemonic: Vec<Part>,
    operands: Vec<OperandSpec>,
}

/// A condition on the value of a field.
#[derive(Debug)]
struct Condition {
    field: Field,
    /// The value; `None` is any power of two.
    value: Option<u64>,
}

impl Condition {
    fn holds(&self, word: Word) -> bool {
        let value = self.field.get(word);
        // NVIDIA's disassembler does not count these two as powers
        let power = value.is_power_of_two() && !matches!(value, 0x1_0000 | 0x8000_0000);
        self.value.map_or(power, |wanted| wanted == value)
    }
}

#[derive(Clone, Debug)]
struct Form {
    source: Source,
    /// The field of the operand B.
    b: Field,
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

#[derive(Debug)]
struct OperandSpec {
    name: String,
    kind: Kind,
    field: Field,
    /// The field of a number that may replace a register, and the bit that selects it.
    number: Option<(Field, u32)>,
    /// The signed offset of an address.
    offset: Option<Field>,
    /// The bank of an indexed constant.
    bank: Option<Field>,
    /// A register of the warp that is added to an address.
    uniform: Option<Field>,
    /// A register of the warp that describes the memory of an address.
    descriptor: Option<Field>,
    /// Whether a disassembly names the descriptor.
    described: bool,
    /// Whether a disassembly says that the register of an address has 64 bits.
    sized: bool,
    /// Whether a disassembly prints the register that is always zero beside one of the warp.
    zero: bool,
    /// Whether it is never printed.
    silent: bool,
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
    /// Whether the mark of the reuse cache is printed before the part.
    part_last: bool,
    /// Whether the number of a register is stored as its complement.
    complement: bool,
    /// The value for which the operand is not printed.
    hide: Option<u64>,
    /// The bit without which the operand is not printed.
    with: Option<u32>,
    /// Whether a space is printed between the brackets of a constant.
    apart: bool,
    /// Whether only the sign of the register is used.
    sign: bool,
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
    Uniform,
    UniformPredicate,
    /// The kind depends on the form.
    B,
    IndexedConstant,
    /// A register of the warp, plus an offset, in a constant bank.
    UniformConstant,
    /// An address that a register of the warp holds, plus an offset.
    UniformAddress,
    /// Registers of the warp that describe memory, by the word that is printed before them.
    Descriptor(&'static str),
    /// A number, signed or unsigned.
    Number(Signed),
    Single,
    /// A number of half precision.
    Half,
    /// The upper half of a number of single precision (bfloat16).
    Brain,
    /// A text that is always the same.
    Literal,
    Target,
    Address,
    /// A register, or a number of this many bits.
    RegisterOrNumber(u32),
    Choice(usize),
    Barrier,
    Barriers,
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

    /// Returns whether an instruction has these semantics.
    pub fn has(&self, meaning: Meaning) -> bool {
        self.ops.iter().any(|op| op.meaning == Some(meaning))
    }

    /// Returns the architectures as a range.
    pub fn range(&self) -> RangeInclusive<u32> {
        let (least, most) = (self.targets.iter().min(), self.targets.iter().max());
        least.copied().unwrap_or(0)..=most.copied().unwrap_or(0)
    }

    /// Returns the instruction whose forms share the most upper bits with a word, for messages; the
    /// bits of the opcode count first.
    pub fn nearest(&self, word: Word) -> Option<&str> {
        let likeness = |form: &Form| {
            let differs = (form.bits ^ word) & form.mask;
            (self.opcode.get(differs).leading_zeros(), differs.leading_zeros())
        };
        let near = |op: &Op| op.forms.iter().map(likeness).max();
        self.ops.iter().max_by_key(|op| near(op)).map(|op| op.name.as_str())
    }
}

impl OperandSpec {
    /// Returns the bit of a sign in words of a form. A number that takes the place of a register
    /// has no sign of its own.
    fn sign(&self, bit: Option<u32>, form: &Form) -> Option<u32> {
        bit.filter(|bit| self.kind != Kind::B || form.b.mask() >> bit & 1 == 0)
    }

    /// Returns the field of the operand's value in words of a form.
    fn place<'a>(&'a self, form: &'a Form) -> &'a Field {
        if self.kind == Kind::B { &form.b } else { &self.field }
    }
}
