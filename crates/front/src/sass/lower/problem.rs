//! The problems of a kernel's code.

use crate::sass::cubin::Kernel;
use crate::sass::table::{Encoding, Refused, Word};

/// A problem with an instruction.
#[derive(Debug)]
pub struct Problem {
    /// The offset in the code of the kernel.
    pub byte: usize,
    /// The instruction word.
    pub word: Word,
    /// The text of the instruction, as far as it can be decoded.
    pub construct: String,
    /// The description.
    pub message: String,
    /// A hint.
    pub hint: String,
}

impl Problem {
    /// Creates a problem of a whole kernel.
    pub(super) fn general(construct: &str, message: String) -> Self {
        Self { byte: 0, word: 0, construct: construct.to_owned(), message, hint: String::new() }
    }

    /// Creates the problem of a word that the table does not describe.
    pub(super) fn unknown(encoding: &Encoding, refused: &Refused, byte: usize, word: Word) -> Self {
        let shown = format!("{word:#0width$x}", width = encoding.word_bytes * 2 + 2);
        let message = match refused {
            Refused::Unknown => {
                let near = encoding
                    .nearest(word)
                    .map_or(String::new(), |name| format!("; the nearest known opcode is {name}"));
                format!("{shown} is not a known instruction{near}")
            }
            Refused::Bits(op, bits) => {
                format!("{shown} is {} with bits {bits:#x}, whose meaning is not known", op.name)
            }
            Refused::Number(op, what, number) => {
                format!(
                    "{shown} is {} with a number {number} in `{what}`, whose meaning is not known",
                    op.name
                )
            }
        };
        let hint = format!("warpbound's table of encodings ({}) says what is known", encoding.file);
        Self { byte, word, construct: "?".to_owned(), message, hint }
    }

    /// Returns the problem of an instruction that needs the address of a symbol.
    pub(super) fn unresolved(kernel: &Kernel, byte: usize, word: Word, shown: &str) -> Option<Self> {
        let (_, symbol) = kernel.unresolved.iter().find(|(at, _)| *at == byte as u64)?;
        Some(Self {
            byte,
            word,
            construct: shown.to_owned(),
            message: format!("`{shown}` needs the address of `{symbol}`, which a linker fills in"),
            hint: "link the file (nvlink), or compile it as a whole".to_owned(),
        })
    }
}
