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
    /// Where its instruction goes.
    unit: u8,
    sub_core: u8,
    /// Operands to be read.
    unread: u8,
}

#[derive(Clone, Debug)]
pub(super) struct Collector {
    settings: Settings,
    /// Collector units of a sub-core.
    share: usize,
    holds: Vec<Hold>,
    /// Collector units that are free, and those whose operands are read, as masks.
    free: u64,
    ready: u64,
    all: u64,
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
    pub fn new(settings: Settings, sub_cores: usize) -> Self {
        let units = settings.units as usize;
        let share = units / sub_cores;
        let all = u64::MAX >> (64 - units);
        Self {
            settings,
            share,
            holds: vec![Hold::default(); units],
            free: all,
            ready: 0,
            all,
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
        for _ in 0..self.settings.steps {
            if !self.is_empty() {
                self.hand_over(output);
                self.read();
            }
            if !input.is_empty() {
                self.accept(code, flights, load_store, input);
            }
            self.written = 0;
        }
    }

    /// Each port lets an instruction go whose place in `output` is free.
    fn hand_over(&mut self, output: &mut Latch) {
        // places only fill up meanwhile, so who cannot go now cannot go at all
        let mut candidates = self.ready;
        for search_from in &mut self.search_from {
            loop {
                if candidates == 0 {
                    return;
                }
                let after = candidates & u64::MAX << *search_from;
                let unit = if after != 0 { after } else { candidates }.trailing_zeros() as usize;
                candidates &= !(1 << unit);
                let hold = self.holds[unit];
                let (to, sub_core) = (hold.unit as usize, hold.sub_core as usize);
                if output.at(to, sub_core).is_some() {
                    continue;
                }
                output.put(to, sub_core, hold.flight, hold.age);
                self.ready &= !(1 << unit);
                self.free |= 1 << unit;
                // the next search begins with the first collector unit of the sub-core after this
                // one's, which is the first of all if there is only one
                let next = unit + self.share - unit % self.share;
                *search_from = if next >= self.holds.len() { next - self.holds.len() } else { next };
                break;
            }
        }
    }

    fn read(&mut self) {
        let mut banks = self.wanted & !self.written;
        while banks != 0 {
            let bank = banks.trailing_zeros() as usize;
            banks &= banks - 1;
            if let Some(unit) = self.reads[bank].pop_front() {
                let hold = &mut self.holds[usize::from(unit)];
                hold.unread -= 1;
                if hold.unread == 0 {
                    self.ready |= 1 << unit;
                }
            }
            if self.reads[bank].is_empty() {
                self.wanted &= !(1 << bank);
            }
        }
    }

    /// Each port takes an instruction for each unit, if there is a free collector unit for it.
    fn accept(&mut self, code: &Code<'_>, flights: &Flights, load_store: usize, input: &mut Latch) {
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
                if !self.enter(code, flights, unit, input) {
                    kinds &= !(1 << unit);
                }
            }
            if kinds == 0 {
                return;
            }
        }
    }

    /// The oldest instruction for a unit enters, if there is one and it can.
    fn enter(&mut self, code: &Code<'_>, flights: &Flights, unit: usize, input: &mut Latch) -> bool {
        let Some((sub_core, id)) = input.oldest(unit) else { return false };
        let mine = self.all >> (self.holds.len() - self.share) << (sub_core * self.share);
        if self.free & mine == 0 {
            return false;
        }
        let place = (self.free & mine).trailing_zeros() as usize;
        input.take(unit, sub_core);
        self.free &= !(1 << place);
        let flight = flights.get(id);
        let reads = code.of(flight.step).reads;
        for &home in reads.as_slice() {
            let bank = code.bank(home, flight.slot as usize, sub_core);
            self.reads[bank].push_back(place as u8);
            self.wanted |= 1 << bank;
        }
        let unread = reads.as_slice().len() as u8;
        self.holds[place] =
            Hold { flight: id, age: flight.age, unit: unit as u8, sub_core: sub_core as u8, unread };
        if unread == 0 {
            self.ready |= 1 << place;
        }
        true
    }
}
