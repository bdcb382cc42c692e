//! The check whether control codes allow results the time that they take on a machine.
//!
//! A stall count covers an instruction of fixed latency, a barrier one of variable latency; on a
//! machine with control codes nothing else delays the reader. This module observes each run and
//! compares the time at which a register becomes available with the time from which stall counts
//! and barriers allow its reader to issue. Instructions under guards are not judged, because an
//! event does not show whether the lanes are the same.

use std::collections::{BTreeMap, VecDeque};

use warpbound_core::base::{Cycles, Pc, RegId};
use warpbound_core::program::{KernelCode, MachineCode};
use warpbound_trace::trace::{Event, Issue, Needs, Observer};

/// The number of signals kept per barrier: `DEPBAR.LE` can leave no more in flight.
const KEPT: usize = 64;
/// The largest number of pairs that are listed.
const NAMED: usize = 20;

/// The findings of a run.
pub(super) struct ResultTimes<'p> {
    program: &'p KernelCode,
    /// The machine code; `None` disables the observer.
    code: Option<&'p MachineCode>,
    sm: usize,
    /// The warps by SM and slot.
    warps: BTreeMap<(usize, usize), Warp>,
    /// For each writer and reader, a register, and the largest number of cycles by which the codes
    /// allow the reader to issue too early.
    pairs: BTreeMap<(Pc, Pc), (RegId, Cycles)>,
    /// The number of reads that issued before the result was available.
    reads: u64,
}

/// The warp in a slot.
#[derive(Default)]
struct Warp {
    /// For each register, when its value becomes available, and the instruction that wrote it;
    /// `None` if that was under a guard.
    written: Vec<Option<(u64, Pc)>>,
    /// For each barrier, when all its signals so far have completed, the latest first.
    barriers: [VecDeque<u64>; 8],
    stalled_until: u64,
}

impl<'p> ResultTimes<'p> {
    pub fn new(program: &'p KernelCode, watches: bool) -> Self {
        let code = program.machine_code.as_ref().filter(|_| watches);
        Self { program, code, sm: 0, warps: BTreeMap::new(), pairs: BTreeMap::new(), reads: 0 }
    }

    /// Returns the findings as notes for the reader; empty if nothing was observed.
    pub fn notes(&self) -> Vec<String> {
        if self.code.is_none() {
            return Vec::new();
        }
        let most = self.pairs.values().map(|(_, early)| *early).max().unwrap_or_default();
        let summary = match self.pairs.len() {
            0 => "control codes: in this run, every result was available when it was read".to_owned(),
            pairs => format!(
                "control codes: {pairs} pairs of instructions leave a result less time than it took in this run, by at most \
                 {most}; {} reads issued before it was there",
                self.reads
            ),
        };
        let pair = |(&(writer, reader), &(reg, early)): (&(Pc, Pc), &(RegId, Cycles))| {
            let name = &self.program.regs[reg.index()].name;
            let (writer, reader) = (self.program.place(writer), self.program.place(reader));
            format!("control codes: {reader} may read {name} of {writer} {early} too early")
        };
        std::iter::once(summary).chain(self.pairs.iter().take(NAMED).map(pair)).collect()
    }
}

impl Observer for ResultTimes<'_> {
    fn needs(&self) -> Needs {
        if self.code.is_some() { Needs::IN_ORDER } else { Needs::NOTHING }
    }

    fn on(&mut self, event: &Event) {
        match event {
            Event::Sm(sm) => self.on_sm(*sm),
            Event::Issued(issue) => self.issued(issue),
            Event::BlockStarted(_)
            | Event::Idled(_)
            | Event::BarrierReleased(_)
            | Event::WarpFinished(_)
            | Event::BlockEnded { .. }
            | Event::Sampled(_) => {}
        }
    }
}

impl ResultTimes<'_> {
    fn on_sm(&mut self, sm: usize) {
        self.sm = sm;
    }

    fn issued(&mut self, issue: &Issue) {
        let Some(code) = self.code else { return };
        let pc = issue.step.pc();
        let instr = self.program.instr(pc);
        let warp = self.warps.entry((self.sm, issue.slot)).or_default();
        if issue.index == 0 {
            *warp = Warp { written: vec![None; self.program.regs.len()], ..Warp::default() };
        }
        let Some(coded) = code.of(instr) else { return };
        let at = issue.issue.get();
        // memory accesses and other instructions of variable latency read some of their sources
        // later than they issue, at an unspecified time
        if instr.guard.is_none() && !coded.variable {
            let earliest_issue = warp.earliest_issue(coded.control.wait | coded.waits, coded.drains);
            for &reg in instr.srcs.as_slice() {
                let Some((there, writer)) = warp.written[reg.index()] else { continue };
                self.reads += u64::from(there > at);
                if there > earliest_issue {
                    let early = Cycles::new(there - earliest_issue);
                    let known = self.pairs.entry((writer, pc)).or_insert((reg, early));
                    known.1 = known.1.max(early);
                }
            }
        }
        warp.stalled_until = at + u64::from(coded.control.stall);
        for (barrier, through) in
            [(coded.control.read_barrier, issue.init_end), (coded.control.write_barrier, issue.done)]
        {
            let Some(barrier) = barrier else { continue };
            let signals = &mut warp.barriers[usize::from(barrier & 7)];
            let before = signals.front().copied().unwrap_or(0);
            signals.push_front(through.get().max(before));
            signals.truncate(KEPT);
        }
        let written = instr.guard.is_none().then_some((issue.done.get(), pc));
        instr.dsts.as_slice().iter().for_each(|reg| warp.written[reg.index()] = written);
    }
}

impl Warp {
    /// Returns the cycle from which control codes that wait for these barriers allow an instruction
    /// to issue.
    fn earliest_issue(&self, wait: u8, drains: Option<(u8, u8)>) -> u64 {
        let through = |barrier: u8, left: u8| {
            self.barriers[usize::from(barrier & 7)].get(usize::from(left)).copied().unwrap_or(0)
        };
        let all = (0..6).filter(|barrier| wait >> barrier & 1 != 0).map(|barrier| through(barrier, 0));
        let some = drains.map(|(barrier, left)| through(barrier, left));
        all.chain(some).fold(self.stalled_until, u64::max)
    }
}
