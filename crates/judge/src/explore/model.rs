//! The transition system: the possible next events of a block, with all times relative to now.
//!
//! This is another implementation of sections 1 to 7 of `warpbound::model`, written for
//! search. A state holds only what determines the future, so that states reached at different times
//! by different schedules coincide. If there are several sub-cores, they decide one after the other
//! within a cycle, and a state is one in which a certain sub-core decides.

use warpbound_core::machine::Hazards;
use warpbound_core::path::BlockPaths;
use warpbound_core::program::{BarrierId, Flow, TimingTable};

/// The reason why a block cannot be explored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unsupported {
    /// A barrier does not involve every warp of the block.
    PartialBarriers,
    /// Some times exceed 16 bits, which is what a state stores.
    TimesTooLong,
    /// The block has more warps or instructions than a state stores.
    TooLarge,
    /// Latencies under a policy cannot be explored on several sub-cores.
    SubCores,
    /// The machine is beyond the paper model.
    BeyondPaper,
    /// The machine follows control codes, which the search for bad schedules does not support.
    ControlCodes,
}

impl std::fmt::Display for Unsupported {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::PartialBarriers => "exploration handles barriers of the whole block only",
            Self::TimesTooLong => "some wait may exceed 65535 cycles, more than a state stores",
            Self::TooLarge => "at most 32 warps of 30000 instructions can be explored",
            Self::SubCores => "latencies are explored on machines with one sub-core only",
            Self::ControlCodes => {
                "the search for bad schedules follows registers, not control codes: take a machine with dependences: Scoreboard"
            }
            Self::BeyondPaper => "schedules are explored on machines of the paper model only",
        })
    }
}

impl std::error::Error for Unsupported {}

/// An instruction of a warp, with registers renamed to the warp's own dense numbering.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Op {
    /// The instance of its unit.
    pub unit: u8,
    pub init: u16,
    pub lat: u16,
    pub barrier: bool,
    /// The registers that must be available.
    pub waits: Vec<u16>,
    /// The registers that it writes.
    pub writes: Vec<u16>,
    /// The effect of a stall count of more than one cycle: a register that the next instruction
    /// waits for, and the number of cycles after the issue until it is available.
    pub stall: Option<(u16, u16)>,
    /// The barriers of control codes that it signals.
    pub signals: Vec<Signalled>,
}

/// A barrier of control codes that an instruction signals, or the copies of which it is one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Signalled {
    pub when: When,
    /// The registers that represent the barrier.
    pub regs: Vec<u16>,
    /// The register of the copies before which the signal does not come.
    pub after: Option<u16>,
}

/// The time at which a barrier of control codes is signalled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum When {
    Read,
    Done,
}

/// The code of one warp, with the registers that a state must store at each position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Code {
    /// The sub-core on which it runs; warps of different sub-cores are never equal.
    sub_core: u8,
    pub ops: Vec<Op>,
    /// For each index of a next instruction, the registers that an earlier instruction has written
    /// and for whose value an instruction after the next one waits. The registers that the next
    /// instruction itself waits for are excluded, because a single number, its ready time,
    /// represents them.
    pub beyond: Vec<Vec<u16>>,
    /// The registers of `beyond` and those that the next instruction waits for: used for a warp at
    /// a barrier, whose ready time is not known yet.
    pub all: Vec<Vec<u16>>,
    pub registers: usize,
}

/// A block to explore.
#[derive(Clone, Debug)]
pub struct Model {
    codes: Vec<Code>,
    /// The index of each warp's code.
    code_of: Vec<usize>,
    /// The number of instances of units.
    units: usize,
    sub_cores: u8,
    /// The index after the last instruction that uses the unit, by unit and code.
    last_use: Vec<Vec<usize>>,
}

/// A state in its unpacked form: relative times, one entry per warp and unit.
#[derive(Clone, Debug, Default)]
pub struct State {
    warps: Vec<WarpState>,
    /// The number of cycles until each unit can start another instruction.
    free: Vec<u16>,
    /// The sub-core that decides.
    turn: u8,
}

/// A warp of a state.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct WarpState {
    code: usize,
    /// The index of the next instruction.
    next: u16,
    /// Whether the warp waits at a barrier; `ready` is then the time until its barrier instruction
    /// is done.
    waiting: bool,
    /// The number of cycles until the next instruction can issue.
    ready: u16,
    /// The number of cycles until each register is available; only those in `beyond` or `all` are
    /// valid.
    regs: Vec<u16>,
}

