//! The memory lines that a warp's accesses touch, for engines that model caches and coalescing.

use std::fmt;

/// A 128-byte line of device memory that an access touches, with the touched 32-byte sectors.
///
/// A path contains them in the order of its steps, with one group for each step that accesses
/// global or local memory ([`crate::program::TimingTable::moves_lines`]). Within a group, lines
/// ascend. An atomic operation lists a line once per pass over it. A step in which no lane accesses
/// memory has the group [`LineUse::none`].
///
/// If a store writes a sector only in part, the words that it writes are also stated: in the entry
/// of the line ([`LineUse::in_part`]), or in a further entry after it ([`LineUse::words`]).
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LineUse(u64);

const SECTOR_BITS: u64 = 0xf;
const LAST: u64 = 1 << 4;
const WORDS: u64 = 1 << 5;
const IN_PART: u64 = 1 << 6;
const LINE_SHIFT: u32 = 7;
/// The bits between those flags and the number of the line, if the entry states the words that are
/// written in its only sector.
const WORD_BITS: u32 = 8;

impl LineUse {
    /// The size of a line in bytes.
    pub const LINE_BYTES: u64 = 128;
    /// The size of a sector in bytes.
    pub const SECTOR_BYTES: u64 = 32;

    /// Creates an entry for a line. `line` is its number, which is its address divided by
    /// [`LineUse::LINE_BYTES`]; bit i of `sectors` states whether sector i is touched; `last`
    /// states whether it is the last entry of its step.
    #[inline]
    pub const fn new(line: u64, sectors: u8, last: bool) -> Self {
        Self(line << LINE_SHIFT | if last { LAST } else { 0 } | sectors as u64 & SECTOR_BITS)
    }

    /// Creates an entry for a line of which a store writes a single sector, and only these 4-byte
    /// words of it completely. If a store writes several sectors, or [has no
    /// room](Self::has_room_for_words), an entry for the [words](Self::words) must follow the line.
    pub const fn in_part(line: u64, sectors: u8, words: u32, last: bool) -> Self {
        debug_assert!(sectors.is_power_of_two() && Self::has_room_for_words(line));
        let words = (words >> (8 * sectors.trailing_zeros())) as u8;
        Self(Self::new(line << WORD_BITS | words as u64, sectors, last).0 | IN_PART)
    }

    /// Returns all 4-byte words of these sectors of a line, one bit each.
    #[inline]
    pub const fn words_of(sectors: u8) -> u32 {
        // Moves each bit to the lowest bit of its byte; the shifted copies do not overlap.
        ((sectors as u32 * 0x0020_4081) & 0x0101_0101) * 0xff
    }

    /// Returns whether an entry of a line with this number has room for the words of a sector.
    pub const fn has_room_for_words(line: u64) -> bool {
        line >> (u64::BITS - LINE_SHIFT - WORD_BITS) == 0
    }

    /// Creates an entry for the 4-byte words that a store writes in the preceding line, one bit
    /// each. Only words that are written completely are included.
    #[inline]
    pub const fn words(words: u32, last: bool) -> Self {
        Self((words as u64) << LINE_SHIFT | if last { LAST } else { 0 } | WORDS)
    }

    /// Returns the words that a store writes in this line, or all if this entry does not state
    /// them.
    #[inline]
    pub const fn written(self) -> u32 {
        if self.0 & IN_PART == 0 {
            return u32::MAX;
        }
        ((self.0 >> LINE_SHIFT) as u8 as u32) << (8 * self.sectors().trailing_zeros())
    }

    /// Returns the words that a store writes in the preceding line, if this is an entry for words.
    #[inline]
    pub const fn written_before(self) -> Option<u32> {
        if self.0 & WORDS != 0 { Some((self.0 >> LINE_SHIFT) as u32) } else { None }
    }

    /// Returns the group of a step that touches no line.
    #[inline]
    pub const fn none() -> Self {
        Self::new(0, 0, true)
    }

