//! The definitions of `warpbound::model`, sections 1 to 12, in the simplest possible form: the
//! state of a warp is in vectors, times are absolute, phases are found by marking every cycle, and
//! bounds are double sums over instructions. The module shares only durations and paths with
//! `bound`.

#![allow(dead_code, reason = "every test file uses a part of it")]

use warpbound::base::RegId;
use warpbound::machine::Hazards;
use warpbound::path::{BlockPaths, WarpPath};
use warpbound::program::{Flow, TimingTable};

/// An instruction that issues, with everything that its timing depends on.
#[derive(Clone, Debug)]
pub struct Ins {
    /// The index of the step in the path.
    pub index: usize,
    pub unit: usize,
    pub init: u64,
    pub lat: u64,
    /// The registers that must be available, including the pseudo-registers of asynchronous copies.
    pub waits: Vec<RegId>,
    /// The registers that it writes, including the pseudo-registers of asynchronous copies.
    pub writes: Vec<RegId>,
    pub barrier: bool,
}

/// The cycles in which an instruction issues, starts and is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Times {
    pub issue: u64,
    pub start: u64,
    pub done: u64,
}

/// Returns the instructions of a path that issue.
pub fn instructions(table: &TimingTable, path: &WarpPath) -> Vec<Ins> {
    let mut list = Vec::new();
    for (index, &step) in path.steps().iter().enumerate() {
        if !table.issues(step) {
            continue;
        }
        let instr = table.instr(step.pc());
        let op = table.op(step);
        let mut waits = instr.srcs.as_slice().to_vec();
        let mut writes = instr.dsts.as_slice().to_vec();
        match instr.flow {
            Flow::AsyncCopy => writes.extend(table.async_reg(step)),
            Flow::AsyncWait => waits.extend(table.async_reg(step)),
            _ => {}
        }
        if table.hazards().contains(Hazards::WAW) {
            waits.extend(&writes);
        }
        if instr.unscored {
            writes.clear();
        }
        list.push(Ins {
            index,
            unit: op.unit.index(),
            init: op.init.get(),
            lat: (op.lat + table.write_back()).get(),
            waits,
            writes,
            barrier: instr.flow == Flow::Barrier,
        });
    }
    list
}

/// Returns the times of a warp that runs alone: each instruction issues as early as
/// `warpbound::model` allows. A barrier releases the warp at its own `done`.
pub fn alone(code: &[Ins]) -> Vec<Times> {
    let mut times: Vec<Times> = Vec::new();
    for (k, ins) in code.iter().enumerate() {
        let mut issue = 0;
        if k > 0 {
            issue = times[k - 1].issue + 1;
            if code[k - 1].barrier {
                issue = issue.max(times[k - 1].done);
            }
        }
        for reg in &ins.waits {
            let writer = (0..k).rev().find(|&p| code[p].writes.contains(reg));
            issue = issue.max(writer.map_or(0, |p| times[p].done));
        }
        let before = (0..k).rev().find(|&p| code[p].unit == ins.unit);
        let start = issue.max(before.map_or(0, |p| times[p].start + code[p].init));
        times.push(Times { issue, start, done: start + ins.init + ins.lat });
    }
    times
}

/// Returns, for each cycle up to the last `done`, whether some unit initiates an instruction.
pub fn initiating(code: &[Ins], times: &[Times]) -> Vec<bool> {
    let mut busy = vec![false; end(times) as usize];
    for (ins, at) in code.iter().zip(times) {
        for cycle in at.start..at.start + ins.init {
            busy[cycle as usize] = true;
        }
    }
    busy
}

/// Returns the phases as (is exec, start, end).
pub fn phases(busy: &[bool]) -> Vec<(bool, u64, u64)> {
    let mut phases: Vec<(bool, u64, u64)> = Vec::new();
    for (cycle, &exec) in (0..).zip(busy) {
        match phases.last_mut() {
            Some((kind, _, end)) if *kind == exec => *end = cycle + 1,
            _ => phases.push((exec, cycle, cycle + 1)),
        }
    }
    phases
}

/// Returns the latest `done`.
pub fn end(times: &[Times]) -> u64 {
    times.iter().map(|at| at.done).max().unwrap_or(0)
}

/// Returns C(w) of one section.
pub fn isolated(section: &[Ins]) -> u64 {
    end(&alone(section))
}

/// Returns E(w) of one section.
pub fn exec(section: &[Ins]) -> u64 {
    initiating(section, &alone(section)).iter().filter(|&&busy| busy).count() as u64
}

/// Returns the sections of every warp, `[section][warp]`, empty where a warp has no more sections.
pub fn sections(table: &TimingTable, paths: &BlockPaths) -> Vec<Vec<Vec<Ins>>> {
    let per_warp: Vec<Vec<Vec<Ins>>> = paths
        .warps
        .iter()
        .map(|path| {
            let mut list = vec![Vec::new()];
            for ins in instructions(table, path) {
                let barrier = ins.barrier;
                list.last_mut().expect("never empty").push(ins);
                if barrier {
                    list.push(Vec::new());
                }
            }
            list
        })
        .collect();
    let count = per_warp.iter().map(Vec::len).max().unwrap_or(0);
    (0..count)
        .map(|section| per_warp.iter().map(|list| list.get(section).cloned().unwrap_or_default()).collect())
        .collect()
}

/// Returns the GUB of one section.
pub fn gub(warps: &[Vec<Ins>]) -> u64 {
    (0..warps.len())
        .map(|w| {
            let others: u64 = (0..warps.len()).filter(|&o| o != w).map(|o| exec(&warps[o])).sum();
            isolated(&warps[w]) + others
        })
        .max()
        .unwrap_or(0)
}

/// Returns the IWB of one section.
pub fn iwb(warps: &[Vec<Ins>]) -> u64 {
    (0..warps.len())
        .map(|w| {
            let mut value = isolated(&warps[w]);
            for other in (0..warps.len()).filter(|&o| o != w) {
                for y in &warps[other] {
                    let used = warps[w].iter().any(|x| x.unit == y.unit);
                    value += if used { y.init } else { 1 };
                }
            }
            value
        })
        .max()
        .unwrap_or(0)
}
