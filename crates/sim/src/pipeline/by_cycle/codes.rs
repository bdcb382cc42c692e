//! The control codes of machine code: stall counts, barriers and yields.

use super::Sm;
use crate::key::Key;
use warpbound_core::base::{RegId, WarpMask};
use warpbound_core::path::Step;
use warpbound_core::program::BarrierId;

/// A moment in the life of an instruction that a barrier counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Moment {
    SourcesRead,
    Done,
}

/// An entry of a barrier's count.
#[derive(Clone, Debug)]
struct Signal {
    instr: usize,
    moment: Moment,
    /// The cycle of the moment, if that is known.
    at: Option<u64>,
    loads_global: bool,
    /// Whether it is the end of an asynchronous copy, which delays the signals behind it.
    copy: bool,
}

/// The state of the control codes of a warp.
#[derive(Clone, Debug, Default)]
pub(super) struct Codes {
    /// The warp issues nothing before this cycle.
    until: u64,
    /// The signals of each barrier in the order of issue.
    signals: [Vec<Signal>; BarrierId::COUNT],
}

impl Codes {
    /// Returns the signals that a barrier still counts in this cycle: the first one that has not
    /// come, and all behind it.
    fn counted(&self, barrier: BarrierId, now: u64) -> &[Signal] {
        let signals = &self.signals[barrier.index()];
        let first = signals.iter().position(|signal| signal.at.is_none_or(|at| at > now));
        &signals[first.unwrap_or(signals.len())..]
    }

    /// Adds the state to the key of a launch.
    pub fn key(&self, sm: usize, now: u64, key: &mut Key) {
        key.until(self.until, now);
        for barrier in (0..BarrierId::COUNT as u8).filter_map(BarrierId::new) {
            key.list(self.counted(barrier, now), |key, signal| {
                let Signal { instr, moment, at, copy, loads_global: _ } = signal;
                key.instr(sm, *instr);
                key.put((*moment == Moment::Done).into());
                key.put((*copy).into());
                key.put(at.map_or(0, |at| at.saturating_sub(now) + 1));
            });
        }
    }
}

impl Sm<'_> {
    /// Returns the barriers that an instruction waits for, each with the number of signals that may
    /// be missing; `None` if control codes do not apply.
    fn waits_for(&self, step: Step) -> Option<Vec<(BarrierId, usize)>> {
        let (table, barriers) = (self.given.table, self.given.table.barriers()?);
        let regs = table.instr(step.pc()).srcs.as_slice();
        Some(regs.iter().map(|&reg: &RegId| barriers.barrier(reg)).collect())
    }

    /// Returns whether control codes let a warp issue its next instruction; `None` if they do not
    /// apply.
    pub(super) fn codes_allow(&self, slot: usize, step: Step) -> Option<bool> {
        let codes = &self.warps[slot].codes;
        let missing = |barrier| codes.counted(barrier, self.now).iter().filter(|signal| !signal.copy).count();
        let lets = |(barrier, left)| missing(barrier) <= left;
        Some(self.waits_for(step)?.into_iter().all(lets) && self.now >= codes.until)
    }

    /// Returns whether a warp's next instruction waits for a load from global memory by its control
    /// codes; `None` if they do not apply.
    pub(super) fn codes_wait_for_global(&self, slot: usize, step: Step) -> Option<bool> {
        let waits = |(barrier, left): (BarrierId, usize)| {
            let counted = self.warps[slot].codes.counted(barrier, self.now);
            let signals: Vec<usize> = (0..counted.len()).filter(|&index| !counted[index].copy).collect();
            // what has come when no more than `left` signals are missing
            let awaited = signals.len().checked_sub(left + 1).map_or(0, |last| signals[last] + 1);
            counted[..awaited].iter().any(|signal| signal.loads_global)
        };
        Some(self.waits_for(step)?.into_iter().any(waits))
    }

    /// Applies the control codes of an instruction that issues.
    pub(super) fn begin_codes(&mut self, id: usize) {
        let (step, slot, sub_core) = (self.instrs[id].step, self.instrs[id].slot, self.instrs[id].sub_core);
        let table = self.given.table;
        if table.barriers().is_none() {
            return;
        }
        let asked = table.instr(step.pc()).codes;
        let now = self.now;
        let codes = &mut self.warps[slot].codes;
        for barrier in (0..BarrierId::COUNT as u8).filter_map(BarrierId::new) {
            let counted = codes.counted(barrier, now).to_vec();
            codes.signals[barrier.index()] = counted;
        }
        for (barrier, moment) in [(asked.read, Moment::SourcesRead), (asked.done, Moment::Done)] {
            if let Some(barrier) = barrier {
                let loads_global = moment == Moment::Done && table.loads_global(step);
                let signal = Signal { instr: id, moment, at: None, loads_global, copy: false };
                codes.signals[barrier.index()].push(signal);
            }
        }
        if asked.copies {
            let loads_global = table.loads_global(step);
            let signal = Signal { instr: id, moment: Moment::Done, at: None, loads_global, copy: true };
            codes.signals[BarrierId::OF_COPIES.index()].push(signal);
        }
        if asked.stall > 0 {
            codes.until = now + u64::from(asked.stall);
        }
        self.sub_cores[sub_core].yields = asked.yields.then_some(slot);
    }

    /// Records the cycle of a moment of an instruction, the present or a later one.
    pub(super) fn signal(&mut self, id: usize, moment: Moment, at: u64) {
        let codes = &mut self.warps[self.instrs[id].slot].codes;
        for signal in codes.signals.iter_mut().flatten() {
            if (signal.instr, signal.moment) == (id, moment) {
                signal.at = Some(at);
            }
        }
    }

    /// Prepares a slot for a new warp.
    pub(super) fn forget_codes(&mut self, slot: usize) {
        self.warps[slot].codes = Codes::default();
        for sub_core in self.sub_cores.iter_mut().filter(|sub_core| sub_core.yields == Some(slot)) {
            sub_core.yields = None;
        }
    }

    /// Returns the ready warps that a policy sees: all but the one that yields, if there are others
    /// and the policy takes account of it.
    pub(super) fn seen(&self, sub_core: usize, ready: WarpMask, lets_yield: bool) -> WarpMask {
        let yields = self.sub_cores[sub_core].yields.map_or(WarpMask::empty(), WarpMask::slot);
        let others = ready - yields;
        if lets_yield && !others.is_empty() { others } else { ready }
    }

    /// Returns whether control codes let a warp issue another instruction in the cycle of this one.
    pub(super) fn may_issue_with(&self, step: Step) -> bool {
        let table = self.given.table;
        table.barriers().is_none() || table.instr(step.pc()).codes.stall == 0
    }
}
