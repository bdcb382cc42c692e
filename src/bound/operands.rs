//! Which registers an execution waits for and which it writes.

use crate::base::RegId;
use crate::machine::Hazards;
use crate::path::Step;
use crate::program::{Flow, TimingTable};

/// Registers that must be available before the step can issue: its sources, its destinations where
/// the machine checks write-after-write hazards, and the pseudo-register of an asynchronous copy.
pub(super) fn waits(table: &TimingTable, step: Step) -> impl Iterator<Item = RegId> + '_ {
    let instr = table.instr(step.pc());
    let checks_waw = table.hazards().contains(Hazards::WAW);
    let dsts = if checks_waw { instr.dsts.as_slice() } else { &[] };
    let ring = instr.flow == Flow::AsyncWait || checks_waw && instr.flow == Flow::AsyncCopy;
    let ring = if ring { table.async_reg(step) } else { None };
    instr.srcs.as_slice().iter().chain(dsts).copied().chain(ring)
}

/// Registers that become available when the step is done.
pub(super) fn writes(table: &TimingTable, step: Step) -> impl Iterator<Item = RegId> + '_ {
    let instr = table.instr(step.pc());
    let ring = if instr.flow == Flow::AsyncCopy { table.async_reg(step) } else { None };
    instr.dsts.as_slice().iter().copied().chain(ring)
}
