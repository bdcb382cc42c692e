//! The timing table, packed for the inner loops of the engines.

use warpbound_core::base::Few;
use warpbound_core::machine::Hazards;
use warpbound_core::path::{Step, WarpPath};
use warpbound_core::program::{Flow, TimingTable};

/// The properties of an instruction that an engine needs, packed into one cache line.
#[derive(Clone, Debug)]
pub(super) struct Op {
    /// The number of cycles for which the initiation occupies the unit.
    pub init: u64,
    /// The number of cycles from start to completion.
    pub total: u64,
    /// The registers that must be available (the sources, and the destinations if hazards include
    /// WAW), followed by the registers that are written. The lists are stored inline except for
    /// those of matrix instructions and calls.
    regs: Few<u16, 17>,
    waits: u8,
    pub unit: u8,
    /// Whether the timing or the registers depend on the step, or the warp may have to wait for
    /// other warps.
    pub special: bool,
    pub flow: Flow,
    /// Whether the pseudo-register of an asynchronous copy must be available.
    pub waits_ring: bool,
    /// The number of cycles until the warp may issue its next instruction; it is 1 except for
    /// machine code.
    pub stall: u8,
    /// Whether the control codes of the instruction name a barrier.
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

/// All instructions, indexed by program counter.
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
                signals: instr.codes.read.is_some() || instr.codes.done.is_some() || instr.codes.copies,
                flow: instr.flow,
                waits_ring: instr.flow == Flow::AsyncWait || waw && instr.flow == Flow::AsyncCopy,
            }
        });
        Self { table, ops: ops.collect() }
    }

    /// Returns all instructions, indexed by program counter.
    pub fn all(&self) -> &[Op] {
        &self.ops
    }

    #[inline]
    pub fn of(&self, step: Step) -> &Op {
        &self.ops[step.pc().index()]
    }
}

/// Returns the steps of a path that take an issue slot.
pub(super) fn issuing<'p>(path: &'p WarpPath, table: &TimingTable) -> &'p [Step] {
    match path.steps() {
        [before @ .., last] if !table.issues(*last) => before,
        all => all,
    }
}
