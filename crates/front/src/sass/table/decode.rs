//! Decoding of instruction words.

use super::fields::Found;
use super::instruction::{Decoded, Refused};
use super::{Encoding, Form, Op, Word};

impl Encoding {
    /// Decodes a word.
    ///
    /// # Errors
    /// The table has no instruction with this word.
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
        let bits: &Form = &op.forms[form];
        let modifiers =
            self.modifiers(word, op).map_err(|(name, number)| Refused::Number(op, name, number))?;
        let operands =
            self.operands(word, op, bits).map_err(|(name, number)| Refused::Number(op, name, number))?;
        let registers = &self.registers;
        let decoded = Decoded { op, registers, form, guard: self.guard(word, op), modifiers, operands };
        // bits that the table does not describe are lost when the instruction is encoded again
        match self.encode(&decoded) {
            Ok(back) if back == word => Ok(decoded),
            Ok(back) => Err(Refused::Bits(op, back ^ word)),
            Err(_) => Err(Refused::Bits(op, 0)),
        }
    }
}
