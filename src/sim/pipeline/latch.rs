//! The registers between two stages of the pipeline.

use super::flight::FlightId;

/// An instruction between two stages.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    flight: FlightId,
    age: u64,
}

/// One instruction per unit and sub-core.
#[derive(Clone, Debug)]
pub(super) struct Latch {
    sub_cores: usize,
    places: Vec<Option<Waiting>>,
    /// By sub-core: units that an instruction waits for, as a mask.
    units: Vec<u128>,
}

impl Latch {
    pub fn new(units: usize, sub_cores: usize) -> Self {
        Self { sub_cores, places: vec![None; units * sub_cores], units: vec![0; sub_cores] }
    }

    #[inline]
    pub fn at(&self, unit: usize, sub_core: usize) -> Option<FlightId> {
        self.places[unit * self.sub_cores + sub_core].map(|waiting| waiting.flight)
    }

    /// `age` says which of several instructions issued first.
    #[inline]
    pub fn put(&mut self, unit: usize, sub_core: usize, flight: FlightId, age: u64) {
        self.places[unit * self.sub_cores + sub_core] = Some(Waiting { flight, age });
        self.units[sub_core] |= 1 << unit;
    }

    #[inline]
    pub fn take(&mut self, unit: usize, sub_core: usize) -> Option<FlightId> {
        self.units[sub_core] &= !(1 << unit);
        self.places[unit * self.sub_cores + sub_core].take().map(|waiting| waiting.flight)
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

    /// The oldest instruction for a unit and its sub-core.
    #[inline]
    pub fn oldest(&self, unit: usize) -> Option<(usize, FlightId)> {
        let row = &self.places[unit * self.sub_cores..][..self.sub_cores];
        let there = row.iter().enumerate().filter_map(|(sub_core, waiting)| Some((sub_core, (*waiting)?)));
        let oldest = there.min_by_key(|(_, waiting)| waiting.age)?;
        Some((oldest.0, oldest.1.flight))
    }
}
