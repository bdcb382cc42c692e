//! The lines of a cache: their ways, their sectors, and the replacement order. No lookup
//! searches through a set.

use std::borrow::Cow;
use std::ops::Range;

use serde::{Deserialize, Serialize, Serializer};
use warpbound_core::path::LineUse;

use super::halves::{halves, whole};

/// A way of the cache. The value with only zeros is an empty way, in a set whose ways are replaced
/// in the order of their numbers.
#[derive(Clone, Copy, Debug, Default)]
struct Line {
    /// The tag plus one, or 0 if the way is empty.
    tag: u64,
    /// One more than the index of the next way whose tag has the same hash, or 0.
    other: u32,
    /// The ring of the ways of a set in replacement order: the next way, and the one before. They
    /// are stored as the difference (`^`) from the way with the next number and from the one with
    /// the previous number.
    ring: [u32; 2],
    masks: Masks,
}

/// The state of the sectors of a line, as masks.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Masks {
    pub valid: u8,
    pub dirty: u8,
    /// The sectors that are reserved for a fetch in flight.
    pub reserved: u8,
    /// The valid sectors that are written in part and were never complete, so that they can serve
    /// no load.
    pub partial: u8,
    /// The words of the line that have been written.
    pub words: u32,
}

impl Masks {
    /// Returns the sectors that loads can read.
    #[inline(always)]
    pub fn readable(self) -> u8 {
        self.valid & !self.partial
    }

    /// Records that a store writes these words in these sectors. Words of other sectors do not
    /// count: a store of whole sectors says that it writes all words.
    pub fn write(&mut self, sectors: u8, words: u32) {
        self.words |= words & LineUse::words_of(sectors);
        // a sector that is complete stays readable
        let partial = self.partial | sectors & !self.valid;
        self.valid |= sectors;
        if partial != 0 {
            self.partial = partial & !whole_sectors(self.words);
        }
    }
}

/// Returns the sectors all of whose words are among these.
fn whole_sectors(words: u32) -> u8 {
    let halves = words & words >> 4;
    let quarters = halves & halves >> 2;
    let whole = quarters & quarters >> 1 & 0x0101_0101;
    // the lowest bits of the bytes move to the four bits from bit 24 on, where no two of them
    // collide
    (whole.wrapping_mul(0x0102_0408) >> 24) as u8 & 0xf
}

/// A set of the cache.
#[derive(Clone, Copy, Debug)]
struct Set {
    /// The frame of way 0, or [`UNUSED`].
    base: u32,
    /// The first way in replacement order.
    first: u32,
}

/// The base of a set that has not been used.
const UNUSED: u32 = u32::MAX;

/// The lines of a cache. The ways of a set have consecutive indices, their frames. They are
/// allocated by [`Self::set_up`], because a short launch uses few sets of the caches of a large GPU.
#[derive(Clone, Debug)]
pub(super) struct Lines {
    ways: usize,
    /// The ways of the sets that have been used.
    lines: Vec<Line>,
    /// For each hash of a tag, one more than the index of the first way with that hash, or 0.
    heads: Vec<u32>,
    /// The number of bits by which hashes are shifted.
    shift: u32,
    sets: Vec<Set>,
}

impl Lines {
    /// Creates empty lines, with way 0 first in each set.
    pub fn new(sets: usize, ways: usize) -> Self {
        let heads = heads(sets, ways);
        let shift = u64::BITS - heads.trailing_zeros();
        let sets = vec![Set { base: UNUSED, first: 0 }; sets];
        Self { ways, lines: Vec::new(), heads: Vec::new(), shift, sets }
    }

    /// Allocates the ways of a set. It must be called before any other method is used for the set.
    #[inline(always)]
    pub fn set_up(&mut self, set: usize) {
        if self.sets[set].base == UNUSED {
            self.make(set);
        }
    }

    #[cold]
    fn make(&mut self, set: usize) {
        if self.heads.is_empty() {
            self.heads = vec![0; heads(self.sets.len(), self.ways)];
        }
        let base = self.lines.len();
        self.sets[set].base = base as u32;
        self.lines.resize(base + self.ways, Line::default());
    }

    /// Returns the frame of way 0 of a set.
    #[inline(always)]
    fn base(&self, set: usize) -> usize {
        self.sets[set].base as usize
    }

    /// Returns the ways of a set in the order of their numbers.
    pub fn of_set(&self, set: usize) -> Range<usize> {
        self.base(set)..self.base(set) + self.ways
    }

    /// Lists all lines, set by set in replacement order.
    pub fn list(&self) -> Vec<LineLeft> {
        let used = (0..self.sets.len()).filter(|&set| self.sets[set].base != UNUSED);
        let of_set = |set: usize| self.in_order(set).map(move |frame| (set, frame));
        let line = |(set, frame): (usize, usize)| {
            let (high, low) = halves(self.at(frame)?);
            let Masks { valid, dirty, partial, words, reserved: _ } = self.masks(frame);
            let way = frame - self.base(set);
            Some(LineLeft(set as u32, way as u32, high, low, [valid | dirty << 4, partial], words))
        };
        used.flat_map(of_set).filter_map(line).collect()
    }

