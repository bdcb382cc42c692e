//! The properties of a block that rules use: for every instruction of every warp, the remaining
//! work in its section.

use std::ops::Range;

use crate::explore::model::Unsupported;
use warpbound_core::machine::Hazards;
use warpbound_core::path::{BlockPaths, Step};
use warpbound_core::program::{Flow, TimingTable};

/// The largest number of warp instructions of a block, each of which is stored several times.
const MAX_ISSUES: usize = 1 << 24;
/// The smallest number of cycles of a wait that counts as long.
const LEAST_WAIT: u64 = 2;

/// An instruction of a warp.
#[derive(Clone, Copy, Debug)]
pub struct Ins {
    /// The instance of its unit.
    pub unit: u16,
    /// The index of its section.
    pub section: u32,
    /// Its initiation interval.
    pub init: u32,
    /// The number of cycles from its issue to the end of the section, if the warp were alone from
    /// here on.
    pub tail: u32,
    /// The number of instructions of the warp's section from here on, including this one.
    pub left: u32,
    /// The number of instructions from here on up to the next long wait, including this one; all
    /// remaining ones if there is no long wait. A wait is long if it takes at least half as many
    /// cycles as the longest one of the warp's section when the warp runs alone (rounded down), and
    /// at least `LEAST_WAIT`.
    pub to_wait: u32,
}

/// A block in the form that rules and keys use: the instructions of all warps one after the other.
#[derive(Clone, Debug)]
pub struct Facts {
    /// Every instruction that issues; the warps one after the other.
    pub ins: Vec<Ins>,
    /// The range of each warp's instructions.
    pub warps: Vec<Range<usize>>,
    /// The ranges of each warp's instructions, by section, then warp; empty for warps without
    /// instructions there.
    pub sections: Vec<Vec<Range<usize>>>,
    /// The number of instances of units.
    pub units: usize,
}

impl Facts {
    /// Collects the properties of a block.
    ///
    /// # Errors
    /// Returns an error for barriers that do not involve every warp, and for blocks that are too
    /// large.
    pub fn new(table: &TimingTable, paths: &BlockPaths) -> Result<Self, Unsupported> {
        if paths.partial_barriers {
            return Err(Unsupported::PartialBarriers);
        }
        if table.barriers().is_some() {
            return Err(Unsupported::ControlCodes);
        }
        let units = table.units() * table.sub_cores().count();
        let mut facts = Self { ins: Vec::new(), warps: Vec::new(), sections: Vec::new(), units };
        let mut one = OneWarp::new(table);
        let mut cycles = 0u64;
        for (warp, path) in paths.warps.iter().enumerate() {
            let from = facts.ins.len();
            let mut steps = path.steps().iter().copied().filter(|step| table.issues(*step)).peekable();
            for number in 0.. {
                if steps.peek().is_none() {
                    break;
                }
                one.take_section(&mut steps)?;
                if facts.ins.len() + one.steps.len() > MAX_ISSUES {
                    return Err(Unsupported::TooLarge);
                }
                let first = facts.ins.len();
                cycles += one.add(warp, number, &mut facts.ins);
                if facts.sections.len() <= number {
                    facts.sections.resize_with(number + 1, Vec::new);
                }
                let of_warps = &mut facts.sections[number];
                of_warps.resize(warp, first..first);
                of_warps.push(first..facts.ins.len());
            }
            facts.warps.push(from..facts.ins.len());
        }
        for of_warps in &mut facts.sections {
            of_warps.resize(paths.warps.len(), 0..0);
        }
        // no schedule takes longer than all instructions one after the other
        if cycles > u64::from(u32::MAX) {
            return Err(Unsupported::TooLarge);
        }
        Ok(facts)
    }

    /// Returns the number of combinations of next instructions that the warps can have. The number
    /// of states of a block is about as large or larger, because waits differ as well.
    pub fn positions(&self) -> u64 {
        let of_section = |ranges: &Vec<Range<usize>>| {
            ranges.iter().map(|range| range.len() as u64 + 1).fold(1, u64::saturating_mul)
        };
        self.sections.iter().map(of_section).fold(0, u64::saturating_add)
    }
}

/// Analyses one section of one warp at a time; reuses its memory.
struct OneWarp<'t> {
    table: &'t TimingTable,
    steps: Vec<Step>,
    waits: Vec<usize>,
    writes: Vec<usize>,
    /// For each register, the time at which it is available or, in a pass backwards, the length of
    /// the longest path from that time to the end of the section.
    regs: Vec<u64>,
    /// For each unit, the time at which it is free or, in a pass backwards, the length of the
    /// longest path from a start on it to the end of the section.
    units: Vec<u64>,
    /// For each instruction, the number of cycles that it waits for registers if the warp is alone.
    gaps: Vec<u64>,
}

