//! How many requests of a warp can wait for memory at the same time.

use crate::operands::{waits, writes};
use warpbound_core::path::Step;
use warpbound_core::program::TimingTable;

/// The loads and atomics of a warp that may not have been answered. It follows the path alone: an
/// instruction that waits for a register issues after the load of that register is complete.
#[derive(Clone, Debug)]
pub(in crate::pipelined) struct Outstanding {
    /// For each register, one more than the index of its latest load in `loads`, or 0.
    of_reg: Vec<usize>,
    /// The requests of the loads that may not have been answered.
    loads: Vec<u64>,
    now: u64,
    most: u64,
}

impl Outstanding {
    pub fn new(table: &TimingTable) -> Self {
        Self { of_reg: vec![0; table.regs()], loads: Vec::new(), now: 0, most: 0 }
    }

    /// Begins a warp.
    pub fn begin(&mut self) {
        self.of_reg.fill(0);
        self.loads.clear();
        (self.now, self.most) = (0, 0);
    }

    /// Returns the largest number of requests that can wait at the same time.
    pub fn most(&self) -> u64 {
        self.most
    }

    /// Adds the warp's next instruction, which sends this many loads or atomics.
    pub fn issue(&mut self, table: &TimingTable, step: Step, requests: u64) {
        // with control codes, no instruction waits for a register
        if table.barriers().is_none() {
            for reg in waits(table, step) {
                let load = std::mem::take(&mut self.of_reg[reg.index()]);
                if let Some(answered) = load.checked_sub(1).and_then(|index| self.loads.get_mut(index)) {
                    self.now -= std::mem::take(answered);
                }
            }
        }
        if requests == 0 {
            return;
        }
        self.loads.push(requests);
        for reg in writes(table, step) {
            self.of_reg[reg.index()] = self.loads.len();
        }
        self.now += requests;
        self.most = self.most.max(self.now);
    }
}
