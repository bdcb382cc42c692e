//! Long waits: the points at which a warp first waits for the result of an instruction of the
//! longest latency. [`Lwb`](super::Lwb) explains their use, and [`proofs::lwb`](super::proofs::lwb)
//! proves their properties.
//!
//! Units are of two kinds. On a *plain* unit every instruction of the program has init 1, so that
//! it starts when it issues and is done after exactly its total `init + lat`; let D be the largest
//! total there. All other units have a *queue*.
//!
//! A long wait is a pair (l, k) of one warp's instructions in one section: l runs on a plain unit
//! and has total D, and k is the first instruction that waits for it. The inside time P of the long
//! wait is the duration of the instructions between l and k by themselves, on an empty machine. It
//! starts with the cycle in which the first of them would issue if it waited for nothing, and ends
//! with their last `done`. P is 0 if there are no such instructions. If they wait for a plain
//! instruction p of the section before l that nothing up to l has waited for, p is assumed to be
//! done at `total(p) - (l - p)`; other instructions up to l are assumed to be done. A candidate for
//! l is given up at an instruction that waits for a value that may be in flight from an earlier
//! section, and is replaced by a later instruction like l. The next long wait of the warp begins at
//! k at the earliest.
//!
//! The module also computes, for each warp and unit with a queue, the most initiation work that the
//! warp may have queued there at one time. Once the warp has waited for an instruction p, it has
//! nothing queued up to p, and p itself has initiated. This quantity is carried from section to
//! section.

use super::operands::{ready, waits, writes};
use warpbound_core::base::{Cycles, RegId};
use warpbound_core::machine::OpTiming;
use warpbound_core::path::Step;
use warpbound_core::program::{TimedInstr, TimingTable};

/// The largest number of instructions between l and k that is examined.
const MAX_INSIDE: usize = 64;

/// The largest number of long waits that is kept per warp and section.
const MAX_WAITS: usize = 1 << 16;

/// A long wait of a warp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LongWait {
    /// The time at which the warp, run alone from an empty machine up to l, would be done with
    /// everything, minus D. It is no earlier than the issue of l in that run.
    pub before: Cycles,
    /// The inside time P; `None` if k follows l directly.
    pub inside: Option<Cycles>,
    /// The time at which k issues, alone from an empty machine.
    pub resume: Cycles,
    /// The initiation work of the section before k, on all units.
    pub work: Cycles,
}

/// The long waits of one warp in one section.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LongWaits {
    /// The long waits in program order.
    pub waits: Vec<LongWait>,
    /// The most initiation work of the warp that may be queued at one time while it is in the
    /// section, by unit; 0 for plain units.
    pub queued: Vec<Cycles>,
    /// The initiation work of the warp's earlier sections that may be queued when this one begins,
    /// by unit; 0 for plain units.
    pub carried: Vec<Cycles>,
    /// The initiation work of the section, on all units.
    pub work: Cycles,
    /// The time from the start of the section to its last issue, alone from an empty machine.
    pub last_issue: Cycles,
    /// D, the largest total of the program on a plain unit; 0 if there is none.
    pub longest: Cycles,
    /// The largest total of the program on a unit with a queue; 0 if there is none.
    pub longest_queued: Cycles,
    /// Whether this is the first section of the warp, so that nothing of earlier sections is in
    /// flight.
    pub first: bool,
}

/// The state that one section of a warp passes to the next.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Carried {
    /// The initiation work that may still be queued, by unit; empty before the first section.
    queued: Vec<u64>,
}

/// The knowledge about the last value written to a register.
#[derive(Clone, Copy, Debug)]
enum Value {
    /// The value is available from here on, in every schedule.
    There,
    /// The value was written in an earlier section and may be in flight.
    InFlight,
    /// The value was written by this instruction of the section.
    Of {
        index: u64,
        /// The index of the instruction at whose issue the value is surely available, because
        /// instructions issue one by one.
        sure_from: u64,
        /// The first instruction that waited for the value, if any; the value is available from
        /// there on.
        awaited: Option<u64>,
        unit: usize,
        /// The initiation work of the warp on the unit, up to and including this instruction.
        work: u64,
    },
}

/// The instructions after the latest candidate for l, as they would run alone.
#[derive(Clone, Debug, Default)]
struct Inside {
    /// The index of l and its [`LongWait::before`]; `None` if there is no candidate.
    from: Option<(u64, Cycles)>,
    instructions: usize,
    now: u64,
    end: u64,
    available: Vec<(RegId, u64)>,
    free: Vec<u64>,
}

/// Finds the long waits of one section after the other.
#[derive(Clone, Debug)]
pub(super) struct LongWaitFinder {
    queues: Vec<bool>,
    longest: u64,
    longest_queued: u64,
    values: Vec<Value>,
    /// The registers whose value is not `There`.
    written: Vec<RegId>,
    count: u64,
    /// For each unit, the initiation work issued in the section or carried into it, and the part of
    /// this work that is known to have been initiated.
    work: Vec<(u64, u64)>,
    inside: Inside,
    found: LongWaits,
}

impl LongWaitFinder {
    pub(super) fn new(table: &TimingTable) -> Self {
        let ops = || table.instrs().iter().flat_map(TimedInstr::timings);
        let mut queues = vec![false; table.units()];
        for op in ops() {
            queues[op.unit.index()] |= op.init > Cycles::ONE || table.pairs_share_units();
        }
        let longest = |queued: bool| {
            let ops_of_kind = ops().filter(|op| queues[op.unit.index()] == queued);
            ops_of_kind.map(|op| (op.init + op.lat + table.write_back()).get()).max().unwrap_or(0)
        };
        Self {
            longest: longest(false),
            longest_queued: longest(true),
            queues,
            values: vec![Value::There; table.regs()],
            written: Vec::new(),
            count: 0,
            work: vec![(0, 0); table.units()],
            inside: Inside { free: vec![0; table.units()], ..Inside::default() },
            found: LongWaits::default(),
        }
    }

