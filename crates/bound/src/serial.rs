//! A lone warp on units without queues: an instruction does not issue before its unit has ended the
//! previous initiation. If all units are treated as one, no two initiations overlap:
//! [`super::Gsrr`] explains the use of that. If each unit counts for itself, the times are those
//! that machines with bounded queues need: see [`super::proofs::iwb`], section "Bounded queues".

use super::operands::{ready, stall, written};
use warpbound_core::base::Cycles;
use warpbound_core::machine::OpTiming;
use warpbound_core::path::Step;
use warpbound_core::program::{Flow, TimingTable};

/// Two times of a warp that runs a section alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LoneTimes {
    /// The latest `done`.
    pub isolated: Cycles,
    /// See [`WarpSection::ahead`](super::WarpSection::ahead).
    pub ahead: Cycles,
}

/// The state of a lone warp on units without queues, in cycles since its first section began.
/// Sections follow each other without a gap, so that nothing has to be cleared: every value that an
/// earlier section wrote is available.
#[derive(Clone, Debug)]
pub(super) struct Serial {
    begin: u64,
    /// The earliest cycle in which the issue slot lets the next instruction issue.
    next: u64,
    /// The end of the last initiation, by unit; a single entry if all units are treated as one.
    free: Vec<u64>,
    /// The end of the latest initiation on any unit.
    last_end: u64,
    /// The sum of the initiations of the section so far.
    inits: u64,
    /// The largest number of cycles by which an issue of the section comes after the initiations of
    /// all instructions before it.
    ahead: u64,
    latest_done: u64,
    available: Vec<u64>,
}

/// Instants beyond this limit are reset to zero between two sections.
const REWIND: u64 = 1 << 62;

impl Serial {
    /// Creates the state in which all units are treated as one.
    pub(super) fn as_one(table: &TimingTable) -> Self {
        Self::new(table, 1)
    }

    /// Creates the state in which each unit counts for itself.
    pub(super) fn by_unit(table: &TimingTable) -> Self {
        Self::new(table, table.units())
    }

    fn new(table: &TimingTable, units: usize) -> Self {
        Self {
            begin: 0,
            next: 0,
            free: vec![0; units],
            last_end: 0,
            inits: 0,
            ahead: 0,
            latest_done: 0,
            available: vec![0; table.regs()],
        }
    }

    /// Begins a section with nothing in flight.
    pub(super) fn begin(&mut self) {
        self.begin = self.last_end.max(self.latest_done);
        if self.begin > REWIND {
            self.available.fill(0);
            self.free.fill(0);
            self.begin = 0;
        }
        self.next = self.begin;
        (self.inits, self.ahead) = (0, 0);
        self.last_end = self.begin;
        self.latest_done = self.begin;
    }

    /// Issues the next instruction.
    pub(super) fn issue(&mut self, table: &TimingTable, step: Step, op: OpTiming) {
        let unit = if self.free.len() == 1 { 0 } else { op.unit.index() };
        let from = self.free[unit].max(self.next);
        let start = ready(table, step, from, |reg| self.available[reg.index()]);
        let end = start + op.init.get();
        let done = end + op.lat.get();
        self.ahead = self.ahead.max((start - self.begin).saturating_sub(self.inits));
        self.inits += op.init.get();
        self.next = start + stall(table, step).get();
        self.free[unit] = end;
        self.last_end = self.last_end.max(end);
        self.latest_done = self.latest_done.max(done);
        if table.instr(step.pc()).flow == Flow::Barrier {
            // the stall count of the barrier extends into the section after it
            self.latest_done = self.latest_done.max(self.next);
        }
        written(table, step, (end, done), &mut self.available);
    }

    /// Returns when everything of the section is done, and how far an issue comes after the
    /// initiations before it.
    pub(super) fn lone(&self) -> LoneTimes {
        LoneTimes { isolated: self.end().1, ahead: Cycles::new(self.ahead) }
    }

    /// Returns when the last initiation of the section ends and when everything is done, in cycles
    /// since the start of the section.
    pub(super) fn end(&self) -> (Cycles, Cycles) {
        (Cycles::new(self.last_end - self.begin), Cycles::new(self.latest_done - self.begin))
    }
}

#[cfg(test)]
mod tests {
    use crate::analyse_block;
    use crate::for_tests::{barrier, block, plain, table};

    #[test]
    fn a_section_begins_with_nothing_in_flight() {
        let table = table(&[plain(1, 10, &[0], &[]), barrier(), plain(4, 3, &[], &[0])]);
        let analysis = analyse_block(&table, &block(&[&[1, 2, 3]]));
        let times = analysis.sections.iter().map(|section| {
            let warp = section.warps()[0];
            (warp.serial.get(), warp.serial_end.get())
        });
        // the first instruction and the barrier initiate in 2 cycles, and all is done after 11; the
        // section after the barrier takes the initiation and the latency of its only instruction
        assert_eq!(times.collect::<Vec<_>>(), [(2, 11), (4, 7)]);
    }
}
