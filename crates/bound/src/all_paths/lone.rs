//! The measures of a lone warp over all paths: times, sums of weights, barriers.

use crate::operands::{ready, timing, writes};
use crate::over_paths::{Measure, grown};
use warpbound_core::base::Cycles;
use warpbound_core::path::{Accessed, Step};
use warpbound_core::program::{Flow, TimingTable};

/// Measures the time that a warp takes alone. Sections begin with nothing in flight.
pub(super) struct Time<'t> {
    table: &'t TimingTable,
    /// Whether a unit takes an instruction only when it is free, as the bounds assume if queues are
    /// bounded.
    unqueued: bool,
}

/// The instants of a lone warp, in cycles since its section began.
#[derive(Clone, Debug)]
pub(super) struct Instants {
    /// The earliest cycle in which the next instruction may issue.
    next: u64,
    /// The cycle in which the register's value becomes available, by register.
    available: Vec<u64>,
    /// The cycle in which the unit becomes free, by unit.
    free: Vec<u64>,
    /// The cycle in which everything is done.
    done: u64,
    /// The longest of the sections that ended within a part.
    longest: u64,
}

impl<'t> Time<'t> {
    pub(super) fn new(table: &'t TimingTable) -> Self {
        Self { table, unqueued: table.bounded_queues() }
    }

    /// Returns the state at the beginning of a section.
    pub(super) fn begin(&self) -> Instants {
        Instants {
            next: 0,
            available: vec![0; self.table.regs()],
            free: vec![0; self.table.units()],
            done: 0,
            longest: 0,
        }
    }
}

impl Instants {
    /// Returns the length of the longest section, including the current one.
    pub(super) fn longest(&self) -> Cycles {
        Cycles::new(self.longest.max(self.done))
    }

    /// Returns what may matter later, as times relative to when the next instruction may issue. An
    /// instant before that time counts as zero, because its exact value does not matter.
    fn ahead(&self) -> impl Iterator<Item = u64> + '_ {
        let all = self.available.iter().chain(&self.free).chain(std::iter::once(&self.done));
        all.map(|&instant| instant.saturating_sub(self.next))
    }
}

impl Measure for Time<'_> {
    type State = Instants;
    type Growth = u64;

    fn step(&self, state: &mut Instants, step: Step, _: Accessed) {
        if !self.table.issues(step) {
            return;
        }
        let op = timing(self.table, step);
        let free = &mut state.free[op.unit.index()];
        let ready = ready(self.table, step, state.next, |reg| state.available[reg.index()]);
        let start = ready.max(*free);
        let issue = if self.unqueued { start } else { ready };
        *free = start.saturating_add(op.init.get());
        let done = free.saturating_add(op.lat.get());
        for reg in writes(self.table, step) {
            state.available[reg.index()] = done;
        }
        state.next = issue.saturating_add(1);
        state.done = state.done.max(done);
        if self.table.instr(step.pc()).flow == Flow::Barrier {
            let longest = state.longest.max(state.done);
            *state = Instants { longest, ..self.begin() };
        }
    }

    fn join(&self, state: &mut Instants, other: &Instants) {
        let larger = |mine: &mut u64, theirs: &u64| *mine = (*mine).max(*theirs);
        larger(&mut state.next, &other.next);
        larger(&mut state.done, &other.done);
        larger(&mut state.longest, &other.longest);
        state.available.iter_mut().zip(&other.available).for_each(|(mine, theirs)| larger(mine, theirs));
        state.free.iter_mut().zip(&other.free).for_each(|(mine, theirs)| larger(mine, theirs));
    }

    fn growth(&self, before: &Instants, after: &Instants) -> Option<u64> {
        let same = before.ahead().eq(after.ahead());
        same.then(|| after.next.checked_sub(before.next)).flatten()
    }

    fn grow(&self, state: &mut Instants, by: &u64, times: u64) {
        // instants in the past need not grow, but may
        let all = state.available.iter_mut().chain(&mut state.free);
        all.chain([&mut state.next, &mut state.done])
            .for_each(|instant| *instant = grown(*instant, *by, times));
    }
}

/// Sums the weights of a warp's instructions, by unit.
pub(super) struct Sum<'t> {
    table: &'t TimingTable,
    weights: &'t [Weight],
}

/// The weight of an instruction on a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Weight {
    /// The weight is zero.
    Nothing,
    /// The weight is one issue slot, which is one cycle.
    Slot,
    /// The weight is the initiation interval.
    Init,
}

/// A sum within a section.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Weighed {
    sum: u64,
    largest: u64,
}

impl Weighed {
    /// Returns the largest sum of a section, including the current one.
    pub(super) fn largest(self) -> Cycles {
        Cycles::new(self.largest.max(self.sum))
    }
}

impl<'t> Sum<'t> {
    pub(super) fn new(table: &'t TimingTable, weights: &'t [Weight]) -> Self {
        Self { table, weights }
    }
}

impl Measure for Sum<'_> {
    type State = Weighed;
    type Growth = u64;

    fn step(&self, state: &mut Weighed, step: Step, _: Accessed) {
        if !self.table.issues(step) {
            return;
        }
        let op = self.table.op(step);
        state.sum = state.sum.saturating_add(match self.weights[op.unit.index()] {
            Weight::Nothing => 0,
            Weight::Slot => 1,
            Weight::Init => op.init.get(),
        });
        if self.table.instr(step.pc()).flow == Flow::Barrier {
            *state = Weighed { sum: 0, largest: state.largest.max(state.sum) };
        }
    }

    fn join(&self, state: &mut Weighed, other: &Weighed) {
        state.sum = state.sum.max(other.sum);
        state.largest = state.largest.max(other.largest);
    }

    fn growth(&self, before: &Weighed, after: &Weighed) -> Option<u64> {
        after.sum.checked_sub(before.sum)
    }

    fn grow(&self, state: &mut Weighed, by: &u64, times: u64) {
        state.sum = grown(state.sum, *by, times);
    }
}

/// Sums the initiations of a warp's instructions over all sections.
pub(super) struct Inits<'t>(pub(super) &'t TimingTable);

/// The initiations on units of a warp's own sub-core, and on units that all sub-cores share.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Initiated {
    pub private: u64,
    pub shared: u64,
}

impl Measure for Inits<'_> {
    type State = Initiated;
    type Growth = Initiated;

    fn step(&self, state: &mut Initiated, step: Step, _: Accessed) {
        if self.0.issues(step) {
            let op = self.0.op(step);
            let is_shared = self.0.sub_cores().is_shared(op.unit);
            let sum = if is_shared { &mut state.shared } else { &mut state.private };
            *sum = sum.saturating_add(op.init.get());
        }
    }

    fn join(&self, state: &mut Initiated, other: &Initiated) {
        state.private = state.private.max(other.private);
        state.shared = state.shared.max(other.shared);
    }

    fn growth(&self, before: &Initiated, after: &Initiated) -> Option<Initiated> {
        let private = after.private.checked_sub(before.private)?;
        Some(Initiated { private, shared: after.shared.checked_sub(before.shared)? })
    }

    fn grow(&self, state: &mut Initiated, by: &Initiated, times: u64) {
        state.private = grown(state.private, by.private, times);
        state.shared = grown(state.shared, by.shared, times);
    }
}
