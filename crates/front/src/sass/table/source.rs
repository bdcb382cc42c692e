//! The sources of the operand B, which the forms of an instruction name by letters.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::Mistake;
use super::field::Field;
use super::registers::Registers;

/// The source of the operand B.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// There is none.
    None,
    /// A register.
    Register,
    /// A register that the threads of a warp share.
    Uniform,
    /// A word of a constant bank, whose offset has this number of bits.
    Constant(u32),
    /// Bytes of a constant bank, whose offset has this number of bits.
    ConstantBytes(u32),
    /// A number.
    Number,
    /// The upper bits of a single-precision number.
    Single,
    /// The upper bits of a double-precision number.
    Double,
}

/// A source as the table states it: the field of its bits.
#[derive(Deserialize)]
pub(super) enum SourceSpec {
    None,
    Register(String),
    Uniform(String),
    /// A word of a constant bank.
    Constant {
        /// The offset in words of four bytes.
        offset: String,
        bank: String,
    },
    /// Bytes of a constant bank.
    ConstantBytes {
        /// The offset in bytes.
        offset: String,
        bank: String,
    },
    Number(String),
    Single(String),
    Double(String),
}

/// The sources of a table by their letters.
pub(super) type Sources = BTreeMap<String, (Source, Field)>;

impl SourceSpec {
    /// Returns the source and the field of its bits.
    pub(super) fn checked(&self, registers: &Registers) -> Result<(Source, Field), Mistake> {
        let hint = "a field is given as its first bit and its number of bits, such as \"20+14\"";
        let parse = |text: &str, width: u32| {
            Field::parse(text, width).map_err(|message| Mistake::here(message, hint))
        };
        let number = |text: &str, least: u32, most: u32| {
            let field = parse(text, 0)?;
            match field.width() {
                width if (least..=most).contains(&width) => Ok(field),
                width => {
                    let message = format!("`{text}` has {width} bits, but {least} to {most} are supported");
                    Err(Mistake::here(message, hint))
                }
            }
        };
        Ok(match self {
            Self::None => (Source::None, Field::default()),
            Self::Register(at) => (Source::Register, parse(at, registers.general.bits)?),
            Self::Uniform(at) => match &registers.uniform {
                Some(file) => (Source::Uniform, parse(at, file.bits)?),
                None => {
                    let hint = "add `uniform` to `registers`, or leave this source out";
                    return Err(Mistake::here("the table has no uniform registers", hint));
                }
            },
            Self::Constant { offset, bank } | Self::ConstantBytes { offset, bank } => {
                let offset = number(offset, 2, 32)?;
                let bank = number(bank, 1, 8)?;
                let source = match self {
                    Self::ConstantBytes { .. } => Source::ConstantBytes(offset.width()),
                    _ => Source::Constant(offset.width()),
                };
                (source, offset.then(&bank))
            }
            Self::Number(at) => (Source::Number, number(at, 2, 32)?),
            Self::Single(at) => (Source::Single, number(at, 2, 32)?),
            Self::Double(at) => (Source::Double, number(at, 2, 64)?),
        })
    }
}

/// Returns the number of bits of a constant bank: that of the widest source, or 8 if no source is a
/// constant.
pub(super) fn bank_bits(sources: &Sources) -> u32 {
    let bits = sources.values().filter_map(|(source, field)| match source {
        Source::Constant(offset) | Source::ConstantBytes(offset) => Some(field.width() - offset),
        _ => None,
    });
    bits.max().unwrap_or(8)
}
