//! Instructions between issue and completion.

use super::place::Place;
use crate::base::Pc;
use crate::path::Step;

/// An issued instruction that is not complete.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(super) struct Flight {
    /// Counts issues of the SM: the larger, the younger.
    pub age: u64,
    pub start: u64,
    pub init_end: u64,
    /// Cycles its initiation takes.
    pub init: u64,
    /// Cycles from its start to its result, without the pipeline around the unit.
    pub total: u64,
    pub step: Step,
    /// The end of its memory traffic in the warp's path.
    pub line: u32,
    /// Its memory transactions.
    pub transactions: u32,
    pub slot: u8,
    /// Its unit and sub-core.
    pub place: Place,
    /// Destinations whose bank was not yet free to be written, as a mask.
    pub unwritten: u8,
}

const _: () = assert!(size_of::<Flight>() <= 64);

const NEW: Flight = Flight {
    age: 0,
    start: 0,
    init_end: 0,
    init: 0,
    total: 0,
    step: Step::plain(Pc::new(0)),
    line: 0,
    transactions: 0,
    slot: 0,
    place: Place::FIRST,
    unwritten: 0,
};

/// Index of a flight.
pub(super) type FlightId = u32;

/// All flights of an SM, without allocation per instruction.
#[derive(Clone, Debug, Default)]
pub(super) struct Flights {
    all: Vec<Flight>,
    free: Vec<FlightId>,
}

impl Flights {
    /// Room for another one. What is in it is of one that was here before.
    #[inline]
    pub fn add(&mut self) -> (FlightId, &mut Flight) {
        let id = self.free.pop().unwrap_or(self.all.len() as FlightId);
        if id as usize == self.all.len() {
            self.all.push(NEW);
        }
        (id, &mut self.all[id as usize])
    }

    #[inline]
    pub fn remove(&mut self, id: FlightId) {
        self.free.push(id);
    }

    #[inline]
    pub fn get(&self, id: FlightId) -> &Flight {
        &self.all[id as usize]
    }

    #[inline]
    pub fn get_mut(&mut self, id: FlightId) -> &mut Flight {
        &mut self.all[id as usize]
    }
}
