//! What the texts of a table refer to: choices, fields and bits.

use super::Choice;
use super::field::{Field, Word};
use super::registers::Registers;
use warpbound_core::diag::closest;

/// What the text of an instruction refers to.
pub(super) struct Syntax<'a> {
    pub choices: &'a [Choice],
    pub registers: &'a Registers,
    /// The number of bits of a barrier's number.
    pub barrier_bits: u32,
    /// The number of barriers.
    pub barriers: u32,
    /// The number of bits of an instruction word.
    pub word_bits: u32,
}

/// A wrong part of a text: the message and a hint.
pub(super) type Wrong = (String, String);

impl Syntax<'_> {
    /// Returns the index of a choice and the number of bits of its numbers.
    pub(super) fn choice(&self, name: &str) -> Result<(usize, u32), Wrong> {
        let Some(index) = self.choices.iter().position(|choice| choice.name == name) else {
            let near = closest(name, self.choices.iter().map(|choice| choice.name.as_str()));
            let hint = near.map_or_else(
                || "`choices` lists them, and the head of the file lists the kinds of operands".to_owned(),
                |near| format!("did you mean `{near}`?"),
            );
            return Err((format!("there is no choice `{name}`"), hint));
        };
        Ok((index, usize::BITS - (self.choices[index].texts.len() - 1).leading_zeros()))
    }

    /// Parses a field, which has to lie in a word.
    pub(super) fn field(&self, text: &str, width: u32) -> Result<Field, Wrong> {
        let hint = || "a field is `48`, or `8+2,12` for two bits at 8 and one at 12".to_owned();
        let field = Field::parse(text, width).map_err(|message| (message, hint()))?;
        let bits = Word::BITS - field.mask().leading_zeros();
        if bits > self.word_bits {
            let hint = format!("a word has the bits 0 to {}", self.word_bits - 1);
            return Err((format!("the field `{text}` lies beyond the word"), hint));
        }
        Ok(field)
    }

    /// Parses the field of a register of a warp.
    pub(super) fn uniform(&self, at: &str) -> Result<Field, Wrong> {
        match &self.registers.uniform {
            Some(file) => self.field(at, file.bits),
            None => Err((
                "the table has no uniform registers".to_owned(),
                "add `uniform` to `registers`, or give another address".to_owned(),
            )),
        }
    }

    /// Parses the number of a bit, which has to lie in a word.
    pub(super) fn bit(&self, word: &str, at: &str) -> Result<u32, Wrong> {
        match at.parse::<u32>() {
            Ok(bit) if bit < self.word_bits => Ok(bit),
            _ => {
                let hint = format!(
                    "a bit is given as in `neg@48`, and a word has the bits 0 to {}",
                    self.word_bits - 1
                );
                Err((format!("`{word}` does not say which bit"), hint))
            }
        }
    }
}
