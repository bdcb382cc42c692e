//! The longest chain of latencies of a warp in a section.
//!
//! A chain leads from an instruction to the next one of the warp, or to one that waits for its
//! result. It counts the cycles in which the warp waits although nothing is served: the latencies,
//! and the stages that an instruction passes. Cycles in which something issues or is served do not
//! count here; they are part of the load.

use super::code_supply::Entry;
use super::costs::Cost;
use super::fetch::FetchCost;
use crate::operands::{ready, stall, written};
use crate::over_paths::grown;
use warpbound_core::path::Step;
use warpbound_core::program::TimingTable;

/// Stands for the arrival of a line of code that may not have been requested.
const NOT_REQUESTED: u64 = u64::MAX;

/// The chains of a warp, in cycles since its section began.
#[derive(Clone, Debug)]
pub(super) struct Span {
    /// The longest chain up to the issue of the previous instruction.
    issue: u64,
    /// The least number of cycles between it and the next issue, less one: the rest of its stall
    /// count.
    stall: u64,
    /// The longest chain up to the cycle in which the value is available, by register.
    available: Vec<u64>,
    /// The longest chain up to the availability of any value.
    all_available: u64,
    /// The longest chain up to the event that the warp's next instruction waits for regardless of
    /// registers: the end of an atomic operation, or that of everything before a fence.
    held: u64,
    /// The longest chain up to the arrival of each line of code in the cache that keeps it.
    lines: Vec<u64>,
    longest: u64,
    is_first: bool,
}

impl Span {
    /// Creates the chains of a warp that has not begun. `lines` is the number of lines of code that
    /// instruction caches keep.
    pub fn new(table: &TimingTable, lines: usize) -> Self {
        Self {
            issue: 0,
            stall: 0,
            available: vec![0; table.regs()],
            all_available: 0,
            held: 0,
            lines: vec![NOT_REQUESTED; lines],
            longest: 0,
            is_first: true,
        }
    }

    /// Begins a section. What earlier sections have in flight is part of their chains.
    pub fn begin(&mut self) {
        // the stall count of a barrier may end after the release
        self.stall = if self.is_first { 0 } else { self.stall };
        self.lines.iter_mut().filter(|at| **at != NOT_REQUESTED).for_each(|at| *at = 0);
        self.restart();
    }

    /// Begins a section before which this is left of a stall count, and these lines of code were
    /// requested.
    pub fn begin_after(&mut self, stall: u64, requested: &[bool]) {
        self.stall = stall;
        self.lines.fill(NOT_REQUESTED);
        let lines = self.lines.iter_mut().zip(requested);
        lines.filter(|(_, requested)| **requested).for_each(|(at, _)| *at = 0);
        self.restart();
    }

    fn restart(&mut self) {
        (self.issue, self.all_available, self.held, self.longest) = (0, 0, 0, 0);
        self.available.fill(0);
        self.is_first = true;
    }

    /// Returns which lines of code have been requested.
    pub fn requested(&self) -> impl Iterator<Item = bool> + '_ {
        self.lines.iter().map(|&at| at != NOT_REQUESTED)
    }

    /// Returns the rest of the stall count of the previous instruction.
    pub fn stall(&self) -> u64 {
        self.stall
    }

    /// Returns whether no instruction of the section has issued.
    pub fn is_first(&self) -> bool {
        self.is_first
    }

    /// Returns the longest chain of the section so far.
    pub fn longest(&self) -> u64 {
        self.longest
    }

    /// Adds the next instruction, in a case of [`Stays`](super::memory::Stays).
    #[inline(always)]
    pub fn issue(&mut self, table: &TimingTable, step: Step, (cost, case): (&Cost, usize), fetch: FetchCost) {
        let from = if fetch.discards { self.issue.max(self.held) } else { self.issue };
        let mut next = from.saturating_add(fetch.latency.max(self.stall) + cost.room);
        if let Some(entry) = fetch.enters {
            next = next.max(self.enter(entry));
        }
        let issue = ready(table, step, next.max(self.held), |reg| self.available[reg.index()]);
        let after = |latency: u64| issue.saturating_add(latency.saturating_sub(cost.earlier[case]));
        let (read, done) = (issue.saturating_add(cost.read), after(cost.latency));
        written(table, step, (read, done), &mut self.available);
        self.all_available = self.all_available.max(done);
        self.longest = self.longest.max(read).max(done).max(after(cost.acknowledged));
        if cost.holds {
            self.held = self.held.max(done);
        }
        if cost.fences {
            self.held = self.all_available;
        }
        self.issue = issue;
        self.stall = stall(table, step).get() - 1;
        self.is_first = false;
    }

    /// Goes on to a line of code when the previous instruction issues, which requests those lines of the
    /// entry that have not been requested. Returns the longest chain up to the cycle in which the warp
    /// can issue in the line.
    #[inline(never)]
    fn enter(&mut self, entry: Entry) -> u64 {
        let arrival = self.issue.saturating_add(entry.arrival);
        for at in self.lines.get_mut(entry.line..entry.end).into_iter().flatten() {
            if *at == NOT_REQUESTED {
                *at = arrival;
                // the next section finds the line
                self.longest = self.longest.max(arrival);
            }
        }
        let there = self.lines.get(entry.line).map_or(0, |&at| at);
        there.max(self.issue).saturating_add(entry.each)
    }

    /// Replaces each chain by the longer one of both.
    pub fn join(&mut self, other: &Self) {
        let larger = |mine: &mut u64, theirs: &u64| *mine = (*mine).max(*theirs);
        larger(&mut self.issue, &other.issue);
        larger(&mut self.stall, &other.stall);
        larger(&mut self.all_available, &other.all_available);
        larger(&mut self.held, &other.held);
        larger(&mut self.longest, &other.longest);
        self.available.iter_mut().zip(&other.available).for_each(|(mine, theirs)| larger(mine, theirs));
        // a line counts as requested only if both have requested it
        self.lines.iter_mut().zip(&other.lines).for_each(|(mine, theirs)| larger(mine, theirs));
        // the first fetch of a section takes longer
        self.is_first |= other.is_first;
    }

    /// Returns by how much all chains are longer than they were, if that is the same amount. A value
    /// that is available when the last instruction issued may have been available at any time before.
    pub fn growth(&self, after: &Self) -> Option<u64> {
        let alike = self.ahead().eq(after.ahead()) && self.requested().eq(after.requested());
        let is_same = (self.stall, self.is_first) == (after.stall, after.is_first);
        (alike && is_same).then(|| after.issue.checked_sub(self.issue)).flatten()
    }

    /// Makes all chains longer by `by`, this many times.
    pub fn grow(&mut self, by: u64, times: u64) {
        let Self { issue, available, lines, all_available, held, longest, .. } = self;
        let lines = lines.iter_mut().filter(|at| **at != NOT_REQUESTED);
        let chains = available.iter_mut().chain(lines).chain([issue, all_available, held, longest]);
        chains.for_each(|chain| *chain = grown(*chain, by, times));
    }

    /// Returns how much longer chains are than that to the last issue.
    fn ahead(&self) -> impl Iterator<Item = u64> + '_ {
        let lines = self.lines.iter().filter(|at| **at != NOT_REQUESTED);
        let all = self.available.iter().chain(lines);
        let all = all.chain([&self.all_available, &self.held, &self.longest]);
        all.map(|chain| chain.saturating_sub(self.issue))
    }
}
