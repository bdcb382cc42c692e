//! The operand collector: reads the operands of issued instructions from register banks.
//!
//! Each collector unit holds an instruction until its operands are read. A cycle consists of one or
//! more steps, as the settings say. A bank is read once in a step, in first-come first-served
//! order; a bank that is written in a cycle is not read in the first step of that cycle. An
//! instruction without register operands passes in the step after it entered.
//!
//! The step of each read is therefore known when an instruction enters, and no work is needed until
//! then: only a write to a bank with pending reads delays these reads. Steps are counted from the
//! first cycle on.
//!
//! There are two latches. In the input latch, instructions wait to enter, by kind of unit and
//! sub-core. In the output latch, instructions whose operands are read wait for their units, by
//! unit and sub-core. In each step, every port admits instructions from the input latch and moves
//! at most one instruction to the output latch.

use super::code::Reads;
use super::flight::FlightId;
use super::latch::{Aged, Latch, Waiting};
use super::latch_entry::{LATCH_ENTRIES, LatchEntries, LatchEntry};
use warpbound_core::machine::SubCores;
use warpbound_core::machine::pipeline::Collector as Settings;

/// The properties of instructions that the collector looks up.
pub(super) trait Operands {
    /// Returns the bank of each operand.
    fn banks(&self, id: FlightId) -> impl Iterator<Item = usize>;
}

/// An instruction that waits to enter.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Entering {
    /// The age; a larger value means a later issue.
    pub age: u64,
    pub flight: FlightId,
    /// The output latch entry that it goes to.
    pub place: LatchEntry,
    /// Whether `reads` holds the number of its operands in each bank.
    pub counted: bool,
    pub reads: Reads,
}

impl Waiting for Entering {
    #[inline(always)]
    fn age(&self) -> u64 {
        self.age
    }
}

/// The largest number of collector units, and of register banks.
const MOST: usize = 64;

/// A collector unit.
#[derive(Clone, Copy, Debug, Default)]
struct Hold {
    flight: FlightId,
    /// The output latch entry that its instruction goes to.
    place: LatchEntry,
    age: u64,
    /// The step in which its last operand is read.
    last_read: u64,
    /// The banks that it reads, as a mask.
    banks: u64,
}

#[derive(Clone, Debug)]
pub(super) struct Collector {
    settings: Settings,
    input: Latch<Entering>,
    output: Latch<Aged>,
    holds: [Hold; MOST],
    /// The collector units that are free, and the sub-cores that have a free one, as masks.
    free: u64,
    roomy: u32,
    /// The collector units that wait for operands, as a mask. Also, for each step modulo the
    /// length, the collector units to look at in that step: their last operand is read then, unless
    /// a write delays it.
    reading: u64,
    due: [u64; MOST],
    /// For each output latch entry, the collector units whose operands are read and that go there.
    going: [u64; LATCH_ENTRIES],
    /// Those among them whose output latch entry is free.
    ready: u64,
    /// Whether an instruction was added or has left since the last attempt to admit instructions
    /// that was unsuccessful.
    changed: bool,
    /// The sub-cores from which an instruction has entered since the last call of `entered`, as a
    /// mask.
    entered: u32,
    /// For each bank, the first step without a pending read. The bank is read in each step from the
    /// present one up to there.
    wanted_until: [u64; MOST],
    /// The banks that have, or have had, pending reads.
    wanted: u64,
    /// For each collector unit and bank, the last step in which the unit reads the bank, if it
    /// does.
    reads: Vec<u64>,
    /// The banks written in this cycle.
    written: u64,
    /// For each port, the collector unit from which the search for the next instruction begins. It
    /// is empty if there is a port for each collector unit.
    search_from: Vec<u8>,
    /// The number of collector units per sub-core; and those of each sub-core, as masks.
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
            roomy: (1 << sub_cores) - 1,
            reading: 0,
            due: [0; MOST],
            going: [0; LATCH_ENTRIES],
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

    /// Adds an issued instruction that goes to a kind of unit. Its latch entry must be
    /// [free](Self::waiting).
    #[inline(always)]
    pub fn put(&mut self, place: LatchEntry, instruction: Entering) {
        self.input.put(place, instruction);
        self.changed = true;
    }

