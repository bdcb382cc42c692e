//! The distinct instructions of a kernel that a trace contains, that is, those that were executed.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use super::instruction::Fixed;
use super::words::{Words, Wrong};
use warpbound_core::path::Step;

/// The maximum number of texts of instructions that are kept. In a trace by the tracer, each
/// instruction has a single text.
const MAX_TEXTS: usize = 1 << 20;

/// The text of an instruction from its operands to its width, as it occurs in the trace.
#[derive(Clone, Debug)]
struct Text {
    pc: u64,
    text: Box<[u8]>,
    instr: u32,
}

/// An instruction.
#[derive(Clone, Debug)]
pub(super) struct Found {
    /// The address in the kernel or function.
    pub(super) pc: u64,
    /// The operands, opcode and width.
    pub(super) fixed: Fixed,
}

/// All instructions, with an index by their text.
#[derive(Clone, Debug, Default)]
pub(super) struct Code {
    /// The instructions in the order of their first execution.
    pub(super) found: Vec<Found>,
    texts: Vec<Text>,
    by_pc: HashMap<u64, Vec<u32>>,
    by_fixed: HashMap<(u64, Fixed), u32>,
}

/// A predictor of the next text: most texts are always followed by the same one.
#[derive(Clone, Debug, Default)]
pub(super) struct Guess {
    next: Vec<u32>,
    last: u32,
}

impl Code {
    /// Returns the instruction at the current position if its text is known, and moves past it.
    #[inline]
    pub(super) fn known(&self, guess: &mut Guess, pc: u64, words: &mut Words) -> Option<u32> {
        let rest = words.rest();
        let fits = |text: &Text| {
            text.pc == pc
                && rest.len() >= text.text.len()
                && rest[..text.text.len()] == *text.text
                && rest.get(text.text.len()).is_none_or(|&next| next == b' ')
        };
        let last = guess.last as usize;
        let guessed = guess.next.get(last).copied().unwrap_or(0) as usize;
        let at = match self.texts.get(guessed) {
            Some(text) if fits(text) => guessed,
            _ => {
                let at = *self.by_pc.get(&pc)?.iter().find(|&&at| fits(&self.texts[at as usize]))?;
                if guess.next.len() <= last {
                    guess.next.resize(self.texts.len().max(last + 1), 0);
                }
                guess.next[last] = at;
                at as usize
            }
        };
        guess.last = at as u32;
        let text = &self.texts[at];
        words.skip(text.text.len());
        Some(text.instr)
    }

    /// Adds the instruction at the current position, whose text is not known yet, and moves past
    /// it.
    #[cold]
    pub(super) fn learn(&mut self, pc: u64, words: &mut Words) -> Result<u32, Wrong> {
        let rest = words.rest();
        let from = words.position();
        let fixed = words.fixed()?;
        let text = &rest[..words.position() - from];
        let instr = match self.by_fixed.entry((pc, fixed)) {
            Entry::Occupied(entry) => *entry.get(),
            Entry::Vacant(entry) => {
                // leave room for an exit that the trace does not contain
                if self.found.len() + 1 >= Step::MAX_PC as usize {
                    return Err(Wrong {
                        at: from..from + text.len(),
                        message: "more than 2^20 different instructions".to_owned(),
                        hint: "no kernel is that long: this is not the trace of a kernel",
                    });
                }
                let instr = self.found.len() as u32;
                self.found.push(Found { pc, fixed: entry.key().1.clone() });
                entry.insert(instr);
                instr
            }
        };
        if self.texts.len() < MAX_TEXTS {
            self.by_pc.entry(pc).or_default().push(self.texts.len() as u32);
            self.texts.push(Text { pc, text: text.into(), instr });
        }
        Ok(instr)
    }

    /// Replaces the indices of instructions by their indices in a program.
    pub(super) fn place(&mut self, places: &[u32]) {
        self.texts.iter_mut().for_each(|text| text.instr = places[text.instr as usize]);
        self.by_fixed.values_mut().for_each(|instr| *instr = places[*instr as usize]);
    }

    /// Returns an instruction whose text is not kept.
    #[cold]
    pub(super) fn parsed(&self, pc: u64, words: &mut Words) -> Result<Option<u32>, Wrong> {
        let fixed = words.fixed()?;
        Ok(self.by_fixed.get(&(pc, fixed)).copied())
    }
}
