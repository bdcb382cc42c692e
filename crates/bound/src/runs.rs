//! Sure runs: stretches of a warp's section that issue back to back in every schedule, as far as
//! the warp's own dependences are concerned. [`Swb`](super::Swb) explains their use.
//!
//! An instruction is *surely ready* if, in every schedule, everything it waits for is available at
//! the latest one cycle after its predecessor issued. It then belongs to its predecessor's run;
//! otherwise it starts a new one. Readiness follows from *guaranteed distances*, longest paths of
//! lower bounds on the time between two events of one warp. [`proofs::swb`](super::proofs::swb),
//! Lemmas 9 and 10, defines them and proves that they are valid.
//!
//! The analysis makes four simplifications, all of them safe, because an additional cut only raises
//! the bound. First, on machines with control codes, every instruction that waits for a barrier
//! starts a run. Second, paths are searched for only in a window of the last [`WINDOW`]
//! instructions. Third, at a barrier the analysis decides which values may be in flight when the
//! next section begins, given that the barrier itself is done by then. Such a value counts as
//! unknown until some instruction has waited for it. Fourth, a unit counts as having a queue if
//! *any* instruction of the program that runs on it has an init other than 1, or could have one
//! because of bank conflicts, or if sub-cores share it.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::operands::{stall, waits, writes};
use warpbound_core::base::{Cycles, RegId, UnitId};
use warpbound_core::machine::OpTiming;
use warpbound_core::path::Step;
use warpbound_core::program::{Flow, RegList, TimingTable};

/// The number of instructions that a search for guaranteed distances looks back.
const WINDOW: u64 = 128;

/// The largest number of registers that an instruction waits for.
const MAX_WAITS: usize = 2 * RegList::MAX + 1;
const _: () = assert!(WINDOW <= 1 << u8::BITS && MAX_WAITS <= 1 << u8::BITS);

/// Sure runs of one warp in one section that leave the same backlogs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunShape {
    /// The backlog of each unit after the run: the work that the run would leave queued on an idle
    /// unit if it issued back to back. Units without a backlog are omitted.
    pub backlogs: Vec<(UnitId, Cycles)>,
    /// The number of runs that leave these backlogs.
    pub runs: u64,
}

/// The sure runs of one warp in one section.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SureRuns {
    /// The number of runs, including those without backlogs.
    pub runs: u64,
    /// The runs with backlogs, in an order that depends on the backlogs only.
    pub shapes: Vec<RunShape>,
}

impl SureRuns {
    /// Returns the sum over the runs of the largest backlog that each leaves on any of these units.
    pub fn backlog(&self, used: impl Fn(UnitId) -> bool) -> Cycles {
        self.backlogs(used).map(|(_, backlog)| backlog).sum()
    }

    /// Returns for each shape the unit with the largest backlog, the first of several, and the sum of
    /// that backlog over the runs.
    pub(super) fn backlogs(&self, used: impl Fn(UnitId) -> bool) -> impl Iterator<Item = (UnitId, Cycles)> {
        let largest = move |shape: &RunShape| {
            let on_used = shape.backlogs.iter().filter(|(unit, _)| used(*unit));
            let largest = on_used.max_by_key(|&&(unit, backlog)| (backlog, Reverse(unit)));
            largest.map(|&(unit, backlog)| (unit, backlog * shape.runs))
        };
        self.shapes.iter().filter_map(largest)
    }
}

/// The knowledge about the last value written to a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Value {
    /// The value is available from here on, in every schedule.
    There,
    /// The value may be in flight, and the time of its write is unknown.
    InFlight,
    /// The value was written by this instruction of the section. It is available from instruction
    /// `sure_from` on, because every instruction takes a cycle to issue.
    Of { index: u64, sure_from: u64 },
}

/// An instruction of the window.
#[derive(Clone, Copy, Debug)]
struct Node {
    unit: UnitId,
    init: u64,
    total: u64,
    /// Whether it can wait for its unit.
    queues: bool,
    /// Whether a later instruction waited for it.
    awaited: bool,
    /// The index of the warp's previous instruction on the same unit, plus one; 0 if there is none.
    before_on_unit: u64,
    /// The distances, in instructions, back to the instructions in the window that it waits for.
    waits: [u8; MAX_WAITS],
    waits_len: u8,
}