/// The effect of an issue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The number of cycles from now to the next decision.
    pub elapsed: u16,
    /// The number of cycles from now to the result of the issued instruction.
    pub done: u16,
}

impl Model {
    /// Creates the model of a block on a machine.
    ///
    /// # Errors
    /// Returns an error for blocks that exploration does not support.
    pub fn new(table: &TimingTable, paths: &BlockPaths) -> Result<Self, Unsupported> {
        Self::with_latencies_up_to(0, table, paths)
    }

    /// Creates the model of a block, for latencies up to `longest_lat` in place of an instruction's
    /// own.
    ///
    /// # Errors
    /// Returns an error for blocks that exploration does not support.
    pub fn with_latencies_up_to(
        longest_lat: u64,
        table: &TimingTable,
        paths: &BlockPaths,
    ) -> Result<Self, Unsupported> {
        if paths.partial_barriers {
            return Err(Unsupported::PartialBarriers);
        }
        if paths.warps.len() > 32 || paths.warps.iter().any(|path| path.steps().len() > 30_000) {
            return Err(Unsupported::TooLarge);
        }
        let mut codes: Vec<Code> = Vec::new();
        let mut code_of = Vec::new();
        let mut longest = longest_lat;
        for (warp, path) in paths.warps.iter().enumerate() {
            let sub_core = table.sub_cores().of_slot(warp);
            let code = Code::new(table, path, sub_core, &mut longest)?;
            let known = codes.iter().position(|other| *other == code);
            code_of.push(known.unwrap_or(codes.len()));
            if known.is_none() {
                codes.push(code);
            }
        }
        // no wait is longer than all initiations of the block and the longest latency
        let initiations: u64 =
            code_of.iter().flat_map(|&code| &codes[code].ops).map(|op| u64::from(op.init)).sum();
        if initiations + longest > u64::from(u16::MAX) {
            return Err(Unsupported::TimesTooLong);
        }
        let units = table.units() * table.sub_cores().count();
        let last_use = (0..units)
            .map(|unit| {
                let after = |code: &Code| {
                    code.ops.iter().rposition(|op| usize::from(op.unit) == unit).map_or(0, |i| i + 1)
                };
                codes.iter().map(after).collect()
            })
            .collect();
        let sub_cores = table.sub_cores().count() as u8;
        Ok(Self { codes, code_of, units, sub_cores, last_use })
    }

    /// Returns the number of warps of the block.
    pub fn warps(&self) -> usize {
        self.code_of.len()
    }

    /// Returns the number of instructions that every schedule issues.
    pub fn issues(&self) -> usize {
        self.code_of.iter().map(|&code| self.codes[code].ops.len()).sum()
    }

    /// Returns the state before the first cycle.
    pub fn start(&self) -> State {
        let warps = self.code_of.iter().map(|&code| WarpState {
            code,
            regs: vec![0; self.codes[code].registers],
            ..WarpState::default()
        });
        let mut state = State { warps: warps.collect(), free: vec![0; self.units], turn: 0 };
        state.warps.sort_by_key(|warp| warp.code);
        state.turn = self.deciding(&state, 0).unwrap_or(0);
        state
    }

    /// Returns the state before the first cycle, with every warp at the position of its id.
    pub fn start_by_id(&self) -> State {
        let mut state = self.start();
        for (warp, &code) in state.warps.iter_mut().zip(&self.code_of) {
            *warp = WarpState { code, regs: vec![0; self.codes[code].registers], ..WarpState::default() };
        }
        state
    }

