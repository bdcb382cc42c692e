//! A reference simulator that goes cycle by cycle, written from the rules in `warpbound::model`
//! alone and not from the engine.
//!
//! It is deliberately simple: it has no event queue and no bit operations, and keeps nothing from
//! one cycle to the next that it can look up again. It shares only the types of its input with the
//! engine; it does not even use the timing table. The policies are in `per_cycle_rules.rs`.
#![allow(dead_code, reason = "every test file uses its own part")]

#[path = "per_cycle_rules.rs"]
mod rules;

use std::collections::VecDeque;

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use warpbound::isa::Space;
use warpbound::machine::{Dependences, Hazards, Machine, OpTiming};
use warpbound::path::{BlockPaths, Step};
use warpbound::program::{Coded, Flow, KernelCode};
use warpbound::trace::StallReason;

/// A policy.
#[derive(Clone, Debug)]
pub enum Rule {
    Gto,
    Lrr,
    Srr,
    Gsrr,
    Oldest,
    /// Two-level scheduling with this number of active warps.
    TwoLevel(usize),
    RunToBarrier,
    Random(u64),
    /// The issues as (block, cycle from the start of the block, warp).
    Replay(Vec<(usize, u64, usize)>),
}

/// One issue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Issued {
    pub block: usize,
    pub warp: usize,
    pub sub_core: usize,
    pub index: usize,
    pub issue: u64,
    pub start: u64,
    pub done: u64,
}

/// The result of a simulation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    pub issues: Vec<Issued>,
    pub makespan: u64,
    /// The idle cycles by sub-core: not its turn, unit full, scoreboard, barrier, fetch, drain.
    pub stalls: Vec<[u64; StallReason::ALL.len()]>,
    /// The blocks, in launch order.
    pub blocks: Vec<Ran>,
}

/// The times of a block.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ran {
    pub start: u64,
    pub end: u64,
    /// The largest `done` of each warp, from the start of the block.
    pub finish: Vec<u64>,
}

/// A warp on the SM.
struct Warp {
    block: usize,
    warp: usize,
    next: usize,
    avail: Vec<u64>,
    /// For each register, whether its last writer is a load from global memory.
    from_global: Vec<bool>,
    ring: [u64; 32],
    /// By barrier of control codes: the cycle in which each instruction that signalled it
    /// completes, regardless of the instructions before it, and whether it is a load from global
    /// memory. The last value states whether it is the end of an asynchronous copy.
    signalled: [Vec<(u64, bool, bool)>; 6],
    /// The cycle in which the stall count of its last instruction ends.
    stalled_until: u64,
    at_barrier: bool,
    finished: bool,
    last_issue: u64,
    last_done: u64,
}

/// The arrival of a warp at a barrier.
struct Arrival {
    slot: usize,
    waits: bool,
    done: u64,
}

/// A block on the SM.
struct Block {
    block: usize,
    start: u64,
    /// For each barrier: the number of warps that it expects (0: all), and the arrivals.
    barriers: Vec<(u8, Vec<Arrival>)>,
    /// The complete barriers: the cycle of the release and the slots of the warps that it releases.
    releases: Vec<(u64, Vec<usize>)>,
    /// The last issues of the warps that finished since the last barrier of all warps.
    finished_in_section: Vec<u64>,
}

/// The state of a policy.
struct Memory {
    last: Option<(usize, usize)>,
    last_slot: Option<usize>,
    turn: usize,
    issued_in_turn: bool,
    turn_of: Option<(usize, usize)>,
    active: Vec<(usize, usize)>,
    pending: VecDeque<(usize, usize)>,
    /// The warp that issued last, if its instruction gives precedence to other warps.
    yielding: Option<(usize, usize)>,
    rng: ChaCha8Rng,
}

