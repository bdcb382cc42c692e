//! Which registers an execution waits for and which it writes: the one place in this layer that says so,
//! whatever a caller knows of when their values are available.

use crate::base::RegId;
use crate::machine::Hazards;
use crate::path::Step;
use crate::program::{Flow, TimingTable};

/// Registers that must be available before the step can issue: its sources, its destinations where
/// the machine checks write-after-write hazards, and the pseudo-register of an asynchronous copy.
#[inline]
pub(super) fn waits(table: &TimingTable, step: Step) -> impl Iterator<Item = RegId> + '_ {
    let instr = table.instr(step.pc());
    let checks_waw = table.hazards().contains(Hazards::WAW);
    let dsts = if checks_waw { instr.dsts.as_slice() } else { &[] };
    let ring = instr.flow == Flow::AsyncWait || checks_waw && instr.flow == Flow::AsyncCopy;
    let ring = if ring { table.async_reg(step) } else { None };
    instr.srcs.as_slice().iter().chain(dsts).copied().chain(ring)
}

/// When everything that the step waits for is available, but not before `from`.
#[inline]
pub(super) fn ready<T: Ord>(table: &TimingTable, step: Step, from: T, available: impl Fn(RegId) -> T) -> T {
    waits(table, step).map(available).fold(from, T::max)
}

/// Registers that become available when the step is done.
#[inline]
pub(super) fn writes(table: &TimingTable, step: Step) -> impl Iterator<Item = RegId> + '_ {
    let instr = table.instr(step.pc());
    let ring = if instr.flow == Flow::AsyncCopy { table.async_reg(step) } else { None };
    instr.dsts.as_slice().iter().copied().chain(ring)
}
