//! Parses the texts of a table: mnemonic and modifiers.

use super::field::{Field, Word};
use super::operand::operand;
use super::registers::Registers;
use super::{Choice, Modifier, OperandSpec, Part, Values};
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

/// Parses the text of an instruction.
pub(super) fn parse(text: &str, syntax: &Syntax) -> Result<(Vec<Part>, Vec<OperandSpec>), Wrong> {
    // the mnemonic ends at the first space outside of braces
    let mut depth = 0;
    let end = text.find(|c| {
        depth += i32::from(c == '{') - i32::from(c == '}');
        c == ' ' && depth == 0
    });
    let (mnemonic, operands) = text.split_at(end.unwrap_or(text.len()));
    let mut parts = Vec::new();
    for piece in braces(mnemonic)? {
        parts.push(match piece {
            Piece::Text(text) => Part::Text(text.to_owned()),
            Piece::Braces(inner) => Part::Modifier(modifier(inner, syntax)?),
        });
    }
    let mut found = Vec::new();
    for piece in braces(operands.trim())? {
        match piece {
            Piece::Text(text) if matches!(text.trim(), "" | ",") => {}
            Piece::Text(text) => {
                return Err((format!("`{text}` between operands"), "operands are in braces".to_owned()));
            }
            Piece::Braces(inner) => found.push(operand(inner, syntax)?),
        }
    }
    Ok((parts, found))
}

enum Piece<'a> {
    Text(&'a str),
    Braces(&'a str),
}

fn braces(mut text: &str) -> Result<Vec<Piece<'_>>, Wrong> {
    let mut pieces = Vec::new();
    while let Some(open) = text.find('{') {
        if open > 0 {
            pieces.push(Piece::Text(&text[..open]));
        }
        let Some(length) = text[open..].find('}') else {
            let hint = format!("add a closing brace after `{}`", &text[open..]);
            return Err(("a brace is not closed".to_owned(), hint));
        };
        pieces.push(Piece::Braces(&text[open + 1..open + length]));
        text = &text[open + length + 1..];
    }
    if !text.is_empty() {
        pieces.push(Piece::Text(text));
    }
    Ok(pieces)
}

/// Parses a modifier such as `x=.X@43` or `cmp=icmp@49`.
fn modifier(inner: &str, syntax: &Syntax) -> Result<Modifier, Wrong> {
    let hint = || "a modifier is `{x=.X@43}` or, with a choice, `{cmp=icmp@49}`".to_owned();
    let (name, rest) = inner.split_once('=').ok_or_else(|| (format!("`{inner}` is no modifier"), hint()))?;
    let (name, inverted) = name.strip_suffix('!').map_or((name, false), |name| (name, true));
    let (text, at) =
        rest.rsplit_once('@').ok_or_else(|| (format!("`{inner}` does not say where"), hint()))?;
    let (values, width) = if text.starts_with('.') {
        (Values::Flag { text: text.to_owned(), inverted }, 1)
    } else {
        let (index, width) = syntax.choice(text)?;
        (Values::Choice(index), width)
    };
    Ok(Modifier { name: name.to_owned(), field: syntax.field(at, width)?, values })
}

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
