//! An analysis that finds registers that may be read before any instruction has written them.
//!
//! The functional run takes such a register to be 0. Neither PTX nor the hardware defines its
//! value, so no claim can be made about paths that depend on it.
//!
//! The analysis follows each register backwards from the instructions that read it, along all
//! control flow edges, until every path ends at an instruction that writes the register. An
//! instruction with a guard ends a path only where its guard holds. The search tracks only one
//! condition at a time, that of a guard or of a branch, and therefore errs on the side of reporting
//! too many registers. Machine code is not analysed: its compiler merges control flow, so that
//! registers are read on paths that no warp takes.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::cfg::{Cfg, Successors};
use super::sem::{ArgLocation, PredSrc, Sem};
use super::{Guard, Instr, KernelCode};
use crate::base::{Pc, RegId};

/// The maximum number of backward paths per register; a register with more counts as read before it
/// is written.
const MAX_WAYS: usize = 1 << 14;

/// The lanes for which a register has not been written yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Open {
    /// All lanes.
    All,
    /// The lanes in which a predicate register has this value.
    Where(RegId, bool),
}

/// A function with the data that the search needs.
struct Function<'p> {
    program: &'p KernelCode,
    cfg: Cfg,
    /// The writes of each register of the whole program, in program order.
    writes: &'p [Vec<Write>],
    /// The registers that have a value on entry.
    given: Vec<RegId>,
}

/// The location of a write and its guard.
type Write = (Pc, Option<Guard>);

/// Returns each register that may be read before it is written, with the first instruction that may
/// do so.
pub fn unset_reads(program: &KernelCode) -> Vec<(Pc, RegId)> {
    let mut starts = vec![(Pc::new(0), Vec::new())];
    starts.extend(program.functions.iter().map(|function| {
        let place = |(place, _): &(ArgLocation, u32)| place.reg();
        (function.first, function.params.iter().filter_map(place).collect())
    }));
    starts.sort_by_key(|(first, _)| *first);
    starts.dedup_by_key(|(first, _)| *first);
    let ends: Vec<usize> = starts.iter().skip(1).map(|(next, _)| next.index()).collect();
    let ends = ends.into_iter().chain([program.instrs.len()]);
    let mut writes: Vec<Vec<Write>> = vec![Vec::new(); program.regs.len()];
    for (index, instr) in program.instrs.iter().enumerate() {
        let write = (Pc::from_index(index), instr.guard);
        each_written(instr, |reg| writes[reg.index()].push(write));
    }
    let mut found = Vec::new();
    for ((start, given), end) in starts.into_iter().zip(ends) {
        let Some(instrs) = program.instrs.get(start.index()..end).filter(|instrs| !instrs.is_empty()) else {
            continue;
        };
        let flow: Vec<Successors> = instrs.iter().map(Successors::of).collect();
        let function = Function { program, cfg: Cfg::new(start, &flow), writes: &writes, given };
        found.extend(function.unset());
    }
    found
}

/// Calls `visit` for each register that has a value after an instruction.
fn each_written(instr: &Instr, mut visit: impl FnMut(RegId)) {
    instr.dsts.as_slice().iter().for_each(|&reg| visit(reg));
    instr.sem.each_result_register(visit);
}

/// Calls `visit` for each register that an instruction reads, with the lanes that read it.
fn each_read(instr: &Instr, mut visit: impl FnMut(RegId, Open)) {
    let lanes_where = |guard: Guard| Open::Where(guard.reg, !guard.negate);
    let lanes = instr.guard.map_or(Open::All, lanes_where);
    instr.guard.iter().for_each(|guard| visit(guard.reg, Open::All));
    if let (Sem::Select { a, b, p: PredSrc::Reg(chosen), .. }, None) = (&instr.sem, instr.guard) {
        visit(chosen.reg, Open::All);
        let other = Guard { negate: !chosen.negate, ..*chosen };
        for (source, guard) in [(a, *chosen), (b, other)] {
            if let super::sem::Operand::Reg(reg) = source {
                visit(*reg, lanes_where(guard));
            }
        }
        return;
    }
    instr.srcs.as_slice().iter().for_each(|&reg| visit(reg, lanes));
}

