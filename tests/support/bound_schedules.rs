//! A simulator of one SM that goes cycle by cycle and accepts any work-conserving choice: a
//! deliberately simple reference for the claims of `bound`. It follows `warpbound::model` literally
//! and shares no code with the engine.

#![allow(dead_code, reason = "every test file uses a part of it")]

use std::collections::BTreeMap;

use warpbound::base::RegId;
use warpbound::path::BlockPaths;
use warpbound::program::TimingTable;

use super::bound_formulas::{Ins, instructions};

/// The progress of a warp.
#[derive(Clone)]
struct Warp {
    next: usize,
    earliest: u64,
    last_issue: Option<u64>,
    waiting: bool,
    available: BTreeMap<RegId, u64>,
    finish: u64,
    barrier_done: u64,
}

/// The state between two cycles.
#[derive(Clone)]
pub struct Sm {
    now: u64,
    warps: Vec<Warp>,
    free: [u64; 64],
    /// The cycles of the last issues of the warps that finished in the current section.
    finished_in_section: Vec<usize>,
    already_finished: Vec<bool>,
}

/// The warp chosen at each issue, with the cycle of the issue.
pub type Decisions = Vec<(u64, usize)>;

/// Returns the instructions of each warp of a block.
pub fn code(table: &TimingTable, paths: &BlockPaths) -> Vec<Vec<Ins>> {
    paths.warps.iter().map(|path| instructions(table, path)).collect()
}

impl Sm {
    pub fn new(code: &[Vec<Ins>]) -> Self {
        let warp = Warp {
            next: 0,
            earliest: 0,
            last_issue: None,
            waiting: false,
            available: BTreeMap::new(),
            finish: 0,
            barrier_done: 0,
        };
        Self {
            now: 0,
            warps: vec![warp; code.len()],
            free: [0; 64],
            finished_in_section: Vec::new(),
            already_finished: vec![false; code.len()],
        }
    }

    fn finished(&self, code: &[Vec<Ins>], warp: usize) -> bool {
        self.warps[warp].next == code[warp].len() && !self.warps[warp].waiting
    }

    /// Releases the warps at the barrier if all that have not finished have arrived.
    fn release(&mut self, code: &[Vec<Ins>]) {
        loop {
            for warp in 0..code.len() {
                if self.finished(code, warp) && !self.already_finished[warp] {
                    self.already_finished[warp] = true;
                    self.finished_in_section.push(warp);
                }
            }
            let alive: Vec<usize> = (0..code.len()).filter(|&w| !self.finished(code, w)).collect();
            if alive.is_empty() || !alive.iter().all(|&w| self.warps[w].waiting) {
                return;
            }
            let barriers = alive.iter().map(|&w| self.warps[w].barrier_done).max().unwrap_or(0);
            let gone = self
                .finished_in_section
                .iter()
                .filter_map(|&w| self.warps[w].last_issue.map(|at| at + 1))
                .max()
                .unwrap_or(0);
            for &w in &alive {
                self.warps[w].waiting = false;
                self.warps[w].earliest = self.warps[w].earliest.max(barriers).max(gone);
            }
            self.finished_in_section.clear();
        }
    }

    /// Advances to the next cycle in which some warp is ready and returns the ready warps, or an
    /// empty list at the end.
    pub fn ready(&mut self, code: &[Vec<Ins>]) -> Vec<usize> {
        self.release(code);
        let mut soonest = u64::MAX;
        let mut at: Vec<u64> = Vec::new();
        for (warp, list) in self.warps.iter().zip(code) {
            let ready_at = match list.get(warp.next) {
                Some(ins) if !warp.waiting => ins
                    .waits
                    .iter()
                    .filter_map(|reg| warp.available.get(reg).copied())
                    .fold(warp.earliest, u64::max),
                _ => u64::MAX,
            };
            at.push(ready_at);
            soonest = soonest.min(ready_at);
        }
        if soonest == u64::MAX {
            return Vec::new();
        }
        self.now = self.now.max(soonest);
        (0..code.len()).filter(|&w| at[w] <= self.now).collect()
    }

    /// Issues the next instruction of a ready warp in the current cycle.
    pub fn issue(&mut self, code: &[Vec<Ins>], warp: usize) {
        let state = &mut self.warps[warp];
        let ins = &code[warp][state.next];
        let start = self.now.max(self.free[ins.unit]);
        let done = start + ins.init + ins.lat;
        self.free[ins.unit] = start + ins.init;
        for &reg in &ins.writes {
            state.available.insert(reg, done);
        }
        state.next += 1;
        state.last_issue = Some(self.now);
        state.earliest = self.now + 1;
        state.waiting = ins.barrier;
        state.barrier_done = done;
        state.finish = state.finish.max(done);
        self.now += 1;
    }

    /// Returns the latest `done` of each warp so far.
    pub fn finishes(&self) -> Vec<u64> {
        self.warps.iter().map(|warp| warp.finish).collect()
    }

    pub fn makespan(&self) -> u64 {
        self.finishes().into_iter().max().unwrap_or(0)
    }

    pub fn now(&self) -> u64 {
        self.now
    }
}

/// Runs a block to its end; `choose` selects one of the ready warps, given the cycle and the warps.
pub fn run(code: &[Vec<Ins>], mut choose: impl FnMut(u64, &[usize]) -> usize) -> Sm {
    let mut sm = Sm::new(code);
    loop {
        let ready = sm.ready(code);
        if ready.is_empty() {
            return sm;
        }
        let chosen = choose(sm.now(), &ready);
        sm.issue(code, chosen);
    }
}

/// Runs a block under loose round robin.
pub fn lrr(code: &[Vec<Ins>]) -> Sm {
    let mut next = 0;
    run(code, |_, ready| {
        let chosen = ready.iter().copied().find(|&w| w >= next).unwrap_or(ready[0]);
        next = chosen + 1;
        chosen
    })
}

/// Runs a block under greedy-then-oldest.
pub fn gto(code: &[Vec<Ins>]) -> Sm {
    let mut last = None;
    run(code, |_, ready| {
        let chosen = last.filter(|w| ready.contains(w)).unwrap_or(ready[0]);
        last = Some(chosen);
        chosen
    })
}

/// Returns the smallest and the largest makespan over all work-conserving schedules, and the
/// decisions of a largest one. It is a plain recursion, for blocks of about a dozen instructions or
/// two warps.
pub fn extremes(code: &[Vec<Ins>]) -> (u64, u64, Decisions) {
    fn descend(
        code: &[Vec<Ins>],
        mut sm: Sm,
        decisions: &mut Decisions,
        best: &mut u64,
        worst: &mut Option<(u64, Decisions)>,
    ) {
        let ready = sm.ready(code);
        if ready.is_empty() {
            let makespan = sm.makespan();
            *best = (*best).min(makespan);
            if worst.as_ref().is_none_or(|(most, _)| makespan > *most) {
                *worst = Some((makespan, decisions.clone()));
            }
            return;
        }
        for warp in ready {
            let mut next = sm.clone();
            decisions.push((next.now(), warp));
            next.issue(code, warp);
            descend(code, next, decisions, best, worst);
            decisions.pop();
        }
    }
    let (mut best, mut worst) = (u64::MAX, None);
    descend(code, Sm::new(code), &mut Vec::new(), &mut best, &mut worst);
    let (most, decisions) = worst.unwrap_or_default();
    (best, most, decisions)
}