    /// Returns the latch entries in which instructions wait to enter, by kind and sub-core.
    #[inline(always)]
    pub fn waiting(&self) -> LatchEntries {
        self.input.full()
    }

    /// Returns the sub-cores from which an instruction has entered since the last call, as a mask.
    #[inline(always)]
    pub fn entered(&mut self) -> u32 {
        std::mem::take(&mut self.entered)
    }

    /// Returns the latch entries of the instructions whose operands are read, by unit and sub-core.
    #[inline(always)]
    pub fn collected(&self) -> LatchEntries {
        self.output.full()
    }

    /// Returns the instruction in such an entry.
    #[inline(always)]
    pub fn at(&self, place: LatchEntry) -> FlightId {
        self.output.at(place).flight
    }

    /// Returns the entry of the instruction for a unit that issued first.
    #[inline(always)]
    pub fn oldest(&self, unit: usize) -> Option<LatchEntry> {
        self.output.oldest(unit)
    }

    /// Removes the instruction in such an entry.
    #[inline(always)]
    pub fn take(&mut self, place: LatchEntry) {
        self.output.take(place);
        self.ready |= self.going[place.index()];
    }

    /// Returns whether nothing moves in the collector until an instruction is added or taken.
    #[inline(always)]
    pub fn is_stuck(&self) -> bool {
        self.ready == 0 && self.reading == 0 && !self.lets_enter()
    }

    /// Returns whether an instruction may enter.
    #[inline(always)]
    fn lets_enter(&self) -> bool {
        self.changed && self.free != 0 && !self.input.is_empty()
    }

    /// Records, before a cycle of the collector, that banks are written in it.
    #[inline(always)]
    pub fn write(&mut self, banks: u64, now: u64) {
        let wanted = banks & self.wanted & !self.written;
        self.written |= banks;
        if wanted != 0 {
            self.put_off(wanted, now.wrapping_mul(self.settings.steps.into()));
        }
    }

    /// Returns whether one of these banks is written in this cycle.
    #[inline(always)]
    pub fn writes(&self, banks: u64) -> bool {
        self.written & banks != 0
    }

    /// Ends a cycle in which the collector [is stuck](Self::is_stuck).
    #[inline(always)]
    pub fn rest(&mut self) {
        self.written = 0;
    }

    /// Delays all reads of these banks from the step `from` on by one step.
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

