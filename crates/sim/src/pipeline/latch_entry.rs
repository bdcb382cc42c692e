//! The entries of a latch, one per unit and sub-core.

use warpbound_core::machine::SubCores;

/// The number of entries of a latch: one for each unit (the load/store unit included) and sub-core.
pub(super) const LATCH_ENTRIES: usize = u64::BITS as usize;
/// The number of units of a sub-core, the load/store unit included.
pub(super) const KINDS: usize = LATCH_ENTRIES / SubCores::MAX;
/// The entries of unit 0, as a mask.
const OF_UNIT: u64 = (1 << SubCores::MAX) - 1;
const SUB_CORE_BITS: u32 = SubCores::MAX.trailing_zeros();
/// The entries of sub-core 0, as a mask.
const OF_SUB_CORE: u64 = u64::MAX / OF_UNIT;

const _: () = assert!(LATCH_ENTRIES >= SubCores::MAX * (warpbound_core::machine::MAX_DETAILED_UNITS + 1));

/// The latch entry in which instructions of a sub-core wait for a unit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct LatchEntry(u8);

impl LatchEntry {
    pub const FIRST: Self = Self(0);

    #[inline(always)]
    pub fn new(unit: usize, sub_core: usize) -> Self {
        debug_assert!(unit < LATCH_ENTRIES / SubCores::MAX && sub_core < SubCores::MAX);
        Self((unit << SUB_CORE_BITS | sub_core) as u8)
    }

    #[inline(always)]
    pub fn unit(self) -> usize {
        self.index() / SubCores::MAX
    }

    #[inline(always)]
    pub fn sub_core(self) -> usize {
        self.index() % SubCores::MAX
    }

    #[inline(always)]
    pub fn index(self) -> usize {
        usize::from(self.0) % LATCH_ENTRIES
    }

    #[inline(always)]
    fn bit(self) -> u64 {
        1 << self.index()
    }
}

/// A set of latch entries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct LatchEntries(u64);

impl LatchEntries {
    /// Returns all entries of a unit.
    #[inline(always)]
    pub fn of_unit(unit: usize) -> Self {
        Self(OF_UNIT << (unit * SubCores::MAX % LATCH_ENTRIES))
    }

    /// Returns all entries of a sub-core.
    #[inline(always)]
    pub fn of_sub_core(sub_core: usize) -> Self {
        Self(OF_SUB_CORE << (sub_core % SubCores::MAX))
    }

    #[inline(always)]
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Returns the sub-cores to which the entries belong, as a mask, and whether no two entries
    /// belong to the same sub-core.
    #[inline(always)]
    pub fn sub_cores(self) -> (u32, bool) {
        let mut half = u64::BITS / 2;
        let (mut all, mut twice) = (self.0, 0);
        while half >= SubCores::MAX as u32 {
            let (upper, lower) = (all >> half, all & ((1 << half) - 1));
            twice |= upper & lower;
            all = upper | lower;
            half /= 2;
        }
        (all as u32, twice == 0)
    }

    #[inline(always)]
    pub fn has(self, place: LatchEntry) -> bool {
        self.0 >> place.index() & 1 == 1
    }

    #[inline(always)]
    pub fn without(self, others: Self) -> Self {
        Self(self.0 & !others.0)
    }

    #[inline(always)]
    pub fn among(self, others: Self) -> Self {
        Self(self.0 & others.0)
    }

    #[inline(always)]
    pub fn insert(&mut self, place: LatchEntry) {
        self.0 |= place.bit();
    }

    #[inline(always)]
    pub fn remove(&mut self, place: LatchEntry) {
        self.0 &= !place.bit();
    }

    /// Returns the first entry, ordered by unit and then by sub-core.
    #[inline(always)]
    pub fn first(self) -> Option<LatchEntry> {
        (self.0 != 0).then(|| LatchEntry(self.0.trailing_zeros() as u8))
    }
}

impl Iterator for LatchEntries {
    type Item = LatchEntry;

    #[inline(always)]
    fn next(&mut self) -> Option<LatchEntry> {
        let first = self.first()?;
        self.0 &= self.0 - 1;
        Some(first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sub_cores_of_places() {
        let places = |list: &[(usize, usize)]| {
            let mut places = LatchEntries::default();
            list.iter().for_each(|&(unit, sub_core)| places.insert(LatchEntry::new(unit, sub_core)));
            places
        };
        assert_eq!(places(&[]).sub_cores(), (0, true));
        assert_eq!(places(&[(0, 1), (15, 3)]).sub_cores(), (0b1010, true));
        assert_eq!(places(&[(7, 0), (8, 1), (2, 0)]).sub_cores(), (0b11, false));
        for (first, second) in (0..LATCH_ENTRIES).flat_map(|a| (0..LATCH_ENTRIES).map(move |b| (a, b))) {
            let [a, b] =
                [first, second].map(|place| LatchEntry::new(place / SubCores::MAX, place % SubCores::MAX));
            let both = places(&[(a.unit(), a.sub_core()), (b.unit(), b.sub_core())]);
            let expected = 1 << a.sub_core() | 1 << b.sub_core();
            assert_eq!(both.sub_cores(), (expected, a == b || a.sub_core() != b.sub_core()));
        }
    }
}
