//! The operand collector: reads the operands of issued instructions from register banks.
//!
//! Each collector unit holds an instruction until its operands are read. A bank is read once in a
//! step, first come first served; a bank that is written in a cycle is not read in its first
//! step. An instruction without register operands passes in the step after it entered.
//!
//! So the step of each read is known when an instruction enters, and nothing has to be done for it then: only a write
//! to a bank that somebody wants to read puts off what waits for that bank. Steps are counted from the first cycle on.

use super::flight::FlightId;
use super::latch::Latch;
use super::place::{PLACES, Place, Places};
use crate::machine::SubCores;
use crate::machine::pipeline::Collector as Settings;

/// What it asks about instructions.
pub(super) trait Operands {
    /// The larger, the later it issued.
    fn age(&self, id: FlightId) -> u64;

    /// Where it goes.
    fn place(&self, id: FlightId) -> Place;

    /// The banks that its operands are in, one by one.
    fn banks(&self, id: FlightId) -> impl Iterator<Item = usize>;
}

/// Collector units, and register banks, at most.
const MOST: usize = 64;

/// A collector unit.
#[derive(Clone, Copy, Debug, Default)]
struct Hold {
    flight: FlightId,
    /// Where its instruction goes: a place in the output.
    place: Place,
    age: u64,
    /// The step in which its last operand is read.
    last_read: u64,
    /// The banks that it reads, as a mask.
    banks: u64,
}

#[derive(Clone, Debug)]
pub(super) struct Collector {
    settings: Settings,
    holds: [Hold; MOST],
    /// All collector units, and those that are free, as masks.
    all: u64,
    free: u64,
    /// Those that wait for operands.
    reading: u64,
    /// By place in the output: collector units whose operands are read and that go there.
    going: [u64; PLACES],
    /// Those among them whose place is free.
    ready: u64,
    /// Whether something entered or left since the last try to let instructions enter that
    /// let nothing in.
    changed: bool,
    /// Per bank: the step from which on nobody wants to read it. From the present step up to there it is read in each.
    wanted_until: [u64; MOST],
    /// By collector unit and bank: the step in which it reads the bank last, if it does.
    reads: Vec<u64>,
    /// Banks written in this cycle.
    written: u64,
    /// Per port: where the search for the next instruction begins; none if there is a port for each collector unit.
    search_from: Vec<u8>,
    /// Collector units of a sub-core; and those of each, as masks.
    share: usize,
    shares: [u64; SubCores::MAX],
}

