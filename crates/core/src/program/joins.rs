//! The points at which the lanes of a warp reconverge after a branch at which they diverge.
//!
//! PTX has no instructions for this: lanes reconverge at the immediate post-dominator of the branch.
//! In machine code since Volta they reconverge where BSYNC closes the innermost region that BSSY
//! has opened around the branch, and a branch outside of every region has no such point. Lanes that
//! leave regions by BREAK, in front of a branch under the same guard or its complement, wait at the
//! end of the innermost region that they are still in. Lanes also continue together where all of them
//! come to the same barrier of the block, or to a WARPSYNC of all lanes.
//!
//! [`Joins::new`] finds the regions that are open at each instruction, and reports code for which
//! they are not determined.

use std::collections::{BTreeMap, BTreeSet};

use super::cfg::Cfg;
use super::sem::{Operand, Region, Sem};
use super::{Guard, KernelCode};
use crate::base::Pc;

/// The reconvergence points of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Joins {
    /// For each block, the block from which on all lanes that diverge at its end are together again;
    /// `None` if they stay apart until they leave the function.
    pub blocks: Vec<Option<usize>>,
    /// For each block, the block at which lanes that diverge at its end, and do not leave regions
    /// by BREAK, wait for each other.
    pub innermost: Vec<Option<usize>>,
    /// For each block, where lanes that diverge at its end meet before they come to the end of a region.
    pub meetings: Vec<Option<MeetingPlace>>,
    /// For each block whose last branch parts lanes that have left regions by BREAK from the others,
    /// the way of these lanes.
    pub breaks: Vec<Option<Break>>,
    /// For each BREAK of all lanes that reach it, the block at which they wait.
    pub exits: BTreeMap<Pc, usize>,
    /// The BSSY instructions at the end of whose region lanes arrive that have left regions within it
    /// by BREAK.
    pub reached_by_break: BTreeSet<Pc>,
    /// The first instruction for which the open regions cannot be determined. Then no block has a
    /// reconvergence point.
    pub irregular: Option<Irregular>,
}

/// An instruction to which all lanes come that diverge at a branch, and from which on they are together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MeetingPlace {
    /// A WARPSYNC of all lanes, which each side executes.
    WarpSync(Pc),
    /// A barrier of the block, which they execute together.
    Barrier(Pc),
}

impl MeetingPlace {
    /// Returns the instruction at which the lanes continue together.
    pub fn onward(self) -> Pc {
        match self {
            Self::WarpSync(pc) => Pc::new(pc.get() + 1),
            Self::Barrier(pc) => pc,
        }
    }
}

/// The way of lanes that have left regions by BREAK, behind the branch that parts them from others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Break {
    /// The block at which they wait.
    pub join: usize,
    /// Whether they are the lanes that take the branch, rather than those that do not.
    pub taken: bool,
}

/// An instruction for which the open regions cannot be determined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Irregular {
    /// The instruction.
    pub pc: Pc,
    /// The code that it belongs to, as the end of a sentence.
    pub what: &'static str,
}

/// An open region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Open {
    /// Its barrier of convergence.
    barrier: u8,
    /// The BSSY that opened it.
    at: Pc,
    /// The instruction at which its lanes continue together.
    join: Pc,
    /// The barriers of inner regions that lanes may have left by BREAK, one bit each. Such lanes
    /// must not open a region of the same barrier before they meet the others.
    left: u32,
}

/// The lanes that BREAK has taken out of regions, up to the branch that parts them from the others.
#[derive(Clone, Copy, Debug)]
struct Leaving {
    guard: Guard,
    /// The number of regions that they are still in.
    depth: usize,
    /// Whether they are the lanes that take the branch, rather than those that do not.
    taken: bool,
}

impl Joins {
    /// Finds the reconvergence points of a function with this control flow.
    pub fn new(program: &KernelCode, cfg: &Cfg) -> Self {
        let mut found = Self {
            blocks: vec![None; cfg.blocks.len()],
            innermost: vec![None; cfg.blocks.len()],
            meetings: vec![None; cfg.blocks.len()],
            breaks: vec![None; cfg.blocks.len()],
            exits: BTreeMap::new(),
            reached_by_break: BTreeSet::new(),
            irregular: None,
        };
        if !program.has_independent_threads() {
            found.blocks.clone_from(&cfg.post_dominator);
            found.innermost.clone_from(&cfg.post_dominator);
            return found;
        }
        let mut regions = Regions { program, cfg, at_start: vec![None; cfg.blocks.len()] };
        match regions.follow() {
            Ok(ends) => {
                found.fill(cfg, &ends);
                // lanes that have left a region by BREAK stay apart from others at a barrier
                if found.reached_by_break.is_empty() {
                    found.meetings =
                        ends.iter().enumerate().map(|(block, end)| regions.meeting(block, end)).collect();
                }
            }
            Err(irregular) => found.irregular = Some(irregular),
        }
        found
    }

