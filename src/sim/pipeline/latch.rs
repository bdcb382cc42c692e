//! The registers between two stages of the pipeline.

use super::flight::FlightId;

/// An instruction between two stages.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    flight: FlightId,
    age: u64,
}

const NOBODY: Waiting = Waiting { flight: 0, age: u64::MAX };

/// One instruction per unit and sub-core, each in a place of its own.
#[derive(Clone, Debug)]
pub(super) struct Latch {
    sub_cores: usize,
    places: Vec<Waiting>,
    /// By sub-core: units that an instruction waits for, as a mask.
    units: Vec<u128>,
    /// Whether something came since somebody last looked.
    pub fresh: bool,
}

impl Latch {
    pub fn new(units: usize, sub_cores: usize) -> Self {
        Self { sub_cores, places: vec![NOBODY; units * sub_cores], units: vec![0; sub_cores], fresh: false }
    }

    pub fn places(&self) -> usize {
        self.places.len()
    }

    /// The place for instructions of a sub-core that go to a unit.
    #[inline]
    pub fn place(&self, unit: usize, sub_core: usize) -> usize {
        unit * self.sub_cores + sub_core
    }

    #[inline]
    pub fn is_free(&self, place: usize) -> bool {
        self.places[place].age == NOBODY.age
    }

    #[inline]
    pub fn at(&self, place: usize) -> Option<FlightId> {
        let waiting = self.places[place];
        (waiting.age != NOBODY.age).then_some(waiting.flight)
    }

    /// `age` says which of several instructions issued first.
    #[inline]
    pub fn put(&mut self, place: usize, flight: FlightId, age: u64) {
        self.places[place] = Waiting { flight, age };
        self.units[place % self.sub_cores] |= 1 << (place / self.sub_cores);
        self.fresh = true;
    }

    #[inline]
    pub fn take(&mut self, place: usize) {
        self.places[place] = NOBODY;
        self.units[place % self.sub_cores] &= !(1 << (place / self.sub_cores));
    }

    #[inline]
    pub fn is_empty(&self) -> bool {
        self.units() == 0
    }

    /// The units that some instruction waits for, as a mask.
    #[inline]
    pub fn units(&self) -> u128 {
        self.units.iter().fold(0, |all, units| all | units)
    }

    /// The units that an instruction of this sub-core waits for.
    #[inline]
    pub fn units_of(&self, sub_core: usize) -> u128 {
        self.units[sub_core]
    }

    /// The oldest instruction for a unit, and its sub-core.
    #[inline]
    pub fn oldest(&self, unit: usize) -> Option<(usize, FlightId)> {
        let row = &self.places[unit * self.sub_cores..][..self.sub_cores];
        let mut oldest = (0, NOBODY);
        for (sub_core, &waiting) in row.iter().enumerate() {
            if waiting.age < oldest.1.age {
                oldest = (sub_core, waiting);
            }
        }
        (oldest.1.age != NOBODY.age).then_some((oldest.0, oldest.1.flight))
    }
}
