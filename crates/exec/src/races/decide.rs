//! The registers that determine the path of a warp or the addresses that it accesses.

use warpbound_core::base::RegId;
use warpbound_core::program::sem::{Operand, exchange, lanewise, no_effect};
use warpbound_core::program::{Instr, KernelCode, Sem};

/// Returns whether this source of an instruction determines where a warp continues, whether it
/// waits, or which addresses it accesses.
pub(super) fn path_depends(instr: &Instr, source: Operand) -> bool {
    let is_base = |base: Operand| base == source;
    instr.guard.is_some_and(|guard| Operand::Reg(guard.reg) == source)
        || match &instr.sem {
            Sem::Branch { .. }
            | Sem::BranchTable { .. }
            | Sem::Barrier(_)
            | Sem::Mbarrier(_)
            | Sem::Bulk(_)
            | Sem::Call(_)
            | Sem::CallPointer(_) => true,
            Sem::Load { addr, .. } | Sem::Store { addr, .. } => is_base(addr.base),
            Sem::Atomic(atomic) => is_base(atomic.addr.base),
            Sem::Fetch(_) | Sem::AsyncCopy { .. } => true,
            Sem::Matrix(matrix) => matrix.place().any(is_base),
            Sem::Surface(access) => {
                [access.surface].iter().chain(&access.coords).chain(&access.layer).any(|&o| is_base(o))
            }
            Sem::Cluster(_) => false,
            Sem::ImageQuery(_) | Sem::AsyncCommit | Sem::AsyncWait { .. } => false,
            Sem::WarpSync { members } | Sem::Collect { members, .. } => is_base(*members),
            Sem::OpenRegion { .. } | Sem::CloseRegion { .. } => false,
            Sem::LeaveRegion { .. } | Sem::Yield | Sem::EndCollective => false,
            Sem::Return { .. } | Sem::Exit | Sem::Trap { .. } => false,
            lanewise!() | exchange!() | no_effect!() => false,
        }
}

/// Returns the registers that an instruction reads, including its guard.
pub(super) fn sources(instr: &Instr) -> impl Iterator<Item = RegId> {
    let guard = instr.guard.map(|guard| guard.reg);
    instr.srcs.as_slice().iter().copied().chain(guard)
}

/// The registers whose value may flow, through other registers, to one of the selected sources.
pub(super) struct Deciding(Vec<bool>);

impl Deciding {
    /// Computes the registers; `selects` returns whether a source of an instruction is selected.
    pub(super) fn new(program: &KernelCode, selects: impl Fn(&Instr, RegId) -> bool) -> Self {
        let mut writers = vec![Vec::new(); program.regs.len()];
        let mut known = vec![false; program.regs.len()];
        let mut left = Vec::new();
        for (index, instr) in program.instrs.iter().enumerate() {
            instr.dsts.as_slice().iter().for_each(|dst| writers[dst.index()].push(index));
            for reg in sources(instr) {
                if selects(instr, reg) && !std::mem::replace(&mut known[reg.index()], true) {
                    left.push(reg);
                }
            }
        }
        while let Some(reg) = left.pop() {
            for index in std::mem::take(&mut writers[reg.index()]) {
                for source in sources(&program.instrs[index]) {
                    if !std::mem::replace(&mut known[source.index()], true) {
                        left.push(source);
                    }
                }
            }
        }
        Self(known)
    }

    pub(super) fn has(&self, reg: RegId) -> bool {
        self.0[reg.index()]
    }
}
