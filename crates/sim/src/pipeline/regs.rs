//! Sets of registers, as words of bits.

use warpbound_core::base::RegId;

/// The registers of one word, whose numbers differ in their last six bits only.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Regs {
    pub bits: u64,
    pub word: u32,
}

impl Regs {
    pub fn one(reg: RegId) -> Self {
        Self { word: (reg.index() / 64) as u32, bits: 1 << (reg.index() % 64) }
    }

    pub fn all(self) -> impl Iterator<Item = usize> {
        let mut bits = self.bits;
        std::iter::from_fn(move || {
            let bit = (bits != 0).then(|| bits.trailing_zeros() as usize)?;
            bits &= bits - 1;
            Some(self.word as usize * 64 + bit)
        })
    }
}

/// A set of registers: those of one word, and those of other words, of which most instructions need
/// none or few.
#[derive(Clone, Debug, Default)]
pub(super) struct RegSet {
    pub first: Regs,
    pub others: Box<[Regs]>,
}

impl RegSet {
    /// Returns the whole set if it lies in one word.
    #[inline]
    pub fn in_one_word(&self) -> Option<Regs> {
        self.others.is_empty().then_some(self.first)
    }

    /// Returns the whole set if it lies in at most two words.
    pub fn in_two_words(&self) -> Option<[Regs; 2]> {
        match *self.others {
            // an empty part of the same word, so that no other word is accessed
            [] => Some([self.first, Regs { bits: 0, ..self.first }]),
            [second] => Some([self.first, second]),
            _ => None,
        }
    }

    pub fn parts(&self) -> impl Iterator<Item = Regs> {
        std::iter::once(self.first).chain(self.others.iter().copied())
    }
}

impl From<Regs> for RegSet {
    fn from(first: Regs) -> Self {
        Self { first, others: Box::default() }
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
        let first = if parts.is_empty() { Regs::default() } else { parts.remove(0) };
        Self { first, others: parts.into() }
    }
}

/// Some registers of a slot, with the position of their word.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct SlotRegs {
    pub bits: u64,
    pub at: u32,
}

impl SlotRegs {
    pub const NONE: Self = Self { bits: 0, at: 0 };
}
