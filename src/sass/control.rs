//! Control codes: what the compiler tells the scheduler of each instruction.

use super::table::{ControlPlace, Encoding, Word};
use crate::program::Control;

/// A word of code at a byte; words beyond the end are zero.
pub fn word_at(encoding: &Encoding, code: &[u8], byte: usize) -> Word {
    let bytes = code.get(byte..).unwrap_or_default();
    bytes.iter().take(encoding.word_bytes).rev().fold(0, |word, &byte| word << 8 | Word::from(byte))
}

/// The instruction with a number: its byte, word and control codes.
pub fn instruction_at(encoding: &Encoding, code: &[u8], index: usize) -> (usize, Word, Control) {
    let (byte, (control_byte, bit)) = encoding.place(index);
    let control = word_at(encoding, code, control_byte) >> bit;
    let word = word_at(encoding, code, byte);
    let word = match encoding.control {
        ControlPlace::Bundle { .. } => word,
        // the codes are no part of what it does
        ControlPlace::Inside { bit } => word & !(((1 << 21) - 1) << bit),
    };
    (byte, word, Control::from_bits((control & ((1 << 21) - 1)) as u32))
}
