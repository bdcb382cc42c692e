//! The latches between two stages of the pipeline.

use super::flight::FlightId;
use super::latch_entry::{LATCH_ENTRIES, LatchEntries, LatchEntry};

/// A value that can wait in a latch.
pub(super) trait Waiting: Copy + Default {
    /// Returns the age; a larger value means a later issue.
    fn age(&self) -> u64;
}

/// An instruction and its age.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Aged {
    pub flight: FlightId,
    pub age: u64,
}

impl Waiting for Aged {
    #[inline(always)]
    fn age(&self) -> u64 {
        self.age
    }
}

/// A latch with one entry per unit and sub-core.
#[derive(Clone, Debug)]
pub(super) struct Latch<T> {
    waiting: [T; LATCH_ENTRIES],
    full: LatchEntries,
}

impl<T: Waiting> Latch<T> {
    pub fn new() -> Self {
        Self { waiting: [T::default(); LATCH_ENTRIES], full: LatchEntries::default() }
    }

    #[inline(always)]
    pub fn is_free(&self, place: LatchEntry) -> bool {
        !self.full.has(place)
    }

    /// Returns the value in an entry that is not free.
    #[inline(always)]
    pub fn at(&self, place: LatchEntry) -> &T {
        &self.waiting[place.index()]
    }

    #[inline(always)]
    pub fn put(&mut self, place: LatchEntry, value: T) {
        self.waiting[place.index()] = value;
        self.full.insert(place);
    }

    #[inline(always)]
    pub fn take(&mut self, place: LatchEntry) {
        self.full.remove(place);
    }

    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.full.is_empty()
    }

    /// Returns the entries that are occupied.
    #[inline(always)]
    pub fn full(&self) -> LatchEntries {
        self.full
    }

    /// Returns the entry with the oldest instruction for a unit, the one that issued first.
    #[inline(always)]
    pub fn oldest(&self, unit: usize) -> Option<LatchEntry> {
        let mut places = self.full.among(LatchEntries::of_unit(unit));
        let mut oldest = places.next()?;
        for other in places {
            if self.at(other).age() < self.at(oldest).age() {
                oldest = other;
            }
        }
        Some(oldest)
    }
}
