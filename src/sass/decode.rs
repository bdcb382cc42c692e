//! From words to instructions and back.

use super::table::{Encoding, Op, Word};
use super::table::{Found, Value};

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

impl Encoding {
    /// What a word says.
    ///
    /// # Errors
    /// It says nothing that the table knows.
    pub fn decode(&self, word: Word) -> Result<Decoded<'_>, Refused<'_>> {
        let mut refused = Refused::Unknown;
        for Found { op, form } in self.candidates(word) {
            match self.decode_as(word, op, form) {
                Ok(decoded) => return Ok(decoded),
                Err(why) if matches!(refused, Refused::Unknown) => refused = why,
                Err(_) => {}
            }
        }
        Err(refused)
    }

    fn decode_as<'t>(&'t self, word: Word, op: &'t Op, form: usize) -> Result<Decoded<'t>, Refused<'t>> {
        let modifiers =
            self.modifiers(word, op).map_err(|(name, number)| Refused::Number(op, name, number))?;
        let operands =
            self.operands(word, op, form).map_err(|(name, number)| Refused::Number(op, name, number))?;
        let decoded = Decoded { op, form, guard: self.guard(word, op), modifiers, operands };
        // what the table does not name is lost on the way back
        match self.encode(&decoded) {
            Ok(back) if back == word => Ok(decoded),
            Ok(back) => Err(Refused::Bits(op, back ^ word)),
            Err(_) => Err(Refused::Bits(op, 0)),
        }
    }
}
