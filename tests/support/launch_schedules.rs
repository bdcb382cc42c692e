//! A simulator of launches with several resident blocks that goes cycle by cycle and accepts any
//! work-conserving choice. It is a deliberately simple reference for the claims of `bound`, on one
//! SM or several, with sub-cores, dual issue and bounded queues. It shares no code with the engine
//! or with `explore`.

#![allow(dead_code, reason = "every test file uses a part of it")]

use std::collections::HashMap;

use warpbound::machine::{Machine, SubCores};
use warpbound::path::BlockPaths;
use warpbound::program::TimingTable;

use super::bound_formulas::{Ins, instructions};

/// A launch and the resources that it runs on.
pub struct Launch {
    /// The instructions by block and warp.
    pub code: Vec<Vec<Vec<Ins>>>,
    pub places: usize,
    pub sms: usize,
    pub sub_cores: SubCores,
    pub units: usize,
    /// By unit: whether some instruction of the program, or a bank conflict, can occupy it for
    /// longer than a cycle.
    pub queues: Vec<bool>,
    registers: usize,
    /// Whether the warp that issues also issues its next instruction, and whether that must be on
    /// another unit.
    pairs: Option<bool>,
    /// The capacity of the queues.
    queue: Option<usize>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Warp {
    next: usize,
    /// The number of cycles until the next instruction can issue.
    ready: u64,
    waiting: bool,
    /// The number of cycles until the barrier at which it waits is done.
    barrier: u64,
    finished: bool,
    available: Vec<u64>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Resident {
    block: usize,
    warps: Vec<Warp>,
    /// The number of cycles until all issued instructions are done.
    done: u64,
    /// The number of cycles until the cycle after the last issue of the warps that have finished.
    after_finished: u64,
    /// The number of cycles until the barrier that all warps have reached releases them.
    release: Option<u64>,
}

/// The state at a decision; all times are relative to the current cycle.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct State {
    /// The resident blocks, by SM and CTA slot.
    places: Vec<Vec<Option<Resident>>>,
    /// The number of cycles until a unit is free, by SM, sub-core and unit; shared units use the
    /// entry of sub-core 0.
    free: Vec<u64>,
    /// The numbers of cycles until the waiting instructions start, by the same index.
    starts: Vec<Vec<u64>>,
    placed: usize,
    last_served: usize,
    /// The sub-core that decides next, counted over all SMs.
    turn: usize,
    done: u64,
}

/// A CTA slot and a warp of the deciding SM.
pub type Choice = (usize, usize);

impl Launch {
    pub fn new(table: &TimingTable, blocks: &[BlockPaths], places: usize, sms: usize) -> Self {
        let code: Vec<Vec<Vec<Ins>>> = blocks
            .iter()
            .map(|block| block.warps.iter().map(|path| instructions(table, path)).collect())
            .collect();
        let registers = code
            .iter()
            .flatten()
            .flatten()
            .flat_map(|ins| ins.waits.iter().chain(&ins.writes))
            .map(|reg| reg.index() + 1);
        let registers = registers.max().unwrap_or(0);
        let mut queues = vec![false; table.units()];
        for op in table.instrs().iter().flat_map(|instr| instr.timings()) {
            queues[op.unit.index()] |= op.init.get() > 1;
        }
        Self {
            code,
            places,
            sms,
            sub_cores: table.sub_cores(),
            units: table.units(),
            queues,
            registers,
            pairs: None,
            queue: None,
        }
    }

    /// Adds the dual issue and the queues of a machine.
    pub fn on(self, machine: &Machine) -> Self {
        let Some(pipeline) = machine.pipeline() else { return self };
        Self {
            pairs: (pipeline.issue.per_warp > 1).then_some(pipeline.issue.distinct_units),
            queue: pipeline.queue.map(|queue| queue as usize),
            ..self
        }
    }

    fn stride(&self) -> usize {
        self.code[0].len()
    }

    fn core_of(&self, place: usize, warp: usize) -> usize {
        (place * self.stride() + warp) % self.sub_cores.count()
    }

    fn start(&self) -> State {
        let mut state = State {
            places: vec![vec![None; self.places]; self.sms],
            free: vec![0; self.sms * self.sub_cores.count() * self.units],
            starts: vec![Vec::new(); self.sms * self.sub_cores.count() * self.units],
            placed: 0,
            last_served: self.sms - 1,
            turn: 0,
            done: 0,
        };
        self.settle(&mut state);
        state
    }

