//! The operand collector: reads the operands of issued instructions from register banks.
//!
//! Each collector unit holds an instruction until its operands are read. A bank is read once in a
//! step, first come first served; a bank that is written in this cycle is not read in its first
//! step. An instruction without register operands passes in the step after it entered.

use std::collections::VecDeque;

use super::code::Code;
use super::flight::{FlightId, Flights};
use super::latch::{Latch, UNIT_PORTS, UnitPort};
use crate::machine::SubCores;
use crate::machine::pipeline::Collector as Settings;

/// A collector unit.
#[derive(Clone, Copy, Debug, Default)]
struct Hold {
    flight: FlightId,
    age: u64,
    /// Where its instruction goes: a place in the output.
    place: UnitPort,
    /// Operands to be read.
    unread: u8,
}

#[derive(Clone, Debug)]
pub(super) struct Collector {
    settings: Settings,
    holds: Vec<Hold>,
    /// All collector units, and those that are free, as masks.
    all: u64,
    free: u64,
    /// By place in the output: collector units whose operands are read and that go there.
    going: [u64; UNIT_PORTS],
    /// Those among them whose place is free.
    ready: u64,
    /// Whether something entered or left since the last try to let instructions enter that
    /// let nothing in.
    changed: bool,
    /// Per bank: collector units that want to read it, in order.
    reads: Vec<VecDeque<u8>>,
    /// Banks that somebody wants to read.
    wanted: u64,
    /// Banks written in this cycle.
    pub written: u64,
    /// Per port: where the search for the next instruction begins.
    search_from: Vec<u8>,
    /// By collector unit: the first one of the next sub-core, which is the first of all if there is
    /// only one; and the collector units of each sub-core, as masks.
    next_share: Vec<u8>,
    shares: [u64; SubCores::MAX],
    sub_cores: usize,
}

impl Collector {
    pub fn new(settings: Settings, sub_cores: usize) -> Self {
        let units = settings.units as usize;
        let share = units / sub_cores;
        let all = u64::MAX >> (64 - units);
        Self {
            settings,
            sub_cores,
            holds: vec![Hold::default(); units],
            all,
            free: all,
            going: [0; UNIT_PORTS],
            ready: 0,
            changed: false,
            reads: vec![VecDeque::new(); settings.banks as usize],
            wanted: 0,
            written: 0,
            search_from: vec![(share % units) as u8; settings.ports as usize],
            next_share: (0..units).map(|unit| ((unit / share + 1) * share % units) as u8).collect(),
            shares: std::array::from_fn(|n| {
                if n < sub_cores { all >> (units - share) << (n * share) } else { 0 }
            }),
        }
    }

    #[inline]
    pub fn is_empty(&self) -> bool {
        self.free == self.all
    }

    /// A place in the output is free again.
    #[inline]
    pub fn freed(&mut self, place: UnitPort) {
        self.ready |= self.going[place.index()];
    }

    /// Whether nothing moves in it until something is there for it or makes room.
    #[inline]
    pub fn is_stuck(&self, input: &Latch) -> bool {
        let enters = (self.changed || input.fresh) && self.free != 0 && !input.is_empty();
        self.ready == 0 && self.wanted == 0 && !enters
    }

    /// One cycle: instructions go from `input` through the collector to `output`.
    pub fn cycle(&mut self, code: &Code<'_>, flights: &Flights, input: &mut Latch, output: &mut Latch) {
        self.changed |= std::mem::take(&mut input.fresh);
        for _ in 0..self.settings.steps {
            if self.ready != 0 {
                self.hand_over(output);
            }
            let banks = self.wanted & !self.written;
            if banks != 0 {
                self.read(banks, output);
            }
            if self.changed && self.free != 0 {
                self.accept(code, flights, input, output);
            }
            self.written = 0;
        }
    }

