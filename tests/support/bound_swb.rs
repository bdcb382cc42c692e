//! SWB in the simplest possible form. Guaranteed distances are longest paths from every producer
//! over the whole path of a warp, runs are lists, and backlogs are maximised over all ends of a
//! run.

#![allow(dead_code, reason = "every test file uses a part of it")]

use warpbound::path::BlockPaths;
use warpbound::program::TimingTable;

use super::bound_formulas::{Ins, instructions, isolated};

/// Returns for each unit whether some instruction of the program can find a queue there.
fn queues(table: &TimingTable) -> Vec<bool> {
    let mut queues = vec![false; table.units()];
    for instr in table.instrs() {
        for op in instr.timings() {
            queues[op.unit.index()] |= op.init.get() > 1;
        }
    }
    queues
}

/// Returns whether instruction `p` of the whole path is guaranteed to be done one cycle after
/// instruction `last` issues.
fn surely_done(code: &[Ins], queues: &[bool], p: usize, last: usize) -> bool {
    const NEVER: i64 = i64::MIN / 2;
    let mut issue = vec![NEVER; last + 1];
    let mut start = vec![NEVER; last + 1];
    start[p] = 0;
    if !queues[code[p].unit] {
        issue[p] = 0;
    }
    let total = |i: usize| (code[i].init + code[i].lat) as i64;
    for i in p + 1..=last {
        issue[i] = issue[i - 1] + 1;
        if code[i - 1].barrier {
            issue[i] = issue[i].max(start[i - 1] + total(i - 1));
        }
        for reg in &code[i].waits {
            if let Some(q) = (p..i).rev().find(|&q| code[q].writes.contains(reg)) {
                issue[i] = issue[i].max(start[q] + total(q));
            }
        }
        start[i] = issue[i];
        if let Some(q) = (p..i).rev().find(|&q| code[q].unit == code[i].unit) {
            start[i] = start[i].max(start[q] + code[q].init as i64);
        }
    }
    issue[last] + 1 >= total(p)
}

/// Returns the sure runs of a warp, by section.
fn runs(code: &[Ins], queues: &[bool], cut: bool) -> Vec<Vec<Vec<Ins>>> {
    let mut sections: Vec<Vec<Vec<Ins>>> = vec![Vec::new()];
    for (k, ins) in code.iter().enumerate() {
        let first = k == 0 || code[k - 1].barrier;
        if k > 0 && first {
            sections.push(Vec::new());
        }
        let there = |reg| {
            let p = (0..k).rev().find(|&p| code[p].writes.contains(reg));
            p.is_none_or(|p| surely_done(code, queues, p, k - 1))
        };
        let sure = !first && (!cut || ins.waits.iter().all(there));
        let section = sections.last_mut().expect("never empty");
        match section.last_mut() {
            Some(run) if sure => run.push(ins.clone()),
            _ => section.push(vec![ins.clone()]),
        }
    }
    sections
}

/// Returns the SWB of each section.
pub fn swb(table: &TimingTable, paths: &BlockPaths) -> Vec<u64> {
    by_runs(table, paths, true)
}

/// Returns the value that SWB would have if every instruction were sure, which is not a bound.
pub fn uncut(table: &TimingTable, paths: &BlockPaths) -> Vec<u64> {
    by_runs(table, paths, false)
}

fn by_runs(table: &TimingTable, paths: &BlockPaths, cut: bool) -> Vec<u64> {
    let queues = queues(table);
    let warps: Vec<Vec<Vec<Vec<Ins>>>> =
        paths.warps.iter().map(|path| runs(&instructions(table, path), &queues, cut)).collect();
    let count = warps.iter().map(Vec::len).max().unwrap_or(0);
    (0..count)
        .map(|section| {
            let runs = |w: usize| warps[w].get(section).cloned().unwrap_or_default();
            let of = |w: usize| -> u64 {
                let own: Vec<Ins> = runs(w).concat();
                if own.is_empty() {
                    return 0;
                }
                let used: Vec<usize> = own.iter().map(|ins| ins.unit).collect();
                let others = (0..warps.len()).filter(|&o| o != w).flat_map(runs);
                isolated(&own) + others.map(|run| run.len() as u64 + backlog(&run, &used)).sum::<u64>()
            };
            (0..warps.len()).map(of).max().unwrap_or(0)
        })
        .collect()
}

fn backlog(run: &[Ins], used: &[usize]) -> u64 {
    let of_end = |from: usize, unit: usize| {
        let inits: u64 = run[from..].iter().filter(|ins| ins.unit == unit).map(|ins| ins.init).sum();
        inits.saturating_sub((run.len() - from) as u64)
    };
    (0..run.len()).flat_map(|from| used.iter().map(move |&unit| of_end(from, unit))).max().unwrap_or(0)
}
