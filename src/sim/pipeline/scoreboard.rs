//! Which registers are not there: those that an instruction under way will write.

use crate::base::{Few, RegId};
use crate::machine::Hazards;
use crate::program::TimingTable;

/// Registers whose numbers differ in their last six bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Regs {
    word: u16,
    bits: u64,
}

impl Regs {
    pub fn one(reg: RegId) -> Self {
        Self { word: (reg.index() / 64) as u16, bits: 1 << (reg.index() % 64) }
    }

    fn all(self) -> impl Iterator<Item = usize> {
        let mut bits = self.bits;
        std::iter::from_fn(move || {
            let bit = (bits != 0).then(|| bits.trailing_zeros() as usize)?;
            bits &= bits - 1;
            Some(usize::from(self.word) * 64 + bit)
        })
    }
}

/// Any registers.
#[derive(Clone, Debug, Default)]
pub(super) struct RegSet(Few<Regs, 3>);

impl RegSet {
    #[inline]
    pub fn parts(&self) -> &[Regs] {
        self.0.as_slice()
    }
}

impl FromIterator<RegId> for RegSet {
    fn from_iter<I: IntoIterator<Item = RegId>>(regs: I) -> Self {
        let mut parts: Vec<Regs> = Vec::new();
        for reg in regs.into_iter().map(Regs::one) {
            match parts.iter_mut().find(|part| part.word == reg.word) {
                Some(part) => part.bits |= reg.bits,
                None => parts.push(reg),
            }
        }
        Self(parts.into_iter().collect())
    }
}

/// The registers of all slots.
#[derive(Clone, Debug)]
pub(super) struct Scoreboard {
    /// Words of a slot.
    words: usize,
    /// By slot and word: registers that are not there.
    pending: Vec<u64>,
    /// Those among them that a load from global memory will write.
    global: Vec<u64>,
    /// By slot and register, where several instructions under way may write the same one: the age of the last of them.
    writers: Option<Vec<u64>>,
}

impl Scoreboard {
    pub fn new(table: &TimingTable, slots: usize) -> Self {
        let words = table.regs().div_ceil(64);
        let shared = !table.hazards().contains(Hazards::WAW);
        Self {
            words,
            pending: vec![0; words * slots],
            global: vec![0; words * slots],
            writers: shared.then(|| vec![0; words * 64 * slots]),
        }
    }

    /// Whether some of these are not there.
    #[inline]
    pub fn misses(&self, slot: usize, regs: &[Regs]) -> bool {
        let pending = &self.pending[slot * self.words..][..self.words];
        regs.iter().any(|part| pending[usize::from(part.word)] & part.bits != 0)
    }

    /// Whether a load from global memory will write some of these.
    pub fn misses_global(&self, slot: usize, regs: &[Regs]) -> bool {
        let global = &self.global[slot * self.words..][..self.words];
        regs.iter().any(|part| global[usize::from(part.word)] & part.bits != 0)
    }

    /// Whether none of a slot's registers is to be written.
    pub fn is_clear(&self, slot: usize) -> bool {
        self.pending[slot * self.words..][..self.words].iter().all(|&word| word == 0)
    }

    /// An instruction of this age will write these.
    #[inline]
    pub fn reserve(&mut self, slot: usize, regs: &[Regs], age: u64, loads_global: bool) {
        let pending = &mut self.pending[slot * self.words..][..self.words];
        for part in regs {
            pending[usize::from(part.word)] |= part.bits;
        }
        if loads_global || self.writers.is_some() {
            self.note_writer(slot, regs, age, loads_global);
        }
    }

    /// The instruction of this age has written these; those that a later one is going to write too are not there yet.
    #[inline]
    pub fn release(&mut self, slot: usize, regs: &[Regs], age: u64) {
        if self.writers.is_some() {
            self.release_last(slot, regs, age);
            return;
        }
        let here = slot * self.words;
        let pending = &mut self.pending[here..][..self.words];
        let global = &mut self.global[here..][..self.words];
        for part in regs {
            pending[usize::from(part.word)] &= !part.bits;
            global[usize::from(part.word)] &= !part.bits;
        }
    }

    #[cold]
    fn note_writer(&mut self, slot: usize, regs: &[Regs], age: u64, loads_global: bool) {
        for part in regs {
            let global = &mut self.global[slot * self.words + usize::from(part.word)];
            *global = if loads_global { *global | part.bits } else { *global & !part.bits };
            if let Some(writers) = &mut self.writers {
                let of_slot = &mut writers[slot * self.words * 64..];
                part.all().for_each(|reg| of_slot[reg] = age);
            }
        }
    }

    fn release_last(&mut self, slot: usize, regs: &[Regs], age: u64) {
        let Some(writers) = &self.writers else { return };
        let of_slot = &writers[slot * self.words * 64..];
        for part in regs {
            let last =
                part.all().filter(|&reg| of_slot[reg] == age).fold(0, |set, reg| set | 1 << (reg % 64));
            let place = slot * self.words + usize::from(part.word);
            self.pending[place] &= !last;
            self.global[place] &= !last;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn board(shared: bool) -> Scoreboard {
        Scoreboard {
            words: 2,
            pending: vec![0; 4],
            global: vec![0; 4],
            writers: shared.then(|| vec![0; 256]),
        }
    }

    fn set(regs: &[u16]) -> RegSet {
        regs.iter().map(|&reg| RegId::new(reg)).collect()
    }

    #[test]
    fn registers_are_there_when_their_writer_is_done() {
        for shared in [false, true] {
            let mut board = board(shared);
            board.reserve(1, set(&[3, 70]).parts(), 5, true);
            assert!(board.misses(1, set(&[3]).parts()) && board.misses_global(1, set(&[1, 70]).parts()));
            assert!(!board.misses(0, set(&[3]).parts()) && !board.misses(1, set(&[4, 71]).parts()));
            board.release(1, set(&[70]).parts(), 5);
            assert!(!board.misses(1, set(&[70]).parts()) && !board.is_clear(1));
            board.release(1, set(&[3]).parts(), 5);
            assert!(board.is_clear(1) && !board.misses_global(1, set(&[3]).parts()));
        }
    }

    #[test]
    fn the_last_of_several_writers_counts() {
        let mut board = board(true);
        board.reserve(0, set(&[3, 4]).parts(), 1, true);
        board.reserve(0, set(&[3]).parts(), 2, false);
        assert!(!board.misses_global(0, set(&[3]).parts()) && board.misses_global(0, set(&[4]).parts()));
        board.release(0, set(&[3, 4]).parts(), 1);
        assert!(board.misses(0, set(&[3]).parts()) && !board.misses(0, set(&[4]).parts()));
        board.release(0, set(&[3]).parts(), 2);
        assert!(board.is_clear(0));
    }
}
