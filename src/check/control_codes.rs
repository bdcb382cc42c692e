//! Whether the control codes of machine code cover its dependences.
//!
//! The machine has no scoreboard for registers: who reads the result of an instruction whose time varies has to wait at the
//! barrier that it releases, or that a later one of its op class releases, for these end in order; and who writes one of
//! its sources at the barrier that says they are read. Here that is followed
//! along the paths that warps take. Results that always take the same time are covered by stall counts, which depend on the
//! machine; of those only how many cycles pass at least is found. What happens under guards is not judged: which lanes they
//! hold in is not in a path.

use std::collections::BTreeMap;

use crate::base::{LaneMask, OpClass, Pc, RegId};
use crate::path::{BlockPaths, WarpPath};
use crate::program::{Coded, Instr, Program};

/// How an instruction depends on an earlier one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Hazard {
    /// It reads what the other writes.
    Read,
    /// It writes what the other writes.
    Write,
    /// It writes what the other reads.
    Overwrite,
}

/// What control codes leave open, and how they cover the rest.
#[derive(Clone, Debug, Default)]
pub struct ControlCodes {
    /// Dependences that nothing covers, each pair of instructions once: earlier, later, register.
    uncovered: BTreeMap<(Pc, Pc, Hazard), RegId>,
    /// Registers that waits at barriers released, as often as they did.
    covered: u64,
    /// By op class of the earlier instruction: the least cycles, by stall counts, until its result is read, where both
    /// always take the same time.
    least: BTreeMap<String, u32>,
}

/// What a register waits for.
#[derive(Clone, Copy)]
struct Pending {
    by: Pc,
    class: OpClass,
    lanes: LaneMask,
    /// The barrier and which of those that release it; nothing if none does.
    at: Option<(u8, u64)>,
}

/// A warp on its way.
struct Warp {
    writes: Vec<Option<Pending>>,
    reads: Vec<Option<Pending>>,
    /// By barrier: releases begun.
    begun: [u64; 8],
    /// By register: the instruction and the cycle of the last write that takes a fixed time.
    fixed: Vec<Option<(Pc, u64, LaneMask)>>,
    cycle: u64,
}

impl ControlCodes {
    /// Follows the warps of a block; those that go the same way once.
    pub fn see(&mut self, program: &Program, paths: &BlockPaths) {
        let mut done: Vec<&WarpPath> = Vec::new();
        for path in &paths.warps {
            if !done.iter().any(|seen| seen.steps() == path.steps()) {
                done.push(path);
                self.warp(program, path);
            }
        }
    }

    /// Dependences that nothing covers: earlier and later instruction, and the register.
    pub fn uncovered(&self) -> impl Iterator<Item = (Pc, Pc, Hazard, RegId)> {
        self.uncovered.iter().map(|(&(earlier, later, hazard), &reg)| (earlier, later, hazard, reg))
    }

    /// Registers that waits at barriers released.
    pub fn covered(&self) -> u64 {
        self.covered
    }

    /// By op class, the least cycles from the issue of an instruction to that of the first that reads its result.
    pub fn least(&self) -> impl Iterator<Item = (&str, u32)> {
        self.least.iter().map(|(class, &cycles)| (class.as_str(), cycles))
    }

    /// In words.
    pub fn notes(&self, program: &Program) -> Vec<String> {
        let summary = format!(
            "control codes: waits at barriers release registers {} times; {} dependences between two instructions are not covered",
            self.covered,
            self.uncovered.len()
        );
        let pair = |(earlier, later, hazard, reg): (Pc, Pc, Hazard, RegId)| {
            let name = &program.regs[reg.index()].name;
            let does = match hazard {
                Hazard::Read => "reads",
                Hazard::Write => "writes",
                Hazard::Overwrite => "overwrites",
            };
            format!(
                "control codes: {} {does} {name} of {} without waiting for it",
                program.place(later),
                program.place(earlier)
            )
        };
        std::iter::once(summary).chain(self.uncovered().take(20).map(pair)).collect()
    }