impl Collector {
    pub fn new(settings: Settings, sub_cores: usize) -> Self {
        let (units, banks) = (settings.units as usize, settings.banks as usize);
        let share = units / sub_cores;
        let all = u64::MAX >> (MOST - units);
        let ports = if settings.ports < settings.units { settings.ports as usize } else { 0 };
        Self {
            settings,
            holds: [Hold::default(); MOST],
            all,
            free: all,
            reading: 0,
            going: [0; PLACES],
            ready: 0,
            changed: false,
            wanted_until: [0; MOST],
            reads: vec![0; units * banks],
            written: 0,
            search_from: vec![(share % units) as u8; ports],
            share,
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
    pub fn freed(&mut self, place: Place) {
        self.ready |= self.going[place.index()];
    }

    /// Whether nothing moves in it until something is there for it or makes room.
    #[inline]
    pub fn is_stuck(&self, input: &Latch) -> bool {
        let enters = (self.changed || input.fresh) && self.free != 0 && !input.is_empty();
        self.ready == 0 && self.reading == 0 && !enters
    }

    /// Before a cycle of the collector: a bank is written in it.
    #[inline]
    pub fn write(&mut self, bank: usize, now: u64) {
        let first = now.wrapping_mul(self.settings.steps.into());
        let bank = bank % MOST;
        if self.wanted_until[bank] > first && !self.is_written(bank) {
            self.put_off(bank, first);
        }
        self.written |= 1 << bank;
    }

    /// Whether a bank is written in this cycle.
    #[inline]
    pub fn is_written(&self, bank: usize) -> bool {
        self.written >> bank & 1 == 1
    }

    /// A cycle in which it is empty and nothing comes.
    #[inline]
    pub fn rest(&mut self) {
        self.written = 0;
    }

    /// Everything that reads a bank from this step on does so a step later.
    #[cold]
    fn put_off(&mut self, bank: usize, from: u64) {
        self.wanted_until[bank] += 1;
        let banks = self.settings.banks as usize;
        let mut reading = self.reading;
        while reading != 0 {
            let unit = reading.trailing_zeros() as usize;
            reading &= reading - 1;
            let hold = &mut self.holds[unit];
            let read = &mut self.reads[unit * banks + bank];
            if hold.banks >> bank & 1 == 1 && *read >= from {
                *read += 1;
                hold.last_read = hold.last_read.max(*read);
            }
        }
    }

    /// One cycle: instructions go from `input` through the collector to `output`. Whether anything can have moved.
    #[inline]
    pub fn cycle(
        &mut self,
        now: u64,
        operands: &impl Operands,
        input: &mut Latch,
        output: &mut Latch,
    ) -> bool {
        self.changed |= std::mem::take(&mut input.fresh);
        let moves = !self.is_stuck(input);
        let steps = u64::from(self.settings.steps);
        let first = now.wrapping_mul(steps);
        for step in first..first.wrapping_add(steps) {
            if self.ready != 0 {
                self.hand_over(output);
            }
            if self.reading != 0 {
                self.read(step, output);
            }
            if self.changed && self.free != 0 {
                self.accept(step, operands, input, output);
            }
        }
        self.written = 0;
        moves
    }

    /// Instructions go whose place in `output` is free. Of several with the same place, which are of one sub-core, the one
    /// in the first collector unit goes.
    #[inline]
    fn hand_over(&mut self, output: &mut Latch) {
        self.changed = true;
        if !self.search_from.is_empty() {
            return self.hand_over_by_port(output);
        }
        while self.ready != 0 {
            self.leave(self.ready.trailing_zeros() as usize, output);
        }
    }

    /// Where there are fewer ports than collector units: each lets one go, from the sub-core after that of its last on.
    #[cold]
    fn hand_over_by_port(&mut self, output: &mut Latch) {
        for port in 0..self.search_from.len() {
            if self.ready == 0 {
                return;
            }
            let after = self.ready & u64::MAX << self.search_from[port];
            let unit = if after != 0 { after } else { self.ready }.trailing_zeros() as usize;
            self.leave(unit, output);
            let next = (unit / self.share + 1) * self.share;
            self.search_from[port] = (next % self.settings.units as usize) as u8;
        }
    }

    #[inline]
    fn leave(&mut self, unit: usize, output: &mut Latch) {
        let hold = &self.holds[unit % MOST];
        output.put(hold.place, hold.flight, hold.age);
        let going = &mut self.going[hold.place.index()];
        self.ready &= !*going;
        *going &= !(1 << unit);
        self.free |= 1 << unit;
    }

    /// Some operands are read in this step, the last ones of some instructions.
    #[inline]
    fn read(&mut self, step: u64, output: &Latch) {
        let mut reading = self.reading;
        while reading != 0 {
            let unit = reading.trailing_zeros() as usize;
            reading &= reading - 1;
            let hold = &self.holds[unit % MOST];
            if hold.last_read <= step {
                self.reading &= !(1 << unit);
                let place = hold.place;
                self.operands_are_read(unit, place, output);
            }
        }
    }

    /// Each port takes an instruction for each unit, if there is a free collector unit for it.
    #[inline]
    fn accept(&mut self, step: u64, operands: &impl Operands, input: &mut Latch, output: &Latch) {
        let (all, any) = self.can_enter(input.full());
        if all {
            input.full().for_each(|entry| self.admit(entry, step, operands, input, output));
        }
        if all || !any {
            self.changed = false;
            return;
        }
        // nothing becomes free meanwhile, so who cannot enter now cannot enter at all
        let mut kinds = input.full();
        let mut ports = self.settings.ports;
        while !kinds.is_empty() && ports > 0 {
            ports -= 1;
            let mut waiting = kinds;
            while let Some(place) = waiting.first() {
                let unit = place.unit();
                let of_unit = Places::of_unit(unit);
                waiting = waiting.without(of_unit);
                let entered = self.enter(step, operands, unit, input, output);
                if !entered || input.full().among(of_unit).is_empty() {
                    kinds = kinds.without(of_unit);
                }
            }
        }
        self.changed = !kinds.is_empty();
    }

    /// Whether the instructions in these places can all enter so that their order makes no difference, for what an instruction
    /// takes is its sub-core's; and whether one of them can.
    #[inline]
    fn can_enter(&self, waiting: Places) -> (bool, bool) {
        let mut seen = 0;
        let (mut all, mut any) = (self.settings.ports as usize >= SubCores::MAX, false);
        for entry in waiting {
            let sub_core = entry.sub_core();
            let free = self.free & self.shares[sub_core] != 0;
            all &= free && seen >> sub_core & 1 == 0;
            any |= free;
            seen |= 1 << sub_core;
        }
        (all, any)
    }

    #[inline]
    fn operands_are_read(&mut self, unit: usize, place: Place, output: &Latch) {
        self.going[place.index()] |= 1 << unit;
        if output.is_free(place) {
            self.ready |= 1 << unit;
        }
    }

    /// The oldest instruction for a unit enters, if there is one and it can.
    fn enter(
        &mut self,
        step: u64,
        operands: &impl Operands,
        unit: usize,
        input: &mut Latch,
        output: &Latch,
    ) -> bool {
        let Some(entry) = input.oldest(unit) else { return false };
        let can = self.free & self.shares[entry.sub_core()] != 0;
        if can {
            self.admit(entry, step, operands, input, output);
        }
        can
    }

    /// An instruction enters that can.
    #[inline]
    fn admit(
        &mut self,
        entry: Place,
        step: u64,
        operands: &impl Operands,
        input: &mut Latch,
        output: &Latch,
    ) {
        let id = input.at(entry);
        let free = (self.free & self.shares[entry.sub_core()]).trailing_zeros() as usize % MOST;
        input.take(entry);
        self.free &= !(1 << free);
        let (place, age) = (operands.place(id), operands.age(id));
        let mut hold = Hold { flight: id, place, age, last_read: step, banks: 0 };
        let own = &mut self.reads[free * self.settings.banks as usize..];
        for bank in operands.banks(id) {
            let bank = bank % MOST;
            let read = self.wanted_until[bank].max(step + 1);
            self.wanted_until[bank] = read + 1;
            own[bank] = read;
            hold.banks |= 1 << bank;
            hold.last_read = hold.last_read.max(read);
        }
        self.holds[free] = hold;
        if hold.banks == 0 {
            self.operands_are_read(free, place, output);
        } else {
            self.reading |= 1 << free;
        }
    }
}

#[cfg(test)]
#[path = "collector_tests.rs"]
mod tests;