struct Sim<'a> {
    program: &'a KernelCode,
    machine: &'a Machine,
    blocks: &'a [BlockPaths],
    rule: &'a Rule,
    /// The timing of each instruction, and its timing by space where this makes a difference.
    timing: Vec<(OpTiming, Option<[OpTiming; 5]>)>,
    /// The cycle in which each unit is free, by sub-core; shared units use the entry of the first.
    free: Vec<Vec<u64>>,
    /// The start cycles of the instructions issued to each unit, indexed likewise.
    starts: Vec<Vec<Vec<u64>>>,
    t: u64,
    /// The warps, `warps` slots for each CTA slot.
    slots: Vec<Option<Warp>>,
    places: Vec<Option<Block>>,
    /// The state of the policy, by sub-core.
    memory: Vec<Memory>,
    outcome: Outcome,
}

/// Simulates blocks of equal size, at most `resident` of them at a time.
pub fn simulate(
    program: &KernelCode,
    machine: &Machine,
    blocks: &[BlockPaths],
    rule: &Rule,
    resident: usize,
) -> Outcome {
    let of = |class| machine.op(program.classes.name(class)).expect("tests use classes the machine maps");
    let timing = program
        .instrs
        .iter()
        .map(|i| (of(i.class), i.class_by_space.as_ref().map(|by| by.map(of))))
        .collect();
    let warps = blocks[0].warps.len();
    let sub_cores = machine.sub_cores().count();
    let mut sim = Sim {
        program,
        machine,
        blocks,
        rule,
        timing,
        free: vec![vec![0; machine.units().len()]; sub_cores],
        starts: vec![vec![Vec::new(); machine.units().len()]; sub_cores],
        t: 0,
        slots: (0..resident * warps).map(|_| None).collect(),
        places: (0..resident).map(|_| None).collect(),
        memory: (0..sub_cores).map(|sub_core| fresh(rule, sub_core)).collect(),
        outcome: Outcome {
            issues: Vec::new(),
            makespan: 0,
            stalls: vec![[0; StallReason::ALL.len()]; sub_cores],
            blocks: vec![Ran::default(); blocks.len()],
        },
    };
    let mut launched = 0;
    loop {
        // blocks end and others replace them; a block without work ends at once
        loop {
            sim.release_barriers();
            let ended = sim.end_blocks();
            let placed = sim.place_blocks(&mut launched);
            if !ended && !placed {
                break;
            }
        }
        if sim.places.iter().all(Option::is_none) {
            sim.outcome.makespan = sim.t;
            return sim.outcome;
        }
        for sub_core in 0..sub_cores {
            match sim.choose(sub_core) {
                Some(slot) => sim.issue(slot, sub_core),
                None => sim.attribute(sub_core),
            }
        }
        sim.t += 1;
        assert!(sim.t < 10_000_000, "the reference does not come to an end");
    }
}

fn fresh(rule: &Rule, sub_core: usize) -> Memory {
    let seed = if let Rule::Random(seed) = rule { *seed } else { 0 };
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream(sub_core as u64);
    Memory {
        last: None,
        last_slot: None,
        turn: 0,
        issued_in_turn: false,
        turn_of: None,
        active: Vec::new(),
        pending: VecDeque::new(),
        yielding: None,
        rng,
    }
}

