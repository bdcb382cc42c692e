//! Control codes of machine code as timing takes them, in place of a scoreboard of registers.
//!
//! A barrier counts: an instruction that signals it adds one when it issues, and takes it away once its sources are read or
//! its result is there. Who waits for a barrier waits until the count is zero, `DEPBAR.LE` until it is small enough. Those
//! that signal a barrier are taken to end in the order in which they issued, for `DEPBAR.LE` has no meaning otherwise. So a
//! barrier looks like registers, behind those of the program: the first is available when all that signalled are through,
//! the second when all but the last one are, and so on, as many as the program asks for.

use std::ops::Range;

use super::{Instr, MachineCode, RegList};
use crate::base::RegId;

/// What the control codes of an instruction ask of the scheduler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Codes {
    /// Cycles from its issue until the warp may issue its next instruction. 0: in the same cycle, where the machine
    /// can; elsewhere as 1.
    pub stall: u8,
    /// Another warp should issue next, if one can.
    pub yields: bool,
    /// The barrier that is signalled once its sources are read.
    pub read: Option<BarrierId>,
    /// The barrier that is signalled once its result is there.
    pub done: Option<BarrierId>,
}

/// One of a warp's barriers for results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct BarrierId(u8);

impl Default for Codes {
    /// Those of an instruction that says nothing.
    fn default() -> Self {
        Self { stall: 1, yields: false, read: None, done: None }
    }
}

/// Where the registers are that stand for a warp's barriers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Barriers {
    first: usize,
    /// For each barrier.
    depth: usize,
}

impl BarrierId {
    /// Barriers of a warp.
    pub const COUNT: usize = 6;

    /// One of those that there are.
    pub fn new(number: u8) -> Option<Self> {
        (usize::from(number) < Self::COUNT).then_some(Self(number))
    }

    /// Its number.
    pub fn index(self) -> usize {
        usize::from(self.0)
    }
}

impl Barriers {
    /// Those of machine code, behind so many registers.
    pub(super) fn of(code: &MachineCode, first: usize) -> Self {
        let left = |coded: &super::Coded| coded.drains.map_or(0, |(_, left)| usize::from(left));
        Self { first, depth: 1 + code.instructions.iter().map(left).max().unwrap_or(0) }
    }

    /// Registers of all of them.
    pub(super) fn regs(self) -> usize {
        BarrierId::COUNT * self.depth
    }

    /// The registers of one.
    pub fn of_barrier(self, barrier: BarrierId) -> Range<usize> {
        let start = self.first + barrier.index() * self.depth;
        start..start + self.depth
    }

    /// The barrier that a register belongs to, and how many of those that signal it may still be under way where
    /// that register is available.
    pub fn barrier(self, reg: RegId) -> (BarrierId, usize) {
        let place = reg.index() - self.first;
        (BarrierId((place / self.depth) as u8), place % self.depth)
    }

    /// The registers that an instruction waits for, and what it asks of the scheduler.
    pub(super) fn read(self, code: &MachineCode, instr: &Instr) -> (RegList, Codes) {
        let Some(coded) = code.of(instr) else { return (RegList::new(), Codes::default()) };
        let control = coded.control;
        let named = |barrier: Option<u8>| barrier.and_then(BarrierId::new);
        let mask = control.wait | coded.waits;
        let all = (0..BarrierId::COUNT as u8).filter(|barrier| mask >> barrier & 1 != 0);
        let all = all.filter_map(BarrierId::new).map(|barrier| self.of_barrier(barrier).start);
        let some = coded.drains.and_then(|(barrier, left)| {
            Some(self.of_barrier(BarrierId::new(barrier)?).start + usize::from(left))
        });
        let waits = all.chain(some).map(RegId::from_index).collect();
        let codes = Codes {
            stall: control.stall,
            yields: !control.stay,
            read: named(control.read_barrier),
            done: named(control.write_barrier),
        };
        (waits, codes)
    }
}