    /// Each port lets an instruction go whose place in `output` is free.
    fn hand_over(&mut self, output: &mut Latch) {
        for search_from in &mut self.search_from {
            let after = self.ready & u64::MAX << *search_from;
            let unit = if after != 0 { after } else { self.ready }.trailing_zeros() as usize;
            let hold = self.holds[unit];
            output.put(hold.place, hold.flight, hold.age);
            let going = &mut self.going[hold.place.index()];
            self.ready &= !*going;
            *going &= !(1 << unit);
            self.free |= 1 << unit;
            self.changed = true;
            *search_from = self.next_share[unit];
            if self.ready == 0 {
                return;
            }
        }
    }

    /// Each of these banks is read once.
    fn read(&mut self, mut banks: u64, output: &Latch) {
        while banks != 0 {
            let bank = banks.trailing_zeros() as usize;
            banks &= banks - 1;
            if let Some(unit) = self.reads[bank].pop_front() {
                let hold = &mut self.holds[usize::from(unit)];
                hold.unread -= 1;
                if hold.unread == 0 {
                    let place = hold.place;
                    self.operands_are_read(usize::from(unit), place, output);
                }
            }
            if self.reads[bank].is_empty() {
                self.wanted &= !(1 << bank);
            }
        }
    }

    /// Each port takes an instruction for each unit, if there is a free collector unit for it.
    fn accept(&mut self, code: &Code<'_>, flights: &Flights, input: &mut Latch, output: &Latch) {
        // nothing becomes free meanwhile, so who cannot enter now cannot enter at all
        let mut kinds = 0;
        for (sub_core, &share) in self.shares[..self.sub_cores].iter().enumerate() {
            if self.free & share != 0 {
                kinds |= input.units_of(sub_core);
            }
        }
        if kinds == 0 {
            self.changed = false;
            return;
        }
        for _ in 0..self.settings.ports {
            let mut waiting = kinds;
            while waiting != 0 {
                let unit = first(waiting, &code.order);
                waiting &= !(1 << unit);
                if !self.enter(code, flights, unit, input, output) || input.units() >> unit & 1 == 0 {
                    kinds &= !(1 << unit);
                }
            }
            if kinds == 0 {
                self.changed = false;
                return;
            }
        }
    }

    #[inline]
    fn operands_are_read(&mut self, unit: usize, place: UnitPort, output: &Latch) {
        self.going[place.index()] |= 1 << unit;
        if output.is_free(place) {
            self.ready |= 1 << unit;
        }
    }

    /// The oldest instruction for a unit enters, if there is one and it can.
    fn enter(
        &mut self,
        code: &Code<'_>,
        flights: &Flights,
        unit: usize,
        input: &mut Latch,
        output: &Latch,
    ) -> bool {
        let Some(place) = input.oldest(unit) else { return false };
        let (sub_core, id) = (place.sub_core(), input.at(place));
        let mine = self.free & self.shares[sub_core];
        if mine == 0 {
            return false;
        }
        let free = mine.trailing_zeros() as usize;
        input.take(place);
        self.free &= !(1 << free);
        let flight = flights.get(id);
        let reads = code.of(flight.step).reads();
        for &home in reads {
            let bank = code.bank(home, flight.slot as usize, sub_core);
            self.reads[bank].push_back(free as u8);
            self.wanted |= 1 << bank;
        }
        let unread = reads.len() as u8;
        // the latches before and after the collector are alike
        self.holds[free] = Hold { flight: id, age: flight.age, place, unread };
        if unread == 0 {
            self.operands_are_read(free, place, output);
        }
        true
    }
}

/// Of these units, not none, the one that comes first.
#[inline]
fn first(mut units: u64, order: &[usize]) -> usize {
    let mut first = units.trailing_zeros() as usize;
    loop {
        units &= units - 1;
        if units == 0 {
            return first;
        }
        let unit = units.trailing_zeros() as usize;
        if order[unit] < order[first] {
            first = unit;
        }
    }
}