impl Sim<'_> {
    fn warps(&self) -> usize {
        self.blocks[0].warps.len()
    }

    /// Returns the slots whose warps belong to a sub-core.
    fn slots_of(&self, sub_core: usize) -> Vec<usize> {
        let n = self.memory.len();
        (0..self.slots.len()).filter(|slot| slot % n == sub_core).collect()
    }

    /// Returns the steps of a warp that issue.
    fn steps(&self, block: usize, warp: usize) -> &[Step] {
        let steps = self.blocks[block].warps[warp].steps();
        let ends = !self.machine.exit_issues() && steps.last().is_some_and(|step| step.ends_warp());
        &steps[..steps.len() - usize::from(ends)]
    }

    fn next_step(&self, warp: &Warp) -> Option<Step> {
        self.steps(warp.block, warp.warp).get(warp.next).copied()
    }

    // ---- blocks ----

    fn place_blocks(&mut self, launched: &mut usize) -> bool {
        let mut placed = false;
        for place in 0..self.places.len() {
            if self.places[place].is_some() || *launched == self.blocks.len() {
                continue;
            }
            let block = *launched;
            *launched += 1;
            placed = true;
            if self.places.len() == 1 {
                self.memory = (0..self.memory.len()).map(|core| fresh(self.rule, core)).collect();
            }
            let barriers = (0..16).map(|_| (0, Vec::new())).collect();
            let (start, releases, finished_in_section) = (self.t, Vec::new(), Vec::new());
            self.places[place] = Some(Block { block, start, barriers, releases, finished_in_section });
            let warps = self.warps();
            for warp in 0..warps {
                let regs = self.program.regs.len();
                self.slots[place * warps + warp] = Some(Warp {
                    block,
                    warp,
                    next: 0,
                    avail: vec![0; regs],
                    from_global: vec![false; regs],
                    ring: [0; 32],
                    signalled: Default::default(),
                    stalled_until: 0,
                    at_barrier: false,
                    finished: self.steps(block, warp).is_empty(),
                    last_issue: self.t,
                    last_done: self.t,
                });
                let sub_core = (place * warps + warp) % self.memory.len();
                self.memory[sub_core].pending.push_back((block, warp));
            }
        }
        placed
    }

    fn end_blocks(&mut self) -> bool {
        let mut ended = false;
        for place in 0..self.places.len() {
            let Some(block) = &self.places[place] else { continue };
            let slots = place * self.warps()..(place + 1) * self.warps();
            let warps: Vec<&Warp> = self.slots[slots.clone()].iter().flatten().collect();
            if warps.iter().all(|warp| warp.finished && warp.last_done <= self.t) {
                self.outcome.blocks[block.block] = Ran {
                    start: block.start,
                    end: self.t,
                    finish: warps.iter().map(|warp| warp.last_done - block.start).collect(),
                };
                self.places[place] = None;
                slots.for_each(|slot| self.slots[slot] = None);
                ended = true;
            }
        }
        ended
    }

    // ---- barriers ----

    fn release_barriers(&mut self) {
        for place in 0..self.places.len() {
            while self.places[place].is_some() && (self.complete(place) || self.release(place)) {}
        }
    }

    /// Moves a barrier at which all expected warps have arrived to the releases.
    fn complete(&mut self, place: usize) -> bool {
        let warps = self.warps();
        let unfinished: Vec<usize> = (place * warps..(place + 1) * warps)
            .filter(|&slot| self.slots[slot].as_ref().is_some_and(|warp| !warp.finished))
            .collect();
        let block = self.places[place].as_mut().expect("the caller looked");
        for (expected, arrivals) in &mut block.barriers {
            if arrivals.is_empty() {
                continue;
            }
            let mut at = arrivals.iter().map(|arrival| arrival.done).max().unwrap();
            if *expected == 0 {
                let came = |slot: &usize| arrivals.iter().any(|arrival| arrival.slot == *slot);
                if !unfinished.iter().all(came) {
                    continue;
                }
                for last_issue in block.finished_in_section.drain(..) {
                    at = at.max(last_issue + 1);
                }
            } else if arrivals.len() < *expected as usize {
                continue;
            }
            let waiting = arrivals.iter().filter(|arrival| arrival.waits).map(|arrival| arrival.slot);
            block.releases.push((at, waiting.collect()));
            arrivals.clear();
            return true;
        }
        false
    }

    /// Releases the warps of one complete barrier.
    fn release(&mut self, place: usize) -> bool {
        let block = self.places[place].as_mut().expect("the caller looked");
        let Some(due) = block.releases.iter().position(|(at, _)| *at <= self.t) else {
            return false;
        };
        let (_, slots) = block.releases.remove(due);
        for slot in slots {
            let warp = self.slots[slot].as_ref().expect("a waiting warp is there");
            let over = self.next_step(warp).is_none();
            let warp = self.slots[slot].as_mut().expect("a waiting warp is there");
            warp.at_barrier = false;
            warp.finished = over;
            let last_issue = warp.last_issue;
            if over {
                self.places[place].as_mut().unwrap().finished_in_section.push(last_issue);
            }
        }
        true
    }

    // ---- ready and issue ----

    /// Returns whether a warp has instructions left and does not wait at a barrier.
    fn eligible(&self, slot: usize) -> bool {
        self.slots[slot].as_ref().is_some_and(|warp| !warp.finished && !warp.at_barrier)
    }

    fn ready(&self, slot: usize) -> bool {
        self.hazards_are_over(slot) && self.has_room(slot)
    }

    fn hazards_are_over(&self, slot: usize) -> bool {
        self.eligible(slot) && self.waits_until(slot, false) <= self.t
    }

    /// Returns whether the queue of the next instruction's unit has room.
    fn has_room(&self, slot: usize) -> bool {
        let Some(limit) = self.machine.pipeline().and_then(|pipeline| pipeline.queue) else { return true };
        let warp = self.slots[slot].as_ref().expect("an eligible warp is there");
        let Some(step) = self.next_step(warp) else { return true };
        let (core, timing) = self.unit_of(step, slot % self.free.len());
        let starts = &self.starts[core][timing.unit.index()];
        if limit == 0 {
            return self.free[core][timing.unit.index()] <= self.t;
        }
        starts.iter().filter(|&&start| start > self.t).count() < limit as usize
    }

    /// Returns the sub-core that contains the unit of an instruction, and the instruction's timing.
    fn unit_of(&self, step: Step, sub_core: usize) -> (usize, OpTiming) {
        let (plain, by_space) = self.timing[step.pc().index()];
        let timing = by_space.map_or(plain, |by| by[step.memory().space.index()]);
        let shared = self.machine.units()[timing.unit.index()].shared;
        (if shared { 0 } else { sub_core }, timing)
    }

    /// Returns the cycle in which the last register that the next instruction needs is available.
    /// With `only_global`, only registers written by a load from global memory count.
    fn waits_until(&self, slot: usize, only_global: bool) -> u64 {
        let warp = self.slots[slot].as_ref().expect("an eligible warp is there");
        let Some(step) = self.next_step(warp) else { return 0 };
        let instr = self.program.instr(step.pc());
        if let Some(coded) = self.coded(step) {
            let mut until = if only_global { 0 } else { warp.stalled_until };
            for (barrier, signalled) in warp.signalled.iter().enumerate() {
                let all = (coded.control.wait | coded.waits) >> barrier & 1 == 1;
                let left = match coded.drains {
                    _ if all => 0,
                    Some((drained, left)) if usize::from(drained) == barrier => usize::from(left),
                    _ => continue,
                };
                // completion is in order: an instruction is complete when all before it are; copies
                // delay the signals behind them, and are not counted
                let counting = (0..signalled.len()).filter(|&index| !signalled[index].2);
                let counting: Vec<usize> = counting.collect();
                let last = counting.len().checked_sub(left + 1).map(|last| counting[last]);
                let awaited = last.map_or(&[][..], |last| &signalled[..=last]);
                let loads = awaited.iter().rposition(|&(_, global, _)| global).map_or(0, |last| last + 1);
                let considered = if only_global { &awaited[..loads] } else { awaited };
                until = until.max(considered.iter().map(|&(at, ..)| at).max().unwrap_or(0));
            }
            return until;
        }
        let waw = self.machine.hazards().contains(Hazards::WAW);
        let mut until = 0;
        for reg in instr.srcs.as_slice() {
            if !only_global || warp.from_global[reg.index()] {
                until = until.max(warp.avail[reg.index()]);
            }
        }
        for reg in instr.dsts.as_slice() {
            if waw && (!only_global || warp.from_global[reg.index()]) {
                until = until.max(warp.avail[reg.index()]);
            }
        }
        if instr.flow == Flow::AsyncWait || waw && instr.flow == Flow::AsyncCopy {
            until = until.max(warp.ring[step.async_ring().index()]);
        }
        until
    }

    /// Returns the control codes of an instruction, if the machine follows them.
    fn coded(&self, step: Step) -> Option<Coded> {
        if self.machine.dependences() != Dependences::ControlCodes {
            return None;
        }
        self.program.machine_code.as_ref()?.of(self.program.instr(step.pc())).cloned()
    }

    fn issue(&mut self, slot: usize, sub_core: usize) {
        let t = self.t;
        let warp = self.slots[slot].as_ref().expect("a ready warp is there");
        let step = self.next_step(warp).expect("a ready warp has an instruction");
        let instr = self.program.instr(step.pc());
        let (core, timing) = self.unit_of(step, sub_core);
        let free = &mut self.free[core][timing.unit.index()];
        let start = t.max(*free);
        self.starts[core][timing.unit.index()].push(start);
        let done = start + timing.init.get() + timing.lat.get();
        *free = start + timing.init.get();

        let global = match instr.class_by_space {
            Some(_) => matches!(step.memory().space, Space::Global | Space::Local),
            None => instr.memory.is_some_and(|memory| memory.space() == Some(Space::Global)),
        };
        let coded = self.coded(step);
        let warp = self.slots[slot].as_mut().expect("a ready warp is there");
        self.memory[sub_core].yielding = None;
        if let Some(Coded { control, .. }) = coded {
            // an instruction reads its sources during its initiation
            let global = global || instr.flow == Flow::AsyncCopy;
            for (barrier, at, global) in [
                (control.read_barrier, start + timing.init.get(), false),
                (control.write_barrier, done, global),
            ] {
                if let Some(barrier) = barrier {
                    warp.signalled[usize::from(barrier)].push((at, global, false));
                }
            }
            if instr.flow == Flow::AsyncCopy {
                // LDGDEPBAR signals barrier 0 after all copies before it
                warp.signalled[0].push((done, global, true));
            }
            warp.stalled_until = t + u64::from(control.stall);
            if !control.stay {
                self.memory[sub_core].yielding = Some((warp.block, warp.warp));
            }
        }
        for reg in instr.dsts.as_slice() {
            warp.avail[reg.index()] = done;
            warp.from_global[reg.index()] = global;
        }
        if instr.flow == Flow::AsyncCopy {
            warp.ring[step.async_ring().index()] = done;
        }
        let (block, index) = (warp.block, warp.next);
        self.outcome.issues.push(Issued { block, warp: warp.warp, sub_core, index, issue: t, start, done });
        warp.next += 1;
        warp.last_issue = t;
        warp.last_done = warp.last_done.max(done);
        warp.at_barrier = instr.flow == Flow::Barrier;
        let place = slot / self.warps();
        if matches!(instr.flow, Flow::Barrier | Flow::Arrive) {
            let used = step.barrier();
            let block = self.places[place].as_mut().expect("the block is there");
            let (expected, arrivals) = &mut block.barriers[used.id as usize];
            *expected = used.warps;
            arrivals.push(Arrival { slot, waits: instr.flow == Flow::Barrier, done });
        }
        let warp = self.slots[slot].as_ref().expect("a ready warp is there");
        if !warp.at_barrier && self.next_step(warp).is_none() {
            self.slots[slot].as_mut().unwrap().finished = true;
            self.places[place].as_mut().unwrap().finished_in_section.push(t);
        }
    }

    fn attribute(&mut self, sub_core: usize) {
        let slots = self.slots_of(sub_core);
        let reason = if slots.iter().any(|&slot| self.ready(slot)) {
            StallReason::NotMyTurn
        } else if slots.iter().any(|&slot| self.hazards_are_over(slot)) {
            StallReason::UnitFull
        } else if slots.iter().any(|&slot| self.eligible(slot)) {
            StallReason::Scoreboard
        } else if slots.iter().any(|&slot| self.slots[slot].as_ref().is_some_and(|warp| !warp.finished)) {
            StallReason::Barrier
        } else {
            StallReason::Drain
        };
        self.outcome.stalls[sub_core][reason.index()] += 1;
    }
}