    /// Returns the warp ids in the order of the warps of [`Model::start`].
    pub fn start_order(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.code_of.len()).collect();
        order.sort_by_key(|&warp| self.code_of[warp]);
        order
    }

    /// Returns the unit of the next instruction of the warp at `position`; with several sub-cores,
    /// the instance of the unit.
    pub fn next_unit(&self, state: &State, position: usize) -> usize {
        let warp = &state.warps[position];
        usize::from(self.codes[warp.code].ops[usize::from(warp.next)].unit)
    }

    /// Issues the next instruction of the warp at `position`, which must be ready, and advances
    /// time to the next decision. The order of warps does not change. `lat` replaces the
    /// instruction's latency.
    pub fn issue(&self, state: &mut State, position: usize, lat: Option<u16>) -> Outcome {
        let warp = &mut state.warps[position];
        let op = &self.codes[warp.code].ops[usize::from(warp.next)];
        let start = state.free[usize::from(op.unit)];
        let initiated = start + op.init;
        let done = initiated + lat.unwrap_or(op.lat);
        state.free[usize::from(op.unit)] = initiated;
        op.note(&mut warp.regs, initiated, done);
        warp.next += 1;
        warp.waiting = op.barrier;
        warp.ready = if op.barrier { done } else { self.ready_at(warp, 1) };
        self.release(state);
        Outcome { elapsed: self.advance(state), done }
    }

    /// Advances to the next decision: of a later sub-core in this cycle, or in a later cycle.
    /// Returns the number of cycles between.
    fn advance(&self, state: &mut State) -> u16 {
        if self.sub_cores > 1
            && let Some(turn) = self.deciding(state, state.turn + 1)
        {
            state.turn = turn;
            return 0;
        }
        let until = |warp: &WarpState| (!warp.waiting && !self.finished(warp)).then_some(warp.ready);
        let elapsed = state.warps.iter().filter_map(until).min().unwrap_or(1).max(1);
        for warp in &mut state.warps {
            warp.ready = warp.ready.saturating_sub(elapsed);
            warp.regs.iter_mut().for_each(|reg| *reg = reg.saturating_sub(elapsed));
        }
        state.free.iter_mut().for_each(|free| *free = free.saturating_sub(elapsed));
        if self.sub_cores > 1 {
            state.turn = self.deciding(state, 0).unwrap_or(0);
        }
        elapsed
    }

    /// Returns the first sub-core from an index on that has a warp that can issue now.
    fn deciding(&self, state: &State, from: u8) -> Option<u8> {
        let ready = (0..state.warps.len()).filter(|&position| self.is_ready(state, position));
        let cores = ready.map(|position| self.codes[state.warps[position].code].sub_core);
        cores.filter(|&core| core >= from).min()
    }

    /// Returns when the warp's next instruction can issue, but no earlier than `base`.
    fn ready_at(&self, warp: &WarpState, base: u16) -> u16 {
        let waits = self.codes[warp.code].ops.get(usize::from(warp.next)).map_or(&[][..], |op| &op.waits);
        waits.iter().map(|&reg| warp.regs[usize::from(reg)]).fold(base, u16::max)
    }

    /// Releases the warps at the barrier if every unfinished warp has arrived. This is checked
    /// directly after an issue, so that the next cycle is the earliest possible one for the
    /// release. That covers the rule "one cycle after the last issue of any warp that finished in
    /// this section".
    fn release(&self, state: &mut State) {
        let all_there = state.warps.iter().all(|warp| warp.waiting || self.finished(warp));
        if !all_there {
            return;
        }
        let at = state.warps.iter().filter(|warp| warp.waiting).map(|warp| warp.ready).fold(1, u16::max);
        for index in 0..state.warps.len() {
            if state.warps[index].waiting {
                let ready = self.ready_at(&state.warps[index], at);
                let warp = &mut state.warps[index];
                warp.waiting = false;
                warp.ready = ready;
            }
        }
    }

    fn finished(&self, warp: &WarpState) -> bool {
        !warp.waiting && usize::from(warp.next) >= self.codes[warp.code].ops.len()
    }

    /// Returns the positions of the warps that can issue now on the deciding sub-core; among warps
    /// in the same state, only the first.
    pub fn choices<'s>(&'s self, state: &'s State) -> impl Iterator<Item = usize> + 's {
        (0..state.warps.len()).filter(|&position| {
            let warp = &state.warps[position];
            let ready = !warp.waiting && warp.ready == 0 && !self.finished(warp);
            let ready = ready && self.codes[warp.code].sub_core == state.turn;
            // equal warps are adjacent once the state is in normal form
            ready && (position == 0 || state.warps[position - 1] != *warp)
        })
    }

    /// Returns whether the warp at a position can issue now.
    pub fn is_ready(&self, state: &State, position: usize) -> bool {
        let warp = &state.warps[position];
        !warp.waiting && warp.ready == 0 && !self.finished(warp)
    }

    /// Brings a state into normal form: clears what can no longer matter, and sorts warps with the
    /// same code. Returns the previous position of each warp.
    pub fn normalise(&self, state: &mut State) -> Vec<usize> {
        self.forget(state);
        let mut order: Vec<usize> = (0..state.warps.len()).collect();
        order.sort_by(|&a, &b| state.warps[a].cmp(&state.warps[b]));
        state.warps.sort();
        order
    }

    /// Does the same as [`Model::normalise`], but does not return the order.
    pub fn normalise_unordered(&self, state: &mut State) {
        self.forget(state);
        state.warps.sort();
    }

    /// Clears everything that can no longer matter.
    pub fn forget(&self, state: &mut State) {
        for (unit, free) in state.free.iter_mut().enumerate() {
            let used = state.warps.iter().any(|warp| usize::from(warp.next) < self.last_use[unit][warp.code]);
            if !used {
                *free = 0;
            }
        }
        for warp in &mut state.warps {
            let code = &self.codes[warp.code];
            if usize::from(warp.next) >= code.ops.len() && !warp.waiting {
                warp.ready = 0;
            }
            let kept = if warp.waiting { &code.all } else { &code.beyond }[usize::from(warp.next)].iter();
            let mut kept = kept.peekable();
            for (reg, value) in warp.regs.iter_mut().enumerate() {
                if kept.peek().is_some_and(|&&k| usize::from(k) == reg) {
                    kept.next();
                } else {
                    *value = 0;
                }
            }
        }
    }

    /// Writes a state in normal form as a key. States with equal keys have equal futures.
    pub fn encode(&self, state: &State, key: &mut Vec<u16>) {
        key.clear();
        for warp in &state.warps {
            let code = &self.codes[warp.code];
            key.push(warp.next << 1 | u16::from(warp.waiting));
            key.push(warp.ready);
            let kept = if warp.waiting { &code.all } else { &code.beyond };
            key.extend(kept[usize::from(warp.next)].iter().map(|&reg| warp.regs[usize::from(reg)]));
        }
        key.extend(&state.free);
        if self.sub_cores > 1 {
            key.push(u16::from(state.turn));
        }
    }

    /// Reads a key back. `state` provides the allocation and must be of this model.
    pub fn decode(&self, key: &[u16], state: &mut State) {
        let mut values = key.iter().copied();
        let mut next = || values.next().unwrap_or(0);
        for warp in &mut state.warps {
            let code = &self.codes[warp.code];
            let head = next();
            warp.next = head >> 1;
            warp.waiting = head & 1 == 1;
            warp.ready = next();
            warp.regs.iter_mut().for_each(|reg| *reg = 0);
            let kept = if warp.waiting { &code.all } else { &code.beyond };
            for &reg in &kept[usize::from(warp.next)] {
                warp.regs[usize::from(reg)] = next();
            }
        }
        state.free.iter_mut().for_each(|free| *free = next());
        state.turn = if self.sub_cores > 1 { next() as u8 } else { 0 };
    }
}