impl Function<'_> {
    fn unset(&self) -> Vec<(Pc, RegId)> {
        let mut found: BTreeMap<RegId, Pc> = BTreeMap::new();
        let mut known: HashMap<RegId, HashSet<(usize, Open)>> = HashMap::new();
        for (number, block) in self.cfg.blocks.iter().enumerate() {
            for index in block.start.index()..block.end.index() {
                let pc = Pc::from_index(index);
                each_read(self.program.instr(pc), |reg, open| {
                    if !found.contains_key(&reg) && self.is_open(reg, (number, pc), open, &mut known) {
                        found.insert(reg, pc);
                    }
                });
            }
        }
        found.into_iter().map(|(reg, pc)| (pc, reg)).collect()
    }

    /// Returns whether a path leads from the function's entry to `pc` without a write of the
    /// register. `known` contains the block ends that no such path leads to.
    fn is_open(
        &self,
        reg: RegId,
        (block, pc): (usize, Pc),
        open: Open,
        known: &mut HashMap<RegId, HashSet<(usize, Open)>>,
    ) -> bool {
        let mut pending = Vec::new();
        if self.walk_back(reg, block, pc, open, &mut pending) {
            return true;
        }
        if pending.is_empty() {
            return false;
        }
        let known = known.entry(reg).or_default();
        while let Some((block, open)) = pending.pop() {
            if !known.insert((block, open)) {
                continue;
            }
            let end = self.cfg.blocks[block].end;
            if known.len() > MAX_WAYS || self.walk_back(reg, block, end, open, &mut pending) {
                return true;
            }
        }
        false
    }

    /// Walks from `pc` back to the start of its block and adds the ends of the predecessors to
    /// `pending`. Returns whether the walk reaches the entry of the function without a write of the
    /// register.
    fn walk_back(
        &self,
        reg: RegId,
        block: usize,
        pc: Pc,
        mut open: Open,
        pending: &mut Vec<(usize, Open)>,
    ) -> bool {
        let start = self.cfg.blocks[block].start;
        let mut before = pc;
        loop {
            let register_write = self.last_write(reg, start, before);
            let predicate_write = match open {
                Open::All => None,
                Open::Where(predicate, _) => self.last_write(predicate, start, before),
            };
            let (at, guard) = match (register_write, predicate_write) {
                (Some(write), Some(other)) if write.0 >= other.0 => write,
                (Some(write), None) => write,
                (_, Some((at, _))) => {
                    // the predicate is written here, so its earlier value is unrelated
                    (open, before) = (Open::All, at);
                    continue;
                }
                (None, None) => break,
            };
            if predicate_write.is_some_and(|(pc, _)| pc == at) {
                open = Open::All;
            }
            match (guard, open) {
                (None, _) => return false,
                (Some(guard), Open::Where(predicate, value))
                    if predicate == guard.reg && value != guard.negate =>
                {
                    return false;
                }
                (Some(guard), Open::All) => open = Open::Where(guard.reg, guard.negate),
                (Some(_), Open::Where(..)) => {}
            }
            before = at;
        }
        if block == 0 && !self.given.contains(&reg) {
            return true;
        }
        for &from in self.cfg.graph.predecessors(block) {
            match (self.known_on(from, block), open) {
                // no lane takes this edge
                (Some((predicate, value)), Open::Where(other, open))
                    if predicate == other && value != open => {}
                (Some((predicate, value)), Open::All) => pending.push((from, Open::Where(predicate, value))),
                _ => pending.push((from, open)),
            }
        }
        false
    }

    /// Returns the last write of a register between two locations.
    fn last_write(&self, reg: RegId, start: Pc, before: Pc) -> Option<Write> {
        let writes = &self.writes[reg.index()];
        let index = writes.partition_point(|&(pc, _)| pc < before);
        writes[..index].last().copied().filter(|&(pc, _)| pc >= start)
    }

    /// Returns the value that a predicate register has on an edge according to the branch at its
    /// start.
    fn known_on(&self, from: usize, to: usize) -> Option<(RegId, bool)> {
        let (end, block) = (self.cfg.last(self.program, from), &self.cfg.blocks[to]);
        let (Sem::Branch { target, .. }, Some(guard)) = (&end.sem, end.guard) else { return None };
        let taken = *target == block.start;
        let falls_through = self.cfg.blocks[from].end == block.start;
        (taken != falls_through).then_some((guard.reg, taken != guard.negate))
    }
}
