//! A lone warp whose initiations never overlap: as if all units were one, and an instruction could
//! not issue before the initiation before it is over. [`super::Gsrr`] says what it is good for.

use super::operands::{waits, writes};
use crate::base::Cycles;
use crate::machine::OpTiming;
use crate::path::Step;
use crate::program::TimingTable;

/// The state of such a warp, in time since its first section began. Sections follow each other
/// without a break, so that nothing has to be cleared: whatever was written before is available.
#[derive(Clone, Debug)]
pub(super) struct Serial {
    begin: u64,
    /// End of the last initiation.
    free: u64,
    latest_done: u64,
    available: Vec<u64>,
}

/// Times beyond this are taken back to zero between two sections.
const REWIND: u64 = 1 << 62;

impl Serial {
    pub(super) fn new(table: &TimingTable) -> Self {
        Self { begin: 0, free: 0, latest_done: 0, available: vec![0; table.regs()] }
    }

    /// Begins a section, with nothing in flight.
    pub(super) fn begin(&mut self) {
        self.begin = self.free.max(self.latest_done);
        if self.begin > REWIND {
            self.available.fill(0);
            self.begin = 0;
        }
        self.free = self.begin;
        self.latest_done = self.begin;
    }

    /// The next instruction.
    pub(super) fn issue(&mut self, table: &TimingTable, step: Step, op: OpTiming) {
        let ready = waits(table, step).map(|reg| self.available[reg.index()]);
        let start = ready.fold(self.free, u64::max);
        self.free = start + op.init.get();
        let done = self.free + op.lat.get();
        self.latest_done = self.latest_done.max(done);
        for reg in writes(table, step) {
            self.available[reg.index()] = done;
        }
    }

    /// When the last initiation of the section ended, and when everything was done.
    pub(super) fn end(&self) -> (Cycles, Cycles) {
        (Cycles::new(self.free - self.begin), Cycles::new(self.latest_done - self.begin))
    }
}
