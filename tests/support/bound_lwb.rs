//! The credits of LWB in the simplest possible form. Every pair of instructions is examined, the
//! work that may be queued is kept as a list, and the instructions inside a long wait are simulated
//! separately.

#![allow(dead_code, reason = "every test file uses a part of it")]

use warpbound::path::BlockPaths;
use warpbound::program::TimingTable;

use super::bound_formulas::{Ins, alone, end, sections};

/// Returns the plain D, the largest total on a unit with a queue, and which units have one.
fn program(table: &TimingTable) -> (u64, u64, Vec<bool>) {
    let ops: Vec<_> = table
        .instrs()
        .iter()
        .flat_map(|i| i.by_space.iter().flat_map(|ops| ops.iter().copied()).chain([i.op]).collect::<Vec<_>>())
        .collect();
    let queues: Vec<bool> =
        (0..table.units()).map(|u| ops.iter().any(|op| op.unit.index() == u && op.init.get() > 1)).collect();
    let longest = |queued: bool| {
        let those = ops.iter().filter(|op| queues[op.unit.index()] == queued);
        those.map(|op| (op.init + op.lat).get()).max().unwrap_or(0)
    };
    (longest(false), longest(true), queues)
}

/// Returns the last instruction before `at` in the same section that writes a register.
fn writer(code: &[Ins], at: usize, reg: warpbound::base::RegId) -> Option<usize> {
    (0..at).rev().find(|&p| code[p].writes.contains(&reg))
}

/// Returns the most initiation work that may be queued, by section, warp and unit.
fn queued(blocks: &[Vec<Vec<Ins>>], queues: &[bool]) -> Vec<Vec<Vec<u64>>> {
    let warps = blocks.first().map_or(0, Vec::len);
    // per warp: (section, index, unit, init) of the instructions that may be queued
    let mut left: Vec<Vec<(usize, usize, usize, u64)>> = vec![Vec::new(); warps];
    let mut most = Vec::new();
    for (s, section) in blocks.iter().enumerate() {
        let mut of_section = Vec::new();
        for (code, left) in section.iter().zip(&mut left) {
            let of_unit = |left: &[(usize, usize, usize, u64)], unit: usize| -> u64 {
                left.iter().filter(|y| y.2 == unit).map(|y| y.3).sum()
            };
            let mut peak: Vec<u64> = (0..queues.len()).map(|unit| of_unit(left, unit)).collect();
            for (i, ins) in code.iter().enumerate() {
                for p in ins.waits.iter().filter_map(|&reg| writer(code, i, reg)) {
                    left.retain(|&(section, index, unit, _)| {
                        unit != code[p].unit || (section, index) > (s, p)
                    });
                }
                if queues[ins.unit] {
                    left.push((s, i, ins.unit, ins.init));
                    peak[ins.unit] = peak[ins.unit].max(of_unit(left, ins.unit));
                }
            }
            of_section.push(peak);
        }
        most.push(of_section);
    }
    most
}

/// Returns P of the instructions strictly between `l` and `k`, or `None` if there are none.
fn inside(code: &[Ins], l: usize, k: usize, queues: &[bool]) -> Option<u64> {
    let mut done = vec![0u64; code.len()];
    let mut free = vec![0u64; queues.len()];
    let (mut now, mut last) = (0, None);
    for j in l + 1..k {
        let mut issue = now;
        for &reg in &code[j].waits {
            let Some(p) = writer(code, j, reg) else { continue };
            if p > l {
                issue = issue.max(done[p]);
            } else if !queues[code[p].unit] && !(0..j).any(|i| i > p && waits_for(code, i, p)) {
                issue = issue.max((p as u64 + code[p].init + code[p].lat).saturating_sub(l as u64));
            }
        }
        let start = issue.max(free[code[j].unit]);
        free[code[j].unit] = start + code[j].init;
        done[j] = start + code[j].init + code[j].lat;
        now = issue + 1;
        last = last.max(Some(done[j]));
    }
    last
}

fn waits_for(code: &[Ins], i: usize, p: usize) -> bool {
    code[i].waits.iter().any(|&reg| writer(code, i, reg) == Some(p))
}

/// Returns the long waits (l, k) of a warp's section.
fn long_waits(code: &[Ins], queues: &[bool], d: u64) -> Vec<(usize, usize)> {
    let mut found: Vec<(usize, usize)> = Vec::new();
    for k in 1..code.len() {
        let longest = |l: &usize| !queues[code[*l].unit] && code[*l].init + code[*l].lat == d;
        let next = found.last().map_or(0, |wait| wait.1);
        found.extend(
            (0..k).rev().find(longest).filter(|&l| l >= next && waits_for(code, k, l)).map(|l| (l, k)),
        );
    }
    found
}

/// Returns the credits of each warp by section, given S of each warp:
/// `interference[section][warp]`. In later sections, the registers of earlier sections count as
/// available, so more long waits may be found than the analysis can prove.
pub fn credits(table: &TimingTable, paths: &BlockPaths, interference: &[Vec<u64>]) -> Vec<Vec<u64>> {
    let (d, queued_total, queues) = program(table);
    let blocks = sections(table, paths);
    let peaks = queued(&blocks, &queues);
    let mut found = Vec::new();
    for (s, section) in blocks.iter().enumerate() {
        let q: u64 = (0..queues.len()).map(|u| peaks[s].iter().map(|w| w[u]).sum()).max().unwrap_or(0);
        let v = q + queued_total;
        let last = |code: &[Ins]| alone(code).last().map(|at| at.issue);
        let waits: Vec<Vec<(usize, usize)>> =
            section.iter().map(|code| long_waits(code, &queues, d)).collect();
        let of_warp = |own: usize| -> u64 {
            let code = &section[own];
            let mut sum = 0;
            for &(l, k) in &waits[own] {
                let p = inside(code, l, k, &queues);
                let room = match p {
                    None => d.saturating_sub(v.max(1)),
                    Some(p) => {
                        (d.saturating_sub(v.max(1) + p)).min((d.saturating_sub(v) / 2).saturating_sub(p + 1))
                    }
                };
                let early = end(&alone(&code[..=l])) - d + if s == 0 { 0 } else { d.max(v) };
                let x = early + interference[s][own];
                let work = |time: u64| -> u64 {
                    let of_other = |o: usize| -> u64 {
                        let code = &section[o];
                        let times = alone(code);
                        let known = waits[o].iter().find(|&&(_, k)| times[k].issue >= time);
                        code[..known.map_or(code.len(), |w| w.1)].iter().map(|ins| ins.init).sum()
                    };
                    (0..section.len()).filter(|&o| o != own).map(of_other).sum()
                };
                let y = (0..x + 2)
                    .find(|&time| early + work(time) < time)
                    .map_or(x, |time| early + work(time))
                    .min(x);
                let mut others: Vec<u64> =
                    (0..section.len()).filter(|&o| o != own).filter_map(|o| last(&section[o])).collect();
                others.sort_unstable();
                let n = others.len() as u64;
                let feasible = |r: usize| {
                    (1..=r).all(|i| {
                        let (last, i) = (others[i - 1], i as u64);
                        last + n < x + i && last + (r as u64) < y + i
                    })
                };
                let r = (0..=others.len()).rev().find(|&r| feasible(r)).unwrap_or(0);
                sum += room.min(n - r as u64);
            }
            sum
        };
        found.push((0..section.len()).map(of_warp).collect());
    }
    found
}
