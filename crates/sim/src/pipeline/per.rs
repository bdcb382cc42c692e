//! Arrays whose length is a power of two. An index beyond the length wraps around, so that no
//! bounds check is needed in hot code; debug assertions check the indices.

use std::ops::{Index, IndexMut};

use crate::SLOTS;
use warpbound_core::machine::SubCores;

/// An array of `COUNT` elements.
#[derive(Clone, Copy, Debug)]
pub(super) struct Per<T, const COUNT: usize>([T; COUNT]);

/// One element for every warp slot.
pub(super) type PerSlot<T> = Per<T, SLOTS>;
/// One element for every sub-core that an SM can have.
pub(super) type PerSubCore<T> = Per<T, { SubCores::MAX }>;

impl<T, const COUNT: usize> Per<T, COUNT> {
    /// Creates each element from its index.
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
