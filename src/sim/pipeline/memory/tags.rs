//! Where the lines of a cache are, and which makes room first. Neither is searched for, but that a few ways are looked
//! through faster than a table.

use rustc_hash::FxHashMap;

/// Up to so many ways are looked through.
const FEW: usize = 16;

/// The tags of a cache by set and way, with an order of the ways of each set. A line's place is
/// `set * ways + way`.
#[derive(Clone, Debug)]
pub(super) struct Tags {
    ways: usize,
    /// Place by tag and set, where there are more than a few ways. Nobody goes through it, so its order decides nothing.
    places: FxHashMap<(u64, u32), u32>,
    /// By place: one more than the tag, 0 if it is empty.
    tags: Vec<u64>,
    /// The ways of a set in a ring, by place: the next and the one before. They are kept as the difference (`^`) from
    /// the way with the next number and the one before, so that a cache of zeros, which costs nothing to set up, has
    /// its ways in order.
    next: Vec<u32>,
    before: Vec<u32>,
    /// By set: the way that comes first.
    first: Vec<u32>,
}

impl Tags {
    /// All places empty, way 0 first.
    pub fn new(sets: usize, ways: usize) -> Self {
        let count = sets * ways;
        Self {
            ways,
            places: FxHashMap::default(),
            tags: vec![0; count],
            next: vec![0; count],
            before: vec![0; count],
            first: vec![0; sets],
        }
    }

    /// The place of a line.
    #[inline]
    pub fn find(&self, tag: u64, set: usize) -> Option<usize> {
        if self.ways > FEW {
            return self.places.get(&(tag, set as u32)).map(|&place| place as usize);
        }
        let base = set * self.ways;
        self.tags[base..base + self.ways].iter().position(|&other| other == tag + 1).map(|way| base + way)
    }

    /// The line in a place, if there is one.
    pub fn at(&self, place: usize) -> Option<u64> {
        self.tags[place].checked_sub(1)
    }

    /// A line comes to a place, and what was there leaves.
    pub fn put(&mut self, tag: u64, place: usize) {
        let old = self.at(place);
        self.tags[place] = tag + 1;
        if self.ways > FEW {
            let set = (place / self.ways) as u32;
            if let Some(old) = old {
                self.places.remove(&(old, set));
            }
            self.places.insert((tag, set), place as u32);
        }
    }

    /// The places of a set, in order.
    pub fn in_order(&self, set: usize) -> impl Iterator<Item = usize> + Clone + use<'_> {
        let base = set * self.ways;
        let first = self.first[set] as usize;
        let after = move |&way: &usize| Some(self.next(base, way));
        std::iter::successors(Some(first), after).take(self.ways).map(move |way| base + way)
    }

    /// A place becomes the last of its set.
    #[inline]
    pub fn move_to_end(&mut self, place: usize) {
        let set = place / self.ways;
        let base = set * self.ways;
        let way = place - base;
        let first = self.first[set] as usize;
        if way == first {
            self.first[set] = self.next(base, first) as u32;
            return;
        }
        let last = self.before(base, first);
        if way == last {
            return;
        }
        let (before, next) = (self.before(base, way), self.next(base, way));
        self.link(base, before, next);
        self.link(base, last, way);
        self.link(base, way, first);
    }

    #[inline]
    fn next(&self, base: usize, way: usize) -> usize {
        self.next[base + way] as usize ^ self.up(way)
    }

    #[inline]
    fn before(&self, base: usize, way: usize) -> usize {
        self.before[base + way] as usize ^ self.down(way)
    }

    fn link(&mut self, base: usize, way: usize, next: usize) {
        self.next[base + way] = (next ^ self.up(way)) as u32;
        self.before[base + next] = (way ^ self.down(next)) as u32;
    }

    /// The ways with the next number and the one before, around.
    #[inline]
    fn up(&self, way: usize) -> usize {
        if way + 1 == self.ways { 0 } else { way + 1 }
    }

    #[inline]
    fn down(&self, way: usize) -> usize {
        if way == 0 { self.ways - 1 } else { way - 1 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against lists.
    #[test]
    fn places_and_their_order() {
        for ways in [1, 2, 3, 16, 17] {
            let mut tags = Tags::new(4, ways);
            let mut lists: Vec<Vec<usize>> =
                (0..4).map(|set| (set * ways..(set + 1) * ways).collect()).collect();
            let mut there = vec![None; 4 * ways];
            for n in 0..2000_usize {
                let number = n.wrapping_mul(0x9e37_79b9) >> 3;
                let (set, place) = (number % 4, number % 4 * ways + number / 4 % ways);
                if number % 7 < 3 {
                    let tag = number as u64 % 50 * 4 + set as u64;
                    if tags.find(tag, set).is_none() {
                        tags.put(tag, place);
                        there[place] = Some(tag);
                    }
                }
                tags.move_to_end(place);
                lists[set].retain(|&other| other != place);
                lists[set].push(place);
                assert!(tags.in_order(set).eq(lists[set].iter().copied()));
                assert_eq!(tags.at(place), there[place]);
                for tag in (0..50).map(|tag| tag * 4 + set as u64) {
                    assert_eq!(tags.find(tag, set), there.iter().position(|&at| at == Some(tag)));
                }
            }
        }
    }
}
