//! The scoreboard: the registers that are pending because an instruction in flight will write them.

use crate::pipeline::regs::{RegSet, Regs, SlotRegs};
use warpbound_core::machine::Hazards;
use warpbound_core::program::TimingTable;

/// Some registers of a slot in two words; see [`SlotRegs`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct SlotPair {
    bits: [u64; 2],
    at: [u32; 2],
}

impl SlotPair {
    pub const NONE: Self = Self { bits: [0; 2], at: [0; 2] };
}

/// The pending registers of all slots.
#[derive(Clone, Debug)]
pub(super) struct Scoreboard {
    /// The binary logarithm of the number of words per slot.
    shift: u32,
    /// For each slot and word, the registers that are pending.
    pending: Vec<u64>,
    /// Those among them that a load from global memory will write.
    global: Vec<u64>,
    /// For each slot and register, if several instructions in flight may write the same one, the
    /// age of the last of them.
    writers: Option<Vec<u64>>,
    /// Whether more is recorded than the pending registers.
    detailed: bool,
}

impl Scoreboard {
    /// Creates an empty scoreboard. `tracks_global` says whether pending loads from global memory
    /// are recorded.
    pub fn new(table: &TimingTable, slots: usize, tracks_global: bool) -> Self {
        let words = table.regs().div_ceil(64).next_power_of_two();
        Self::with(words, slots, !table.hazards().contains(Hazards::WAW), tracks_global)
    }

    fn with(words: usize, slots: usize, shared: bool, tracks_global: bool) -> Self {
        Self {
            shift: words.trailing_zeros(),
            pending: vec![0; words * slots],
            global: vec![0; if tracks_global { words * slots } else { 0 }],
            writers: shared.then(|| vec![0; words * 64 * slots]),
            detailed: shared || tracks_global,
        }
    }

    /// Returns whether nothing but the pending registers is recorded.
    #[inline(always)]
    pub fn is_plain(&self) -> bool {
        !self.detailed
    }

    /// Returns registers of a slot in the form for repeated use.
    #[inline(always)]
    pub fn of_slot(&self, slot: usize, part: Regs) -> SlotRegs {
        SlotRegs { bits: part.bits, at: self.word(slot, part) as u32 }
    }

    /// Returns registers of a slot in two words in the form for repeated use.
    #[inline(always)]
    pub fn pair_of_slot(&self, slot: usize, [first, second]: [Regs; 2]) -> SlotPair {
        let at = [self.word(slot, first) as u32, self.word(slot, second) as u32];
        SlotPair { bits: [first.bits, second.bits], at }
    }

    /// Returns whether some of these registers are pending.
    #[inline(always)]
    pub fn pair_is_pending(&self, regs: &SlotPair) -> bool {
        let lacking = |n: usize| self.pending[regs.at[n] as usize] & regs.bits[n];
        lacking(0) | lacking(1) != 0
    }

    /// Marks the registers that an instruction will write, if nothing else is recorded.
    #[inline(always)]
    pub fn reserve_plainly(&mut self, regs: SlotRegs) {
        self.pending[regs.at as usize] |= regs.bits;
    }

    /// Clears the registers that have been written, if nothing else is recorded.
    #[inline(always)]
    pub fn release_plainly(&mut self, regs: SlotRegs) {
        self.pending[regs.at as usize] &= !regs.bits;
    }

    #[inline(always)]
    fn word(&self, slot: usize, part: Regs) -> usize {
        slot.wrapping_shl(self.shift).wrapping_add(part.word as usize)
    }

    #[inline(always)]
    fn part_is_pending(&self, slot: usize, part: Regs) -> bool {
        self.pending[self.word(slot, part)] & part.bits != 0
    }

    /// Returns whether some of these registers are pending.
    #[inline(always)]
    pub fn any_pending(&self, slot: usize, regs: &RegSet) -> bool {
        self.part_is_pending(slot, regs.first)
            || regs.others.iter().any(|&part| self.part_is_pending(slot, part))
    }

