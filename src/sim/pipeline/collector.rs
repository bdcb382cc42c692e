//! The operand collector: reads the operands of issued instructions from register banks.
//!
//! Each collector unit holds an instruction until its operands are read. A bank is read once in a
//! step, first come first served; a bank that is written in this cycle is not read in its first
//! step. An instruction without register operands passes in the step after it entered.

use std::collections::VecDeque;

use super::flight::{FlightId, Flights};
use crate::machine::pipeline::Collector as Settings;
use crate::program::TimingTable;

/// One instruction per (unit, sub-core) between two stages.
#[derive(Clone, Debug)]
pub(super) struct Latch {
    sub_cores: usize,
    places: Vec<Option<FlightId>>,
    /// Instructions there, by unit.
    by_unit: Vec<u8>,
    /// Units with any, as a mask.
    units: u128,
}

impl Latch {
    pub fn new(units: usize, sub_cores: usize) -> Self {
        Self { sub_cores, places: vec![None; units * sub_cores], by_unit: vec![0; units], units: 0 }
    }

    #[inline]
    pub fn at(&self, unit: usize, sub_core: usize) -> Option<FlightId> {
        self.places[unit * self.sub_cores + sub_core]
    }

    #[inline]
    pub fn put(&mut self, unit: usize, sub_core: usize, flight: FlightId) {
        self.places[unit * self.sub_cores + sub_core] = Some(flight);
        self.by_unit[unit] += 1;
        self.units |= 1 << unit;
    }

    #[inline]
    pub fn take(&mut self, unit: usize, sub_core: usize) -> Option<FlightId> {
        let taken = self.places[unit * self.sub_cores + sub_core].take();
        if taken.is_some() {
            self.by_unit[unit] -= 1;
            if self.by_unit[unit] == 0 {
                self.units &= !(1 << unit);
            }
        }
        taken
    }

    #[inline]
    pub fn is_empty(&self) -> bool {
        self.units == 0
    }

    /// The units that somebody waits for, as a mask.
    #[inline]
    pub fn units(&self) -> u128 {
        self.units
    }

    /// The oldest instruction for a unit and its sub-core.
    pub fn oldest(&self, unit: usize, flights: &Flights) -> Option<(usize, FlightId)> {
        let row = &self.places[unit * self.sub_cores..][..self.sub_cores];
        let there = row.iter().enumerate().filter_map(|(sub_core, &flight)| flight.map(|f| (sub_core, f)));
        there.min_by_key(|&(_, flight)| flights.get(flight).age)
    }
}

#[derive(Clone, Debug)]
pub(super) struct Collector {
    settings: Settings,
    sub_cores: usize,
    units: usize,
    holds: Vec<Option<FlightId>>,
    held: usize,
    /// Collector units whose operands are read, as a mask.
    ready: Vec<u64>,
    /// Per bank: collector units that want to read it, in order.
    reads: Vec<VecDeque<u16>>,
    /// Banks that somebody wants to read.
    wanted: u64,
    /// Banks written in this cycle.
    pub written: u64,
    /// Per port: the collector unit that it served last.
    served: Vec<usize>,
}

impl Collector {
    pub fn new(settings: Settings, units: usize, sub_cores: usize) -> Self {
        Self {
            settings,
            sub_cores,
            units,
            holds: vec![None; settings.units as usize],
            held: 0,
            ready: vec![0; (settings.units as usize).div_ceil(64)],
            reads: vec![VecDeque::new(); settings.banks as usize],
            wanted: 0,
            written: 0,
            served: vec![0; settings.ports as usize],
        }
    }

    pub fn is_empty(&self) -> bool {
        self.held == 0
    }

    /// The bank of a register, given by its number in the program.
    #[inline]
    pub fn bank(&self, number: usize, slot: usize, sub_core: usize) -> usize {
        let share = self.reads.len() / self.sub_cores;
        (number + slot) % share + sub_core * share
    }

    /// One cycle: instructions go from `input` through the collector to `output`.
    pub fn cycle(
        &mut self,
        table: &TimingTable,
        flights: &mut Flights,
        input: &mut Latch,
        output: &mut Latch,
    ) {
        for _ in 0..self.settings.steps {
            if self.held > 0 {
                self.hand_over(flights, output);
                self.read(flights);
            }
            if !input.is_empty() {
                self.accept(table, flights, input);
            }
            self.written = 0;
        }
    }

