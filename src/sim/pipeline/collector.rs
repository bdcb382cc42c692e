//! The operand collector: reads the operands of issued instructions from register banks.
//!
//! Each collector unit holds an instruction until its operands are read. A bank is read once in a
//! step, first come first served; a bank that is written in this cycle is not read in its first
//! step. An instruction without register operands passes in the step after it entered.

use std::collections::VecDeque;

use super::code::Code;
use super::flight::{FlightId, Flights};
use super::latch::Latch;
use crate::machine::pipeline::Collector as Settings;

/// A collector unit.
#[derive(Clone, Copy, Debug, Default)]
struct Hold {
    flight: FlightId,
    age: u64,
    /// Where its instruction goes: a place in the output.
    place: u16,
    /// Operands to be read.
    unread: u8,
}

#[derive(Clone, Debug)]
pub(super) struct Collector {
    settings: Settings,
    /// Collector units of a sub-core.
    share: usize,
    holds: Vec<Hold>,
    /// All collector units, and those that are free, as masks.
    all: u64,
    free: u64,
    /// By place in the output: collector units whose operands are read and that go there.
    going: Vec<u64>,
    /// Those among them whose place is free.
    ready: u64,
    /// Whether something entered or left since the last try to let instructions enter that
    /// let nothing in.
    stirred: bool,
    /// Per bank: collector units that want to read it, in order.
    reads: Vec<VecDeque<u8>>,
    /// Banks that somebody wants to read.
    wanted: u64,
    /// Banks written in this cycle.
    pub written: u64,
    /// Per port: where the search for the next instruction begins.
    search_from: Vec<usize>,
}

impl Collector {
    /// `places` are those of the output.
    pub fn new(settings: Settings, places: usize, sub_cores: usize) -> Self {
        let units = settings.units as usize;
        let share = units / sub_cores;
        let all = u64::MAX >> (64 - units);
        Self {
            settings,
            share,
            holds: vec![Hold::default(); units],
            all,
            free: all,
            going: vec![0; places],
            ready: 0,
            stirred: false,
            reads: vec![VecDeque::new(); settings.banks as usize],
            wanted: 0,
            written: 0,
            search_from: vec![share % units; settings.ports as usize],
        }
    }

    #[inline]
    pub fn is_empty(&self) -> bool {
        self.free == self.all
    }

    /// A place in the output is free again.
    #[inline]
    pub fn freed(&mut self, place: usize) {
        self.ready |= self.going[place];
    }

    /// One cycle: instructions go from `input` through the collector to `output`. Memory accesses
    /// are those for `load_store`.
    pub fn cycle(
        &mut self,
        code: &Code<'_>,
        flights: &Flights,
        load_store: usize,
        input: &mut Latch,
        output: &mut Latch,
    ) {
        self.stirred |= std::mem::take(&mut input.fresh);
        for _ in 0..self.settings.steps {
            if self.ready != 0 {
                self.hand_over(output);
            }
            let banks = self.wanted & !self.written;
            if banks != 0 {
                self.read(banks, output);
            }
            if self.stirred && self.free != 0 {
                self.accept(code, flights, load_store, input, output);
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
            let place = usize::from(hold.place);
            output.put(place, hold.flight, hold.age);
            self.ready &= !self.going[place];
            self.going[place] &= !(1 << unit);
            self.free |= 1 << unit;
            self.stirred = true;
            // the next search begins with the first collector unit of the sub-core after this
            // one's, which is the first of all if there is only one
            let next = unit + self.share - unit % self.share;
            *search_from = if next >= self.holds.len() { 0 } else { next };
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
                    let place = usize::from(hold.place);
                    self.operands_are_read(usize::from(unit), place, output);
                }
            }
            if self.reads[bank].is_empty() {
                self.wanted &= !(1 << bank);
            }
        }
    }

    /// Each port takes an instruction for each unit, if there is a free collector unit for it.
    fn accept(
        &mut self,
        code: &Code<'_>,
        flights: &Flights,
        load_store: usize,
        input: &mut Latch,
        output: &Latch,
    ) {
        // nothing becomes free meanwhile, so who cannot enter now cannot enter at all
        let mut kinds = input.units();
        for _ in 0..self.settings.ports {
            let mut waiting = kinds;
            while waiting != 0 {
                // memory accesses come first
                let unit = if waiting >> load_store & 1 == 1 {
                    load_store
                } else {
                    waiting.trailing_zeros() as usize
                };
                waiting &= !(1 << unit);
                if !self.enter(code, flights, unit, input, output) {
                    kinds &= !(1 << unit);
                }
            }
            if kinds == 0 {
                self.stirred = false;
                return;
            }
        }
    }

    #[inline]
    fn operands_are_read(&mut self, unit: usize, place: usize, output: &Latch) {
        self.going[place] |= 1 << unit;
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
        let Some((sub_core, id)) = input.oldest(unit) else { return false };
        let mine = self.all >> (self.holds.len() - self.share) << (sub_core * self.share);
        if self.free & mine == 0 {
            return false;
        }
        let free = (self.free & mine).trailing_zeros() as usize;
        let place = input.place(unit, sub_core);
        input.take(place);
        self.free &= !(1 << free);
        let flight = flights.get(id);
        let reads = code.of(flight.step).reads;
        for &home in reads.as_slice() {
            let bank = code.bank(home, flight.slot as usize, sub_core);
            self.reads[bank].push_back(free as u8);
            self.wanted |= 1 << bank;
        }
        let unread = reads.as_slice().len() as u8;
        // the latches before and after the collector are alike
        self.holds[free] = Hold { flight: id, age: flight.age, place: place as u16, unread };
        if unread == 0 {
            self.operands_are_read(free, place, output);
        }
        true
    }
}
