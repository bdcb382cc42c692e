//! The timing table, packed for the engines' inner loops.

use crate::base::Few;
use crate::machine::Hazards;
use crate::path::{Step, WarpPath};
use crate::program::{Flow, TimingTable};

/// What the engine needs of an instruction, in one cache line.
#[derive(Clone, Debug)]
pub(super) struct Op {
    /// Cycles the initiation occupies the unit.
    pub init: u64,
    /// Cycles from start to done.
    pub total: u64,
    /// Registers that must be available (sources, and destinations where hazards include WAW), then
    /// registers written. All but matrix instructions and calls have their lists in place.
    regs: Few<u16, 17>,
    waits: u8,
    pub unit: u8,
    /// Whether timing or registers depend on the step, or the warp may have to wait for others.
    pub special: bool,
    pub flow: Flow,
    /// Whether the pseudo-register of an asynchronous copy must be available.
    pub waits_ring: bool,
    /// Cycles until the warp may issue its next instruction: 1 but for machine code.
    pub stall: u8,
    /// Whether its control codes name a barrier.
    pub signals: bool,
}

const _: () = assert!(size_of::<Op>() <= 64);

impl Op {
    #[inline]
    pub fn waits(&self) -> &[u16] {
        &self.regs.as_slice()[..usize::from(self.waits)]
    }

    #[inline]
    pub fn writes(&self) -> &[u16] {
        &self.regs.as_slice()[usize::from(self.waits)..]
    }
}

/// Every instruction, by pc.
#[derive(Clone, Debug)]
pub(super) struct Ops<'a> {
    pub table: &'a TimingTable,
    ops: Vec<Op>,
}

impl<'a> Ops<'a> {
    pub fn new(table: &'a TimingTable) -> Self {
        let waw = table.hazards().contains(Hazards::WAW);
        let ops = table.instrs().iter().map(|instr| {
            let (srcs, dsts) = (instr.srcs.as_slice(), instr.dsts.as_slice());
            let awaited = dsts.iter().filter(|&dst| waw && !srcs.contains(dst));
            let waits = || srcs.iter().chain(awaited.clone());
            Op {
                init: instr.op.init.get(),
                total: (instr.op.init + instr.op.lat).get(),
                regs: waits().chain(dsts).map(|reg| reg.get()).collect(),
                waits: waits().count() as u8,
                unit: instr.op.unit.get(),
                special: instr.by_space.is_some()
                    || instr.banks.is_some()
                    || !matches!(instr.flow, Flow::Plain | Flow::Exit),
                stall: instr.codes.stall.max(1),
                signals: instr.codes.read.is_some() || instr.codes.done.is_some(),
                flow: instr.flow,
                waits_ring: instr.flow == Flow::AsyncWait || waw && instr.flow == Flow::AsyncCopy,
            }
        });
        Self { table, ops: ops.collect() }
    }

    /// Every instruction, by pc.
    pub fn all(&self) -> &[Op] {
        &self.ops
    }

    #[inline]
    pub fn of(&self, step: Step) -> &Op {
        &self.ops[step.pc().index()]
    }
}

/// The steps of a path that take an issue slot.
pub(super) fn issuing<'p>(path: &'p WarpPath, table: &TimingTable) -> &'p [Step] {
    match path.steps() {
        [before @ .., last] if !table.issues(*last) => before,
        all => all,
    }
}
