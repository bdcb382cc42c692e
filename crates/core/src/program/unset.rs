//! An analysis that finds registers that may be read before any instruction has written them.
//!
//! The functional run takes such a register to be 0. Neither PTX nor the hardware defines its
//! value, so no claim can be made about paths that depend on it.
//!
//! A register that instructions without guards have written on every path to a read needs no
//! further analysis; a fixed point over the basic blocks finds these. Each other register is
//! followed backwards from the instructions that read it, along all control flow edges, until every
//! path ends at an instruction that writes the register. An instruction with a guard ends a path
//! only where its guard holds. The search tracks only one condition at a time, that of a guard or
//! of a branch, and therefore errs on the side of reporting too many registers. Machine code is not
//! analysed: its compiler merges control flow, so that registers are read on paths that no warp
//! takes.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::cfg::{BasicBlock, Cfg};
use super::sem::{PredSrc, Sem};
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
    cfg: &'p Cfg,
    /// The registers that have a value on entry.
    given: Vec<RegId>,
    /// The writes of the function by register, and for each register in program order.
    writes: Vec<Write>,
}

/// A write of a register.
#[derive(Clone, Copy, Debug)]
struct Write {
    reg: RegId,
    pc: Pc,
    guard: Option<Guard>,
}

/// A read of a register in a block, and the lanes that read it.
#[derive(Clone, Copy, Debug)]
struct Read {
    reg: RegId,
    block: usize,
    pc: Pc,
    lanes: Open,
}

/// Returns each register that may be read before it is written, with the first instruction that may
/// do so, from the control flow of each function of a program.
pub fn unset_reads<'c>(
    program: &KernelCode,
    functions: impl IntoIterator<Item = &'c Cfg>,
) -> Vec<(Pc, RegId)> {
    let mut found = Vec::new();
    for cfg in functions {
        let Some(entry) = cfg.blocks.first() else { continue };
        // functions are in the order of their code; the kernel is none of them
        let function = program.functions.binary_search_by_key(&entry.start, |function| function.first);
        let params = function.map_or(&[][..], |index| &program.functions[index].params);
        let given: Vec<RegId> = params.iter().filter_map(|(place, _)| place.reg()).collect();
        let reads = unsettled_reads(program, cfg, &given);
        if !reads.is_empty() {
            found.extend(Function { program, cfg, given, writes: writes(program, cfg) }.unset(&reads));
        }
    }
    found
}

/// Returns the reads of a function, in program order, of registers that instructions without guards
/// have not written on every path.
fn unsettled_reads(program: &KernelCode, cfg: &Cfg, given: &[RegId]) -> Vec<Read> {
    let (mut reads, mut written_by_block) = (Vec::new(), Vec::new());
    for (block, BasicBlock { start, end }) in cfg.blocks.iter().enumerate() {
        let mut written = RegSet::empty(program.regs.len());
        for index in start.index()..end.index() {
            let (pc, instr) = (Pc::from_index(index), &program.instrs[index]);
            each_read(instr, |reg, lanes| {
                if !written.contains(reg) {
                    reads.push(Read { reg, block, pc, lanes });
                }
            });
            if instr.guard.is_none() {
                each_written(instr, |reg| written.insert(reg));
            }
        }
        written_by_block.push(written);
    }
    let mut at_entry = RegSet::empty(program.regs.len());
    given.iter().for_each(|&reg| at_entry.insert(reg));
    let settled = settled_at_start(cfg, at_entry, &written_by_block);
    reads.retain(|read| !settled[read.block].contains(read.reg));
    reads
}

/// Returns the registers that have been written on every path to the start of each block, from
/// those that have a value on entry and those that each block writes.
fn settled_at_start(cfg: &Cfg, at_entry: RegSet, written: &[RegSet]) -> Vec<RegSet> {
    let mut at_start = vec![at_entry.complete(); cfg.blocks.len()];
    at_start[0] = at_entry;
    let mut changed = true;
    while std::mem::take(&mut changed) {
        for (from, written) in written.iter().enumerate() {
            for &to in cfg.graph.successors(from) {
                // an edge from a block to itself removes nothing
                if let Ok([from, to]) = at_start.get_disjoint_mut([from, to]) {
                    changed |= to.retain(from, written);
                }
            }
        }
    }
    at_start
}

