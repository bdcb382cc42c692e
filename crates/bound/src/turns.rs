//! The execution of a section whose instructions issue in strict turns, sub-core by sub-core.
//! [`super::Srr`] explains its use.

use super::operands::{ready, timing, written};
use warpbound_core::base::Cycles;
use warpbound_core::machine::SubCores;
use warpbound_core::path::Step;
use warpbound_core::program::TimingTable;

/// Merges the instructions of a section's warps in the order of strict round robin and lets the
/// result issue in that order from an empty machine.
#[derive(Clone, Debug)]
pub(super) struct Turns {
    /// The warp id from which the next turn is searched, by sub-core: the turn belongs to the first
    /// warp of the sub-core from this id on, in circular order of warp ids.
    turn: [usize; SubCores::MAX],
    /// The cycle since the section began in which each register becomes available, by warp, then
    /// register.
    available: Vec<u64>,
    free: Vec<u64>,
    /// The warps that have an instruction left, each with the index of that instruction.
    in_turn: Vec<(usize, usize)>,
}

impl Turns {
    pub(super) fn new(table: &TimingTable) -> Self {
        Self {
            turn: [0; SubCores::MAX],
            available: Vec::new(),
            free: vec![0; table.units()],
            in_turn: Vec::new(),
        }
    }

    /// Begins a block of this many warps.
    pub(super) fn restart(&mut self, warps: usize) {
        self.turn = [0; SubCores::MAX];
        self.in_turn.clear();
        self.in_turn.reserve(warps);
    }

    /// Returns how many cycles the next section takes on each sub-core, given the steps of each
    /// warp.
    pub(super) fn section(&mut self, table: &TimingTable, steps: &[&[Step]]) -> [Cycles; SubCores::MAX] {
        let mut by_core = [Cycles::ZERO; SubCores::MAX];
        for (core, cycles) in by_core.iter_mut().enumerate().take(table.sub_cores().count()) {
            *cycles = self.on_sub_core(core, table, steps);
        }
        by_core
    }

    fn on_sub_core(&mut self, core: usize, table: &TimingTable, steps: &[&[Step]]) -> Cycles {
        let regs = table.regs();
        self.available.clear();
        self.available.resize(regs * steps.len(), 0);
        self.free.fill(0);
        // the order of turns, beginning with the warp whose turn it is
        self.in_turn.clear();
        let turn = self.turn[core].min(steps.len());
        let own = |warp: &usize| table.sub_cores().of_slot(*warp) == core;
        self.in_turn.extend((turn..steps.len()).chain(0..turn).filter(own).map(|warp| (warp, 0)));
        let (mut now, mut end) = (0, 0);
        while !self.in_turn.is_empty() {
            let mut kept = 0;
            for place in 0..self.in_turn.len() {
                let (warp, index) = self.in_turn[place];
                let Some(&step) = steps[warp].get(index).filter(|&&step| table.issues(step)) else {
                    continue;
                };
                let op = timing(table, step);
                let available = &mut self.available[warp * regs..][..regs];
                let issue = ready(table, step, now, |reg| available[reg.index()]);
                let start = issue.max(self.free[op.unit.index()]);
                self.free[op.unit.index()] = start + op.init.get();
                let done = start + (op.init + op.lat).get();
                written(table, step, (start + op.init.get(), done), available);
                now = issue + 1;
                end = end.max(done);
                self.turn[core] = warp + 1;
                self.in_turn[kept] = (warp, index + 1);
                kept += 1;
            }
            self.in_turn.truncate(kept);
        }
        Cycles::new(end)
    }
}

#[cfg(test)]
mod tests {
    use crate::Analyser;
    use crate::for_tests::{block, plain, table};
    use warpbound_core::base::{Cycles, WarpId};

    #[test]
    fn warp_0_has_the_first_turn_of_every_block() {
        let table = table(&[plain(1, 0, &[], &[]), plain(1, 10, &[], &[])]);
        let mut analyser = Analyser::new(&table).in_turns();
        // the second block is analysed after a block whose last instruction was warp 0's
        for _ in 0..2 {
            let analysis = analyser.block(&block(&[&[1, 1], &[2]]));
            // warp 1 issues in cycle 1 and is done 11 cycles later
            assert_eq!(analysis.sections[0].in_turns(WarpId::new(1)), Some(Cycles::new(12)));
        }
    }
}
