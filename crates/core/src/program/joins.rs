//! The points at which the lanes of a warp reconverge after a branch at which they diverge.
//!
//! PTX has no instructions for this: lanes reconverge at the immediate post-dominator of the branch.
//! In machine code since Volta they reconverge where BSYNC closes the innermost region that BSSY
//! has opened around the branch, and a branch outside of every region has no such point.
//! [`Joins::new`] finds the regions that are open at each instruction, and reports code for which
//! they are not determined.

use super::KernelCode;
use super::cfg::Cfg;
use super::sem::{Region, Sem};
use crate::base::Pc;

/// The reconvergence points of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Joins {
    /// For each block, the block at which lanes that diverge at its end reconverge; `None` if they
    /// stay apart until they leave the function.
    pub blocks: Vec<Option<usize>>,
    /// The first instruction for which the open regions cannot be determined. Then no block has a
    /// reconvergence point.
    pub irregular: Option<Irregular>,
}

/// An instruction for which the open regions cannot be determined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Irregular {
    /// The instruction.
    pub pc: Pc,
    /// The code that it belongs to, as the end of a sentence.
    pub what: &'static str,
}

/// An open region: its barrier of convergence, and the instruction at which its lanes continue
/// together.
type Open = (u8, Pc);

impl Joins {
    /// Finds the reconvergence points of a function with this control flow.
    pub fn new(program: &KernelCode, cfg: &Cfg) -> Self {
        if !program.has_independent_threads() {
            return Self { blocks: cfg.post_dominator.clone(), irregular: None };
        }
        match regions(program, cfg) {
            Ok(blocks) => Self { blocks, irregular: None },
            Err(irregular) => Self { blocks: vec![None; cfg.blocks.len()], irregular: Some(irregular) },
        }
    }
}

/// Returns for each block the block at which the innermost region ends that is open at its end.
fn regions(program: &KernelCode, cfg: &Cfg) -> Result<Vec<Option<usize>>, Irregular> {
    let mut at_start: Vec<Option<Vec<Open>>> = vec![None; cfg.blocks.len()];
    let mut joins = vec![None; cfg.blocks.len()];
    if let Some(entry) = at_start.first_mut() {
        *entry = Some(Vec::new());
    }
    let mut next = vec![0; usize::from(!cfg.blocks.is_empty())];
    while let Some(block) = next.pop() {
        let mut open = at_start[block].clone().expect("set before the block was added");
        let range = cfg.blocks[block];
        for index in range.start.index()..range.end.index() {
            step(program, Pc::from_index(index), &mut open)?;
        }
        let join = open.last().map(|&(_, join)| cfg.block_of(join));
        joins[block] = join;
        for &to in cfg.graph.successors(block) {
            match &at_start[to] {
                Some(known) if *known == open => {}
                Some(_) => {
                    let what = "code that lanes reach in different regions of BSSY";
                    return Err(Irregular { pc: cfg.blocks[to].start, what });
                }
                None => {
                    at_start[to] = Some(open.clone());
                    next.push(to);
                }
            }
        }
    }
    Ok(joins)
}

/// Follows an instruction that may open or close a region.
fn step(program: &KernelCode, pc: Pc, open: &mut Vec<Open>) -> Result<(), Irregular> {
    let irregular = |what| Err(Irregular { pc, what });
    let instr = program.instr(pc);
    match instr.sem {
        Sem::OpenRegion { region: Region::Barrier(barrier), join } => {
            if open.iter().any(|&(outer, _)| outer == barrier) {
                return irregular("a BSSY of the barrier in whose region the lanes are");
            }
            open.push((barrier, join));
        }
        Sem::CloseRegion { region: Region::Barrier(barrier) } => {
            if open.last().is_none_or(|&(inner, _)| inner != barrier) {
                return irregular("a BSYNC of a region that is not the innermost one");
            }
            let end = open.pop().map(|(_, join)| join);
            if instr.guard.is_some() || end != Some(Pc::new(pc.get() + 1)) {
                return irregular("a BSYNC that has a guard, or is not in front of the end of its region");
            }
        }
        Sem::LeaveRegion { .. } => return irregular("regions that lanes leave by BREAK"),
        _ => {}
    }
    Ok(())
}
