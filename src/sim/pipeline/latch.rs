//! The registers between two stages of the pipeline.

use super::flight::FlightId;
use crate::machine::SubCores;

/// Where instructions of a sub-core wait that go to a unit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Place(u16);

impl Place {
    #[inline]
    pub fn new(unit: usize, sub_core: usize) -> Self {
        Self((unit * SubCores::MAX + sub_core) as u16)
    }

    #[inline]
    pub fn unit(self) -> usize {
        self.index() / SubCores::MAX
    }

    #[inline]
    pub fn sub_core(self) -> usize {
        self.index() % SubCores::MAX
    }

    #[inline]
    pub fn index(self) -> usize {
        usize::from(self.0)
    }
}

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
    /// By unit, with room for every sub-core there can be.
    places: Vec<[Waiting; SubCores::MAX]>,
    /// By sub-core: units that an instruction waits for, as a mask.
    units: [u64; SubCores::MAX],
    /// Whether something came since somebody last looked.
    pub fresh: bool,
}

impl Latch {
    pub fn new(units: usize) -> Self {
        Self { places: vec![[NOBODY; SubCores::MAX]; units], units: [0; SubCores::MAX], fresh: false }
    }

    #[inline]
    pub fn is_free(&self, place: Place) -> bool {
        self.units[place.sub_core()] >> place.unit() & 1 == 0
    }

    #[inline]
    pub fn at(&self, place: Place) -> Option<FlightId> {
        let waiting = self.places[place.unit()][place.sub_core()];
        (waiting.age != NOBODY.age).then_some(waiting.flight)
    }

    /// `age` says which of several instructions issued first.
    #[inline]
    pub fn put(&mut self, place: Place, flight: FlightId, age: u64) {
        self.places[place.unit()][place.sub_core()] = Waiting { flight, age };
        self.units[place.sub_core()] |= 1 << place.unit();
        self.fresh = true;
    }

    #[inline]
    pub fn take(&mut self, place: Place) {
        self.places[place.unit()][place.sub_core()] = NOBODY;
        self.units[place.sub_core()] &= !(1 << place.unit());
    }

    #[inline]
    pub fn is_empty(&self) -> bool {
        self.units() == 0
    }

    /// The units that some instruction waits for, as a mask.
    #[inline]
    pub fn units(&self) -> u64 {
        self.units.iter().fold(0, |all, units| all | units)
    }

    /// The units that an instruction of this sub-core waits for.
    #[inline]
    pub fn units_of(&self, sub_core: usize) -> u64 {
        self.units[sub_core]
    }

    /// The oldest instruction for a unit, and its sub-core.
    #[inline]
    pub fn oldest(&self, unit: usize) -> Option<(usize, FlightId)> {
        let mut oldest = (0, NOBODY);
        for (sub_core, &waiting) in self.places[unit].iter().enumerate() {
            if waiting.age < oldest.1.age {
                oldest = (sub_core, waiting);
            }
        }
        (oldest.1.age != NOBODY.age).then_some((oldest.0, oldest.1.flight))
    }
}
