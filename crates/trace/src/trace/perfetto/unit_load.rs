//! The number of busy instances of each unit, and the number of instructions that wait for it.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::SM;
use super::json::Events;
use crate::trace::Issue;
use warpbound_core::base::Cycle;

/// A change of an instruction's state at its unit. The variants are in the order of changes within
/// one cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Change {
    Waits,
    WaitsNoMore,
    Starts,
    Ends,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Load {
    busy: u32,
    waiting: u32,
}

impl Load {
    fn apply(&mut self, change: Change) {
        match change {
            Change::Waits => self.waiting += 1,
            Change::WaitsNoMore => self.waiting -= 1,
            Change::Starts => self.busy += 1,
            Change::Ends => self.busy -= 1,
        }
    }
}

/// Writes the counters of the units, in the order of time. Changes after the last issue are kept;
/// their number is bounded by the instructions in flight.
#[derive(Default)]
pub(super) struct UnitLoad {
    /// The names of the counters, as JSON.
    names: Vec<String>,
    loads: Vec<Load>,
    written: Vec<Load>,
    ahead: BinaryHeap<Reverse<(Cycle, usize, Change)>>,
}

impl UnitLoad {
    #[inline]
    pub fn new(names: Vec<String>) -> Self {
        let loads = vec![Load::default(); names.len()];
        Self { names, written: loads.clone(), loads, ahead: BinaryHeap::new() }
    }

    /// Adds an instruction. Issue cycles must not descend from call to call.
    pub fn issued(&mut self, issue: &Issue, events: &mut Events<'_>) {
        let unit = issue.unit.index();
        if unit >= self.names.len() {
            return;
        }
        self.advance(issue.issue, events);
        let mut push = |at: Cycle, change| self.ahead.push(Reverse((at, unit, change)));
        if issue.start > issue.issue {
            push(issue.issue, Change::Waits);
            push(issue.start, Change::WaitsNoMore);
        }
        if issue.init_end > issue.start {
            push(issue.start, Change::Starts);
            push(issue.init_end, Change::Ends);
        }
    }

    /// Writes the changes before a cycle.
    #[inline]
    pub fn advance(&mut self, to: Cycle, events: &mut Events<'_>) {
        while let Some(&Reverse((at, ..))) = self.ahead.peek()
            && at < to
        {
            self.cycle(at, events);
        }
    }

    /// Writes all changes of one cycle.
    fn cycle(&mut self, now: Cycle, events: &mut Events<'_>) {
        while let Some(&Reverse((at, unit, _))) = self.ahead.peek()
            && at == now
        {
            while let Some(&Reverse((at, of_unit, change))) = self.ahead.peek()
                && (at, of_unit) == (now, unit)
            {
                self.ahead.pop();
                self.loads[unit].apply(change);
            }
            let Load { busy, waiting } = self.loads[unit];
            if self.loads[unit] != self.written[unit] {
                self.written[unit] = self.loads[unit];
                let args = format_args!(r#""busy":{busy},"waiting":{waiting}"#);
                events.counter(SM, now, &self.names[unit], args);
            }
        }
    }
}