    /// Takes out the lines, which have these sectors, and leaves the cache empty.
    pub fn leave(&mut self, full: u8) -> CarriedLines {
        CarriedLines::Whole(std::mem::replace(self, Self::new(self.sets.len(), self.ways)), full)
    }

    /// Restores the lines that another launch has left in a cache whose lines have these sectors,
    /// and returns whether they fit. The cache must be empty.
    #[must_use]
    pub fn go_on_after(&mut self, left: CarriedLines, full: u8) -> bool {
        match left {
            CarriedLines::Whole(left, sectors) => {
                let fits = (self.sets.len(), self.ways, full) == (left.sets.len(), left.ways, sectors);
                if fits {
                    *self = left;
                }
                fits
            }
            CarriedLines::Listed(list) => self.fill(&list, full),
        }
    }

    /// Inserts lines into an empty cache whose lines have these sectors, and returns whether they
    /// fit.
    fn fill(&mut self, left: &[LineLeft], full: u8) -> bool {
        for &LineLeft(set, way, high, low, [masks, partial], words) in left {
            let (set, way, tag) = (set as usize, way as usize, whole(high, low));
            let (valid, dirty) = (masks & 0xf, masks >> 4);
            if set >= self.sets.len()
                || way >= self.ways
                || tag == u64::MAX
                || (valid | dirty | partial) & !full != 0
            {
                return false;
            }
            self.set_up(set);
            let frame = self.base(set) + way;
            if self.at(frame).is_some() {
                return false;
            }
            self.put(tag, frame);
            *self.masks_mut(frame) = Masks { valid, dirty, reserved: 0, partial, words };
            self.move_to_end(frame, set);
        }
        true
    }

    /// Returns the sector masks of the line in a way.
    #[inline(always)]
    pub fn masks(&self, frame: usize) -> Masks {
        self.lines[frame].masks
    }

    /// Returns whether a way does not wait for data.
    #[inline(always)]
    pub fn is_free(&self, frame: usize) -> bool {
        self.masks(frame).reserved == 0
    }

    /// Returns the sector masks of the line in a way, like [`Self::masks`], for modification.
    #[inline(always)]
    pub fn masks_mut(&mut self, frame: usize) -> &mut Masks {
        &mut self.lines[frame].masks
    }

    /// Returns the way of a line, as an index.
    #[inline(always)]
    pub fn find(&self, tag: u64, set: usize) -> Option<usize> {
        let base = self.base(set);
        let mut next = self.heads[self.head(tag)];
        while next != 0 {
            let frame = next as usize - 1;
            let line = &self.lines[frame];
            if line.tag == tag + 1 && frame.wrapping_sub(base) < self.ways {
                return Some(frame);
            }
            next = line.other;
        }
        None
    }

    /// Returns the index of the head of the list of ways for a tag.
    #[inline]
    fn head(&self, tag: u64) -> usize {
        (tag.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> self.shift) as usize
    }

    /// Returns the tag of the line in a way, if there is one.
    #[inline]
    pub fn at(&self, frame: usize) -> Option<u64> {
        self.lines[frame].tag.checked_sub(1)
    }

    /// Puts a line without any valid sector into a way, and removes the previous line.
    pub fn put(&mut self, tag: u64, frame: usize) {
        if let Some(old) = self.at(frame) {
            self.remove(old, frame);
        }
        let head = self.head(tag);
        let line = &mut self.lines[frame];
        line.tag = tag + 1;
        line.other = std::mem::replace(&mut self.heads[head], frame as u32 + 1);
        line.masks = Masks::default();
    }

    fn remove(&mut self, tag: u64, frame: usize) {
        let (head, next) = (self.head(tag), self.lines[frame].other);
        let mut before = self.heads[head] as usize;
        if before == frame + 1 {
            self.heads[head] = next;
            return;
        }
        while self.lines[before - 1].other as usize != frame + 1 {
            before = self.lines[before - 1].other as usize;
        }
        self.lines[before - 1].other = next;
    }

    /// Returns the first way of a set in replacement order.
    #[inline]
    pub fn first(&self, set: usize) -> usize {
        self.base(set) + self.sets[set].first as usize
    }

    /// Returns the ways of a set in replacement order.
    pub fn in_order(&self, set: usize) -> impl Iterator<Item = usize> + Clone + use<'_> {
        let base = self.base(set);
        let ring = &self.lines[self.of_set(set)];
        let after = move |&way: &usize| Some(next(ring, way));
        std::iter::successors(Some(self.sets[set].first as usize), after)
            .take(self.ways)
            .map(move |way| base + way)
    }

    /// Moves a way to the end of its set's replacement order.
    #[inline(always)]
    pub fn move_to_end(&mut self, frame: usize, set: usize) {
        let Set { base, first } = &mut self.sets[set];
        let base = *base as usize;
        let ring = &mut self.lines[base..base + self.ways];
        let way = frame - base;
        if way == *first as usize {
            *first = next(ring, way) as u32;
        } else if way != before(ring, *first as usize) {
            relink(ring, way, *first as usize);
        }
    }
}

