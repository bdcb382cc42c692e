//! Decoded instructions.

use super::{Op, Register, Registers, Word};

/// A decoded instruction.
#[derive(Clone, Debug)]
pub struct Decoded<'t> {
    /// The instruction in the table.
    pub op: &'t Op,
    /// The register files of the table, for the names of registers.
    pub registers: &'t Registers,
    /// The index of its form.
    pub form: usize,
    /// The guard predicate, and whether it is negated; `None` for all lanes. [`Op::uniform`] says
    /// of which file it is.
    pub guard: Option<(Register, bool)>,
    /// The modifiers: name, printed text, and number.
    pub modifiers: Vec<(&'t str, &'t str, u64)>,
    /// The operands in the order of the text.
    pub operands: Vec<Operand<'t>>,
}

/// An operand.
#[derive(Clone, Debug, PartialEq)]
pub struct Operand<'t> {
    /// The name in the table.
    pub name: &'t str,
    /// The value.
    pub value: Value<'t>,
    /// Whether it is negated.
    pub neg: bool,
    /// Whether it is the absolute value.
    pub abs: bool,
    /// Whether its bits are inverted.
    pub inv: bool,
    /// Whether it is a negated predicate.
    pub not: bool,
    /// Whether it sets the condition code.
    pub cc: bool,
    /// Whether it is the upper half.
    pub half: bool,
    /// The selected part, as printed.
    pub part: &'t str,
    /// Whether the mark of the reuse cache is printed before the part.
    pub part_last: bool,
    /// Whether it has 64 bits.
    pub wide: bool,
    /// The number of bits of a number that is printed without its sign.
    pub plain: Option<u32>,
    /// Whether the following register is an operand, too.
    pub next: bool,
    /// Whether it is preceded by a space rather than a comma.
    pub joined: bool,
    /// Whether it is not printed.
    pub hidden: bool,
    /// Whether a disassembly names the descriptor of an address.
    pub described: bool,
    /// Whether a disassembly says that the register of an address has 64 bits.
    pub sized: bool,
    /// Whether a disassembly prints the register that is always zero beside one of the warp.
    pub zero: bool,
    /// Whether a space is printed between the brackets of a constant.
    pub apart: bool,
    /// The operand slot of its reuse mark.
    pub slot: Option<u8>,
}

/// The reason why a word cannot be decoded.
#[derive(Clone, Debug)]
pub enum Refused<'t> {
    /// No form has its upper bits.
    Unknown,
    /// The table does not describe these bits of an instruction.
    Bits(&'t Op, Word),
    /// A modifier or operand has no meaning for this number.
    Number(&'t Op, &'t str, u64),
}

impl<'t> Decoded<'t> {
    /// Returns the operand with this name.
    pub fn operand(&self, name: &str) -> Option<&Operand<'t>> {
        self.operands.iter().find(|operand| operand.name == name)
    }

    /// Returns the printed text of a modifier; empty if the instruction has no modifier with this
    /// name.
    pub fn modifier(&self, name: &str) -> &'t str {
        self.modifiers.iter().find(|(known, ..)| *known == name).map_or("", |(_, text, _)| text)
    }

    /// Returns the parts of the mnemonic: the name and the modifiers, without the dots.
    pub fn parts(&self) -> Vec<&'t str> {
        let modifiers = self.modifiers.iter().map(|(_, text, _)| *text);
        let texts = std::iter::once(self.op.name.as_str()).chain(modifiers);
        texts.flat_map(|text| text.split('.')).filter(|part| !part.is_empty()).collect()
    }

    /// Returns whether a modifier is present.
    pub fn has(&self, name: &str) -> bool {
        !self.modifier(name).is_empty()
    }
}

/// The value of an operand.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value<'t> {
    /// A register of a thread.
    Register(Register),
    /// A predicate of a thread.
    Predicate(Register),
    /// A register that the threads of a warp share.
    Uniform(Register),
    /// A predicate that the threads of a warp share.
    UniformPredicate(Register),
    /// A word of a constant bank.
    Constant {
        /// The bank.
        bank: u8,
        /// The offset in bytes.
        offset: i64,
    },
    /// A constant whose address is the sum of a register and an offset.
    IndexedConstant {
        /// The bank.
        bank: u8,
        /// The register.
        register: Register,
        /// The offset in bytes.
        offset: i64,
    },
    /// A constant whose address is the sum of a register of the warp and an offset.
    UniformConstant {
        /// The bank.
        bank: u8,
        /// The register.
        register: Register,
        /// The offset in bytes.
        offset: i64,
    },
    /// A 32-bit number; shorter ones are sign-extended.
    Number(i64),
    /// A short unsigned number.
    Small(u64),
    /// The bits of a single-precision number.
    Single(u32),
    /// The bits of a double-precision number.
    Double(u64),
    /// The bits of a number of half precision.
    Half(u16),
    /// The upper half of the bits of a single-precision number.
    Brain(u16),
    /// A branch target, in bytes from the next instruction.
    Target(i64),
    /// An address: a register, or a pair if `wide`, plus an offset.
    Address {
        /// The register.
        register: Register,
        /// The offset in bytes.
        offset: i64,
        /// Whether the address has 64 bits.
        wide: bool,
        /// A register of the warp that is added.
        uniform: Option<Register>,
        /// A register of the warp that describes the memory.
        descriptor: Option<Register>,
    },
    /// Registers of the warp that describe memory, by the word that is printed before them.
    Descriptor(&'static str, Register),
    /// One of several texts.
    Choice(&'t str, u64),
    /// A barrier of the warp.
    Barrier(u8),
    /// A set of barriers of the warp, one bit each.
    Barriers(u8),
}
