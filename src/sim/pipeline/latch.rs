//! The registers between two stages of the pipeline.

use super::flight::FlightId;
use crate::machine::SubCores;

/// Units, the load/store unit included; `machine/checked/units.rs` refuses more.
pub(super) const UNITS: usize = 64;
/// Places of a latch.
pub(super) const UNIT_PORTS: usize = UNITS * SubCores::MAX;

/// Where instructions of a sub-core wait that go to a unit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct UnitPort(u8);

impl UnitPort {
    #[inline]
    pub fn new(unit: usize, sub_core: usize) -> Self {
        debug_assert!(unit < UNITS && sub_core < SubCores::MAX);
        Self((unit * SubCores::MAX + sub_core) as u8)
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

/// One instruction per unit and sub-core, each in a place of its own.
#[derive(Clone, Debug)]
pub(super) struct Latch {
    /// By place.
    flights: [FlightId; UNIT_PORTS],
    ages: [u64; UNIT_PORTS],
    /// By unit: sub-cores of which an instruction waits for it, as a mask.
    sub_cores: [u8; UNITS],
    /// By sub-core: units that an instruction waits for, as a mask.
    units: [u64; SubCores::MAX],
    /// Those of all sub-cores.
    any: u64,
    /// Whether something came since somebody last looked.
    pub fresh: bool,
    /// Sub-cores of which something left since somebody last looked, as a mask.
    pub left: u32,
}

impl Latch {
    pub fn new() -> Self {
        Self {
            flights: [0; UNIT_PORTS],
            ages: [0; UNIT_PORTS],
            sub_cores: [0; UNITS],
            units: [0; SubCores::MAX],
            any: 0,
            fresh: false,
            left: 0,
        }
    }

    #[inline]
    pub fn is_free(&self, place: UnitPort) -> bool {
        self.units[place.sub_core()] >> place.unit() & 1 == 0
    }

    /// What waits in a place that is not free.
    #[inline]
    pub fn at(&self, place: UnitPort) -> FlightId {
        self.flights[place.index()]
    }

    /// `age` says which of several instructions issued first.
    #[inline]
    pub fn put(&mut self, place: UnitPort, flight: FlightId, age: u64) {
        self.flights[place.index()] = flight;
        self.ages[place.index()] = age;
        self.sub_cores[place.unit()] |= 1 << place.sub_core();
        self.units[place.sub_core()] |= 1 << place.unit();
        self.any |= 1 << place.unit();
        self.fresh = true;
    }

    #[inline]
    pub fn take(&mut self, place: UnitPort) {
        let sub_cores = &mut self.sub_cores[place.unit()];
        *sub_cores &= !(1 << place.sub_core());
        if *sub_cores == 0 {
            self.any &= !(1 << place.unit());
        }
        self.units[place.sub_core()] &= !(1 << place.unit());
        self.left |= 1 << place.sub_core();
    }

    #[inline]
    pub fn is_empty(&self) -> bool {
        self.any == 0
    }

    /// The units that some instruction waits for, as a mask.
    #[inline]
    pub fn units(&self) -> u64 {
        self.any
    }

    /// The units that an instruction of this sub-core waits for.
    #[inline]
    pub fn units_of(&self, sub_core: usize) -> u64 {
        self.units[sub_core]
    }

    /// The places where something waits for a unit, by ascending sub-core.
    #[inline]
    pub fn places(&self, unit: usize) -> impl Iterator<Item = UnitPort> + use<> {
        let mut sub_cores = self.sub_cores[unit];
        std::iter::from_fn(move || {
            let next = (sub_cores != 0).then(|| UnitPort::new(unit, sub_cores.trailing_zeros() as usize))?;
            sub_cores &= sub_cores - 1;
            Some(next)
        })
    }

    /// The place of the oldest instruction for a unit.
    #[inline]
    pub fn oldest(&self, unit: usize) -> Option<UnitPort> {
        let mut sub_cores = self.sub_cores[unit];
        if sub_cores == 0 {
            return None;
        }
        let mut next = || {
            let next = UnitPort::new(unit, sub_cores.trailing_zeros() as usize);
            sub_cores &= sub_cores - 1;
            (next, sub_cores != 0)
        };
        let (mut oldest, mut others) = next();
        while others {
            let other;
            (other, others) = next();
            if self.ages[other.index()] < self.ages[oldest.index()] {
                oldest = other;
            }
        }
        Some(oldest)
    }
}