    fn warp(&mut self, program: &Program, path: &WarpPath) {
        let Some(code) = &program.machine_code else { return };
        let registers = program.regs.len();
        let mut warp = Warp {
            writes: vec![None; registers],
            reads: vec![None; registers],
            begun: [0; 8],
            fixed: vec![None; registers],
            cycle: 0,
        };
        let (mut masks, mut lanes) = (path.masks().iter().peekable(), LaneMask::empty());
        for (index, step) in path.steps().iter().enumerate() {
            if let Some((_, mask)) = masks.next_if(|(first, _)| *first as usize == index) {
                lanes = *mask;
            }
            let pc = step.pc();
            let instr = program.instr(pc);
            let Some(coded) = code.of(instr) else { continue };
            self.covered += warp.wait(coded);
            let (srcs, dsts) = (instr.srcs.as_slice(), instr.dsts.as_slice());
            for &reg in srcs {
                self.met(program, warp.writes[reg.index()], (pc, lanes), Hazard::Read, reg);
                // those whose time varies read some of their sources later: stores the value
                let alike = !coded.variable && instr.guard.is_none();
                if let Some((by, cycle, written)) = warp.fixed[reg.index()]
                    && alike
                    && written.intersects(lanes)
                {
                    let passed = (warp.cycle - cycle) as u32;
                    let class = program.classes.name(program.instr(by).class).to_owned();
                    self.least.entry(class).and_modify(|least| *least = passed.min(*least)).or_insert(passed);
                }
            }
            for &reg in dsts {
                self.met(program, warp.writes[reg.index()], (pc, lanes), Hazard::Write, reg);
                self.met(program, warp.reads[reg.index()], (pc, lanes), Hazard::Overwrite, reg);
            }
            warp.issue(pc, instr, coded, lanes);
        }
    }

    fn met(
        &mut self,
        program: &Program,
        pending: Option<Pending>,
        (later, lanes): (Pc, LaneMask),
        hazard: Hazard,
        reg: RegId,
    ) {
        // lanes that execute the one may be none of those that execute the other
        let guarded = |pc: Pc| program.instr(pc).guard.is_some();
        if let Some(pending) = pending
            && pending.lanes.intersects(lanes)
            && !guarded(pending.by)
            && !guarded(later)
        {
            self.uncovered.entry((pending.by, later, hazard)).or_insert(reg);
        }
    }
}

impl Warp {
    /// Waits for what the instruction says: how many registers that releases.
    fn wait(&mut self, coded: &Coded) -> u64 {
        let begun = self.begun;
        let mut released = 0;
        let mut through = |pending: &mut Option<Pending>| {
            let Some(Pending { at: Some((barrier, number)), .. }) = *pending else { return };
            let all = (coded.control.wait | coded.waits) >> barrier & 1 != 0;
            // those that are under way beyond the last few are through
            let some = coded.drains.is_some_and(|(drained, left)| {
                drained == barrier && number + u64::from(left) <= begun[usize::from(barrier)]
            });
            if all || some {
                *pending = None;
                released += 1;
            }
        };
        if coded.control.wait | coded.waits != 0 || coded.drains.is_some() {
            self.writes.iter_mut().for_each(&mut through);
            self.reads.iter_mut().for_each(through);
        }
        released
    }

    fn issue(&mut self, pc: Pc, instr: &Instr, coded: &Coded, lanes: LaneMask) {
        let (class, srcs, dsts) = (instr.class, instr.srcs.as_slice(), instr.dsts.as_slice());
        let mut begin = |barrier: u8| {
            let count = &mut self.begun[usize::from(barrier & 7)];
            *count += 1;
            (barrier & 7, *count)
        };
        let control = coded.control;
        if let Some(barrier) = control.read_barrier {
            let at = Some(begin(barrier));
            srcs.iter().for_each(|reg| self.reads[reg.index()] = Some(Pending { by: pc, class, lanes, at }));
        }
        let at = control.write_barrier.map(begin);
        if at.is_some() {
            let earlier = self.writes.iter_mut().flatten();
            earlier
                .filter(|pending| pending.at.is_none() && pending.class == class)
                .for_each(|pending| pending.at = at);
        }
        let fixed = !coded.variable && instr.guard.is_none();
        for &reg in dsts {
            let index = reg.index();
            self.writes[index] = coded.variable.then_some(Pending { by: pc, class, lanes, at });
            self.fixed[index] = fixed.then_some((pc, self.cycle, lanes));
        }
        self.cycle += u64::from(control.stall);
    }
}