impl PartialOrd for WarpState {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

/// Compares by code first, so that the positions of codes in a state never change.
impl Ord for WarpState {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        let key = |warp: &Self| (warp.code, warp.next, warp.waiting, warp.ready);
        key(self).cmp(&key(other)).then_with(|| self.regs.cmp(&other.regs))
    }
}

impl Op {
    /// Records when the registers of its warp become available, as it issues now. `initiated` and
    /// `done` are the cycles from now to the end of its initiation and to its result.
    pub fn note(&self, regs: &mut [u16], initiated: u16, done: u16) {
        // everything that it waited for is available now, whatever the stored times say
        for &reg in &self.waits {
            regs[usize::from(reg)] = 0;
        }
        for &reg in &self.writes {
            regs[usize::from(reg)] = done;
        }
        for Signalled { when, regs: of_barrier, after } in &self.signals {
            // register n of a barrier, from 0, holds the time from which at most n signals are in
            // its count. Signals leave the count in the order of issue. Register 0 therefore gets
            // the later of this signal's time and its own old value, and every other register the
            // old value of the register before it
            let mut through = if *when == When::Read { initiated } else { done };
            through = through.max(after.map_or(0, |copies| regs[usize::from(copies)]));
            through = through.max(of_barrier.first().map_or(0, |&all| regs[usize::from(all)]));
            for &reg in of_barrier {
                std::mem::swap(&mut through, &mut regs[usize::from(reg)]);
            }
        }
        if let Some((reg, cycles)) = self.stall {
            regs[usize::from(reg)] = cycles;
        }
    }
}

