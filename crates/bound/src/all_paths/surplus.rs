//! The time that a lone warp takes, over all paths, beyond the initiations of its instructions,
//! which [`Rbb`](crate::Rbb) needs.

use crate::operands::{ready, timing, writes};
use crate::over_paths::{Growth, Measure};
use warpbound_core::path::{Accessed, Step};
use warpbound_core::program::{Flow, TimingTable};

/// Measures the instants of a lone warp, less the initiations of the instructions that it has
/// issued in the section so far. Sections begin with nothing in flight.
pub(super) struct Surplus<'t>(pub(super) &'t TimingTable);

/// The state of a warp. All instants are reduced by the initiations issued so far.
#[derive(Clone, Debug)]
pub(super) struct ReducedInstants {
    /// The earliest cycle in which the next instruction may issue.
    next: i64,
    /// The cycle in which the register's value becomes available, by register.
    available: Vec<i64>,
    /// The cycle in which the unit becomes free, by unit.
    free: Vec<i64>,
    /// The cycle in which everything is done.
    done: i64,
    /// The largest `done` of the sections that ended within a part; `None` if none did.
    ended: Option<i64>,
    /// The largest issue of all.
    ahead: i64,
    /// The largest number of barriers so far.
    barriers: u64,
}

impl ReducedInstants {
    /// Returns the largest C - S of a section, including the current one.
    pub(super) fn largest(&self) -> i64 {
        self.ended.map_or(self.done, |ended| ended.max(self.done))
    }

    /// Returns the largest number of cycles by which an issue comes after the initiations of
    /// everything issued before it, at least 0.
    pub(super) fn ahead(&self) -> i64 {
        self.ahead
    }

    /// Returns what may matter later, as times relative to when the next instruction may issue. An
    /// instant before that time counts as zero, because its exact value does not matter.
    fn later(&self) -> impl Iterator<Item = i64> + '_ {
        let all = self.available.iter().chain(&self.free).chain(std::iter::once(&self.done));
        all.map(|&instant| instant.saturating_sub(self.next).max(0))
    }

    /// Calls `change` for every instant of the section.
    fn each(&mut self, mut change: impl FnMut(&mut i64)) {
        let all = self.available.iter_mut().chain(&mut self.free);
        all.chain([&mut self.next, &mut self.done]).for_each(&mut change);
    }
}

impl Surplus<'_> {
    /// Returns the state at the beginning of a section.
    pub(super) fn begin(&self) -> ReducedInstants {
        ReducedInstants {
            next: 0,
            available: vec![0; self.0.regs()],
            free: vec![0; self.0.units()],
            done: 0,
            ended: None,
            ahead: 0,
            barriers: 0,
        }
    }
}

impl Measure for Surplus<'_> {
    type State = ReducedInstants;
    type Growth = Growth;

    fn step(&self, state: &mut ReducedInstants, step: Step, _: Accessed) {
        let table = self.0;
        if !table.issues(step) {
            return;
        }
        let op = timing(table, step);
        let (init, lat) = (signed(op.init.get()), signed(op.lat.get()));
        let free = &mut state.free[op.unit.index()];
        let ready = ready(table, step, state.next, |reg| state.available[reg.index()]);
        let start = ready.max(*free);
        // if queues are bounded, a unit takes an instruction only when it is free
        let issue = if table.bounded_queues() { start } else { ready };
        *free = start.saturating_add(init);
        let done = free.saturating_add(lat);
        for reg in writes(table, step) {
            state.available[reg.index()] = done;
        }
        state.next = issue.saturating_add(1);
        state.done = state.done.max(done);
        state.ahead = state.ahead.max(issue);
        state.each(|instant| *instant = instant.saturating_sub(init));
        if table.instr(step.pc()).flow == Flow::Barrier {
            *state = ReducedInstants {
                ended: Some(state.largest()),
                ahead: state.ahead,
                barriers: state.barriers.saturating_add(1),
                ..self.begin()
            };
        }
    }

    fn join(&self, state: &mut ReducedInstants, other: &ReducedInstants) {
        let larger = |mine: &mut i64, theirs: &i64| *mine = (*mine).max(*theirs);
        larger(&mut state.next, &other.next);
        larger(&mut state.done, &other.done);
        larger(&mut state.ahead, &other.ahead);
        state.ended = state.ended.max(other.ended);
        state.barriers = state.barriers.max(other.barriers);
        state.available.iter_mut().zip(&other.available).for_each(|(mine, theirs)| larger(mine, theirs));
        state.free.iter_mut().zip(&other.free).for_each(|(mine, theirs)| larger(mine, theirs));
    }

    fn growth(&self, before: &ReducedInstants, after: &ReducedInstants) -> Option<Growth> {
        let growth = Growth::from(after.next) - Growth::from(before.next);
        let linear = growth >= 0 || before.barriers == after.barriers;
        (linear && before.later().eq(after.later())).then_some(growth)
    }

    fn grow(&self, state: &mut ReducedInstants, by: &Growth, times: u64) {
        let by = by.saturating_mul(times.into());
        let by = i64::try_from(by).unwrap_or(if by < 0 { i64::MIN } else { i64::MAX });
        state.each(|instant| *instant = instant.saturating_add(by));
    }
}

fn signed(cycles: u64) -> i64 {
    i64::try_from(cycles).unwrap_or(i64::MAX)
}
