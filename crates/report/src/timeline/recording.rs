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

/// What an SM did.
#[derive(Clone, Debug, Default)]
pub(super) struct OfSm {
    /// The rows in the order in which the blocks were placed.
    pub rows: Vec<Row>,
    row_of_slot: Vec<usize>,
    /// The gaps of each sub-core.
    pub gaps: Vec<Vec<Gap>>,
    kept: usize,
}

/// The instructions and gaps of all SMs, up to a limit. The SMs with the highest numbers are left
/// out if the limit would be exceeded.
#[derive(Clone, Debug)]
pub struct Recording {
    units: UnitInstances,
    /// The SMs from number 0 on.
    sms: Vec<OfSm>,
    /// The number of SMs of which an event was seen.
    seen: usize,
    /// The SM of the following events.
    current: usize,
    /// The number of the first SM that is left out.
    left_out_from: usize,
    kept: usize,
    most: usize,
}

/// The error for a run of which not even SM 0 is within the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLong {
    /// The limit.
    pub most: usize,
}

impl OfSm {
    /// Returns the cycle of the last result, or of the end of the last gap.
    fn end(&self) -> u64 {
        let rows = self.rows.iter().map(|row| row.end);
        let results = self.rows.iter().filter_map(|row| row.instructions.iter().map(Instruction::done).max());
        let gaps = self.gaps.iter().filter_map(|gaps| gaps.last().map(|gap| gap.to));
        rows.chain(results).chain(gaps).max().unwrap_or(0)
    }

    /// Returns the instructions, warp by warp.
    pub fn instructions(&self) -> impl Iterator<Item = &Instruction> {
        self.rows.iter().flat_map(|row| &row.instructions)
    }