impl<'t> OneWarp<'t> {
    fn new(table: &'t TimingTable) -> Self {
        Self {
            table,
            steps: Vec::new(),
            waits: Vec::new(),
            writes: Vec::new(),
            regs: vec![0; table.regs()],
            units: vec![0; table.units()],
            gaps: Vec::new(),
        }
    }

    /// Takes the steps up to and including the next barrier.
    fn take_section(&mut self, steps: &mut impl Iterator<Item = Step>) -> Result<(), Unsupported> {
        self.steps.clear();
        for step in steps {
            self.steps.push(step);
            match self.table.instr(step.pc()).flow {
                Flow::Barrier => break,
                Flow::Arrive => return Err(Unsupported::PartialBarriers),
                _ => {}
            }
        }
        Ok(())
    }

    /// Collects the registers that an instruction waits for, and those that it writes.
    fn read_registers(&mut self, step: Step) {
        let instr = self.table.instr(step.pc());
        self.waits.clear();
        self.writes.clear();
        self.waits.extend(instr.srcs.as_slice().iter().map(|reg| reg.index()));
        self.writes.extend(instr.dsts.as_slice().iter().map(|reg| reg.index()));
        if let Some(reg) = self.table.async_reg(step) {
            if instr.flow == Flow::AsyncWait { &mut self.waits } else { &mut self.writes }.push(reg.index());
        }
        if self.table.hazards().contains(Hazards::WAW) {
            self.waits.extend(&self.writes);
        }
    }

    /// Appends the instructions of the section that was taken. Returns the sum of all their times.
    fn add(&mut self, warp: usize, section: usize, all: &mut Vec<Ins>) -> u64 {
        self.find_gaps();
        let longest = self.gaps.iter().copied().max().unwrap_or(0);
        let long = (longest / 2).max(LEAST_WAIT);
        let first = all.len();
        let sub_core = self.table.sub_cores().of_slot(warp);
        self.regs.fill(0);
        self.units.fill(0);
        let mut after = 0;
        let mut to_wait = 0;
        let mut sum = 0;
        for index in (0..self.steps.len()).rev() {
            let step = self.steps[index];
            let op = self.table.op(step);
            self.read_registers(step);
            let unit = op.unit.index();
            let total = op.init.get() + op.lat.get();
            // from the start of the instruction, the path leads to the next instruction on the
            // unit, or to an instruction that waits for the result
            let of_result = self.writes.iter().map(|&reg| total + self.regs[reg]).fold(total, u64::max);
            let of_start = of_result.max(op.init.get() + self.units[unit]);
            for &reg in &self.writes {
                self.regs[reg] = 0;
            }
            self.units[unit] = of_start;
            let tail = of_start.max(after + 1);
            for &reg in &self.waits {
                self.regs[reg] = self.regs[reg].max(tail);
            }
            after = tail;
            let waits_after = self.gaps.get(index + 1).is_some_and(|&gap| gap >= long);
            to_wait = if waits_after { 1 } else { to_wait + 1 };
            sum += total;
            let small = |value: u64| u32::try_from(value).unwrap_or(u32::MAX);
            all.push(Ins {
                unit: self.table.sub_cores().instance(op.unit, sub_core, self.table.units()) as u16,
                section: section as u32,
                init: small(op.init.get()),
                tail: small(tail),
                left: (self.steps.len() - index) as u32,
                to_wait,
            });
        }
        all[first..].reverse();
        sum
    }

    /// Computes how long each instruction waits for registers if the warp runs the section alone.
    fn find_gaps(&mut self) {
        self.gaps.clear();
        self.regs.fill(0);
        self.units.fill(0);
        let mut next = 0;
        for index in 0..self.steps.len() {
            let step = self.steps[index];
            let op = self.table.op(step);
            self.read_registers(step);
            let issue = self.waits.iter().map(|&reg| self.regs[reg]).fold(next, u64::max);
            self.gaps.push(issue - next);
            next = issue + 1;
            let init_end = issue.max(self.units[op.unit.index()]) + op.init.get();
            self.units[op.unit.index()] = init_end;
            for &reg in &self.writes {
                self.regs[reg] = init_end + op.lat.get();
            }
        }
    }
}
