//! The memory lines that a warp's accesses touch, for engines that model caches and coalescing.

use std::fmt;

/// One 128-byte line of device memory that an access touches, and which of its four 32-byte
/// sectors.
///
/// A path holds them in the order of its steps, one group for each step that accesses global or
/// local memory ([`crate::program::TimingTable::moves_lines`]); within a group lines ascend. An
/// atomic lists a line once per pass that it needs there. A step in which no lane accesses
/// anything has the group [`LineUse::none`].
///
/// A store that writes a sector in part says which words of the line it writes: what follows the line is no line, but
/// those [`LineUse::words`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LineUse(u64);

const SECTOR_BITS: u64 = 0xf;
const LAST: u64 = 1 << 4;
const WORDS: u64 = 1 << 5;
const LINE_SHIFT: u32 = 6;

impl LineUse {
    /// Bytes of a line.
    pub const LINE_BYTES: u64 = 128;
    /// Bytes of a sector.
    pub const SECTOR_BYTES: u64 = 32;

    /// A line by its number, which is its address over [`LineUse::LINE_BYTES`]; bit i of `sectors`
    /// says whether its i-th sector is touched; `last` whether it ends the group of its step.
    pub const fn new(line: u64, sectors: u8, last: bool) -> Self {
        Self(line << LINE_SHIFT | if last { LAST } else { 0 } | sectors as u64 & SECTOR_BITS)
    }

    /// The words of 4 bytes that a store writes in the line before this, one bit each. A word counts if the store writes
    /// all of it.
    pub const fn words(words: u32, last: bool) -> Self {
        Self((words as u64) << LINE_SHIFT | if last { LAST } else { 0 } | WORDS)
    }

    /// The words that a store writes, if that is what this says.
    pub const fn written(self) -> Option<u32> {
        if self.0 & WORDS != 0 { Some((self.0 >> LINE_SHIFT) as u32) } else { None }
    }

    /// The group of a step that touches no line.
    pub const fn none() -> Self {
        Self::new(0, 0, true)
    }

    /// The same of a line so many lines further on.
    pub const fn moved(self, lines: u64) -> Self {
        if self.written().is_some() {
            return self;
        }
        Self(self.0.wrapping_add(lines << LINE_SHIFT))
    }

    /// Whether this stands for no line.
    pub const fn is_none(self) -> bool {
        self.sectors() == 0 && self.written().is_none()
    }

    /// Number of the line.
    pub const fn line(self) -> u64 {
        self.0 >> LINE_SHIFT
    }

    /// Address of the line's first byte.
    pub const fn address(self) -> u64 {
        self.line() * Self::LINE_BYTES
    }

    /// The sectors touched, one bit each.
    pub const fn sectors(self) -> u8 {
        (self.0 & SECTOR_BITS) as u8
    }

    /// Whether it is the last of its step.
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
