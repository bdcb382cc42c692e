//! The lines of a cache: their ways, their sectors, and the replacement order. No lookup
//! searches through a set.

use std::borrow::Cow;
use std::ops::Range;

use serde::{Deserialize, Serialize, Serializer};
use warpbound_core::path::LineUse;

use super::halves::{halves, whole};

/// A way of the cache.
#[derive(Clone, Copy, Debug)]
struct Line {
    /// The tag plus one, or 0 if the way is empty.
    tag: u64,
    /// One more than the index of the next way whose tag has the same hash, or 0.
    other: u32,
    /// The next way of the set in replacement order, and the one before; the first one follows the
    /// last.
    next: u32,
    before: u32,
    set: u32,
    masks: Masks,
}

const _: () = assert!(size_of::<Line>() == 32);

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
#[derive(Clone, Copy, Debug, Default)]
struct Set {
    /// The number of ways that it has.
    count: u32,
    /// The first of them in replacement order, and the way 0.
    first: u32,
    base: u32,
}

/// The smallest number of lists by hash.
const FEWEST: usize = 16;

/// The lines of a cache. A set gets its ways when it needs them, in the order of their numbers,
/// because a short launch uses few of the ways of a large GPU. A way is given by its index among
/// those of all sets, its frame.
#[derive(Clone, Debug)]
pub(super) struct Lines {
    ways: usize,
    /// The ways that sets have.
    lines: Vec<Line>,
    /// For each hash of a tag, one more than the index of the first way with that hash, or 0. There
    /// are as many as ways, or more.
    heads: Vec<u32>,
    /// The number of bits by which hashes are shifted.
    shift: u32,
    sets: Vec<Set>,
}

impl Lines {
    /// Creates empty lines.
    pub fn new(sets: usize, ways: usize) -> Self {
        let (heads, shift) = empty_heads(FEWEST);
        Self { ways, lines: Vec::new(), heads, shift, sets: vec![Set::default(); sets] }
    }

    /// Gives a set that has no way all its ways at once, which have consecutive frames then. Way 0 is
    /// the first in replacement order.
    pub fn set_up(&mut self, set: usize) {
        if self.sets[set].count == 0 {
            (0..self.ways).for_each(|_| {
                self.add(set);
            });
        }
    }

    /// Gives a set the next one of its ways, which becomes the last in replacement order, and
    /// returns its frame.
    fn add(&mut self, set: usize) -> usize {
        let frame = self.lines.len();
        if frame == self.heads.len() {
            self.hash_again(2 * frame);
        }
        let (number, Set { count, first, base }) = (frame as u32, &mut self.sets[set]);
        if *count == 0 {
            (*first, *base) = (number, number);
        }
        *count += 1;
        let next = *first;
        let masks = Masks::default();
        self.lines.push(Line { tag: 0, other: 0, next: number, before: number, set: set as u32, masks });
        self.link_before(frame, next as usize);
        frame
    }

    /// Divides the ways among this number of lists.
    #[cold]
    fn hash_again(&mut self, heads: usize) {
        (self.heads, self.shift) = empty_heads(heads);
        for frame in 0..self.lines.len() {
            if let Some(tag) = self.at(frame) {
                let head = self.head(tag);
                self.lines[frame].other = std::mem::replace(&mut self.heads[head], frame as u32 + 1);
            }
        }
    }

    /// Returns the ways of a set in the order of their numbers, if they have been [set
    /// up](Self::set_up).
    pub fn of_set(&self, set: usize) -> Range<usize> {
        let Set { base, count, .. } = self.sets[set];
        base as usize..base as usize + count as usize
    }

    /// Lists all lines, set by set in replacement order.
    pub fn list(&self) -> Vec<LineLeft> {
        // ways get their frames in the order of their numbers
        let mut counts = vec![0; self.sets.len()];
        let number = |line: &Line| {
            let count: &mut u32 = &mut counts[line.set as usize];
            *count += 1;
            *count - 1
        };
        let ways: Vec<u32> = self.lines.iter().map(number).collect();
        let line = |frame: usize| {
            let (high, low) = halves(self.at(frame)?);
            let Masks { valid, dirty, partial, words, reserved: _ } = self.masks(frame);
            let (set, way) = (self.lines[frame].set, ways[frame]);
            Some(LineLeft(set, way, high, low, [valid | dirty << 4, partial], words))
        };
        (0..self.sets.len()).flat_map(|set| self.in_order(set)).filter_map(line).collect()
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
            let frame = self.of_set(set).start + way;
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
        let mut next = self.heads[self.head(tag)];
        while next != 0 {
            let frame = next as usize - 1;
            let line = &self.lines[frame];
            if line.tag == tag + 1 && line.set as usize == set {
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

    /// Returns the first way of a set, in replacement order, that does not wait for data; `None` if
    /// all wait. A way that the set does not have yet precedes those that it has.
    pub fn first_free(&mut self, set: usize) -> Option<usize> {
        let Set { first, count, .. } = self.sets[set];
        if (count as usize) < self.ways {
            return Some(self.add(set));
        }
        if self.is_free(first as usize) {
            return Some(first as usize);
        }
        self.in_order(set).find(|&frame| self.is_free(frame))
    }

    /// Returns the ways that a set has, in replacement order.
    pub fn in_order(&self, set: usize) -> impl Iterator<Item = usize> + Clone + use<'_> {
        let Set { first, count, .. } = self.sets[set];
        let after = |&frame: &usize| Some(self.lines[frame].next as usize);
        std::iter::successors(Some(first as usize), after).take(count as usize)
    }

    /// Moves a way to the end of its set's replacement order.
    #[inline(always)]
    pub fn move_to_end(&mut self, frame: usize, set: usize) {
        let first = self.sets[set].first as usize;
        let Line { next, before, .. } = self.lines[frame];
        if frame == first {
            self.sets[set].first = next;
        } else if next as usize != first {
            self.lines[before as usize].next = next;
            self.lines[next as usize].before = before;
            self.link_before(frame, first);
        }
    }

    /// Links a way, which no other is linked with, before another one.
    #[inline(always)]
    fn link_before(&mut self, frame: usize, next: usize) {
        let before = std::mem::replace(&mut self.lines[next].before, frame as u32);
        self.lines[before as usize].next = frame as u32;
        let line = &mut self.lines[frame];
        (line.next, line.before) = (next as u32, before);
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

/// Returns this number of empty lists, a power of two, and the number of bits by which hashes are
/// shifted.
fn empty_heads(count: usize) -> (Vec<u32>, u32) {
    (vec![0; count], u64::BITS - count.trailing_zeros())
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
            assert!((0..4).all(|set| lines.in_order(set).eq(lists[set].iter().copied())));
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

    /// Compares lines whose sets get their ways one by one with lines that have all from the start.
    #[test]
    fn sets_get_their_ways_in_the_order_of_replacement() {
        for ways in [1, 2, 5, 16] {
            let (mut some, mut all) = (Lines::new(4, ways), Lines::new(4, ways));
            (0..4).for_each(|set| all.set_up(set));
            for n in 0..500_usize {
                let number = n.wrapping_mul(0x9e37_79b9) >> 5;
                let (set, tag) = (number % 4, (number % 60) as u64);
                for lines in [&mut some, &mut all] {
                    let frame = lines.find(tag, set).or_else(|| {
                        let free = lines.first_free(set)?;
                        lines.put(tag, free);
                        Some(free)
                    });
                    lines.move_to_end(frame.unwrap(), set);
                }
                assert_eq!(some.list(), all.list());
            }
        }
    }
}
