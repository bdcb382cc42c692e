//! The timing table, packed for the engine's inner loop.

use crate::base::RegId;
use crate::machine::Hazards;
use crate::path::Step;
use crate::program::{Flow, RegList, TimingTable};

/// What the engine needs of an instruction, in one cache line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Op {
    /// Cycles the initiation occupies the unit.
    pub init: u64,
    /// Cycles from start to done.
    pub total: u64,
    /// Registers that must be available: sources, and destinations where hazards include WAW.
    waits: [u16; 2 * RegList::MAX],
    /// Registers written.
    writes: [u16; RegList::MAX],
    waits_len: u8,
    writes_len: u8,
    pub unit: u8,
    /// Whether timing or registers depend on the step, or the warp may have to wait for others.
    pub special: bool,
    pub flow: Flow,
    /// Whether the pseudo-register of an asynchronous copy must be available.
    pub waits_ring: bool,
}

impl Op {
    #[inline]
    pub fn waits(&self) -> &[u16] {
        &self.waits[..self.waits_len as usize]
    }

    #[inline]
    pub fn writes(&self) -> &[u16] {
        &self.writes[..self.writes_len as usize]
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
            let mut op = Op {
                init: instr.op.init.get(),
                total: (instr.op.init + instr.op.lat).get(),
                waits: [0; 2 * RegList::MAX],
                writes: [0; RegList::MAX],
                waits_len: 0,
                writes_len: 0,
                unit: instr.op.unit.get(),
                special: instr.by_space.is_some()
                    || instr.banks.is_some()
                    || !matches!(instr.flow, Flow::Plain | Flow::Exit),
                flow: instr.flow,
                waits_ring: instr.flow == Flow::AsyncWait || waw && instr.flow == Flow::AsyncCopy,
            };
            for reg in instr.srcs.as_slice() {
                op.wait_for(*reg);
            }
            for reg in instr.dsts.as_slice() {
                op.writes[op.writes_len as usize] = reg.get();
                op.writes_len += 1;
                if waw && !instr.srcs.as_slice().contains(reg) {
                    op.wait_for(*reg);
                }
            }
            op
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

impl Op {
    fn wait_for(&mut self, reg: RegId) {
        self.waits[self.waits_len as usize] = reg.get();
        self.waits_len += 1;
    }
}
