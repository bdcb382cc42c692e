//! Reading of instruction words and control codes.

use super::table::{Encoding, Word};
use warpbound_core::program::Control;

/// Returns the code word at a byte offset; words beyond the end are zero.
pub fn word_at(encoding: &Encoding, code: &[u8], byte: usize) -> Word {
    let bytes = code.get(byte..).unwrap_or_default();
    bytes.iter().take(encoding.word_bytes).rev().fold(0, |word, &byte| word << 8 | Word::from(byte))
}

/// Returns the offset, word and control codes of an instruction.
pub fn instruction_at(encoding: &Encoding, code: &[u8], index: usize) -> (usize, Word, Control) {
    let (byte, (control_byte, bit)) = encoding.place(index);
    let control = encoding.control.read(word_at(encoding, code, control_byte) >> bit);
    // control codes inside the word are removed, since they are not a part of the instruction
    let word = word_at(encoding, code, byte) & !encoding.control.mask();
    (byte, word, control)
}
