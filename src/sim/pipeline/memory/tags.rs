//! Where the lines of a cache are, and which makes room first. Neither is searched for.

/// The tags of a cache by set and way, with an order of the ways of each set. A line's place is
/// `set * ways + way`. What is all zero costs nothing to set up, so all of it begins so.
#[derive(Clone, Debug)]
pub(super) struct Tags {
    ways: usize,
    /// By place: one more than the tag, 0 if it is empty.
    tags: Vec<u64>,
    /// By a hash of the tag: one more than the first place that holds such a one; then by place: than the next.
    heads: Vec<u32>,
    others: Vec<u32>,
    /// How far hashes are shifted.
    shift: u32,
    /// The ways of a set in a ring, by place: the next and the one before, kept as the difference (`^`) from the way
    /// with the next number and the one before.
    ring: Vec<[u32; 2]>,
    /// By set: the way that comes first.
    first: Vec<u32>,
}

impl Tags {
    /// All places empty, way 0 first.
    pub fn new(sets: usize, ways: usize) -> Self {
        let count = sets * ways;
        let heads = count.next_power_of_two().max(2);
        Self {
            ways,
            tags: vec![0; count],
            heads: vec![0; heads],
            others: vec![0; count],
            shift: u64::BITS - heads.trailing_zeros(),
            ring: vec![[0; 2]; count],
            first: vec![0; sets],
        }
    }

    /// The place of a line.
    #[inline(always)]
    pub fn find(&self, tag: u64, set: usize) -> Option<usize> {
        let base = set * self.ways;
        let mut next = self.heads[self.head(tag)];
        while next != 0 {
            let place = next as usize - 1;
            if self.tags[place] == tag + 1 && place.wrapping_sub(base) < self.ways {
                return Some(place);
            }
            next = self.others[place];
        }
        None
    }

    /// Where the places of a tag begin.
    #[inline]
    fn head(&self, tag: u64) -> usize {
        (tag.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> self.shift) as usize
    }

    /// The line in a place, if there is one.
    #[inline]
    pub fn at(&self, place: usize) -> Option<u64> {
        self.tags[place].checked_sub(1)
    }

    /// A line comes to a place, and what was there leaves.
    pub fn put(&mut self, tag: u64, place: usize) {
        if let Some(old) = self.at(place) {
            self.remove(old, place);
        }
        self.tags[place] = tag + 1;
        let head = self.head(tag);
        self.others[place] = std::mem::replace(&mut self.heads[head], place as u32 + 1);
    }

    fn remove(&mut self, tag: u64, place: usize) {
        let (head, next) = (self.head(tag), self.others[place]);
        let mut before = self.heads[head] as usize;
        if before == place + 1 {
            self.heads[head] = next;
            return;
        }
        while self.others[before - 1] as usize != place + 1 {
            before = self.others[before - 1] as usize;
        }
        self.others[before - 1] = next;
    }

    /// The place of a set that comes first.
    #[inline]
    pub fn first(&self, set: usize) -> usize {
        set * self.ways + self.first[set] as usize
    }

    /// The places of a set, in order.
    pub fn in_order(&self, set: usize) -> impl Iterator<Item = usize> + Clone + use<'_> {
        let base = set * self.ways;
        let ring = &self.ring[base..base + self.ways];
        let after = move |&way: &usize| Some(next(ring, way));
        std::iter::successors(Some(self.first[set] as usize), after)
            .take(self.ways)
            .map(move |way| base + way)
    }

    /// A place becomes the last of its set.
    #[inline(always)]
    pub fn move_to_end(&mut self, place: usize, set: usize) {
        let base = set * self.ways;
        let ring = &mut self.ring[base..base + self.ways];
        let first = &mut self.first[set];
        let way = place - base;
        if way == *first as usize {
            *first = next(ring, way) as u32;
        } else if way != before(ring, *first as usize) {
            relink(ring, way, *first as usize);
        }
    }
}

/// A way leaves its place in the ring and comes before the first one.
fn relink(ring: &mut [[u32; 2]], way: usize, first: usize) {
    let (last, before, next) = (before(ring, first), before(ring, way), next(ring, way));
    link(ring, before, next);
    link(ring, last, way);
    link(ring, way, first);
}

#[inline]
fn next(ring: &[[u32; 2]], way: usize) -> usize {
    ring[way][0] as usize ^ up(ring, way)
}

#[inline]
fn before(ring: &[[u32; 2]], way: usize) -> usize {
    ring[way][1] as usize ^ down(ring, way)
}

#[inline]
fn link(ring: &mut [[u32; 2]], way: usize, next: usize) {
    ring[way][0] = (next ^ up(ring, way)) as u32;
    ring[next][1] = (way ^ down(ring, next)) as u32;
}

/// The ways with the next number and the one before, around.
#[inline]
fn up(ring: &[[u32; 2]], way: usize) -> usize {
    if way + 1 == ring.len() { 0 } else { way + 1 }
}

#[inline]
fn down(ring: &[[u32; 2]], way: usize) -> usize {
    if way == 0 { ring.len() - 1 } else { way - 1 }
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
                tags.move_to_end(place, set);
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