    /// Derives the points from the ends of blocks.
    fn fill(&mut self, cfg: &Cfg, ends: &[End]) {
        let block_of = |open: &Open| cfg.block_of(open.join);
        // for each region that lanes leave by BREAK, the least depth at which they wait
        let mut shallowest: BTreeMap<Pc, usize> = BTreeMap::new();
        let mut leave = |open: &[Open], depth: usize| {
            self.reached_by_break.insert(open[depth - 1].at);
            for region in &open[depth..] {
                let least = shallowest.entry(region.at).or_insert(depth - 1);
                *least = (*least).min(depth - 1);
            }
        };
        for End { open, leaving, exits } in ends {
            leaving.iter().for_each(|leaving| leave(open, leaving.depth));
            for (pc, open) in exits {
                let depth = open.len() - 1;
                leave(open, depth);
                self.exits.insert(*pc, block_of(&open[depth - 1]));
            }
        }
        for (block, End { open, leaving, .. }) in ends.iter().enumerate() {
            self.innermost[block] = open.last().map(block_of);
            self.breaks[block] = leaving.map(|Leaving { depth, taken, .. }| {
                let join = block_of(&open[depth - 1]);
                Break { join, taken }
            });
            // lanes of the innermost region may wait at the end of an outer one
            let mut at = open.len().checked_sub(1);
            while let Some(outer) = at.and_then(|at| shallowest.get(&open[at].at)) {
                at = Some(*outer);
            }
            self.blocks[block] = at.map(|at| block_of(&open[at]));
        }
    }
}

/// The regions that are open at the end of a block.
#[derive(Clone, Debug, Default)]
struct End {
    open: Vec<Open>,
    /// The lanes that its last branch takes out of regions.
    leaving: Option<Leaving>,
    /// The BREAKs in it that have no guard, each with the regions that are open in front of it.
    exits: Vec<(Pc, Vec<Open>)>,
}

/// The search for the regions that are open in each block.
struct Regions<'p> {
    program: &'p KernelCode,
    cfg: &'p Cfg,
    /// The regions that are open at the beginning of each block that control may reach.
    at_start: Vec<Option<Vec<Open>>>,
}

