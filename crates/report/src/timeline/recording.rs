//! The recording of a run in memory.

use warpbound_core::base::Cycle;
use warpbound_core::machine::Machine;
use warpbound_trace::trace::{
    BlockStart, Event, Idle, Issue, Needs, Observer, Release, UnitInstances, WarpFinish,
};

/// The most instructions and idle intervals together; each takes 32 bytes.
const MOST: usize = 2_000_000;

/// An instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Instruction {
    pub issue: u64,
    /// Cycles that it waited for its unit, that it occupied the unit, and from then to its result.
    pub waits: u32,
    pub init: u32,
    pub lat: u32,
    pub pc: u32,
    /// The instance of a unit that executed it.
    pub unit: u32,
}

impl Instruction {
    pub fn start(&self) -> u64 {
        self.issue + u64::from(self.waits)
    }

    pub fn init_end(&self) -> u64 {
        self.start() + u64::from(self.init)
    }

    pub fn done(&self) -> u64 {
        self.init_end() + u64::from(self.lat)
    }
}

/// A warp.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Row {
    pub block: u32,
    pub warp: u16,
    pub sub_core: usize,
    pub slot: usize,
    pub start: u64,
    pub end: u64,
    pub instructions: Vec<Instruction>,
    /// The cycle of each release from a barrier, and the barrier.
    pub releases: Vec<(u64, u8)>,
}

/// Cycles in which a sub-core issued nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Gap {
    pub from: u64,
    pub to: u64,
    pub reason: u8,
    /// The row that waits, and the instruction.
    pub waiting: Option<(u32, u32)>,
}

/// The instructions and gaps of an SM, up to a limit.
#[derive(Clone, Debug)]
pub struct Recording {
    units: UnitInstances,
    /// The rows in the order in which the blocks were placed.
    pub(super) rows: Vec<Row>,
    row_of_slot: Vec<usize>,
    /// The gaps of each sub-core.
    pub(super) gaps: Vec<Vec<Gap>>,
    kept: usize,
    most: usize,
}

/// The error for a run that exceeds the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLong {
    /// The limit.
    pub most: usize,
}

impl Recording {
    /// Returns an empty recording for runs on this machine.
    pub fn new(machine: &Machine) -> Self {
        Self::up_to(MOST, UnitInstances::new(machine))
    }

    pub(super) fn up_to(most: usize, units: UnitInstances) -> Self {
        let gaps = vec![Vec::new(); units.sub_cores()];
        Self { units, rows: Vec::new(), row_of_slot: Vec::new(), gaps, kept: 0, most }
    }

    /// Checks that the run did not exceed the limit.
    ///
    /// # Errors
    /// If the run was longer than the limit.
    pub fn check_length(&self) -> Result<(), TooLong> {
        if self.kept > self.most { Err(TooLong { most: self.most }) } else { Ok(()) }
    }

    /// Returns the names of the units.
    pub(super) fn units(&self) -> &[String] {
        self.units.names()
    }

    /// Returns the cycle of the last result, or of the end of the last gap.
    pub(super) fn end(&self) -> u64 {
        let rows = self.rows.iter().map(|row| row.end);
        let results = self.rows.iter().filter_map(|row| row.instructions.iter().map(Instruction::done).max());
        let gaps = self.gaps.iter().filter_map(|gaps| gaps.last().map(|gap| gap.to));
        rows.chain(results).chain(gaps).max().unwrap_or(0)
    }

    /// Returns when each unit was busy, as ascending intervals that do not touch.
    pub(super) fn busy(&self) -> Vec<Vec<(u64, u64)>> {
        let mut busy = vec![Vec::new(); self.units().len()];
        for instruction in self.rows.iter().flat_map(|row| &row.instructions) {
            if let Some(unit) = busy.get_mut(instruction.unit as usize)
                && instruction.init > 0
            {
                unit.push((instruction.start(), instruction.init_end()));
            }
        }
        for unit in &mut busy {
            unit.sort_unstable();
            let mut merged: Vec<(u64, u64)> = Vec::new();
            for (from, to) in unit.drain(..) {
                match merged.last_mut() {
                    Some(last) if last.1 >= from => last.1 = last.1.max(to),
                    _ => merged.push((from, to)),
                }
            }
            *unit = merged;
        }
        busy
    }

    /// Counts one more entry and returns whether it is within the limit. Beyond the limit, the
    /// recording is discarded.
    fn count_entry(&mut self) -> bool {
        self.kept = (self.kept + 1).min(self.most + 1);
        if self.kept > self.most {
            self.rows = Vec::new();
            self.gaps.iter_mut().for_each(|gaps| *gaps = Vec::new());
            return false;
        }
        true
    }

    fn row(&mut self, slot: usize) -> Option<&mut Row> {
        self.rows.get_mut(*self.row_of_slot.get(slot)?)
    }
}