/// Returns the writes of a function by register, and for each register in program order.
fn writes(program: &KernelCode, cfg: &Cfg) -> Vec<Write> {
    let mut writes = Vec::new();
    for index in cfg.blocks.iter().flat_map(|block| block.start.index()..block.end.index()) {
        let (pc, instr) = (Pc::from_index(index), &program.instrs[index]);
        each_written(instr, |reg| writes.push(Write { reg, pc, guard: instr.guard }));
    }
    writes.sort_by_key(|write| (write.reg, write.pc));
    writes
}

/// A set of registers as a bit per register.
#[derive(Clone, Debug)]
struct RegSet(Vec<u64>);

impl RegSet {
    fn empty(regs: usize) -> Self {
        Self(vec![0; regs.div_ceil(64)])
    }

    /// Returns the set of all registers.
    fn complete(&self) -> Self {
        Self(vec![u64::MAX; self.0.len()])
    }

    fn contains(&self, reg: RegId) -> bool {
        self.0[reg.index() / 64] >> (reg.index() % 64) & 1 == 1
    }

    fn insert(&mut self, reg: RegId) {
        self.0[reg.index() / 64] |= 1 << (reg.index() % 64);
    }

    /// Removes the registers that are in neither of the other sets; returns whether there were any.
    fn retain(&mut self, first: &Self, second: &Self) -> bool {
        let mut removed = 0;
        for (word, (first, second)) in self.0.iter_mut().zip(first.0.iter().zip(&second.0)) {
            removed |= *word & !(first | second);
            *word &= first | second;
        }
        removed != 0
    }
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
    /// Returns the registers that may be read before they are written, each with the first of the
    /// given reads before which it may not have been written.
    fn unset(&self, reads: &[Read]) -> Vec<(Pc, RegId)> {
        let mut found: BTreeMap<RegId, Pc> = BTreeMap::new();
        let mut known: HashMap<RegId, HashSet<(usize, Open)>> = HashMap::new();
        for read in reads {
            if !found.contains_key(&read.reg) && self.is_open(read, known.entry(read.reg).or_default()) {
                found.insert(read.reg, read.pc);
            }
        }
        found.into_iter().map(|(reg, pc)| (pc, reg)).collect()
    }

    /// Returns whether a path leads from the function's entry to a read without a write of the
    /// register. `known` contains the block ends that no such path leads to.
    fn is_open(&self, read: &Read, known: &mut HashSet<(usize, Open)>) -> bool {
        let mut pending = Vec::new();
        if self.walk_back(read, &mut pending) {
            return true;
        }
        while let Some((block, lanes)) = pending.pop() {
            if !known.insert((block, lanes)) {
                continue;
            }
            let at_end = Read { block, pc: self.cfg.blocks[block].end, lanes, ..*read };
            if known.len() > MAX_WAYS || self.walk_back(&at_end, &mut pending) {
                return true;
            }
        }
        false
    }

    /// Walks from a read back to the start of its block and adds the ends of the predecessors to
    /// `pending`. Returns whether the walk reaches the entry of the function without a write of the
    /// register.
    fn walk_back(&self, read: &Read, pending: &mut Vec<(usize, Open)>) -> bool {
        let Read { reg, block, pc: mut before, lanes: mut open } = *read;
        let start = self.cfg.blocks[block].start;
        loop {
            let register_write = self.last_write(reg, start, before);
            let predicate_write = match open {
                Open::All => None,
                Open::Where(predicate, _) => self.last_write(predicate, start, before),
            };
            let (at, guard) = match (register_write, predicate_write) {
                (Some(write), Some(other)) if write.pc >= other.pc => (write.pc, write.guard),
                (Some(write), None) => (write.pc, write.guard),
                (_, Some(other)) => {
                    // the predicate is written here, so its earlier value is unrelated
                    (open, before) = (Open::All, other.pc);
                    continue;
                }
                (None, None) => break,
            };
            if predicate_write.is_some_and(|other| other.pc == at) {
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
        let index = self.writes.partition_point(|write| (write.reg, write.pc) < (reg, before));
        self.writes[..index].last().copied().filter(|write| write.reg == reg && write.pc >= start)
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