    /// Returns whether a load from global memory will write some of these registers.
    pub fn any_global_pending(&self, slot: usize, regs: &RegSet) -> bool {
        let global = |part: Regs| self.global.get(self.word(slot, part)).map_or(0, |word| word & part.bits);
        regs.parts().any(|part| global(part) != 0)
    }

    /// Returns whether none of a slot's registers is pending.
    pub fn is_clear(&self, slot: usize) -> bool {
        let words = 1 << self.shift;
        self.pending[slot * words..][..words].iter().all(|&word| word == 0)
    }

    /// Marks the registers that an instruction of this age will write.
    #[inline(always)]
    pub fn reserve(&mut self, slot: usize, regs: &RegSet, age: u64, loads_global: bool) {
        let first = self.word(slot, regs.first);
        self.pending[first] |= regs.first.bits;
        for &part in &regs.others {
            let word = self.word(slot, part);
            self.pending[word] |= part.bits;
        }
        if self.detailed {
            self.note_writer(slot, regs, age, loads_global);
        }
    }

    /// Clears the registers that the instruction of this age has written; those that a later
    /// instruction will write too stay pending.
    #[inline(always)]
    pub fn release(&mut self, slot: usize, regs: &RegSet, age: u64) {
        if self.detailed {
            return self.release_last(slot, regs, age);
        }
        let first = self.word(slot, regs.first);
        self.pending[first] &= !regs.first.bits;
        for &part in &regs.others {
            let word = self.word(slot, part);
            self.pending[word] &= !part.bits;
        }
    }

    #[cold]
    fn note_writer(&mut self, slot: usize, regs: &RegSet, age: u64, loads_global: bool) {
        for part in regs.parts() {
            let word = self.word(slot, part);
            if let Some(global) = self.global.get_mut(word) {
                *global = if loads_global { *global | part.bits } else { *global & !part.bits };
            }
            if let Some(writers) = &mut self.writers {
                let of_slot = &mut writers[slot << self.shift << 6..];
                part.all().for_each(|reg| of_slot[reg] = age);
            }
        }
    }

    fn release_last(&mut self, slot: usize, regs: &RegSet, age: u64) {
        for part in regs.parts() {
            let last = match &self.writers {
                Some(writers) => {
                    let of_slot = &writers[slot << self.shift << 6..];
                    part.all().filter(|&reg| of_slot[reg] == age).fold(0, |set, reg| set | 1 << (reg % 64))
                }
                None => part.bits,
            };
            let word = self.word(slot, part);
            self.pending[word] &= !last;
            if let Some(global) = self.global.get_mut(word) {
                *global &= !last;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpbound_core::base::RegId;

    fn board(shared: bool) -> Scoreboard {
        Scoreboard::with(2, 2, shared, true)
    }

    fn set(regs: &[u16]) -> RegSet {
        regs.iter().map(|&reg| RegId::new(reg)).collect()
    }

    #[test]
    fn registers_are_available_when_their_writer_is_done() {
        for shared in [false, true] {
            let mut board = board(shared);
            board.reserve(1, &set(&[3, 70]), 5, true);
            assert!(board.any_pending(1, &set(&[3])) && board.any_global_pending(1, &set(&[1, 70])));
            assert!(!board.any_pending(0, &set(&[3])) && !board.any_pending(1, &set(&[4, 71])));
            board.release(1, &set(&[70]), 5);
            assert!(!board.any_pending(1, &set(&[70])) && !board.is_clear(1));
            board.release(1, &set(&[3]), 5);
            assert!(board.is_clear(1) && !board.any_global_pending(1, &set(&[3])));
            assert!(!board.any_pending(1, &set(&[])));
        }
    }

    #[test]
    fn the_last_of_several_writers_counts() {
        let mut board = board(true);
        board.reserve(0, &set(&[3, 4]), 1, true);
        board.reserve(0, &set(&[3]), 2, false);
        assert!(!board.any_global_pending(0, &set(&[3])) && board.any_global_pending(0, &set(&[4])));
        board.release(0, &set(&[3, 4]), 1);
        assert!(board.any_pending(0, &set(&[3])) && !board.any_pending(0, &set(&[4])));
        board.release(0, &set(&[3]), 2);
        assert!(board.is_clear(0));
    }
}
