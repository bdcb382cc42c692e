//! Control flow of a lowered function: what its branches need to know of each other.

use crate::base::Pc;
use crate::program::cfg::{Cfg, Successors};
use crate::program::sem::Sem;
use crate::program::{Instr, Program};

/// Analyses the function that begins at `first` and ends with the program, and tells its
/// divergent branches where they reconverge.
pub(super) fn connect(program: &mut Program, first: usize) -> Cfg {
    let flow: Vec<Successors> = program.instrs[first..].iter().map(successors).collect();
    let cfg = Cfg::new(Pc::from_index(first), &flow);
    for index in first..program.instrs.len() {
        let join = cfg.reconvergence(Pc::from_index(index));
        let instr = &mut program.instrs[index];
        let guarded = instr.guard.is_some();
        match &mut instr.sem {
            Sem::Branch { reconverge, .. } if guarded => *reconverge = join,
            Sem::BranchTable { reconverge, .. } => *reconverge = join,
            _ => {}
        }
    }
    cfg
}

fn successors(instr: &Instr) -> Successors {
    let guarded = instr.guard.is_some();
    let (targets, ends) = match &instr.sem {
        Sem::Branch { target, .. } => (vec![*target], false),
        Sem::BranchTable { targets, .. } => (targets.clone(), false),
        // a trap ends the run with an error, so where lanes would go is of no interest; counting it
        // as a way out would take the join from every branch around an assertion
        Sem::Exit | Sem::Return => {
            return Successors { falls_through: guarded, targets: Vec::new(), leaves: true };
        }
        _ => (Vec::new(), true),
    };
    Successors { falls_through: guarded || ends, targets, leaves: false }
}