/// The lines that a launch leaves. They are kept as they are from launch to launch; their
/// serialized form is a list.
#[derive(Clone, Debug, Deserialize)]
#[serde(from = "Vec<LineLeft>")]
pub(super) enum CarriedLines {
    /// The lines, and a mask of the sectors of a line.
    Whole(Lines, u8),
    /// A list, set by set in replacement order.
    Listed(Vec<LineLeft>),
}

impl CarriedLines {
    fn list(&self) -> Cow<'_, [LineLeft]> {
        match self {
            Self::Whole(lines, _) => lines.list().into(),
            Self::Listed(list) => list.into(),
        }
    }
}

impl From<Vec<LineLeft>> for CarriedLines {
    fn from(list: Vec<LineLeft>) -> Self {
        Self::Listed(list)
    }
}

impl Default for CarriedLines {
    fn default() -> Self {
        Self::Listed(Vec::new())
    }
}

impl Serialize for CarriedLines {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.list().serialize(serializer)
    }
}

impl PartialEq for CarriedLines {
    fn eq(&self, other: &Self) -> bool {
        self.list() == other.list()
    }
}

impl Eq for CarriedLines {}

/// A line: its set and way, the halves of its tag, its masks (valid, then dirty sectors, four bits
/// each; then those written in part), and the words of it that have been written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct LineLeft(pub u32, pub u32, pub u32, pub u32, pub [u8; 2], pub u32);

fn heads(sets: usize, ways: usize) -> usize {
    (sets * ways).next_power_of_two().max(2)
}

/// Moves a way from its position in the ring to the one before the first way.
fn relink(ring: &mut [Line], way: usize, first: usize) {
    let (last, before, next) = (before(ring, first), before(ring, way), next(ring, way));
    link(ring, before, next);
    link(ring, last, way);
    link(ring, way, first);
}

#[inline]
fn next(ring: &[Line], way: usize) -> usize {
    ring[way].ring[0] as usize ^ up(ring, way)
}

#[inline]
fn before(ring: &[Line], way: usize) -> usize {
    ring[way].ring[1] as usize ^ down(ring, way)
}

#[inline]
fn link(ring: &mut [Line], way: usize, next: usize) {
    ring[way].ring[0] = (next ^ up(ring, way)) as u32;
    ring[next].ring[1] = (way ^ down(ring, next)) as u32;
}

/// Returns the way with the next number, which wraps around.
#[inline]
fn up(ring: &[Line], way: usize) -> usize {
    if way + 1 == ring.len() { 0 } else { way + 1 }
}

/// Returns the way with the previous number, which wraps around.
#[inline]
fn down(ring: &[Line], way: usize) -> usize {
    if way == 0 { ring.len() - 1 } else { way - 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sector_is_whole_with_its_eight_words() {
        for sectors in 0..16_u8 {
            let bytes = [0, 1, 2, 3].map(|sector| if sectors >> sector & 1 == 1 { 0xff } else { 0 });
            assert_eq!(whole_sectors(u32::from_le_bytes(bytes)), sectors);
            for word in 0..32 {
                let without = u32::from_le_bytes(bytes) & !(1 << word);
                assert_eq!(whole_sectors(without), sectors & !(1 << (word / 8)), "{sectors:#b}, {word}");
            }
        }
    }

    /// Compares the lines with plain lists.
    #[test]
    fn frames_and_their_order() {
        for ways in [1, 2, 3, 16, 17] {
            let mut lines = Lines::new(4, ways);
            (0..4).for_each(|set| lines.set_up(set));
            let mut lists: Vec<Vec<usize>> =
                (0..4).map(|set| (set * ways..(set + 1) * ways).collect()).collect();
            let mut there = vec![None; 4 * ways];
            for n in 0..2000_usize {
                let number = n.wrapping_mul(0x9e37_79b9) >> 3;
                let (set, frame) = (number % 4, number % 4 * ways + number / 4 % ways);
                if number % 7 < 3 {
                    let tag = number as u64 % 50 * 4 + set as u64;
                    if lines.find(tag, set).is_none() {
                        lines.put(tag, frame);
                        there[frame] = Some(tag);
                    }
                }
                lines.move_to_end(frame, set);
                lists[set].retain(|&other| other != frame);
                lists[set].push(frame);
                assert!(lines.in_order(set).eq(lists[set].iter().copied()));
                assert_eq!(lines.at(frame), there[frame]);
                for tag in (0..50).map(|tag| tag * 4 + set as u64) {
                    assert_eq!(lines.find(tag, set), there.iter().position(|&at| at == Some(tag)));
                }
            }
        }
    }
}