    /// Collector units whose operands are read, ascending from this one.
    fn ready_from(&self, from: usize) -> impl Iterator<Item = usize> + '_ {
        let words = self.ready.iter().enumerate().skip(from / 64);
        words.flat_map(move |(index, &word)| {
            let mut word = if index == from / 64 { word & u64::MAX << (from % 64) } else { word };
            std::iter::from_fn(move || {
                let bit = word.trailing_zeros() as usize;
                word &= word.wrapping_sub(1);
                (bit < 64).then_some(index * 64 + bit)
            })
        })
    }

    fn hand_over(&mut self, flights: &Flights, output: &mut Latch) {
        let all = self.holds.len();
        let share = all / self.sub_cores;
        for port in 0..self.served.len() {
            if self.ready.iter().all(|&word| word == 0) {
                return;
            }
            let last = self.served[port];
            // the search begins with the first unit of the sub-core after the one served last, which
            // is the first of all if there is only one
            let from = last + share - last % share;
            let leaves = |unit: usize| {
                self.holds[unit].is_some_and(|id| {
                    let flight = flights.get(id);
                    output.at(flight.unit as usize, flight.sub_core as usize).is_none()
                })
            };
            let from = from % all;
            let after = self.ready_from(from).take_while(|&unit| unit < all);
            let before = self.ready_from(0).take_while(|&unit| unit < from);
            let found = after.chain(before).find(|&unit| leaves(unit));
            let Some(unit) = found else { break };
            if let Some(id) = self.holds[unit].take() {
                let flight = flights.get(id);
                output.put(flight.unit as usize, flight.sub_core as usize, id);
                self.held -= 1;
                self.ready[unit / 64] &= !(1 << (unit % 64));
                self.served[port] = unit;
            }
        }
    }

    fn read(&mut self, flights: &mut Flights) {
        let mut banks = self.wanted & !self.written;
        while banks != 0 {
            let bank = banks.trailing_zeros() as usize;
            banks &= banks - 1;
            if let Some(unit) = self.reads[bank].pop_front()
                && let Some(id) = self.holds[usize::from(unit)]
            {
                let flight = flights.get_mut(id);
                flight.unread -= 1;
                if flight.unread == 0 {
                    self.ready[usize::from(unit) / 64] |= 1 << (unit % 64);
                }
            }
            if self.reads[bank].is_empty() {
                self.wanted &= !(1 << bank);
            }
        }
    }

    fn accept(&mut self, table: &TimingTable, flights: &mut Flights, input: &mut Latch) {
        let share = self.holds.len() / self.sub_cores;
        for _ in 0..self.settings.ports {
            let mut any = false;
            // memory accesses, of the last unit, come first
            let load_store = 1 << (self.units - 1);
            let mut waiting = input.units();
            while waiting != 0 {
                let unit = if waiting & load_store != 0 {
                    self.units - 1
                } else {
                    waiting.trailing_zeros() as usize
                };
                waiting &= !(1 << unit);
                let Some((sub_core, id)) = input.oldest(unit, flights) else { continue };
                let mine = sub_core * share..(sub_core + 1) * share;
                let Some(free) = mine.clone().find(|&unit| self.holds[unit].is_none()) else { continue };
                input.take(unit, sub_core);
                self.holds[free] = Some(id);
                self.held += 1;
                any = true;
                let flight = *flights.get(id);
                let operands = table.instr(flight.step.pc()).operands;
                for &reg in operands.as_slice() {
                    let bank = self.bank(table.reg_number(reg), flight.slot as usize, sub_core);
                    self.reads[bank].push_back(free as u16);
                    self.wanted |= 1 << bank;
                }
                let unread = operands.as_slice().len() as u8;
                flights.get_mut(id).unread = unread;
                if unread == 0 {
                    self.ready[free / 64] |= 1 << (free % 64);
                }
            }
            if !any || input.is_empty() {
                return;
            }
        }
    }
}
