//! Which registers an execution waits for and which it writes: the one place in this layer that says so,
//! whatever a caller knows of when their values are available.

use crate::base::{Cycles, RegId};
use crate::machine::Hazards;
use crate::path::Step;
use crate::program::{Barriers, Codes, Flow, TimingTable};

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

/// How long after its issue the warp may issue its next instruction.
#[inline]
pub(super) fn stall(table: &TimingTable, step: Step) -> Cycles {
    Cycles::new(u64::from(table.instr(step.pc()).codes.stall.max(1)))
}

/// Notes when what the step writes is available, by register: at `done`; and the barriers that its control codes name, when
/// everything that signalled them before is through too: at `read`, the end of its initiation, or at `done`.
#[inline]
pub(super) fn written<T: Copy + Ord>(
    table: &TimingTable,
    step: Step,
    (read, done): (T, T),
    available: &mut [T],
) {
    for reg in writes(table, step) {
        available[reg.index()] = done;
    }
    if let Some(barriers) = table.barriers() {
        signalled(barriers, table.instr(step.pc()).codes, (read, done), available);
    }
}

/// The barriers' part, which few machines have: out of the way of the others.
#[cold]
#[inline(never)]
fn signalled<T: Copy + Ord>(barriers: Barriers, codes: Codes, (read, done): (T, T), available: &mut [T]) {
    for (barrier, at) in [(codes.read, read), (codes.done, done)] {
        let Some(barrier) = barrier else { continue };
        let of_barrier = &mut available[barriers.of_barrier(barrier)];
        let last = of_barrier.len() - 1;
        let all = of_barrier[0].max(at);
        // all but one are through when all of those before it were
        of_barrier.copy_within(..last, 1);
        of_barrier[0] = all;
    }
}