/// Finds the sure runs of one section after the other.
#[derive(Clone, Debug)]
pub(super) struct RunFinder {
    /// Whether an instruction can find the unit occupied, by unit.
    queues: Vec<bool>,
    values: Vec<Value>,
    /// The registers whose value is not `There`; a register may occur twice.
    unsettled: Vec<RegId>,
    window: Vec<Node>,
    /// The number of instructions of the section so far.
    count: u64,
    /// The index of the last instruction on each unit, plus one.
    last_on: Vec<u64>,
    /// The backlog after `last_on`, by unit, if that instruction belongs to the current run.
    backlog: Vec<u64>,
    /// The units that the current run used.
    used: Vec<UnitId>,
    /// The first instruction of the current run.
    run_start: u64,
    /// Whether the previous instruction delays the next one by more than a cycle.
    stalled: bool,
    runs: u64,
    shapes: BTreeMap<Vec<(UnitId, Cycles)>, u64>,
    scratch: Vec<(UnitId, Cycles)>,
    /// The guaranteed distances to the start of each instruction, by position in the window.
    distances: Vec<Option<u64>>,
}

impl RunFinder {
    pub(super) fn new(table: &TimingTable) -> Self {
        let mut queues = vec![false; table.units()];
        for instr in table.instrs() {
            for op in instr.timings() {
                queues[op.unit.index()] |= op.init > Cycles::ONE || table.sub_cores().is_shared(op.unit);
            }
        }
        let nothing = Node {
            unit: UnitId::new(0),
            init: 1,
            total: 1,
            queues: false,
            awaited: false,
            before_on_unit: 0,
            waits: [0; MAX_WAITS],
            waits_len: 0,
        };
        Self {
            queues,
            values: vec![Value::There; table.regs()],
            unsettled: Vec::new(),
            window: vec![nothing; WINDOW as usize],
            count: 0,
            last_on: vec![0; table.units()],
            backlog: vec![0; table.units()],
            used: Vec::new(),
            run_start: 0,
            stalled: false,
            runs: 0,
            shapes: BTreeMap::new(),
            scratch: Vec::new(),
            distances: vec![None; WINDOW as usize],
        }
    }

    /// Begins a section in which these registers may be in flight.
    pub(super) fn begin(&mut self, in_flight: &[RegId]) {
        self.count = 0;
        self.run_start = 0;
        self.runs = 0;
        self.last_on.fill(0);
        for &reg in in_flight {
            self.values[reg.index()] = Value::InFlight;
            self.unsettled.push(reg);
        }
    }

    /// Processes the next instruction of the section.
    pub(super) fn issue(&mut self, table: &TimingTable, step: Step, op: OpTiming) {
        let index = self.count;
        let unit = op.unit;
        let queues = self.queues[unit.index()];
        let mut node = Node {
            unit,
            init: op.init.get(),
            total: (op.init + op.lat).get(),
            queues,
            awaited: false,
            before_on_unit: self.last_on[unit.index()],
            waits: [0; MAX_WAITS],
            waits_len: 0,
        };
        let mut sure = index > 0 && !std::mem::replace(&mut self.stalled, stall(table, step) > Cycles::ONE);
        for reg in waits(table, step) {
            // it is unknown when a barrier of control codes completes
            sure = sure && table.barriers().is_none() && self.is_there(self.values[reg.index()]);
            if let Value::Of { index: producer, .. } = self.values[reg.index()]
                && index - producer < WINDOW
            {
                node.waits[usize::from(node.waits_len)] = (index - producer) as u8;
                node.waits_len += 1;
            }
        }
        if !sure && index > 0 {
            self.end_run();
        }
        // when this instruction issues, everything it waited for is available
        for &back in &node.waits[..usize::from(node.waits_len)] {
            self.window[place(index - u64::from(back))].awaited = true;
        }
        for reg in waits(table, step) {
            self.values[reg.index()] = Value::There;
        }
        let sure_from = if queues { u64::MAX } else { index + node.total };
        for reg in writes(table, step) {
            self.values[reg.index()] = Value::Of { index, sure_from };
            self.unsettled.push(reg);
        }
        self.enqueue(index, &node);
        self.window[place(index)] = node;
        self.last_on[unit.index()] = index + 1;
        self.count += 1;
        if self.unsettled.len() > 2 * self.values.len() {
            self.forget_settled();
        }
    }

