//! One of each for everything that is counted from 0 up to a power of two. An index beyond goes around, so that nothing
//! has to be checked where it counts; that it is not beyond is a debug assertion.

use std::ops::{Index, IndexMut};

use crate::machine::SubCores;
use crate::sim::SLOTS;

/// One for each of so many.
#[derive(Clone, Copy, Debug)]
pub(super) struct Per<T, const COUNT: usize>([T; COUNT]);

/// One for every warp slot.
pub(super) type PerSlot<T> = Per<T, SLOTS>;
/// One for every sub-core that there can be.
pub(super) type PerSubCore<T> = Per<T, { SubCores::MAX }>;

impl<T, const COUNT: usize> Per<T, COUNT> {
    /// Each made from its number.
    pub fn new(make: impl FnMut(usize) -> T) -> Self {
        const { assert!(COUNT.is_power_of_two()) };
        Self(std::array::from_fn(make))
    }

    pub fn iter(&self) -> std::slice::Iter<'_, T> {
        self.0.iter()
    }

    pub fn iter_mut(&mut self) -> std::slice::IterMut<'_, T> {
        self.0.iter_mut()
    }
}

impl<T, const COUNT: usize> Index<usize> for Per<T, COUNT> {
    type Output = T;

    #[inline(always)]
    fn index(&self, index: usize) -> &T {
        debug_assert!(index < COUNT);
        &self.0[index % COUNT]
    }
}

impl<T, const COUNT: usize> IndexMut<usize> for Per<T, COUNT> {
    #[inline(always)]
    fn index_mut(&mut self, index: usize) -> &mut T {
        debug_assert!(index < COUNT);
        &mut self.0[index % COUNT]
    }
}