    /// Returns when each of this number of units was busy, as ascending intervals that do not
    /// touch.
    pub fn busy(&self, units: usize) -> Vec<Vec<(u64, u64)>> {
        let mut busy = vec![Vec::new(); units];
        for instruction in self.instructions() {
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

    fn row(&mut self, slot: usize) -> Option<&mut Row> {
        self.rows.get_mut(*self.row_of_slot.get(slot)?)
    }

    fn warp_started(&mut self, start: &BlockStart, warp: usize) {
        let slot = start.first_slot + warp;
        if self.row_of_slot.len() <= slot {
            self.row_of_slot.resize(slot + 1, usize::MAX);
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

    fn issued(&mut self, issue: &Issue, unit: usize) {
        let cycles = |from: Cycle, to: Cycle| u32::try_from((to - from).get()).unwrap_or(u32::MAX);
        let instruction = Instruction {
            issue: issue.issue.get(),
            waits: cycles(issue.issue, issue.start),
            init: cycles(issue.start, issue.init_end),
            lat: cycles(issue.init_end, issue.done),
            pc: issue.step.pc().get(),
            unit: unit as u32,
        };
        if let Some(row) = self.row(issue.slot) {
            row.sub_core = usize::from(issue.sub_core);
            row.instructions.push(instruction);
        }
    }

    fn idled(&mut self, idle: &Idle) {
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

impl Recording {
    /// Returns an empty recording for runs on this machine.
    pub fn new(machine: &Machine) -> Self {
        Self::up_to(MOST, UnitInstances::new(machine))
    }

    pub(super) fn up_to(most: usize, units: UnitInstances) -> Self {
        Self { units, sms: Vec::new(), seen: 1, current: 0, left_out_from: usize::MAX, kept: 0, most }
    }

    /// Checks that SM 0 at least was within the limit.
    ///
    /// # Errors
    /// If its part of the run was longer than the limit.
    pub fn check_length(&self) -> Result<(), TooLong> {
        if self.left_out_from == 0 { Err(TooLong { most: self.most }) } else { Ok(()) }
    }

    /// Returns the SMs that were recorded, from number 0 on.
    pub(super) fn sms(&self) -> &[OfSm] {
        &self.sms
    }

    /// Returns the number of SMs of the run, and the limit that those left out would exceed.
    pub(super) fn limits(&self) -> (usize, usize) {
        (self.seen, self.most)
    }

    /// Returns the names of the units.
    pub(super) fn units(&self) -> &[String] {
        self.units.names()
    }

    /// Returns the number of sub-cores of an SM.
    pub(super) fn sub_cores(&self) -> usize {
        self.units.sub_cores()
    }

    /// Returns the cycle of the last result, or of the end of the last gap.
    pub(super) fn end(&self) -> u64 {
        self.sms.iter().map(OfSm::end).max().unwrap_or(0)
    }

    /// Returns the SM of the present event, unless it is left out.
    fn sm(&mut self) -> Option<&mut OfSm> {
        if self.current >= self.left_out_from {
            return None;
        }
        if self.sms.len() <= self.current {
            let empty = OfSm { gaps: vec![Vec::new(); self.units.sub_cores()], ..OfSm::default() };
            self.sms.resize(self.current + 1, empty);
        }
        self.sms.get_mut(self.current)
    }

    /// Counts one more entry of the present SM and returns the SM, unless it is left out. The SMs
    /// that are left out depend only on the number of entries of each SM, because SM n is left out
    /// if and only if SMs 0 to n exceed the limit together.
    fn entry(&mut self) -> Option<&mut OfSm> {
        self.sm()?.kept += 1;
        self.kept += 1;
        while self.kept > self.most {
            self.kept -= self.sms.pop().map_or(self.kept, |sm| sm.kept);
            self.left_out_from = self.sms.len();
        }
        self.sm()
    }
}

impl Observer for Recording {
    fn needs(&self) -> Needs {
        Needs::EVENTS
    }

    fn on(&mut self, event: &Event) {
        match event {
            Event::Sm(sm) => {
                self.current = *sm;
                self.seen = self.seen.max(*sm + 1);
                // an SM without other events is not left out
                let _ = self.sm();
            }
            Event::BlockStarted(start) => {
                for warp in 0..start.warps {
                    if let Some(sm) = self.entry() {
                        sm.warp_started(start, warp);
                    }
                }
            }
            Event::Issued(issue) => {
                let unit = self.units.of(issue);
                if let Some(sm) = self.entry() {
                    sm.issued(issue, unit);
                }
            }
            Event::Idled(idle) => {
                if let Some(sm) = self.entry() {
                    sm.idled(idle);
                }
            }
            Event::BarrierReleased(release) => {
                if let Some(sm) = self.sm() {
                    sm.barrier_released(release);
                }
            }
            Event::WarpFinished(finish) => {
                if let Some(sm) = self.sm() {
                    sm.warp_finished(finish);
                }
            }
            Event::BlockEnded { .. } | Event::Sampled(_) => {}
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
        recording.on(&Event::BlockStarted(start(2)));
        for (slot, times) in [(0, [0, 0, 2, 5]), (1, [1, 2, 4, 9]), (0, [6, 6, 7, 8])] {
            recording.on(&Event::Issued(issue(slot, 0, times)));
        }
        let sm = &recording.sms()[0];
        assert_eq!(sm.busy(2), [vec![(0, 4), (6, 7)], vec![]]);
        assert_eq!((recording.end(), sm.rows[0].instructions.len()), (9, 2));
        assert_eq!(recording.check_length(), Ok(()));
    }

    #[test]
    fn a_long_run_is_not_kept() {
        let mut recording = Recording::up_to(3, UnitInstances::one_each(["alu"]));
        recording.on(&Event::BlockStarted(start(1)));
        (0..5).for_each(|at| recording.on(&Event::Issued(issue(0, 0, [at, at, at + 1, at + 2]))));
        assert_eq!(recording.check_length(), Err(TooLong { most: 3 }));
        assert!(recording.sms().is_empty(), "memory is given back");
    }

    /// Returns the number of instructions of each SM that is kept.
    fn kept(most: usize, sms: &[usize]) -> Vec<usize> {
        let mut recording = Recording::up_to(most, UnitInstances::one_each(["alu"]));
        for sm in 0..=*sms.iter().max().unwrap() {
            recording.on(&Event::Sm(sm));
            recording.on(&Event::BlockStarted(start(1)));
        }
        for (at, sm) in sms.iter().enumerate() {
            recording.on(&Event::Sm(*sm));
            recording.on(&Event::Issued(issue(0, 0, [at as u64; 4])));
        }
        assert_eq!(recording.limits(), (3, most));
        recording.sms().iter().map(|sm| sm.instructions().count()).collect()
    }

    #[test]
    fn sms_beyond_the_limit_are_left_out_in_whatever_order_their_events_come() {
        // each SM has three instructions, and its warp counts as well
        let orders = [[0, 0, 0, 1, 1, 1, 2, 2, 2], [2, 1, 0, 2, 1, 0, 2, 1, 0], [2, 2, 2, 1, 1, 1, 0, 0, 0]];
        for order in orders {
            for (most, left) in [(12, 3), (11, 2), (8, 2), (7, 1), (4, 1), (3, 0)] {
                assert_eq!(kept(most, &order), vec![3; left], "{order:?}, at most {most}");
            }
        }
    }
}