    /// Ends the section. Returns its runs, and the registers that may be in flight when the next
    /// section begins.
    pub(super) fn end(&mut self, table: &TimingTable, last: Option<Step>) -> (SureRuns, Vec<RegId>) {
        if self.count > 0 {
            self.end_run();
        }
        let barrier = last.is_some_and(|step| table.instr(step.pc()).flow == Flow::Barrier);
        self.forget_settled();
        let mut in_flight = std::mem::take(&mut self.unsettled);
        in_flight.retain(|&reg| {
            // reset, because the next section is another warp's
            let value = std::mem::replace(&mut self.values[reg.index()], Value::There);
            barrier && !self.is_there_after_barrier(value)
        });
        let shapes = std::mem::take(&mut self.shapes)
            .into_iter()
            .map(|(backlogs, runs)| RunShape { backlogs, runs })
            .collect();
        (SureRuns { runs: self.runs, shapes }, in_flight)
    }

    /// Applies Lindley's recursion, `h := max(0, h + arriving - 1)` per instruction, to the unit of
    /// this instruction; the other units are updated when they are used next.
    fn enqueue(&mut self, index: u64, node: &Node) {
        let unit = node.unit.index();
        let in_run = self.last_on[unit] > self.run_start;
        if !in_run {
            self.backlog[unit] = 0;
            self.used.push(node.unit);
        }
        let idle = if in_run { index - self.last_on[unit] } else { 0 };
        self.backlog[unit] = self.backlog[unit].saturating_sub(idle) + node.init - 1;
    }

    /// Records the run that ends with the instruction before the current one.
    fn end_run(&mut self) {
        self.scratch.clear();
        for unit in self.used.drain(..) {
            let since = self.count - self.last_on[unit.index()];
            let backlog = self.backlog[unit.index()].saturating_sub(since);
            if backlog > 0 {
                self.scratch.push((unit, Cycles::new(backlog)));
            }
        }
        self.runs += 1;
        self.run_start = self.count;
        if self.scratch.is_empty() {
            return;
        }
        self.scratch.sort_unstable();
        match self.shapes.get_mut(self.scratch.as_slice()) {
            Some(runs) => *runs += 1,
            None => {
                self.shapes.insert(self.scratch.clone(), 1);
            }
        }
    }

    /// Returns whether a value is available one cycle after the last instruction issued, in every
    /// schedule.
    fn is_there(&mut self, value: Value) -> bool {
        match value {
            Value::There => true,
            Value::InFlight => false,
            Value::Of { index, sure_from } => {
                self.count >= sure_from
                    || self.count - index < WINDOW && {
                        let producer = self.window[place(index)];
                        producer.awaited
                            || self.distance(index).0.is_some_and(|issue| issue + 1 >= producer.total)
                    }
            }
        }
    }

    /// Returns whether a value is available when the last issued instruction, a barrier, releases
    /// the warp.
    fn is_there_after_barrier(&mut self, value: Value) -> bool {
        let Value::Of { index, sure_from } = value else {
            return value == Value::There;
        };
        let last = self.count - 1;
        let barrier = self.window[place(last)].total;
        if index == last || last.saturating_add(barrier) >= sure_from {
            return true;
        }
        self.count - index < WINDOW && {
            let producer = self.window[place(index)];
            // an instruction starts no earlier than it issues
            producer.awaited || self.distance(index).1.is_some_and(|start| start + barrier >= producer.total)
        }
    }

    /// Returns the guaranteed distances from the start of an instruction of the window to the issue
    /// and to the start of the last issued instruction; `None` if no constraint keeps that event
    /// from being earlier.
    fn distance(&mut self, from: u64) -> (Option<u64>, Option<u64>) {
        let last = self.count - 1;
        let mut issue = if self.window[place(from)].queues { None } else { Some(0) };
        let mut start = Some(0);
        self.distances[place(from)] = start;
        for index in from + 1..=last {
            let node = &self.window[place(index)];
            issue = issue.map(|before| before + 1);
            for &back in &node.waits[..usize::from(node.waits_len)] {
                let producer = index - u64::from(back);
                if producer >= from {
                    let known = self.distances[place(producer)];
                    issue = issue.max(known.map(|start| start + self.window[place(producer)].total));
                }
            }
            start = issue;
            if let Some(before) = node.before_on_unit.checked_sub(1).filter(|&before| before >= from) {
                let known = self.distances[place(before)];
                start = start.max(known.map(|start| start + self.window[place(before)].init));
            }
            self.distances[place(index)] = start;
        }
        (issue, start)
    }

    /// Shortens the list of registers that may be in flight.
    fn forget_settled(&mut self) {
        self.unsettled.retain(|reg| self.values[reg.index()] != Value::There);
        self.unsettled.sort_unstable();
        self.unsettled.dedup();
    }
}

/// Returns the position of an instruction in the window.
fn place(index: u64) -> usize {
    (index % WINDOW) as usize
}
