//! The control codes of machine code in the form that timing uses, in place of a scoreboard of
//! registers.
//!
//! A barrier is a counter. An instruction that signals it increments it on issue and decrements it
//! once its sources are read or its result is written. An instruction that waits for a barrier
//! waits until the counter is zero; `DEPBAR.LE` waits until it is small enough. Instructions that
//! signal the same barrier are assumed to complete in the order of issue, since `DEPBAR.LE` has no
//! meaning otherwise. A barrier can therefore be modelled by registers that are numbered after
//! those of the program. The first register is available when all instructions that signalled the
//! barrier have completed, and the second one when all but the last have completed. There are as
//! many registers as the program needs.
//!
//! An asynchronous copy signals nothing itself. `LDGDEPBAR` behind it signals a barrier when all
//! copies before it are done, and `DEPBAR.LE` waits for that. One more register is available when
//! all copies that have issued are done.

use std::ops::Range;

use super::{Flow, Instr, MachineCode, RegList};
use crate::base::RegId;

/// The requests that the control codes of an instruction make to the scheduler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Codes {
    /// The number of cycles from the instruction's issue until the warp may issue its next
    /// instruction. 0 means the same cycle on machines with dual issue; on others it means 1.
    pub stall: u8,
    /// Whether another warp should issue next, if one can.
    pub yields: bool,
    /// The barrier that is signalled once the instruction's sources are read.
    pub read: Option<BarrierId>,
    /// The barrier that is signalled once the instruction's result is written.
    pub done: Option<BarrierId>,
    /// Whether the instruction copies asynchronously, so that later signals of
    /// [`BarrierId::OF_COPIES`] do not come before it is done.
    pub copies: bool,
}

/// One of a warp's dependence barriers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct BarrierId(u8);

impl Default for Codes {
    /// Returns the codes of an instruction that has none.
    fn default() -> Self {
        Self { stall: 1, yields: false, read: None, done: None, copies: false }
    }
}

/// The pseudo-registers that represent a warp's dependence barriers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Barriers {
    first: usize,
    /// The number of registers per barrier.
    depth: usize,
}

impl BarrierId {
    /// The number of barriers of a warp.
    pub const COUNT: usize = 6;

    /// The barrier that `LDGDEPBAR` signals: in the code of compilers it is always this one.
    pub const OF_COPIES: Self = Self(0);

    /// Returns the barrier with this number, or `None` if there is none.
    pub fn new(number: u8) -> Option<Self> {
        (usize::from(number) < Self::COUNT).then_some(Self(number))
    }

    /// Returns the barrier's number.
    pub fn index(self) -> usize {
        usize::from(self.0)
    }
}

impl Barriers {
    /// Returns the barriers of machine code; their registers start at `first`.
    pub(super) fn of(code: &MachineCode, first: usize) -> Self {
        let in_flight = |coded: &super::Coded| coded.drains.map_or(0, |(_, left)| usize::from(left));
        Self { first, depth: 1 + code.instructions.iter().map(in_flight).max().unwrap_or(0) }
    }

    /// Returns the total number of registers.
    pub(super) fn regs(self) -> usize {
        BarrierId::COUNT * self.depth + 1
    }

    /// Returns the index of the register that is available when all asynchronous copies are done.
    pub fn of_copies(self) -> usize {
        self.first + BarrierId::COUNT * self.depth
    }

    /// Returns the indices of the registers of one barrier.
    pub fn of_barrier(self, barrier: BarrierId) -> Range<usize> {
        let start = self.first + barrier.index() * self.depth;
        start..start + self.depth
    }

    /// Returns the barrier that a register belongs to, and the maximum number of instructions that
    /// signal it and may still be in flight when that register is available.
    pub fn barrier(self, reg: RegId) -> (BarrierId, usize) {
        let place = reg.index() - self.first;
        (BarrierId((place / self.depth) as u8), place % self.depth)
    }

    /// Returns the registers that an instruction waits for, and its requests to the scheduler.
    pub(super) fn read(self, code: &MachineCode, instr: &Instr) -> (RegList, Codes) {
        let Some(coded) = code.of(instr) else { return (RegList::new(), Codes::default()) };
        let control = coded.control;
        let barrier_id = |barrier: Option<u8>| barrier.and_then(BarrierId::new);
        let mask = control.wait | coded.waits;
        let all = (0..BarrierId::COUNT as u8).filter(|barrier| mask >> barrier & 1 != 0);
        let all = all.filter_map(BarrierId::new).map(|barrier| self.of_barrier(barrier).start);
        let drained = coded.drains.and_then(|(barrier, in_flight)| {
            Some(self.of_barrier(BarrierId::new(barrier)?).start + usize::from(in_flight))
        });
        let waits = all.chain(drained).map(RegId::from_index).collect();
        let codes = Codes {
            stall: control.stall,
            yields: !control.stay,
            read: barrier_id(control.read_barrier),
            done: barrier_id(control.write_barrier),
            copies: instr.flow == Flow::AsyncCopy,
        };
        (waits, codes)
    }
}