    /// Performs releases, block ends and placements until nothing changes.
    fn settle(&self, state: &mut State) {
        loop {
            let mut changed = false;
            for place in state.places.iter_mut().flatten() {
                let Some(resident) = place else { continue };
                if resident.release == Some(0) {
                    resident.release = None;
                    changed = true;
                    for (code, warp) in self.code[resident.block].iter().zip(&mut resident.warps) {
                        if std::mem::take(&mut warp.waiting) {
                            warp.barrier = 0;
                            warp.prepare(code, 0);
                        }
                    }
                }
                resident.meet();
                if resident.done == 0 && resident.warps.iter().all(|warp| warp.finished) {
                    *place = None;
                    changed = true;
                }
            }
            // round robin over the SMs until no block can be placed
            loop {
                let mut placed = false;
                let after = state.last_served + 1;
                for sm in (0..self.sms).map(|n| (after + n) % self.sms) {
                    placed |= self.place(state, sm);
                }
                if !placed {
                    break;
                }
                changed = true;
            }
            if !changed {
                return;
            }
        }
    }

    fn place(&self, state: &mut State, sm: usize) -> bool {
        let Some(free) = state.places[sm].iter().position(Option::is_none) else { return false };
        let Some(code) = self.code.get(state.placed) else { return false };
        let warp = |code: &Vec<Ins>| Warp {
            next: 0,
            ready: 0,
            waiting: false,
            barrier: 0,
            finished: code.is_empty(),
            available: vec![0; self.registers],
        };
        let warps = code.iter().map(warp).collect();
        state.places[sm][free] =
            Some(Resident { block: state.placed, warps, done: 0, after_finished: 0, release: None });
        state.placed += 1;
        state.last_served = sm;
        true
    }

    fn is_over(&self, state: &State) -> bool {
        state.placed == self.code.len() && state.places.iter().flatten().all(Option::is_none)
    }

    /// Returns the warps of the deciding sub-core that can issue now.
    fn choices(&self, state: &State) -> Vec<Choice> {
        let (sm, core) = (state.turn / self.sub_cores.count(), state.turn % self.sub_cores.count());
        let mut choices = Vec::new();
        for (place, resident) in state.places[sm].iter().enumerate() {
            for (index, warp) in resident.iter().flat_map(|resident| resident.warps.iter().enumerate()) {
                let ready = !warp.finished && !warp.waiting && warp.ready == 0;
                let room = |unit: usize| self.has_room(state, self.instance(state, unit));
                let block = resident.as_ref().map_or(0, |resident| resident.block);
                if ready
                    && self.core_of(place, index) == core
                    && room(self.code[block][index][warp.next].unit)
                {
                    choices.push((place, index));
                }
            }
        }
        choices
    }

    /// Returns the index of a unit of the deciding sub-core in `free` and `starts`.
    fn instance(&self, state: &State, unit: usize) -> usize {
        let cores = self.sub_cores.count();
        let (sm, core) = (state.turn / cores, state.turn % cores);
        let shared = self.sub_cores.is_shared(warpbound::base::UnitId::from_index(unit));
        (sm * cores + if shared { 0 } else { core }) * self.units + unit
    }

    fn has_room(&self, state: &State, instance: usize) -> bool {
        match self.queue {
            None => true,
            Some(0) => state.free[instance] == 0,
            Some(most) => state.starts[instance].len() < most,
        }
    }

    /// Issues the next instruction of a warp, and the one after it in the same cycle if the machine
    /// does so.
    fn issue(&self, state: &mut State, choice: Choice) {
        let first = self.issue_one(state, choice);
        if let Some(distinct) = self.pairs
            && let Some(second) = self.next_in_the_cycle(state, choice)
            && !(distinct && first == second)
        {
            self.issue_one(state, choice);
        }
        state.turn += 1;
    }

    /// Returns the unit of the warp's next instruction if that could issue in this cycle too.
    fn next_in_the_cycle(&self, state: &State, (place, index): Choice) -> Option<usize> {
        let resident = state.places[state.turn / self.sub_cores.count()][place].as_ref()?;
        let warp = &resident.warps[index];
        let ins = self.code[resident.block][index].get(warp.next).filter(|_| !warp.waiting)?;
        let there = ins.waits.iter().all(|reg| warp.available[reg.index()] == 0);
        (there && self.has_room(state, self.instance(state, ins.unit))).then_some(ins.unit)
    }

    /// Issues the next instruction of a warp and returns its unit.
    fn issue_one(&self, state: &mut State, (place, index): Choice) -> usize {
        let sm = state.turn / self.sub_cores.count();
        let block = state.places[sm][place].as_ref().expect("somebody is there").block;
        let code = &self.code[block][index];
        let next = state.places[sm][place].as_ref().expect("somebody is there").warps[index].next;
        let instance = self.instance(state, code[next].unit);
        let resident = state.places[sm][place].as_mut().expect("somebody is there");
        let warp = &mut resident.warps[index];
        let ins = &code[warp.next];
        let free = &mut state.free[instance];
        if self.queue.is_some_and(|most| most > 0) && *free > 0 {
            state.starts[instance].push(*free);
        }
        *free += ins.init;
        let done = *free + ins.lat;
        for reg in &ins.writes {
            warp.available[reg.index()] = done;
        }
        warp.next += 1;
        resident.done = resident.done.max(done);
        state.done = state.done.max(done);
        if ins.barrier {
            warp.waiting = true;
            warp.barrier = done;
        } else {
            warp.prepare(code, 1);
            if warp.finished {
                resident.after_finished = resident.after_finished.max(1);
            }
        }
        resident.meet();
        ins.unit
    }

