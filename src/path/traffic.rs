//! The memory lines that a warp's accesses touch, for engines that model caches and coalescing.

use std::fmt;

/// A 128-byte line of device memory that an access touches, with the touched 32-byte sectors.
///
/// A path contains them in the order of its steps, with one group for each step that accesses
/// global or local memory ([`crate::program::TimingTable::moves_lines`]). Within a group, lines
/// ascend. An atomic operation lists a line once per pass over it. A step in which no lane accesses
/// memory has the group [`LineUse::none`].
///
/// If a store writes a sector only in part, the entry of the line is followed by an entry that is
/// not a line but states the words that it writes ([`LineUse::words`]).
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LineUse(u64);

const SECTOR_BITS: u64 = 0xf;
const LAST: u64 = 1 << 4;
const WORDS: u64 = 1 << 5;
const LINE_SHIFT: u32 = 6;

impl LineUse {
    /// The size of a line in bytes.
    pub const LINE_BYTES: u64 = 128;
    /// The size of a sector in bytes.
    pub const SECTOR_BYTES: u64 = 32;

    /// Creates an entry for a line. `line` is its number, which is its address divided by
    /// [`LineUse::LINE_BYTES`]; bit i of `sectors` states whether sector i is touched; `last`
    /// states whether it is the last entry of its step.
    pub const fn new(line: u64, sectors: u8, last: bool) -> Self {
        Self(line << LINE_SHIFT | if last { LAST } else { 0 } | sectors as u64 & SECTOR_BITS)
    }

    /// Creates an entry for the 4-byte words that a store writes in the preceding line, one bit
    /// each. Only words that are written completely are included.
    pub const fn words(words: u32, last: bool) -> Self {
        Self((words as u64) << LINE_SHIFT | if last { LAST } else { 0 } | WORDS)
    }

    /// Returns the words that a store writes, if this is an entry for words.
    pub const fn written(self) -> Option<u32> {
        if self.0 & WORDS != 0 { Some((self.0 >> LINE_SHIFT) as u32) } else { None }
    }

    /// Returns the group of a step that touches no line.
    pub const fn none() -> Self {
        Self::new(0, 0, true)
    }

    /// Returns the same entry for a line that is `lines` lines further on.
    pub const fn moved(self, lines: u64) -> Self {
        if self.written().is_some() {
            return self;
        }
        Self(self.0.wrapping_add(lines << LINE_SHIFT))
    }

    /// Returns whether this is the entry of a step that touches no line.
    pub const fn is_none(self) -> bool {
        self.sectors() == 0 && self.written().is_none()
    }

    /// Returns the number of the line.
    pub const fn line(self) -> u64 {
        self.0 >> LINE_SHIFT
    }

    /// Returns the address of the line's first byte.
    pub const fn address(self) -> u64 {
        self.line() * Self::LINE_BYTES
    }

    /// Returns the touched sectors, one bit each.
    pub const fn sectors(self) -> u8 {
        (self.0 & SECTOR_BITS) as u8
    }

    /// Returns whether this is the last entry of its step.
    pub const fn is_last(self) -> bool {
        self.0 & LAST != 0
    }
}

impl fmt::Debug for LineUse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let end = if self.is_last() { "." } else { "" };
        match self.written() {
            Some(words) => write!(f, "words {words:#x}{end}"),
            None => write!(f, "{:#x}/{:04b}{end}", self.address(), self.sectors()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_come_back() {
        for (line, sectors, last) in [(0, 1, false), (0x180_0000, 0xf, true), (u64::MAX >> 7, 0b1010, true)] {
            let used = LineUse::new(line, sectors, last);
            assert_eq!((used.line(), used.sectors(), used.is_last()), (line, sectors, last));
            assert_eq!((used.address(), used.is_none()), (line * 128, false));
        }
        assert!(LineUse::none().is_none() && LineUse::none().is_last());
        let words = LineUse::words(0x8000_0001, true);
        assert_eq!((words.written(), words.sectors(), words.is_last()), (Some(0x8000_0001), 0, true));
        assert_eq!((words.moved(7), words.is_none()), (words, false));
        assert_eq!(LineUse::new(1, 1, false).moved(2), LineUse::new(3, 1, false));
        assert_eq!(std::mem::size_of::<LineUse>(), 8);
    }
}
