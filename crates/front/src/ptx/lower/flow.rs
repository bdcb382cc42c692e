//! Analyses the control flow of a lowered function.

use warpbound_core::base::Pc;
use warpbound_core::program::KernelCode;
use warpbound_core::program::cfg::{Cfg, Successors};
use warpbound_core::program::sem::{Sem, straight};

/// Analyses the function that begins at `first` and ends with the program, and sets the
/// reconvergence points of its divergent branches.
pub(super) fn connect(program: &mut KernelCode, first: usize) -> Cfg {
    let flow: Vec<Successors> = program.instrs[first..].iter().map(Successors::of).collect();
    let cfg = Cfg::new(Pc::from_index(first), &flow);
    for index in first..program.instrs.len() {
        let join = cfg.reconvergence(Pc::from_index(index));
        let instr = &mut program.instrs[index];
        let guarded = instr.guard.is_some();
        match &mut instr.sem {
            Sem::Branch { reconverge, .. } if guarded => *reconverge = join,
            Sem::BranchTable { reconverge, .. } => *reconverge = join,
            straight!() | Sem::Branch { .. } | Sem::Call(_) | Sem::CallPointer(_) => {}
            Sem::OpenRegion { .. } | Sem::CloseRegion { .. } | Sem::LeaveRegion { .. } => {}
            Sem::Yield | Sem::Collect { .. } | Sem::EndCollective => {}
            Sem::Return { .. } | Sem::Exit | Sem::Trap { .. } => {}
        }
    }
    cfg
}
