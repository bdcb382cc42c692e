//! A divergence analysis: which values are the same in all lanes of a warp.
//!
//! A value is *uniform* if all lanes that execute an instruction together read the same value:
//! constants, parameters, block ids, loads from uniform addresses, and results computed from
//! uniform values. A value is *varying* if lanes may differ: thread ids, loads from varying
//! addresses, results of atomic operations, and results computed from varying values.
//!
//! Control flow matters as well. Between a branch with a varying condition and the point at which its
//! lanes reconverge, only some lanes execute an instruction. Afterwards its destination holds values
//! of both sides or, if lanes leave a loop in different iterations, of different iterations. Every
//! register that is written in such a region, or under a varying guard, is therefore varying. The
//! analysis is flow-insensitive, which errs on the side of varying. All registers that functions
//! write or return are varying.

use super::cfg::{Cfg, Successors};
use super::joins::Joins;
use super::sem::{Sem, Special, jump, lanewise, no_effect};
use super::{Instr, KernelCode};
use crate::base::{RegId, WARP_SIZE};
use crate::isa::Space;

/// The registers that may differ between lanes.
#[derive(Clone, Debug)]
pub struct Uniformity {
    varying: Vec<bool>,
    /// The number of threads of a block along each axis, if known.
    block: Option<[u32; 3]>,
}

impl Uniformity {
    /// Analyses the kernel of a program; `cfg` is the kernel's control flow, and `joins` are the
    /// points at which its lanes reconverge. If the size of a block is known, some axes of the
    /// thread id may be uniform.
    pub fn new(program: &KernelCode, cfg: &Cfg, joins: &Joins, block: Option<[u32; 3]>) -> Self {
        let mut found = Self { varying: vec![false; program.regs.len()], block };
        let kernel = cfg.blocks.last().map_or(0, |last| last.end.index());
        for instr in &program.instrs[kernel..] {
            found.write_all(instr);
        }
        for instr in &program.instrs {
            instr.sem.each_result_register(|reg| found.varying[reg.index()] = true);
        }
        let mut spread = vec![false; cfg.blocks.len()];
        loop {
            let before = found.count();
            for (index, block) in cfg.blocks.iter().enumerate() {
                for instr in &program.instrs[block.start.index()..block.end.index()] {
                    let only_some = spread[index] || instr.guard.is_some_and(|guard| found.varies(guard.reg));
                    if only_some || found.result_varies(instr) {
                        found.write_all(instr);
                    }
                }
            }
            for index in 0..cfg.blocks.len() {
                if found.branch_varies(program, cfg, index) {
                    let join = joins.blocks[index];
                    for &side in cfg.graph.successors(index).iter().filter(|&&side| Some(side) != join) {
                        cfg.graph.reached(side, join).into_iter().for_each(|node| spread[node] = true);
                    }
                }
            }
            if found.count() == before {
                return found;
            }
        }
    }

    /// Returns whether lanes may have different values in a register.
    pub fn varies(&self, reg: RegId) -> bool {
        self.varying[reg.index()]
    }

    /// Returns whether the terminator of a block of the kernel can be a divergent branch.
    pub fn branch_varies(&self, program: &KernelCode, cfg: &Cfg, block: usize) -> bool {
        let instr = cfg.last(program, block);
        let Successors { falls_through, targets, leaves, .. } = Successors::of(instr);
        let by_guard = instr.guard.is_some_and(|guard| self.varies(guard.reg));
        let by_table = instr.sem.selects_targets() && self.reads_varying(instr);
        let ways = targets.len() + usize::from(falls_through) + usize::from(leaves);
        ways > 1 && (by_guard || by_table)
    }

    fn count(&self) -> usize {
        self.varying.iter().filter(|varies| **varies).count()
    }

    fn write_all(&mut self, instr: &Instr) {
        // an instruction of several operations has the registers of all, but not their own ones
        let own = instr.sem.registers().dsts;
        let all = instr.dsts.as_slice().iter().chain(own.as_slice());
        all.for_each(|reg| self.varying[reg.index()] = true);
    }

    fn reads_varying(&self, instr: &Instr) -> bool {
        let registers = instr.sem.registers();
        registers.srcs.as_slice().iter().any(|&reg| self.varies(reg))
            || registers.specials.iter().any(|&special| self.special_varies(special))
    }

    fn special_varies(&self, special: Special) -> bool {
        let warp = WARP_SIZE as u64;
        match special {
            Special::Tid(axis) => {
                // the number of consecutive threads with the same coordinate
                let run = self.block.map(|block| {
                    block[..usize::from(axis)].iter().map(|&threads| u64::from(threads)).product::<u64>()
                });
                let alone = self.block.is_some_and(|block| block[usize::from(axis)] == 1);
                !alone && run.is_none_or(|run| run % warp != 0)
            }
            Special::LaneId
            | Special::LaneMaskEq
            | Special::LaneMaskLt
            | Special::LaneMaskLe
            | Special::LaneMaskGt
            | Special::LaneMaskGe => true,
            Special::Ntid(_)
            | Special::Ctaid(_)
            | Special::Nctaid(_)
            | Special::ClusterCtaid(_)
            | Special::ClusterNctaid(_)
            | Special::ClusterRank
            | Special::ClusterRanks
            | Special::Clusterid(_)
            | Special::Nclusterid(_)
            | Special::HasClusters
            | Special::ClusterReciprocal(_)
            | Special::WarpId
            | Special::NumWarps
            | Special::SmId
            | Special::NumSms
            | Special::GridId
            | Special::Clock
            | Special::ClockHigh
            | Special::DynamicSharedBytes
            | Special::TotalSharedBytes
            | Special::Param(_)
            | Special::Const(_)
            // the index is one of the registers that are read
            | Special::Element { .. }
            | Special::Frame(_) => false,
        }
    }

    /// Returns whether an instruction may write different values in lanes that execute it together.
    fn result_varies(&self, instr: &Instr) -> bool {
        match &instr.sem {
            // all lanes of a group that execute it get the same result, whatever their operands are
            Sem::ActiveMask { .. }
            | Sem::Together { .. }
            | Sem::Barrier(_)
            | Sem::Bulk(_)
            | Sem::Vote { members: None, .. } => false,
            Sem::Reduce { members, .. }
            | Sem::ReduceFloat { members, .. }
            | Sem::Match { all: true, members, .. }
            | Sem::Vote { members: Some(members), .. } => members.reg().is_some_and(|reg| self.varies(reg)),
            // the lanes have private memory, compete with each other, or receive different parts or
            // values of other lanes
            Sem::Load { space: Space::Local | Space::Generic, .. }
            | Sem::Atomic(_)
            | Sem::Match { .. }
            | Sem::Matrix(_)
            | Sem::Mbarrier(_)
            | Sem::Elect { .. }
            | Sem::Shuffle(_)
            | Sem::Call(_)
            | Sem::CallPointer(_) => true,
            Sem::Load { space: Space::Param | Space::Const | Space::Global | Space::Shared, .. }
            | Sem::Store { .. }
            | Sem::Fetch(_)
            | Sem::Surface(_)
            | Sem::ImageQuery(_)
            | Sem::AsyncCopy { .. }
            | Sem::AsyncCommit
            | Sem::AsyncWait { .. }
            | Sem::WarpSync { .. }
            | Sem::Cluster(_)
            | lanewise!()
            | no_effect!()
            | jump!() => self.reads_varying(instr),
        }
    }
}
