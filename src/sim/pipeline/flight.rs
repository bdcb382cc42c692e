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
    /// What the log calls it, if somebody listens.
    pub entry: u32,
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
    entry: 0,
    slot: 0,
    place: Place::FIRST,
    unwritten: 0,
};

/// Index of a flight.
pub(super) type FlightId = u32;

/// No flight.
const NONE: FlightId = FlightId::MAX;

/// All flights of an SM, without allocation per instruction.
#[derive(Clone, Debug)]
pub(super) struct Flights {
    all: Vec<Flight>,
    /// One that is over; its `line` says which was so before it.
    free: FlightId,
}

impl Default for Flights {
    fn default() -> Self {
        Self { all: Vec::new(), free: NONE }
    }
}

impl Flights {
    /// Room for another one. What is in it is of one that was here before.
    #[inline]
    pub fn add(&mut self) -> (FlightId, &mut Flight) {
        if self.free == NONE {
            self.all.push(Flight { line: NONE, ..NEW });
            self.free = self.all.len() as FlightId - 1;
        }
        let id = self.free;
        let flight = &mut self.all[id as usize];
        self.free = flight.line;
        (id, flight)
    }

    #[inline]
    pub fn remove(&mut self, id: FlightId) {
        self.all[id as usize].line = std::mem::replace(&mut self.free, id);
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