    /// Begins a section in which these registers may be in flight.
    pub(super) fn begin(&mut self, in_flight: &[RegId], carried: &Carried) {
        self.count = 0;
        self.inside.from = None;
        for reg in self.written.drain(..) {
            self.values[reg.index()] = Value::There;
        }
        for &reg in in_flight {
            self.values[reg.index()] = Value::InFlight;
            self.written.push(reg);
        }
        let units = self.work.len();
        for (unit, work) in self.work.iter_mut().enumerate() {
            *work = (carried.queued.get(unit).copied().unwrap_or(0), 0);
        }
        let carried_in: Vec<Cycles> = (0..units).map(|unit| Cycles::new(self.work[unit].0)).collect();
        self.found = LongWaits {
            waits: Vec::new(),
            queued: carried_in.clone(),
            carried: carried_in,
            work: Cycles::ZERO,
            last_issue: Cycles::ZERO,
            longest: Cycles::new(self.longest),
            longest_queued: Cycles::new(self.longest_queued),
            first: carried.queued.is_empty(),
        };
    }

    /// Processes the next instruction of the section. `issue` is the time at which it issues alone
    /// from an empty machine, `end` the time at which it and everything before it is done in that
    /// run.
    pub(super) fn issue(
        &mut self,
        table: &TimingTable,
        step: Step,
        op: OpTiming,
        issue: Cycles,
        end: Cycles,
    ) {
        let index = self.count;
        let unit = op.unit.index();
        let total = (op.init + op.lat).get();
        self.found.last_issue = issue;
        self.follow(table, step, op);
        self.found.work += op.init;
        for reg in waits(table, step) {
            if let Value::Of { unit, work, awaited, .. } = &mut self.values[reg.index()] {
                awaited.get_or_insert(index);
                self.work[*unit].1 = self.work[*unit].1.max(*work);
            }
        }
        self.work[unit].0 += op.init.get();
        if self.queues[unit] {
            let queued = Cycles::new(self.work[unit].0 - self.work[unit].1);
            self.found.queued[unit] = self.found.queued[unit].max(queued);
        }
        let plain = !self.queues[unit];
        let work = self.work[unit].0;
        let sure_from = if plain { index + total } else { u64::MAX };
        for reg in writes(table, step) {
            let new = Value::Of { index, sure_from, awaited: None, unit, work };
            if matches!(std::mem::replace(&mut self.values[reg.index()], new), Value::There) {
                self.written.push(reg);
            }
        }
        if plain && total == self.longest {
            self.inside.from = Some((index, end.saturating_sub(Cycles::new(self.longest))));
            self.inside.instructions = 0;
            self.inside.now = 0;
            self.inside.end = 0;
            self.inside.available.clear();
            self.inside.free.fill(0);
        }
        self.count += 1;
    }

    /// Processes the next instruction as a successor of the candidate: it is k, or an instruction
    /// inside the wait, or an instruction that ends the candidate.
    fn follow(&mut self, table: &TimingTable, step: Step, op: OpTiming) {
        let Some((from, before)) = self.inside.from else { return };
        let of_candidate =
            |reg: RegId| matches!(self.values[reg.index()], Value::Of { index, .. } if index == from);
        if waits(table, step).any(of_candidate) {
            let inside = (self.inside.instructions > 0).then_some(Cycles::new(self.inside.end));
            if self.found.waits.len() < MAX_WAITS {
                let (resume, work) = (self.found.last_issue, self.found.work);
                self.found.waits.push(LongWait { before, inside, resume, work });
            }
            self.inside.from = None;
            return;
        }
        let unknown = |reg: RegId| matches!(self.values[reg.index()], Value::InFlight);
        if self.inside.instructions == MAX_INSIDE || waits(table, step).any(unknown) {
            self.inside.from = None;
            return;
        }
        let inside = &mut self.inside;
        let available = |reg: RegId| match self.values[reg.index()] {
            Value::Of { index, .. } if index > from => {
                inside.available.iter().find(|(known, _)| *known == reg).map_or(0, |known| known.1)
            }
            Value::Of { sure_from, awaited: None, .. } if sure_from != u64::MAX => {
                sure_from.saturating_sub(from)
            }
            _ => 0,
        };
        let issue = ready(table, step, inside.now, available);
        let start = issue.max(inside.free[op.unit.index()]);
        let done = start + (op.init + op.lat).get();
        inside.free[op.unit.index()] = start + op.init.get();
        inside.now = issue + 1;
        inside.end = inside.end.max(done);
        inside.instructions += 1;
        for reg in writes(table, step) {
            match inside.available.iter_mut().find(|(known, _)| *known == reg) {
                Some(entry) => entry.1 = done,
                None => inside.available.push((reg, done)),
            }
        }
    }

    /// Ends the section.
    pub(super) fn end(&mut self) -> (LongWaits, Carried) {
        let left = self.work.iter().zip(&self.queues).map(
            |(&(issued, through), &queues)| {
                if queues { issued - through } else { 0 }
            },
        );
        (std::mem::take(&mut self.found), Carried { queued: left.collect() })
    }
}
