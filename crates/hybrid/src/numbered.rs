//! A table indexed by number, used for one or two look-ups per event.

use std::collections::BTreeMap;

/// The limit of the numbers that are stored in an array; the numbers in traces can be arbitrarily
/// large.
const NEAR: usize = 4096;
const NONE: u32 = u32::MAX;

/// A map from numbers to indices. Indices are below `u32::MAX`.
#[derive(Clone, Debug, Default)]
pub(super) struct Numbered {
    near: Vec<u32>,
    far: BTreeMap<u32, u32>,
}

impl Numbered {
    #[inline]
    pub fn get(&self, number: u32) -> Option<usize> {
        let place = match self.near.get(number as usize) {
            Some(&place) => place,
            None if self.far.is_empty() => NONE,
            None => self.far.get(&number).copied().unwrap_or(NONE),
        };
        (place != NONE).then_some(place as usize)
    }

    pub fn insert(&mut self, number: u32, place: usize) {
        let place = u32::try_from(place).ok().filter(|&place| place != NONE).expect("fewer than 2^32 - 1");
        let index = number as usize;
        if index >= NEAR {
            self.far.insert(number, place);
            return;
        }
        if self.near.len() <= index {
            self.near.resize(index + 1, NONE);
        }
        self.near[index] = place;
    }

    pub fn remove(&mut self, number: u32) {
        match self.near.get_mut(number as usize) {
            Some(place) => *place = NONE,
            None => {
                self.far.remove(&number);
            }
        }
    }

    pub fn clear(&mut self) {
        self.near.clear();
        self.far.clear();
    }

    /// Returns all numbers, ascending, with their indices.
    pub fn iter(&self) -> impl Iterator<Item = (u32, usize)> {
        let near = (0..).zip(&self.near).filter(|(_, place)| **place != NONE);
        near.chain(self.far.iter().map(|(&number, place)| (number, place)))
            .map(|(number, &place)| (number, place as usize))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_and_far_numbers() {
        let mut table = Numbered::default();
        for (place, number) in [7, 0, u32::MAX, 4095, 4096].into_iter().enumerate() {
            assert_eq!(table.get(number), None);
            table.insert(number, place);
            assert_eq!(table.get(number), Some(place));
        }
        let all: Vec<(u32, usize)> = table.iter().collect();
        assert_eq!(all, [(0, 1), (7, 0), (4095, 3), (4096, 4), (u32::MAX, 2)]);
        [0, 4096, 9, 70_000].into_iter().for_each(|number| table.remove(number));
        assert_eq!(table.iter().map(|(number, _)| number).collect::<Vec<_>>(), [7, 4095, u32::MAX]);
        table.clear();
        assert_eq!((table.iter().count(), table.get(7)), (0, None));
    }
}
