//! The operand collector: reads the operands of issued instructions from register banks.
//!
//! Each collector unit holds an instruction until its operands are read. A bank is read once in a
//! step, first come first served; a bank that is written in a cycle is not read in its first
//! step. An instruction without register operands passes in the step after it entered.
//!
//! So the step of each read is known when an instruction enters, and nothing has to be done for it then: only a write
//! to a bank that somebody wants to read puts off what waits for that bank. Steps are counted from the first cycle on.

use super::code::Reads;
use super::flight::FlightId;
use super::latch::Latch;
use super::place::{PLACES, Place, Places};
use crate::machine::SubCores;
use crate::machine::pipeline::Collector as Settings;

/// What it asks about instructions.
pub(super) trait Operands {
    /// An instruction that enters.
    fn entering(&self, id: FlightId) -> Entering;

    /// The bank of each of its operands.
    fn banks(&self, id: FlightId) -> impl Iterator<Item = usize>;
}

/// An instruction that enters.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entering {
    /// The larger, the later it issued.
    pub age: u64,
    /// Where it goes.
    pub place: Place,
    /// The banks of its operands, where it was possible to [count](Reads::of) them.
    pub reads: Option<Reads>,
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
    /// Its ports: instructions that have issued, by kind and sub-core; and those whose operands are read, by unit and
    /// sub-core.
    input: Latch,
    output: Latch,
    holds: [Hold; MOST],
    /// Collector units that are free, as a mask.
    free: u64,
    /// Those that wait for operands; and by step modulo its length those whose last operand is read then, if no write puts
    /// that off, or who are to be looked at again.
    reading: u64,
    due: [u64; MOST],
    /// By place in the output: collector units whose operands are read and that go there.
    going: [u64; PLACES],
    /// Those among them whose place is free.
    ready: u64,
    /// Whether something entered or left since the last try to let instructions enter that
    /// let nothing in.
    changed: bool,
    entered: u32,
    /// Per bank: the step from which on nobody wants to read it. From the present step up to there it is read in each.
    wanted_until: [u64; MOST],
    /// Banks that somebody wants to read, or has read.
    wanted: u64,
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
            input: Latch::new(),
            output: Latch::new(),
            holds: [Hold::default(); MOST],
            free: all,
            reading: 0,
            due: [0; MOST],
            going: [0; PLACES],
            ready: 0,
            changed: false,
            entered: 0,
            wanted_until: [0; MOST],
            wanted: 0,
            reads: vec![0; units * banks],
            written: 0,
            search_from: vec![(share % units) as u8; ports],
            share,
            shares: std::array::from_fn(|n| {
                if n < sub_cores { all >> (units - share) << (n * share) } else { 0 }
            }),
        }
    }

    /// An instruction that goes to a kind of unit has issued; there is [room](Self::waiting) for it.
    #[inline(always)]
    pub fn put(&mut self, place: Place, id: FlightId, age: u64) {
        self.input.put(place, id, age);
        self.changed = true;
    }

    /// Where instructions wait to enter, by kind and sub-core.
    #[inline(always)]
    pub fn waiting(&self) -> Places {
        self.input.full()
    }

    /// Sub-cores of which something has entered since somebody last asked, as a mask.
    #[inline(always)]
    pub fn entered(&mut self) -> u32 {
        std::mem::take(&mut self.entered)
    }

    /// Where instructions wait whose operands are read, by unit and sub-core.
    #[inline(always)]
    pub fn collected(&self) -> Places {
        self.output.full()
    }

    /// What waits there.
    #[inline(always)]
    pub fn at(&self, place: Place) -> FlightId {
        self.output.at(place)
    }

    /// Where the one waits that goes to a unit and issued first.
    #[inline]
    pub fn oldest(&self, unit: usize) -> Option<Place> {
        self.output.oldest(unit)
    }

    /// What waits there leaves.
    #[inline(always)]
    pub fn take(&mut self, place: Place) {
        self.output.take(place);
        self.ready |= self.going[place.index()];
    }

    /// Whether nothing moves in it until something comes or makes room.
    #[inline(always)]
    pub fn is_stuck(&self) -> bool {
        let enters = self.changed && self.free != 0 && !self.input.is_empty();
        self.ready == 0 && self.reading == 0 && !enters
    }

    /// Before a cycle of the collector: banks are written in it.
    #[inline(always)]
    pub fn write(&mut self, banks: u64, now: u64) {
        let wanted = banks & self.wanted & !self.written;
        self.written |= banks;
        if wanted != 0 {
            self.put_off(wanted, now.wrapping_mul(self.settings.steps.into()));
        }
    }

    /// Whether one of these banks is written in this cycle.
    #[inline]
    pub fn writes(&self, banks: u64) -> bool {
        self.written & banks != 0
    }

    /// A cycle in which it [is stuck](Self::is_stuck).
    #[inline(always)]
    pub fn rest(&mut self) {
        self.written = 0;
    }

    /// Everything that reads one of these banks from this step on does so a step later.
    #[inline(never)]
    fn put_off(&mut self, mut banks: u64, from: u64) {
        while banks != 0 {
            let bank = banks.trailing_zeros() as usize;
            banks &= banks - 1;
            if self.wanted_until[bank] <= from {
                self.wanted &= !(1 << bank);
                continue;
            }
            self.wanted_until[bank] += 1;
            let count = self.settings.banks as usize;
            let mut reading = self.reading;
            while reading != 0 {
                let unit = reading.trailing_zeros() as usize;
                reading &= reading - 1;
                let hold = &mut self.holds[unit];
                if hold.banks >> bank & 1 == 1 {
                    let read = &mut self.reads[unit * count + bank];
                    if *read >= from {
                        *read += 1;
                        hold.last_read = hold.last_read.max(*read);
                    }
                }
            }
        }
    }

    /// One cycle: instructions enter, their operands are read, and they go on to where they wait for their units.
    pub fn cycle(&mut self, now: u64, operands: &impl Operands) {
        let steps = u64::from(self.settings.steps);
        let first = now.wrapping_mul(steps);
        for step in first..first.wrapping_add(steps) {
            if self.ready != 0 {
                self.hand_over();
            }
            if self.due[step as usize % MOST] != 0 {
                self.read(step);
            }
            if self.changed && self.free != 0 && !self.input.is_empty() {
                self.accept(step, operands);
            }
        }
        self.written = 0;
    }

    /// Instructions go whose place in `output` is free. Of several with the same place, which are of one sub-core, the one
    /// in the first collector unit goes.
    #[inline]
    fn hand_over(&mut self) {
        self.changed = true;
        if !self.search_from.is_empty() {
            return self.hand_over_by_port();
        }
        while self.ready != 0 {
            self.leave(self.ready.trailing_zeros() as usize);
        }
    }

    /// Where there are fewer ports than collector units: each lets one go, from the sub-core after that of its last on.
    #[cold]
    fn hand_over_by_port(&mut self) {
        for port in 0..self.search_from.len() {
            if self.ready == 0 {
                return;
            }
            let after = self.ready & u64::MAX << self.search_from[port];
            let unit = if after != 0 { after } else { self.ready }.trailing_zeros() as usize;
            self.leave(unit);
            let next = (unit / self.share + 1) * self.share;
            self.search_from[port] = (next % self.settings.units as usize) as u8;
        }
    }

    #[inline]
    fn leave(&mut self, unit: usize) {
        let hold = &self.holds[unit % MOST];
        self.output.put(hold.place, hold.flight, hold.age);
        let going = &mut self.going[hold.place.index()];
        self.ready &= !*going;
        *going &= !(1 << unit);
        self.free |= 1 << unit;
    }

    /// Some operands are read in this step, the last ones of some instructions.
    #[inline]
    fn read(&mut self, step: u64) {
        let mut due = std::mem::take(&mut self.due[step as usize % MOST]);
        while due != 0 {
            let unit = due.trailing_zeros() as usize;
            due &= due - 1;
            let Hold { place, last_read, .. } = self.holds[unit];
            if last_read > step {
                self.look_again(unit, last_read, step);
            } else {
                self.reading &= !(1 << unit);
                self.operands_are_read(unit, place);
            }
        }
    }

    /// A collector unit whose last operand is read in a later step than this one.
    #[inline]
    fn look_again(&mut self, unit: usize, last_read: u64, step: u64) {
        let at = last_read.min(step.wrapping_add(MOST as u64 - 1));
        self.due[at as usize % MOST] |= 1 << unit;
    }

    /// Each port takes an instruction for each unit, if there is a free collector unit for it.
    #[inline]
    fn accept(&mut self, step: u64, operands: &impl Operands) {
        let (all, any) = self.can_enter(self.input.full());
        if all {
            self.input.full().for_each(|entry| self.admit(entry, step, operands));
        }
        if all || !any {
            self.changed = false;
            return;
        }
        // nothing becomes free meanwhile, so who cannot enter now cannot enter at all
        let mut kinds = self.input.full();
        let mut ports = self.settings.ports;
        while !kinds.is_empty() && ports > 0 {
            ports -= 1;
            let mut waiting = kinds;
            while let Some(place) = waiting.first() {
                let unit = place.unit();
                let of_unit = Places::of_unit(unit);
                waiting = waiting.without(of_unit);
                let entered = self.enter(step, operands, unit);
                if !entered || self.input.full().among(of_unit).is_empty() {
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
    fn operands_are_read(&mut self, unit: usize, place: Place) {
        self.going[place.index()] |= 1 << unit;
        if self.output.is_free(place) {
            self.ready |= 1 << unit;
        }
    }

    /// The oldest instruction for a unit enters, if there is one and it can.
    fn enter(&mut self, step: u64, operands: &impl Operands, unit: usize) -> bool {
        let Some(entry) = self.input.oldest(unit) else { return false };
        let can = self.free & self.shares[entry.sub_core()] != 0;
        if can {
            self.admit(entry, step, operands);
        }
        can
    }

    /// An instruction enters that can.
    #[inline(always)]
    fn admit(&mut self, entry: Place, step: u64, operands: &impl Operands) {
        let id = self.input.at(entry);
        let free = (self.free & self.shares[entry.sub_core()]).trailing_zeros() as usize % MOST;
        self.input.take(entry);
        self.entered |= 1 << entry.sub_core();
        self.free &= !(1 << free);
        let Entering { age, place, reads } = operands.entering(id);
        let banks = self.settings.banks as usize;
        let own = &mut self.reads[free * banks..][..banks];
        let mut hold = Hold { flight: id, place, age, last_read: step, banks: 0 };
        let mut read = |bank: usize, count: u64| {
            let from = self.wanted_until[bank % MOST].max(step + 1);
            self.wanted_until[bank % MOST] = from + count;
            own[bank] = from + count - 1;
            hold.last_read = hold.last_read.max(from + count - 1);
            hold.banks |= 1 << bank;
        };
        match reads {
            Some(Reads { mut once, twice, thrice }) => {
                while once != 0 {
                    let bank = once.trailing_zeros() as usize;
                    read(bank, 1 + (twice >> bank & 1) + (thrice >> bank & 1));
                    once &= once - 1;
                }
            }
            None => operands.banks(id).for_each(|bank| read(bank, 1)),
        }
        self.wanted |= hold.banks;
        self.holds[free] = hold;
        if hold.banks == 0 {
            self.operands_are_read(free, place);
        } else {
            self.reading |= 1 << free;
            self.look_again(free, hold.last_read, step);
        }
    }
}

#[cfg(test)]
#[path = "collector_tests.rs"]
mod tests;
