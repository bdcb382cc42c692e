//! RBB in the simplest possible form: its formula, computed over lists of instructions.

#![allow(dead_code, reason = "every test file uses a part of it")]

use warpbound::base::UnitId;

use super::bound_formulas::{Ins, alone, end};
use super::launch_schedules::Launch;

/// RBB and formulas that differ from it and are no bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variant {
    /// RBB itself.
    Rbb,
    /// Uses D in place of H.
    SurplusForPeak,
    /// Omits X, so that the work of other sub-cores counts once.
    CountOnce,
    /// On several SMs, omits W, the work that is left on one of them when the last block is placed.
    WithoutLastWave,
    /// Adds the largest C - S of a block once, as if the blocks in all CTA slots waited at the same
    /// time.
    OneWait,
}

/// The terms of one block.
#[derive(Clone, Debug, Default)]
pub struct Terms {
    pub s: i128,
    pub l: i128,
    pub d: i128,
    pub h: i128,
    pub stages: i128,
    pub repeats: Vec<i128>,
    pub left: i128,
    pub alone: i128,
    /// The work by sub-core, that is, by the warp's ID modulo the number of sub-cores.
    pub loads: Vec<i128>,
    pub classes: Vec<usize>,
}

/// Returns a warp's instructions, cut at its barriers.
fn sections(code: &[Ins]) -> Vec<&[Ins]> {
    let mut list: Vec<&[Ins]> = code.split_inclusive(|ins| ins.barrier).collect();
    list.retain(|section| !section.is_empty());
    list
}

fn inits(code: &[Ins]) -> i128 {
    code.iter().map(|ins| i128::from(ins.init)).sum()
}

/// Returns the sum of the inits of the instructions on a unit before `end`. If an instruction
/// before `end` waits for a result of this unit from its own section, the sum begins after the
/// instruction with the last such result.
fn carried(code: &[Ins], end: usize, unit: usize) -> i128 {
    let mut from = 0;
    for (k, ins) in code[..end].iter().enumerate() {
        for reg in &ins.waits {
            let writer = (0..k).rev().find(|&p| code[p].writes.contains(reg));
            let here = |p: &usize| code[*p].unit == unit && !code[*p..k].iter().any(|ins| ins.barrier);
            if let Some(p) = writer.filter(here) {
                from = from.max(p + 1);
            }
        }
    }
    code[from..end].iter().filter(|ins| ins.unit == unit).map(|ins| i128::from(ins.init)).sum()
}

pub fn terms(launch: &Launch, block: usize) -> Terms {
    let cores = launch.sub_cores.count();
    let shared = |unit: usize| launch.sub_cores.is_shared(UnitId::from_index(unit));
    // units on which an instruction can wait for its initiation
    let queued: Vec<usize> = (0..launch.units).filter(|&unit| !shared(unit) && launch.queues[unit]).collect();
    let warps = &launch.code[block];
    let cut: Vec<Vec<&[Ins]>> = warps.iter().map(|code| sections(code)).collect();
    let mut terms = Terms { loads: vec![0; cores], ..Terms::default() };
    for stage in 0..cut.iter().map(Vec::len).max().unwrap_or(0) {
        let mut loads = vec![0; cores];
        let mut left = vec![0; cores];
        let (mut work, mut surplus, mut peak, mut longest) = (0, i128::MIN, i128::MIN, 0);
        for (w, code) in warps.iter().enumerate() {
            let before: usize = cut[w].iter().take(stage).map(|section| section.len()).sum();
            left[w % cores] += queued.iter().map(|&unit| carried(code, before, unit)).sum::<i128>();
            let Some(&section) = cut[w].get(stage) else { continue };
            let on_shared: i128 =
                section.iter().filter(|ins| shared(ins.unit)).map(|ins| i128::from(ins.init)).sum();
            for (core, load) in loads.iter_mut().enumerate() {
                *load += if core == w % cores { inits(section) } else { on_shared };
            }
            let times = alone(section);
            let c = i128::from(end(&times));
            work += inits(section);
            surplus = surplus.max(c - inits(section));
            peak = peak.max(c - inits(section));
            for (k, at) in times.iter().enumerate() {
                peak = peak.max(i128::from(at.issue) - inits(&section[..k]));
            }
            longest = longest.max(c);
            terms.classes.push(w % cores);
        }
        let load = loads.iter().copied().max().unwrap_or(0);
        terms.h = terms.h.max(terms.d + peak);
        terms.d += surplus;
        terms.s += work;
        terms.l += load;
        terms.alone += longest;
        terms.stages += 1;
        terms.left = terms.left.max(if cores > 1 { left.into_iter().max().unwrap_or(0) } else { 0 });
        terms.loads.iter_mut().zip(&loads).for_each(|(sum, load)| *sum += load);
        // only the work on private units counts
        let on_shared = (loads.iter().sum::<i128>() - work) / (cores as i128 - 1).max(1);
        loads.sort_unstable();
        loads.pop();
        terms.repeats.extend(loads.into_iter().map(|load| load - on_shared).filter(|&load| load > 0));
    }
    terms.repeats.sort_unstable_by(|a, b| b.cmp(a));
    terms.classes.sort_unstable();
    terms.classes.dedup();
    terms
}