    /// Returns the same entry, marked as the last one of its step.
    pub const fn ending(self) -> Self {
        Self(self.0 | LAST)
    }

    /// Returns the same entry for a line that is `lines` lines further on.
    #[inline]
    pub const fn moved(self, lines: u64) -> Self {
        if self.0 & WORDS != 0 {
            return self;
        }
        Self(self.0.wrapping_add(lines << self.line_shift()))
    }

    /// Returns whether this is the entry of a step that touches no line.
    #[inline]
    pub const fn is_none(self) -> bool {
        self.0 & (SECTOR_BITS | WORDS) == 0
    }

    /// Returns the number of the line.
    #[inline]
    pub const fn line(self) -> u64 {
        self.0 >> self.line_shift()
    }

    /// Returns the position of the number of the line.
    const fn line_shift(self) -> u32 {
        if self.0 & IN_PART != 0 { LINE_SHIFT + WORD_BITS } else { LINE_SHIFT }
    }

    /// Returns the address of the line's first byte.
    #[inline]
    pub const fn address(self) -> u64 {
        self.line() * Self::LINE_BYTES
    }

    /// Returns the touched sectors, one bit each.
    #[inline]
    pub const fn sectors(self) -> u8 {
        (self.0 & SECTOR_BITS) as u8
    }

    /// Returns whether this is the last entry of its step.
    #[inline]
    pub const fn is_last(self) -> bool {
        self.0 & LAST != 0
    }
}

impl fmt::Debug for LineUse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let end = if self.is_last() { "." } else { "" };
        match (self.written_before(), self.written()) {
            (Some(words), _) => write!(f, "words {words:#x}{end}"),
            (None, u32::MAX) => write!(f, "{:#x}/{:04b}{end}", self.address(), self.sectors()),
            (None, words) => write!(f, "{:#x}/{:04b} words {words:#x}{end}", self.address(), self.sectors()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_of_an_entry_round_trip() {
        for (line, sectors, last) in [(0, 1, false), (0x180_0000, 0xf, true), (u64::MAX >> 7, 0b1010, true)] {
            let used = LineUse::new(line, sectors, last);
            assert_eq!((used.line(), used.sectors(), used.is_last()), (line, sectors, last));
            assert_eq!((used.address(), used.is_none()), (line * 128, false));
        }
        assert!(LineUse::none().is_none() && LineUse::none().is_last());
        let words = LineUse::words(0x8000_0001, true);
        assert_eq!((words.written_before(), words.sectors(), words.is_last()), (Some(0x8000_0001), 0, true));
        assert_eq!((words.moved(7), words.is_none()), (words, false));
        assert_eq!(LineUse::new(1, 1, false).moved(2), LineUse::new(3, 1, false));
        assert_eq!(std::mem::size_of::<LineUse>(), 8);
    }

    #[test]
    fn an_only_sector_is_stated_with_its_words_if_there_is_room() {
        let most = u64::MAX >> (LINE_SHIFT + WORD_BITS);
        for (line, sector, words, last) in
            [(0, 0, 0, false), (0x180_0000, 2, 0x81, true), (most, 3, 0x7f, true)]
        {
            let words = words << (8 * sector);
            let used = LineUse::in_part(line, 1 << sector, words, last);
            assert!(LineUse::has_room_for_words(line));
            assert_eq!((used.line(), used.sectors(), used.is_last()), (line, 1 << sector, last));
            assert_eq!((used.written(), used.written_before(), used.is_none()), (words, None, false));
            // lines of a group are kept relative to one of them, and may lie before it
            for by in [1, line.wrapping_neg(), 5_u64.wrapping_neg()] {
                let moved = used.moved(by);
                assert_eq!((moved.written(), moved.sectors()), (words, 1 << sector));
                assert_eq!(moved.moved(by.wrapping_neg()), used);
            }
            assert_eq!(used.moved(line.wrapping_neg()).line(), 0);
        }
        assert!(!LineUse::has_room_for_words(most + 1));
        assert_eq!(LineUse::new(7, 0b11, false).written(), u32::MAX);
    }
}
