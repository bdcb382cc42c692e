//! Instructions between issue and completion.

use super::place::Place;
use super::regs::SlotRegs;
use crate::base::Pc;
use crate::path::Step;

/// An issued instruction that is not complete.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(super) struct Flight {
    /// The registers that it writes, if it [writes simply](super::code::Instr::writes_simply) and warps are plain.
    pub writes: SlotRegs,
    /// The banks of the SM that it writes.
    pub banks: u64,
    /// Counts issues of the SM: the larger, the younger.
    pub age: u64,
    /// Cycles its initiation takes, and from its start to its result, without the pipeline around the unit.
    pub init: u64,
    pub total: u64,
    pub step: Step,
    /// The flight after it, of those that are complete in the same cycle, or that are over.
    pub next: FlightId,
    pub slot: u8,
    /// Its unit and sub-core.
    pub place: Place,
    /// Destinations whose bank was not yet free to be written, as a mask.
    pub unwritten: u8,
    /// Whether nothing follows from its result but that those registers are there.
    pub simple: bool,
}

const _: () = assert!(size_of::<Flight>() <= 64);

/// What few instructions need.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Aside {
    /// When its unit began with it, and took the next one.
    pub start: u64,
    pub init_end: u64,
    /// The end of its memory traffic in the warp's path, and its memory transactions.
    pub line: u32,
    pub transactions: u32,
    /// What the log calls it, if somebody listens.
    pub entry: u32,
}

const NEW: Flight = Flight {
    writes: SlotRegs::NONE,
    banks: 0,
    age: 0,
    init: 0,
    total: 0,
    step: Step::plain(Pc::new(0)),
    next: NONE,
    slot: 0,
    place: Place::FIRST,
    unwritten: 0,
    simple: false,
};

/// Index of a flight.
pub(super) type FlightId = u32;

/// No flight.
pub(super) const NONE: FlightId = FlightId::MAX;

/// All flights of an SM, without allocation per instruction.
#[derive(Clone, Debug)]
pub(super) struct Flights {
    all: Vec<Flight>,
    aside: Vec<Aside>,
    /// The one that was over last; those before it follow.
    free: FlightId,
}

impl Default for Flights {
    fn default() -> Self {
        Self { all: Vec::new(), aside: Vec::new(), free: NONE }
    }
}

impl Flights {
    /// Room for another one. What is in it is of one that was here before.
    #[inline]
    pub fn add(&mut self) -> (FlightId, &mut Flight) {
        if self.free == NONE {
            self.grow();
        }
        let id = self.free;
        let flight = &mut self.all[id as usize];
        self.free = flight.next;
        (id, flight)
    }

    #[cold]
    fn grow(&mut self) {
        self.free = self.all.len() as FlightId;
        self.all.push(NEW);
        self.aside.push(Aside::default());
    }

    #[inline]
    pub fn remove(&mut self, id: FlightId) {
        self.all[id as usize].next = std::mem::replace(&mut self.free, id);
    }

    #[inline]
    pub fn get(&self, id: FlightId) -> &Flight {
        &self.all[id as usize]
    }

    #[inline]
    pub fn get_mut(&mut self, id: FlightId) -> &mut Flight {
        &mut self.all[id as usize]
    }

    #[inline]
    pub fn aside(&self, id: FlightId) -> &Aside {
        &self.aside[id as usize]
    }

    #[inline]
    pub fn aside_mut(&mut self, id: FlightId) -> &mut Aside {
        &mut self.aside[id as usize]
    }
}