    /// Advances to the next state in which some sub-core can issue, or to the end. Returns the
    /// number of cycles that pass.
    fn next_decision(&self, state: &mut State) -> u64 {
        let mut elapsed = 0;
        loop {
            if self.is_over(state) {
                return elapsed;
            }
            while state.turn < self.sms * self.sub_cores.count() {
                if !self.choices(state).is_empty() {
                    return elapsed;
                }
                state.turn += 1;
            }
            state.turn = 0;
            // skips the cycles in which nothing can happen
            let quiet = state.places.iter().flatten().flatten().map(Resident::quiet_for).min();
            let cycles = quiet.expect("blocks are left").max(1);
            elapsed += cycles;
            self.pass(state, cycles);
            self.settle(state);
        }
    }

    fn pass(&self, state: &mut State, cycles: u64) {
        let less = |time: &mut u64| *time = time.saturating_sub(cycles);
        state.free.iter_mut().for_each(less);
        for starts in &mut state.starts {
            starts.iter_mut().for_each(less);
            starts.retain(|&start| start > 0);
        }
        less(&mut state.done);
        for resident in state.places.iter_mut().flatten().flatten() {
            less(&mut resident.done);
            less(&mut resident.after_finished);
            resident.release.iter_mut().for_each(less);
            for warp in &mut resident.warps {
                less(&mut warp.ready);
                less(&mut warp.barrier);
                warp.available.iter_mut().for_each(less);
            }
        }
    }

    /// Returns the makespan under a policy that chooses one of the ready warps.
    pub fn run(&self, mut choose: impl FnMut(&[Choice]) -> usize) -> u64 {
        let mut state = self.start();
        let mut now = 0;
        loop {
            now += self.next_decision(&mut state);
            if self.is_over(&state) {
                return now + state.done;
            }
            let choices = self.choices(&state);
            self.issue(&mut state, choices[choose(&choices)]);
        }
    }

    /// Returns the largest makespan over all work-conserving schedules, or `None` if there are more
    /// than this number of states.
    pub fn worst(&self, states: usize) -> Option<u64> {
        self.longest(self.start(), &mut HashMap::new(), states)
    }

    fn longest(&self, mut state: State, known: &mut HashMap<State, u64>, states: usize) -> Option<u64> {
        let elapsed = self.next_decision(&mut state);
        if self.is_over(&state) {
            return Some(elapsed + state.done);
        }
        self.forget(&mut state);
        if let Some(&longest) = known.get(&state) {
            return Some(elapsed + longest);
        }
        if known.len() >= states {
            return None;
        }
        let mut longest = 0;
        for choice in self.choices(&state) {
            let mut after = state.clone();
            self.issue(&mut after, choice);
            longest = longest.max(self.longest(after, known, states)?);
        }
        known.insert(state, longest);
        Some(elapsed + longest)
    }

    /// Resets the times of registers for which no instruction waits any more, so that equal states
    /// compare equal.
    fn forget(&self, state: &mut State) {
        for resident in state.places.iter_mut().flatten().flatten() {
            for (code, warp) in self.code[resident.block].iter().zip(&mut resident.warps) {
                for (reg, available) in warp.available.iter_mut().enumerate() {
                    if !code[warp.next..].iter().any(|ins| ins.waits.iter().any(|r| r.index() == reg)) {
                        *available = 0;
                    }
                }
            }
        }
    }
}

impl Warp {
    /// Updates `ready` for the next instruction, which can issue in `from` cycles at the earliest.
    fn prepare(&mut self, code: &[Ins], from: u64) {
        match code.get(self.next) {
            Some(ins) => {
                self.ready = ins.waits.iter().map(|reg| self.available[reg.index()]).fold(from, u64::max);
            }
            None => {
                self.finished = true;
                self.ready = 0;
            }
        }
    }
}

impl Resident {
    /// Schedules the release of the barrier if every warp that has not finished has arrived.
    fn meet(&mut self) {
        let all_there = self.warps.iter().all(|warp| warp.waiting || warp.finished);
        let latest = self.warps.iter().filter(|warp| warp.waiting).map(|warp| warp.barrier).max();
        if let Some(latest) = latest.filter(|_| all_there && self.release.is_none()) {
            self.release = Some(latest.max(self.after_finished));
        }
    }

    /// Returns the number of cycles until something can happen in the block.
    fn quiet_for(&self) -> u64 {
        let ready = self.warps.iter().filter(|warp| !warp.finished && !warp.waiting).map(|warp| warp.ready);
        let over = self.warps.iter().all(|warp| warp.finished).then_some(self.done);
        ready.chain(over).chain(self.release).min().expect("a block goes on or ends")
    }
}
