//! Decoded instructions.

use super::{Op, Word};

/// A decoded instruction.
#[derive(Clone, Debug)]
pub struct Decoded<'t> {
    /// What it is.
    pub op: &'t Op,
    /// The form it has.
    pub form: usize,
    /// The predicate that enables lanes, and whether it is negated; nothing for all lanes.
    pub guard: Option<(u8, bool)>,
    /// Modifiers by name: what is printed of them, and their number.
    pub modifiers: Vec<(&'t str, &'t str, u64)>,
    /// The operands, in the order of the text.
    pub operands: Vec<Operand<'t>>,
}

/// An operand.
#[derive(Clone, Debug, PartialEq)]
pub struct Operand<'t> {
    /// Its name in the table.
    pub name: &'t str,
    /// What it is.
    pub value: Value<'t>,
    /// Negated.
    pub neg: bool,
    /// Its absolute value.
    pub abs: bool,
    /// Inverted, bit by bit.
    pub inv: bool,
    /// Negated, as a predicate.
    pub not: bool,
    /// Sets the condition code.
    pub cc: bool,
    /// The upper half of it.
    pub half: bool,
    /// The part of it that counts, as printed.
    pub part: &'t str,
    /// 64 bits.
    pub wide: bool,
    /// Printed without a sign.
    pub plain: bool,
    /// The register behind it is an operand, too.
    pub next: bool,
    /// A blank stands before it, and no comma.
    pub joined: bool,
    /// Not printed.
    pub hidden: bool,
    /// A blank stands between the brackets of a constant.
    pub apart: bool,
    /// Which reuse mark is its own: by the slot of its register.
    pub slot: Option<u8>,
}

/// Why a word is no instruction.
#[derive(Clone, Debug)]
pub enum Refused<'t> {
    /// No form has its upper bits.
    Unknown,
    /// These bits of an instruction mean something that the table does not know.
    Bits(&'t Op, Word),
    /// A number that a modifier or operand does not have.
    Number(&'t Op, &'t str, u64),
}

impl<'t> Decoded<'t> {
    /// The operand of this name.
    pub fn operand(&self, name: &str) -> Option<&Operand<'t>> {
        self.operands.iter().find(|operand| operand.name == name)
    }

    /// What is printed of a modifier; nothing if the instruction has none of this name.
    pub fn modifier(&self, name: &str) -> &'t str {
        self.modifiers.iter().find(|(known, ..)| *known == name).map_or("", |(_, text, _)| text)
    }

    /// Whether a modifier is there.
    pub fn has(&self, name: &str) -> bool {
        !self.modifier(name).is_empty()
    }
}

/// What an operand is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value<'t> {
    /// R0 to R254, or RZ.
    Register(u8),
    /// P0 to P6, or PT.
    Predicate(u8),
    /// A word of a bank, by its offset in bytes.
    Constant {
        /// The bank.
        bank: u8,
        /// Bytes.
        offset: i64,
    },
    /// A constant at a register and an offset.
    IndexedConstant {
        /// The bank.
        bank: u8,
        /// The register.
        register: u8,
        /// Bytes.
        offset: i64,
    },
    /// A number: 32 bits, extended by sign where it has less.
    Number(i64),
    /// A number of few bits that has no sign.
    Small(u64),
    /// The bits of a float.
    Single(u32),
    /// The bits of a double.
    Double(u64),
    /// Where code goes on: bytes from the next instruction.
    Target(i64),
    /// A register, or two of them if `wide`, and an offset.
    Address {
        /// The register.
        register: u8,
        /// Bytes.
        offset: i64,
        /// 64 bits.
        wide: bool,
    },
    /// One of several texts.
    Choice(&'t str, u64),
    /// A barrier of the warp.
    Barrier(u8),
    /// Several of them.
    Barriers(u8),
}