    /// Simulates one cycle: instructions enter, their operands are read, and they move to the
    /// output latch.
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
            if self.lets_enter() {
                self.accept(step, operands);
            }
        }
        self.written = 0;
    }

    /// Moves instructions whose output latch entry is free. Of several with the same entry, which
    /// belong to one sub-core, the one in the first collector unit moves.
    #[inline(always)]
    fn hand_over(&mut self) {
        self.changed = true;
        if !self.search_from.is_empty() {
            return self.hand_over_by_port();
        }
        while self.ready != 0 {
            self.leave(self.ready.trailing_zeros() as usize);
        }
    }

    /// Moves instructions if there are fewer ports than collector units: each port moves one. Its
    /// search begins at the sub-core after the one from which it moved an instruction last.
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

    #[inline(always)]
    fn leave(&mut self, unit: usize) {
        let Hold { flight, place, age, .. } = self.holds[unit % MOST];
        self.output.put(place, Aged { flight, age });
        let going = &mut self.going[place.index()];
        self.ready &= !*going;
        *going &= !(1 << unit);
        self.free |= 1 << unit;
        self.roomy |= 1 << place.sub_core();
    }

    /// Reads the operands of this step, which are the last ones of some instructions.
    #[inline(always)]
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

    /// Schedules the next look at a collector unit whose last operand is read in a later step.
    #[inline(always)]
    fn look_again(&mut self, unit: usize, last_read: u64, step: u64) {
        let at = last_read.min(step.wrapping_add(MOST as u64 - 1));
        self.due[at as usize % MOST] |= 1 << unit;
    }

    /// Marks an instruction as collected.
    #[inline(always)]
    fn operands_are_read(&mut self, unit: usize, place: LatchEntry) {
        self.going[place.index()] |= 1 << unit;
        if self.output.is_free(place) {
            self.ready |= 1 << unit;
        }
    }

    /// Admits instructions: each port takes one for each kind of unit, if there is a free collector
    /// unit.
    #[inline(always)]
    fn accept(&mut self, step: u64, operands: &impl Operands) {
        let waiting = self.input.full();
        let (sub_cores, apart) = waiting.sub_cores();
        // if each comes from another sub-core, the order makes no difference, because an
        // instruction uses resources of its own sub-core only
        let apart = apart && self.settings.ports as usize >= SubCores::MAX;
        if apart && sub_cores & !self.roomy == 0 {
            self.changed = false;
            waiting.for_each(|entry| self.admit(entry, step, operands));
        } else if sub_cores & self.roomy == 0 {
            self.changed = false;
        } else {
            self.accept_in_turn(step, operands);
        }
    }

    fn accept_in_turn(&mut self, step: u64, operands: &impl Operands) {
        // no collector unit becomes free while instructions enter, so an instruction that cannot
        // enter now cannot enter in this step
        let mut kinds = self.input.full();
        let mut ports = self.settings.ports;
        while !kinds.is_empty() && ports > 0 {
            ports -= 1;
            let mut waiting = kinds;
            while let Some(place) = waiting.first() {
                let kind = place.unit();
                let of_kind = LatchEntries::of_unit(kind);
                waiting = waiting.without(of_kind);
                let entered = self.enter(step, operands, kind);
                if !entered || self.input.full().among(of_kind).is_empty() {
                    kinds = kinds.without(of_kind);
                }
            }
        }
        self.changed = !kinds.is_empty();
    }

    /// Admits the oldest instruction for a kind of unit, and returns whether there was one that
    /// could enter.
    fn enter(&mut self, step: u64, operands: &impl Operands, kind: usize) -> bool {
        let Some(entry) = self.input.oldest(kind) else { return false };
        let can_enter = self.free & self.shares[entry.sub_core()] != 0;
        if can_enter {
            self.admit(entry, step, operands);
        }
        can_enter
    }

    /// Admits an instruction that can enter.
    #[inline(always)]
    fn admit(&mut self, entry: LatchEntry, step: u64, operands: &impl Operands) {
        let Entering { age, flight, place, counted, reads } = *self.input.at(entry);
        self.input.take(entry);
        let sub_core = entry.sub_core();
        let free = self.free & self.shares[sub_core];
        let unit = free.trailing_zeros() as usize % MOST;
        self.free &= !(1 << unit);
        if free & free.wrapping_sub(1) == 0 {
            self.roomy &= !(1 << sub_core);
        }
        self.entered |= 1 << sub_core;
        let (last_read, banks) = if counted {
            (self.schedule(unit, reads, step), reads.once)
        } else {
            self.schedule_each(unit, operands.banks(flight), step)
        };
        self.holds[unit] = Hold { flight, place, age, last_read, banks };
        if banks == 0 {
            self.operands_are_read(unit, place);
        } else {
            self.wanted |= banks;
            self.reading |= 1 << unit;
            self.look_again(unit, last_read, step);
        }
    }

    /// Schedules the reads of an instruction that enters in this step, and returns the last step of
    /// them.
    #[inline(always)]
    fn schedule(&mut self, unit: usize, Reads { once, twice, thrice }: Reads, step: u64) -> u64 {
        let first = unit.wrapping_mul(self.settings.banks as usize);
        let (mut last, mut banks) = (step, once);
        while banks != 0 {
            let bank = banks.trailing_zeros() as usize;
            banks &= banks - 1;
            let from = self.wanted_until[bank].max(step.wrapping_add(1));
            let more = (twice >> bank & 1).wrapping_add(thrice >> bank & 1);
            let read = from.wrapping_add(more);
            self.wanted_until[bank] = read.wrapping_add(1);
            self.reads[first.wrapping_add(bank)] = read;
            last = last.max(read);
        }
        last
    }

    /// Schedules the reads like [`Self::schedule`], one operand after the other, and also returns
    /// the banks.
    #[cold]
    fn schedule_each(&mut self, unit: usize, operands: impl Iterator<Item = usize>, step: u64) -> (u64, u64) {
        operands.fold((step, 0), |(last, banks), bank| {
            let one = Reads { once: 1 << bank, ..Reads::default() };
            (last.max(self.schedule(unit, one, step)), banks | one.once)
        })
    }
}

#[cfg(test)]
#[path = "collector_tests.rs"]
mod tests;
