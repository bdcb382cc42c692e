//! The check whether the control codes of machine code cover its dependences.
//!
//! The machine has no scoreboard for registers. An instruction that reads the result of an
//! instruction of variable latency has to wait at the barrier that the latter releases. If the
//! latter releases none, the reader has to wait at a barrier that a later instruction of the same
//! op class as the latter releases, which is sufficient because instructions of one class complete
//! in order. An instruction that overwrites a source of such an instruction has to wait at the
//! barrier that signals that the sources have been read. This module checks these waits along the
//! paths that warps take. Results of fixed latency are covered by stall counts, which depend on the
//! machine; for those the module only determines the smallest number of cycles that pass.
//! Instructions under guards are not judged, because a path does not record the lanes in which a
//! guard holds.
//!
//! Generations whose latencies are known have a stricter check ([`super::hazards`]).

use std::collections::BTreeMap;

use warpbound_core::base::{LaneMask, OpClass, Pc, RegId};
use warpbound_core::path::{BlockPaths, WarpPath};
use warpbound_core::program::hazards::Hazard;
use warpbound_core::program::{Coded, Instr, KernelCode};

/// The dependences that control codes do not cover, and statistics about those that they cover.
#[derive(Clone, Debug, Default)]
pub struct ControlCodes {
    /// The uncovered dependences, each pair of instructions once: earlier instruction, later
    /// instruction, hazard, and the register.
    uncovered: BTreeMap<(Pc, Pc, Hazard), RegId>,
    /// The number of times that a wait at a barrier released a register.
    covered: u64,
    /// For each op class of the earlier instruction, the smallest number of cycles, by stall
    /// counts, until its result is read, if both instructions have a fixed latency.
    least: BTreeMap<String, u32>,
}

/// An access to a register that has not completed.
#[derive(Clone, Copy)]
struct Pending {
    by: Pc,
    class: OpClass,
    lanes: LaneMask,
    /// The barrier and the number of the release that completes the access; `None` if no release
    /// does.
    at: Option<(u8, u64)>,
}

/// The state of a warp along its path.
struct Warp {
    writes: Vec<Option<Pending>>,
    reads: Vec<Option<Pending>>,
    /// The number of releases begun, by barrier.
    begun: [u64; 8],
    /// The instruction and the cycle of the last write of fixed latency, with its lanes, by
    /// register.
    fixed: Vec<Option<(Pc, u64, LaneMask)>>,
    cycle: u64,
}

impl ControlCodes {
    /// Follows the warps of a block; warps that execute the same steps are followed once.
    pub fn see(&mut self, program: &KernelCode, paths: &BlockPaths) {
        let mut done: Vec<&WarpPath> = Vec::new();
        for path in &paths.warps {
            if !done.iter().any(|seen| seen.steps() == path.steps()) {
                done.push(path);
                self.warp(program, path);
            }
        }
    }

    /// Returns the dependences that are not covered: the earlier and the later instruction, the
    /// hazard and the register.
    pub fn uncovered(&self) -> impl Iterator<Item = (Pc, Pc, Hazard, RegId)> {
        self.uncovered.iter().map(|(&(earlier, later, hazard), &reg)| (earlier, later, hazard, reg))
    }

    /// Returns the number of times that a wait at a barrier released a register.
    pub fn covered(&self) -> u64 {
        self.covered
    }

    /// Returns, by op class, the smallest number of cycles from the issue of an instruction to that
    /// of the first one that reads its result.
    pub fn least(&self) -> impl Iterator<Item = (&str, u32)> {
        self.least.iter().map(|(class, &cycles)| (class.as_str(), cycles))
    }

    /// Returns the findings as notes for the reader.
    pub fn notes(&self, program: &KernelCode) -> Vec<String> {
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

    fn warp(&mut self, program: &KernelCode, path: &WarpPath) {
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
                self.check_wait(program, warp.writes[reg.index()], (pc, lanes), Hazard::Read, reg);
                // instructions of variable latency read some of their sources later, as a store
                // reads its value
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
                self.check_wait(program, warp.writes[reg.index()], (pc, lanes), Hazard::Write, reg);
                self.check_wait(program, warp.reads[reg.index()], (pc, lanes), Hazard::Overwrite, reg);
            }
            warp.issue(pc, instr, coded, lanes);
        }
    }

    fn check_wait(
        &mut self,
        program: &KernelCode,
        pending: Option<Pending>,
        (later, lanes): (Pc, LaneMask),
        hazard: Hazard,
        reg: RegId,
    ) {
        // under guards, the lanes that execute the two instructions may be disjoint
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
    /// Waits for the barriers that the instruction names. Returns the number of registers that this
    /// releases.
    fn wait(&mut self, coded: &Coded) -> u64 {
        let begun = self.begun;
        let mut released = 0;
        let mut through = |pending: &mut Option<Pending>| {
            let Some(Pending { at: Some((barrier, number)), .. }) = *pending else { return };
            let all = (coded.control.wait | coded.waits) >> barrier & 1 != 0;
            // all releases except the last few in flight have completed
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