fn largest(mut list: Vec<i128>, most: usize) -> i128 {
    list.sort_unstable_by(|a, b| b.cmp(a));
    list.into_iter().take(most).sum()
}

/// Returns the value of a variant.
pub fn value(launch: &Launch, variant: Variant) -> u64 {
    let mut blocks: Vec<Terms> = (0..launch.code.len()).map(|block| terms(launch, block)).collect();
    for block in &mut blocks {
        match variant {
            Variant::SurplusForPeak => block.h = block.d,
            Variant::CountOnce => (block.repeats, block.left) = (Vec::new(), 0),
            _ => {}
        }
    }
    let (n, r, m) = (blocks.len(), launch.places, launch.sms);
    let mut classes: Vec<usize> = blocks.iter().flat_map(|block| block.classes.clone()).collect();
    classes.sort_unstable();
    classes.dedup();
    let one_core = classes.len() <= 1;
    let sum = |of: &dyn Fn(&Terms) -> i128| blocks.iter().map(of).sum::<i128>();
    let most = |of: &dyn Fn(&Terms) -> i128| blocks.iter().map(of).max().unwrap_or(0);
    let places = r as i128;
    let found = if variant == Variant::OneWait {
        (sum(&|b| b.s)) + most(&|b| b.d)
    } else if n <= r * m {
        (0..m).map(|sm| at_once(launch, &blocks, sm, one_core)).max().unwrap_or(0)
    } else {
        let (s, l, h, stages) = (sum(&|b| b.s), sum(&|b| b.l), sum(&|b| b.h), sum(&|b| b.stages));
        let repeat = |b: &Terms| b.repeats.first().copied().unwrap_or(0) + b.left;
        let kappa = largest(blocks.iter().map(repeat).collect(), r - 1);
        if m == 1 {
            let most_stages = most(&|b| b.stages);
            let changes = if one_core { places } else { stages - most_stages + places * (most_stages - 1) };
            let x = (places * (s - l)).min(kappa * changes.max(0));
            (places * l + x + h + most(&|b| places * b.d - b.h)).div_euclid(places)
        } else {
            let x = (places * (s - l)).min(if one_core { 0 } else { kappa * stages });
            let w = largest(blocks.iter().map(|b| b.s).collect(), r);
            let w = if variant == Variant::WithoutLastWave { 0 } else { w };
            (places * l + x + h).div_euclid(places * m as i128) + w + most(&|b| b.alone)
        }
    };
    u64::try_from(found.max(0)).expect("small numbers")
}

fn at_once(launch: &Launch, blocks: &[Terms], sm: usize, one_core: bool) -> i128 {
    let cores = launch.sub_cores.count();
    let here: Vec<&Terms> = blocks.iter().skip(sm).step_by(launch.sms).collect();
    let mut on_core = vec![0; cores];
    for (place, block) in here.iter().enumerate() {
        for (class, load) in block.loads.iter().enumerate() {
            on_core[(place * launch.code[0].len() + class) % cores] += load;
        }
    }
    let of_block = |index: usize| {
        let own = here[index];
        if own.stages <= 1 || one_core {
            return own.d + on_core.iter().max().unwrap_or(&0);
        }
        let changes = own.stages - 1;
        let added = |other: usize| {
            let block = here[other];
            let repeats: i128 = block.repeats.iter().take(changes as usize).sum();
            if other == index {
                block.l
            } else {
                block.l + (block.s - block.l).min(repeats + changes * block.left)
            }
        };
        own.d + (0..here.len()).map(added).sum::<i128>()
    };
    (0..here.len()).map(of_block).max().unwrap_or(0)
}