impl Regions<'_> {
    /// Follows the control flow from the entry, and returns the end of each block.
    fn follow(&mut self) -> Result<Vec<End>, Irregular> {
        let mut ends = vec![End::default(); self.cfg.blocks.len()];
        let mut next = Vec::new();
        if !self.cfg.blocks.is_empty() {
            self.enter(0, &[], &mut next)?;
        }
        while let Some(block) = next.pop() {
            let end = self.end_of(block)?;
            let target = self.target_of(block);
            for &to in self.cfg.graph.successors(block) {
                match end.leaving {
                    Some(leaving) if leaving.taken == (target == Some(to)) => {
                        self.enter(to, &outside(&end.open, leaving.depth), &mut next)?;
                    }
                    _ => self.enter(to, &end.open, &mut next)?,
                }
            }
            ends[block] = end;
        }
        Ok(ends)
    }

    /// Enters a block with these regions open, and adds it to the blocks to follow if that is new.
    fn enter(&mut self, block: usize, open: &[Open], next: &mut Vec<usize>) -> Result<(), Irregular> {
        let Some(known) = &mut self.at_start[block] else {
            self.at_start[block] = Some(open.to_vec());
            next.push(block);
            return Ok(());
        };
        if !are_same(known, open) {
            let what = "code that lanes reach in different regions of BSSY";
            return Err(Irregular { pc: self.cfg.blocks[block].start, what });
        }
        let before = known.clone();
        known.iter_mut().zip(open).for_each(|(known, new)| known.left |= new.left);
        if *known != before {
            next.push(block);
        }
        Ok(())
    }

    /// Follows the instructions of a block.
    fn end_of(&self, block: usize) -> Result<End, Irregular> {
        let open = self.at_start[block].clone().expect("set before the block was added");
        let mut end = End { open, ..End::default() };
        let range = self.cfg.blocks[block];
        for index in range.start.index()..range.end.index() {
            self.step(Pc::from_index(index), &mut end)?;
        }
        if let Some(leaving) = &mut end.leaving {
            let last = self.cfg.last(self.program, block);
            let same = last.guard.filter(|guard| guard.reg == leaving.guard.reg);
            match same {
                Some(guard)
                    if self.target_of(block).is_some() && self.cfg.graph.successors(block).len() == 2 =>
                {
                    leaving.taken = guard.negate == leaving.guard.negate;
                }
                _ => {
                    let pc = Pc::new(range.end.get() - 1);
                    return Err(Irregular { pc, what: "a BREAK that no branch under its guard follows" });
                }
            }
        }
        Ok(end)
    }

    /// Returns where all lanes meet that diverge at the end of a block, in the regions that are open
    /// there.
    fn meeting(&self, block: usize, end: &End) -> Option<MeetingPlace> {
        let next = |&block: &usize| self.cfg.post_dominator[block];
        for passed in std::iter::successors(self.cfg.post_dominator[block], next) {
            let mut there = End { open: self.at_start[passed].clone()?, ..End::default() };
            let range = self.cfg.blocks[passed];
            for pc in (range.start.index()..range.end.index()).map(Pc::from_index) {
                let instr = self.program.instr(pc);
                let meeting = match &instr.sem {
                    Sem::WarpSync { members: Operand::Imm(0xffff_ffff) } => Some(MeetingPlace::WarpSync(pc)),
                    Sem::Barrier(barrier) if barrier.partly => Some(MeetingPlace::Barrier(pc)),
                    _ => None,
                };
                if meeting.is_some() {
                    return meeting.filter(|_| instr.guard.is_none() && are_same(&there.open, &end.open));
                }
                self.step(pc, &mut there).ok()?;
                if there.open.len() < end.open.len() {
                    return None;
                }
            }
        }
        None
    }

    /// Returns the block to which the branch at the end of a block goes, if there is one.
    fn target_of(&self, block: usize) -> Option<usize> {
        match self.cfg.last(self.program, block).sem {
            Sem::Branch { target, .. } => {
                self.cfg.blocks.binary_search_by_key(&target, |block| block.start).ok()
            }
            _ => None,
        }
    }

    /// Follows an instruction that may open, close or leave a region.
    fn step(&self, pc: Pc, end: &mut End) -> Result<(), Irregular> {
        let irregular = |what| Err(Irregular { pc, what });
        let instr = self.program.instr(pc);
        let open = &mut end.open;
        match instr.sem {
            Sem::OpenRegion { .. } | Sem::CloseRegion { .. } if end.leaving.is_some() => {
                return irregular("a region that begins or ends between a BREAK and its branch");
            }
            Sem::Barrier(_) | Sem::WarpSync { .. } if end.leaving.is_some() => {
                return irregular("a barrier between a BREAK and its branch");
            }
            Sem::OpenRegion { region: Region::Barrier(barrier), join } => {
                if open.iter().any(|outer| outer.barrier == barrier || outer.left >> barrier & 1 != 0) {
                    return irregular("a BSSY of a barrier in whose region lanes may be");
                }
                open.push(Open { barrier, at: pc, join, left: 0 });
            }
            Sem::CloseRegion { region: Region::Barrier(barrier) } => {
                if open.last().is_none_or(|inner| inner.barrier != barrier) {
                    return irregular("a BSYNC of a region that is not the innermost one");
                }
                let join = open.pop().map(|inner| inner.join);
                if instr.guard.is_some() || join != Some(Pc::new(pc.get() + 1)) {
                    return irregular(
                        "a BSYNC that has a guard, or is not in front of the end of its region",
                    );
                }
            }
            Sem::LeaveRegion { region: Region::Barrier(barrier) } => {
                let depth = end.leaving.map_or(open.len(), |leaving| leaving.depth);
                let inner = open[..depth].last().is_some_and(|inner| inner.barrier == barrier);
                let same = end.leaving.is_none_or(|leaving| Some(leaving.guard) == instr.guard);
                if !inner || !same || depth < 2 {
                    return irregular("a BREAK that does not leave the innermost region for an outer one");
                }
                match instr.guard {
                    Some(guard) => end.leaving = Some(Leaving { guard, depth: depth - 1, taken: true }),
                    None => {
                        end.exits.push((pc, open.clone()));
                        *open = outside(open, depth - 1);
                    }
                }
            }
            _ => {
                let writes = |leaving: Leaving| instr.dsts.as_slice().contains(&leaving.guard.reg);
                if end.leaving.is_some_and(writes) {
                    return irregular("a BREAK whose guard changes in front of its branch");
                }
            }
        }
        Ok(())
    }
}

/// Returns whether the same regions are open.
fn are_same(these: &[Open], those: &[Open]) -> bool {
    these.iter().map(|open| open.at).eq(those.iter().map(|open| open.at))
}

/// Returns the regions of lanes that have left all but the first `depth` of these regions.
fn outside(open: &[Open], depth: usize) -> Vec<Open> {
    let mut outer = open[..depth].to_vec();
    if let Some(last) = outer.last_mut() {
        last.left |= open[depth..].iter().fold(0, |left, inner| left | inner.left | 1 << inner.barrier);
    }
    outer
}
