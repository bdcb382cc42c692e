//! A profile of idle cycles: by the instruction that waited, and by the instruction that it waited
//! for.

use std::cmp::Reverse;

use super::{Event, Idle, Issue, Needs, Observer, StallReason};
use warpbound_core::base::{Cycle, Cycles, Pc, RegId};
use warpbound_core::machine::Hazards;
use warpbound_core::path::Step;
use warpbound_core::program::{BarrierId, Flow, TimingTable};

/// Idle cycles with the same cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LostCycles {
    /// The reason.
    pub reason: StallReason,
    /// The instruction that could not issue, or the barrier at which a warp waited; `None` if no
    /// warp had an instruction left.
    pub waiting: Option<Pc>,
    /// For the reason scoreboard, the instruction whose result became available last; for drain,
    /// the instruction with the last result of all.
    pub producer: Option<Pc>,
    /// The number of cycles.
    pub cycles: Cycles,
}

/// The instructions in flight on an SM.
#[derive(Clone, Debug, Default)]
struct InFlight {
    /// For each slot and register, the cycle in which its value is available, and the instruction
    /// that writes it.
    writers: Vec<(Cycle, Option<Pc>)>,
    /// The instruction with the largest `done` so far.
    last: Option<(Cycle, Pc)>,
}

/// Attributes every idle cycle to an instruction.
pub struct StallProfile<'a> {
    table: &'a TimingTable,
    sms: Vec<InFlight>,
    /// The SM of the present events.
    sm: usize,
    /// The causes, by the instruction that waited; the last element is for cycles without such an
    /// instruction.
    lost: Vec<Vec<LostCycles>>,
}

impl<'a> StallProfile<'a> {
    /// Creates an empty profile of a program on a machine.
    #[inline]
    pub fn new(table: &'a TimingTable) -> Self {
        Self {
            table,
            sms: vec![InFlight::default()],
            sm: 0,
            lost: vec![Vec::new(); table.instrs().len() + 1],
        }
    }

    /// Returns every cause, the costliest first; equal ones by reason and position in the program.
    #[inline]
    pub fn lost(&self) -> Vec<LostCycles> {
        let mut list = self.lost.concat();
        list.sort_by_key(|lost| (Reverse(lost.cycles), lost.reason, lost.waiting, lost.producer));
        list
    }

    /// Returns the writer of the register that becomes available last among those that the step
    /// waits for.
    fn producer(&self, slot: usize, step: Step) -> Option<Pc> {
        let instr = self.table.instr(step.pc());
        let regs = self.table.regs();
        let writers = self.sms[self.sm].writers.get(slot * regs..).unwrap_or(&[]);
        let checks_dsts = self.table.hazards().contains(Hazards::WAW);
        let dsts = if checks_dsts { instr.dsts.as_slice() } else { &[] };
        let ring = self.table.async_reg(step).filter(|_| checks_dsts || instr.flow == Flow::AsyncWait);
        let mut last = (Cycle::ZERO, None);
        let mut look_at = |reg: RegId| {
            if let Some(&writer) = writers.get(reg.index())
                && writer.0 >= last.0
            {
                last = writer;
            }
        };
        instr.srcs.as_slice().iter().for_each(|&reg| look_at(reg));
        dsts.iter().for_each(|&reg| look_at(reg));
        ring.into_iter().for_each(look_at);
        last.1
    }
}

impl Observer for StallProfile<'_> {
    fn needs(&self) -> Needs {
        Needs::EVENTS
    }

    fn on(&mut self, event: &Event) {
        match event {
            Event::Sm(sm) => self.on_sm(*sm),
            Event::Issued(issue) => self.issued(issue),
            Event::Idled(idle) => self.idled(idle),
            Event::BlockStarted(_)
            | Event::BarrierReleased(_)
            | Event::WarpFinished(_)
            | Event::BlockEnded { .. }
            | Event::Sampled(_) => {}
        }
    }
}

impl StallProfile<'_> {
    fn on_sm(&mut self, sm: usize) {
        self.sm = sm;
        if sm >= self.sms.len() {
            self.sms.resize_with(sm + 1, InFlight::default);
        }
    }

    fn issued(&mut self, issue: &Issue) {
        let regs = self.table.regs();
        let InFlight { writers, last } = &mut self.sms[self.sm];
        if writers.len() < (issue.slot + 1) * regs {
            writers.resize((issue.slot + 1) * regs, (Cycle::ZERO, None));
        }
        let of_slot = &mut writers[issue.slot * regs..][..regs];
        let pc = issue.step.pc();
        let instr = self.table.instr(pc);
        for reg in instr.dsts.as_slice() {
            of_slot[reg.index()] = (issue.done, Some(pc));
        }
        if instr.flow == Flow::AsyncCopy
            && let Some(ring) = self.table.async_reg(issue.step)
        {
            of_slot[ring.index()] = (issue.done, Some(pc));
        }
        if let Some(barriers) = self.table.barriers() {
            let of_copies = barriers.of_copies();
            for (barrier, at) in [(instr.codes.read, issue.init_end), (instr.codes.done, issue.done)] {
                let Some(barrier) = barrier else { continue };
                let (mut at, mut by) = (at, Some(pc));
                if barrier == BarrierId::OF_COPIES && of_slot[of_copies].0 > at {
                    (at, by) = of_slot[of_copies];
                }
                let of_barrier = &mut of_slot[barriers.of_barrier(barrier)];
                let last = of_barrier.len() - 1;
                of_barrier.copy_within(..last, 1);
                if of_barrier[0].0 <= at {
                    of_barrier[0] = (at, by);
                }
            }
            if instr.codes.copies && of_slot[of_copies].0 <= issue.done {
                of_slot[of_copies] = (issue.done, Some(pc));
            }
        }
        if last.is_none_or(|(done, _)| done < issue.done) {
            *last = Some((issue.done, pc));
        }
    }

    fn idled(&mut self, idle: &Idle) {
        let producer = match (idle.reason, idle.waiting) {
            (StallReason::Scoreboard, Some(waiting)) => self.producer(waiting.slot, waiting.step),
            (StallReason::Drain, _) => self.sms[self.sm].last.map(|(_, pc)| pc),
            (StallReason::Scoreboard, None) => None,
            (
                StallReason::NotMyTurn | StallReason::UnitFull | StallReason::Barrier | StallReason::Fetch,
                _,
            ) => None,
        };
        let waiting = idle.waiting.map(|waiting| waiting.step.pc());
        let causes = &mut self.lost[waiting.map_or(self.table.instrs().len(), Pc::index)];
        match causes.iter_mut().find(|lost| (lost.reason, lost.producer) == (idle.reason, producer)) {
            Some(lost) => lost.cycles += idle.cycles(),
            None => {
                causes.push(LostCycles { reason: idle.reason, waiting, producer, cycles: idle.cycles() });
            }
        }
    }
}
