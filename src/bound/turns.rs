//! A section whose instructions issue in strict turns. [`super::Srr`] says what it is good for.

use super::operands::{waits, writes};
use crate::base::Cycles;
use crate::path::Step;
use crate::program::TimingTable;

/// Merges the warps of a section in the order of strict round robin and lets the result issue in
/// that order from an empty machine.
#[derive(Clone, Debug)]
pub(super) struct Turns {
    /// The warp whose turn is next.
    turn: usize,
    /// By warp, then register, in time since the section began.
    available: Vec<u64>,
    free: Vec<u64>,
    /// Warps that have an instruction left, and which.
    in_turn: Vec<(usize, usize)>,
}

impl Turns {
    pub(super) fn new(table: &TimingTable) -> Self {
        Self { turn: 0, available: Vec::new(), free: vec![0; table.units()], in_turn: Vec::new() }
    }

    /// Begins a block of this many warps.
    pub(super) fn restart(&mut self, warps: usize) {
        self.turn = 0;
        self.in_turn.clear();
        self.in_turn.reserve(warps);
    }

    /// How long the next section takes, given the steps of each warp.
    pub(super) fn section(&mut self, table: &TimingTable, steps: &[&[Step]]) -> Cycles {
        let regs = table.regs();
        self.available.clear();
        self.available.resize(regs * steps.len(), 0);
        self.free.fill(0);
        // in the order of turns, beginning with the warp that has it
        self.in_turn.clear();
        let (before, from) = (0..self.turn.min(steps.len()), self.turn.min(steps.len())..steps.len());
        self.in_turn.extend(from.chain(before).map(|warp| (warp, 0)));
        let (mut now, mut end) = (0, 0);
        while !self.in_turn.is_empty() {
            let mut kept = 0;
            for place in 0..self.in_turn.len() {
                let (warp, index) = self.in_turn[place];
                let Some(&step) = steps[warp].get(index).filter(|&&step| table.issues(step)) else {
                    continue;
                };
                let op = table.op(step);
                let available = &mut self.available[warp * regs..][..regs];
                let issue = waits(table, step).map(|reg| available[reg.index()]).fold(now, u64::max);
                let start = issue.max(self.free[op.unit.index()]);
                self.free[op.unit.index()] = start + op.init.get();
                let done = start + (op.init + op.lat).get();
                for reg in writes(table, step) {
                    available[reg.index()] = done;
                }
                now = issue + 1;
                end = end.max(done);
                self.turn = warp + 1;
                self.in_turn[kept] = (warp, index + 1);
                kept += 1;
            }
            self.in_turn.truncate(kept);
        }
        Cycles::new(end)
    }
}