impl Code {
    /// Creates the code of a warp on a sub-core. Raises `longest` to its longest latency if that is
    /// larger.
    pub fn new(
        table: &TimingTable,
        path: &warpbound_core::path::WarpPath,
        sub_core: usize,
        longest: &mut u64,
    ) -> Result<Self, Unsupported> {
        let mut names: Vec<warpbound_core::base::RegId> = Vec::new();
        let mut local = |reg: warpbound_core::base::RegId| {
            let index = names.iter().position(|&known| known == reg).unwrap_or_else(|| {
                names.push(reg);
                names.len() - 1
            });
            index as u16
        };
        // an id that no register of the program has
        let stalls = warpbound_core::base::RegId::from_index(table.regs());
        let mut stalled = false;
        let mut ops = Vec::new();
        for &step in path.steps().iter().filter(|step| table.issues(**step)) {
            let instr = table.instr(step.pc());
            let timing = table.op(step);
            let mut waits: Vec<u16> = instr.srcs.as_slice().iter().map(|&reg| local(reg)).collect();
            let mut writes: Vec<u16> = instr.dsts.as_slice().iter().map(|&reg| local(reg)).collect();
            if let Some(reg) = table.async_reg(step) {
                if instr.flow == Flow::AsyncWait { waits.push(local(reg)) } else { writes.push(local(reg)) }
            }
            if table.hazards().contains(Hazards::WAW) {
                waits.extend(&writes);
            }
            if std::mem::replace(&mut stalled, instr.codes.stall > 1) {
                waits.push(local(stalls));
            }
            let mut signals = Vec::new();
            if let Some(barriers) = table.barriers() {
                let mut local = |reg| local(warpbound_core::base::RegId::from_index(reg));
                for (when, barrier) in [(When::Read, instr.codes.read), (When::Done, instr.codes.done)] {
                    let Some(barrier) = barrier else { continue };
                    let regs = barriers.of_barrier(barrier).map(&mut local).collect();
                    let after = (barrier == BarrierId::OF_COPIES).then(|| local(barriers.of_copies()));
                    signals.push(Signalled { when, regs, after });
                }
                if instr.codes.copies {
                    let regs = vec![local(barriers.of_copies())];
                    signals.push(Signalled { when: When::Done, regs, after: None });
                }
            }
            let stall = stalled.then(|| (local(stalls), u16::from(instr.codes.stall)));
            if instr.flow == Flow::Arrive {
                return Err(Unsupported::PartialBarriers);
            }
            let small = |cycles: warpbound_core::base::Cycles| {
                u16::try_from(cycles.get()).map_err(|_| Unsupported::TimesTooLong)
            };
            *longest = (*longest).max(timing.lat.get());
            ops.push(Op {
                unit: table.sub_cores().instance(timing.unit, sub_core, table.units()) as u8,
                init: small(timing.init)?,
                lat: small(timing.lat)?,
                barrier: instr.flow == Flow::Barrier,
                waits,
                writes,
                stall,
                signals,
            });
        }
        let registers = names.len();
        let (beyond, all) = live(&ops, registers);
        Ok(Self { sub_core: sub_core as u8, ops, beyond, all, registers })
    }
}

/// Returns the registers whose availability still matters before each instruction (and after the
/// last).
fn live(ops: &[Op], registers: usize) -> (Vec<Vec<u16>>, Vec<Vec<u16>>) {
    let mut written = vec![false; registers];
    let mut written_before = Vec::with_capacity(ops.len() + 1);
    for op in ops {
        written_before.push(written.clone());
        let signalled = op.signals.iter().flat_map(|signalled| &signalled.regs);
        let all = op.writes.iter().chain(signalled).chain(op.stall.iter().map(|(reg, _)| reg));
        all.for_each(|&reg| written[usize::from(reg)] = true);
    }
    written_before.push(written);
    let mut waited = vec![false; registers];
    let mut beyond = vec![Vec::new(); ops.len() + 1];
    let mut all = vec![Vec::new(); ops.len() + 1];
    for (index, op) in ops.iter().enumerate().rev() {
        // later instructions wait for `waited`, except for registers that this instruction
        // overwrites
        let anew = op.writes.iter().chain(op.stall.iter().map(|(reg, _)| reg));
        anew.for_each(|&reg| waited[usize::from(reg)] = false);
        for Signalled { regs, after, .. } in op.signals.iter().rev() {
            if let (Some(first), Some(copies)) = (regs.first(), after) {
                waited[usize::from(*copies)] |= waited[usize::from(*first)];
            }
            // each register takes the value of the one before it; the new value of the first one
            // depends on its old value
            for place in 1..regs.len() {
                let later = std::mem::take(&mut waited[usize::from(regs[place])]);
                waited[usize::from(regs[place - 1])] |= later;
            }
        }
        let mut later = waited.clone();
        op.waits.iter().for_each(|&reg| later[usize::from(reg)] = false);
        op.waits.iter().for_each(|&reg| waited[usize::from(reg)] = true);
        let list = |flags: &[bool]| {
            (0..registers)
                .filter(|&reg| flags[reg] && written_before[index][reg])
                .map(|reg| reg as u16)
                .collect()
        };
        beyond[index] = list(&later);
        all[index] = list(&waited);
    }
    (beyond, all)
}
