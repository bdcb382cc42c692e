//! The registers between two stages of the pipeline.

use super::flight::FlightId;
use super::place::{PLACES, Place, Places};

/// One instruction per place.
#[derive(Clone, Debug)]
pub(super) struct Latch {
    flights: [FlightId; PLACES],
    ages: [u64; PLACES],
    full: Places,
}

impl Latch {
    pub fn new() -> Self {
        Self { flights: [0; PLACES], ages: [0; PLACES], full: Places::default() }
    }

    #[inline(always)]
    pub fn is_free(&self, place: Place) -> bool {
        !self.full.has(place)
    }

    /// What waits in a place that is not free.
    #[inline(always)]
    pub fn at(&self, place: Place) -> FlightId {
        self.flights[place.index()]
    }

    /// `age` says which of several instructions issued first.
    #[inline(always)]
    pub fn put(&mut self, place: Place, flight: FlightId, age: u64) {
        self.flights[place.index()] = flight;
        self.ages[place.index()] = age;
        self.full.insert(place);
    }

    #[inline(always)]
    pub fn take(&mut self, place: Place) {
        self.full.remove(place);
    }

    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.full.is_empty()
    }

    /// The places in which something waits.
    #[inline(always)]
    pub fn full(&self) -> Places {
        self.full
    }

    /// The place of the instruction for a unit that issued first.
    #[inline(always)]
    pub fn oldest(&self, unit: usize) -> Option<Place> {
        let mut places = self.full.among(Places::of_unit(unit));
        let mut oldest = places.next()?;
        for other in places {
            if self.ages[other.index()] < self.ages[oldest.index()] {
                oldest = other;
            }
        }
        Some(oldest)
    }
}