impl Observer for Recording {
    fn needs(&self) -> Needs {
        Needs::IN_ORDER
    }

    fn on(&mut self, event: &Event) {
        match event {
            Event::BlockStarted(start) => self.block_started(start),
            Event::Issued(issue) => self.issued(issue),
            Event::Idled(idle) => self.idled(idle),
            Event::BarrierReleased(release) => self.barrier_released(release),
            Event::WarpFinished(finish) => self.warp_finished(finish),
            Event::Sm(_) | Event::BlockEnded { .. } | Event::Sampled(_) => {}
        }
    }
}

impl Recording {
    fn block_started(&mut self, start: &BlockStart) {
        for warp in 0..start.warps {
            let slot = start.first_slot + warp;
            if self.row_of_slot.len() <= slot {
                self.row_of_slot.resize(slot + 1, usize::MAX);
            }
            if !self.count_entry() {
                return;
            }
            self.row_of_slot[slot] = self.rows.len();
            self.rows.push(Row {
                block: start.block.get(),
                warp: warp as u16,
                sub_core: slot % self.gaps.len().max(1),
                slot,
                start: start.at.get(),
                end: start.at.get(),
                instructions: Vec::new(),
                releases: Vec::new(),
            });
        }
    }

    fn issued(&mut self, issue: &Issue) {
        if !self.count_entry() {
            return;
        }
        let cycles = |from: Cycle, to: Cycle| u32::try_from((to - from).get()).unwrap_or(u32::MAX);
        let instruction = Instruction {
            issue: issue.issue.get(),
            waits: cycles(issue.issue, issue.start),
            init: cycles(issue.start, issue.init_end),
            lat: cycles(issue.init_end, issue.done),
            pc: issue.step.pc().get(),
            unit: self.units.of(issue) as u32,
        };
        if let Some(row) = self.row(issue.slot) {
            row.sub_core = usize::from(issue.sub_core);
            row.instructions.push(instruction);
        }
    }

    fn idled(&mut self, idle: &Idle) {
        if !self.count_entry() {
            return;
        }
        let waiting = idle.waiting.and_then(|waiting| {
            let row = *self.row_of_slot.get(waiting.slot)?;
            Some((u32::try_from(row).ok()?, waiting.step.pc().get()))
        });
        let gap =
            Gap { from: idle.from.get(), to: idle.to.get(), reason: idle.reason.index() as u8, waiting };
        if let Some(gaps) = self.gaps.get_mut(usize::from(idle.sub_core)) {
            gaps.push(gap);
        }
    }

    fn barrier_released(&mut self, release: &Release) {
        for slot in release.slots.slots() {
            if let Some(row) = self.row(slot) {
                row.releases.push((release.at.get(), release.barrier));
            }
        }
    }

    fn warp_finished(&mut self, finish: &WarpFinish) {
        if let Some(row) = self.row(finish.slot) {
            row.end = finish.done.get();
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use warpbound_core::base::{BlockId, Pc, UnitId, WarpId};
    use warpbound_core::path::Step;

    pub(in super::super) fn start(warps: usize) -> BlockStart {
        BlockStart { block: BlockId::new(0), first_slot: 0, warps, at: Cycle::ZERO }
    }

    pub(in super::super) fn issue(slot: usize, pc: u32, times: [u64; 4]) -> Issue {
        let [issue, start, init_end, done] = times.map(Cycle::new);
        Issue {
            block: BlockId::new(0),
            slot,
            sub_core: 0,
            warp: WarpId::from_index(slot),
            index: 0,
            step: Step::plain(Pc::from_index(pc as usize)),
            unit: UnitId::from_index(0),
            issue,
            start,
            init_end,
            done,
        }
    }

    #[test]
    fn busy_times_do_not_touch() {
        let mut recording = Recording::up_to(100, UnitInstances::one_each(["alu", "mem"]));
        recording.block_started(&start(2));
        for (slot, times) in [(0, [0, 0, 2, 5]), (1, [1, 2, 4, 9]), (0, [6, 6, 7, 8])] {
            recording.issued(&issue(slot, 0, times));
        }
        assert_eq!(recording.busy(), [vec![(0, 4), (6, 7)], vec![]]);
        assert_eq!((recording.end(), recording.rows[0].instructions.len()), (9, 2));
        assert_eq!(recording.check_length(), Ok(()));
    }

    #[test]
    fn a_long_run_is_not_kept() {
        let mut recording = Recording::up_to(3, UnitInstances::one_each(["alu"]));
        recording.block_started(&start(1));
        (0..5).for_each(|at| recording.issued(&issue(0, 0, [at, at, at + 1, at + 2])));
        assert_eq!(recording.check_length(), Err(TooLong { most: 3 }));
        assert!(recording.rows.is_empty(), "memory is given back");
    }
}
