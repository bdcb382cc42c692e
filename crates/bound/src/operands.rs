//! What the analyses read of an instruction: its timing, the registers that it waits for and those
//! that it writes. No other code of this crate determines them; callers differ only in what they
//! record about the availability of the values.

use warpbound_core::base::{Cycles, RegId};
use warpbound_core::machine::{Hazards, OpTiming};
use warpbound_core::path::Step;
use warpbound_core::program::{BarrierId, Barriers, Codes, Flow, TimingTable};

/// Returns the unit, initiation interval and latency of one execution. Results that are written
/// back later count as a longer latency.
#[inline(always)]
pub(super) fn timing(table: &TimingTable, step: Step) -> OpTiming {
    let op = table.op(step);
    OpTiming { lat: op.lat + table.write_back(), ..op }
}

/// Returns the registers that must be available before the step can issue: its sources, its
/// destinations if the machine checks write-after-write hazards, and the pseudo-register of an
/// asynchronous copy.
#[inline(always)]
pub(super) fn waits(table: &TimingTable, step: Step) -> impl Iterator<Item = RegId> + '_ {
    let instr = table.instr(step.pc());
    let checks_waw = table.hazards().contains(Hazards::WAW);
    let dsts = if checks_waw { instr.dsts.as_slice() } else { &[] };
    let ring = instr.flow == Flow::AsyncWait || checks_waw && instr.flow == Flow::AsyncCopy;
    let ring = if ring { table.async_reg(step) } else { None };
    instr.srcs.as_slice().iter().chain(dsts).copied().chain(ring)
}

/// Returns when everything that the step waits for is available, but no earlier than `from`.
#[inline(always)]
pub(super) fn ready<T: Ord>(table: &TimingTable, step: Step, from: T, available: impl Fn(RegId) -> T) -> T {
    waits(table, step).map(available).fold(from, T::max)
}

/// Returns the registers that become available when the step is done: none if no instruction waits
/// for its result.
#[inline]
pub(super) fn writes(table: &TimingTable, step: Step) -> impl Iterator<Item = RegId> + '_ {
    let instr = table.instr(step.pc());
    let ring = if instr.flow == Flow::AsyncCopy { table.async_reg(step) } else { None };
    let dsts = if instr.unscored { &[] } else { instr.dsts.as_slice() };
    let ring = ring.filter(|_| !instr.unscored);
    dsts.iter().copied().chain(ring)
}

/// Returns how long after the issue of this step the warp may issue its next instruction.
#[inline]
pub(super) fn stall(table: &TimingTable, step: Step) -> Cycles {
    Cycles::new(u64::from(table.instr(step.pc()).codes.stall.max(1)))
}

/// Records when the results of the step become available. Each register that it writes becomes
/// available at `done`. Each barrier that its control codes name becomes available at `read` (the
/// end of its initiation) or at `done`, but not before everything that signalled the barrier
/// earlier has completed.
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

/// Records the barriers of control codes. Few machines have them, so this code is kept out of line.
#[cold]
#[inline(never)]
fn signalled<T: Copy + Ord>(barriers: Barriers, codes: Codes, (read, done): (T, T), available: &mut [T]) {
    let of_copies = barriers.of_copies();
    for (barrier, at) in [(codes.read, read), (codes.done, done)] {
        let Some(barrier) = barrier else { continue };
        let at = if barrier == BarrierId::OF_COPIES { at.max(available[of_copies]) } else { at };
        let of_barrier = &mut available[barriers.of_barrier(barrier)];
        let last = of_barrier.len() - 1;
        let all = of_barrier[0].max(at);
        // all but the last n signals have completed when all signals before them have
        of_barrier.copy_within(..last, 1);
        of_barrier[0] = all;
    }
    if codes.copies {
        available[of_copies] = available[of_copies].max(done);
    }
}
