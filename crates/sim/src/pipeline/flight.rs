//! The instructions in flight, between issue and completion.

use super::latch_entry::LatchEntry;
use super::regs::SlotRegs;
use warpbound_core::base::Pc;
use warpbound_core::path::Step;

/// An issued instruction that is not complete.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(super) struct Flight {
    /// The registers that it writes, if it [writes simply](super::code::Instr::writes_simply) and
    /// warps are plain.
    pub writes: SlotRegs,
    /// The banks of the SM that it writes, as a mask.
    pub banks: u64,
    /// The number of the issue, counted per SM: a larger number means a younger instruction.
    pub age: u64,
    /// The cycles of its initiation, and the cycles from its start to its result, without the
    /// pipeline around the unit.
    pub init: u64,
    pub total: u64,
    pub step: Step,
    /// The next flight in a list: of the flights that complete in the same cycle, or of the free
    /// ones.
    pub next: FlightId,
    pub slot: u8,
    /// Its unit and sub-core.
    pub place: LatchEntry,
    /// The destinations whose bank has not been free for the write yet, as a mask.
    pub unwritten: u8,
    /// Whether the only effect of its completion is that `writes` become available.
    pub simple: bool,
}

const _: () = assert!(size_of::<Flight>() <= 64);

/// The data that only a few instructions need.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FlightDetails {
    /// The cycle in which its unit started it, and the one in which the unit could take the next
    /// instruction.
    pub start: u64,
    pub init_end: u64,
    /// The end of its memory traffic in the path of the warp, and the number of its memory
    /// transactions.
    pub line: u32,
    pub transactions: u32,
    /// The number of its entry in the log, if an observer is attached.
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
    place: LatchEntry::FIRST,
    unwritten: 0,
    simple: false,
};

/// The index of a flight.
pub(super) type FlightId = u32;

/// The index that stands for no flight.
pub(super) const NONE: FlightId = FlightId::MAX;

/// All flights of an SM. Entries are reused, so that no instruction needs an allocation.
#[derive(Clone, Debug)]
pub(super) struct Flights {
    all: Vec<Flight>,
    details: Vec<FlightDetails>,
    /// The entry that became free last; the others follow by `next`.
    free: FlightId,
}

/// The number of flights for which there is room from the start.
const FEW: usize = 64;

impl Default for Flights {
    fn default() -> Self {
        Self { all: Vec::with_capacity(FEW), details: Vec::with_capacity(FEW), free: NONE }
    }
}

impl Flights {
    /// Adds a flight, and returns its index and its entry, which still contains the values of an
    /// earlier flight.
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
        self.details.push(FlightDetails::default());
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
    pub fn details(&self, id: FlightId) -> &FlightDetails {
        &self.details[id as usize]
    }

    #[inline]
    pub fn details_mut(&mut self, id: FlightId) -> &mut FlightDetails {
        &mut self.details[id as usize]
    }
}
