//! The check whether a schedule keeps the rules. It is an independent implementation, one warp and
//! cycle at a time, for schedules from other sources.

use super::machine::{FermiMachine, TemplateKernel};
use super::search::{CycleUse, Fairness};

/// Returns whether all warps of the kernel are executed to their ends, no slot stays empty if a
/// warp requests it, and repetition k comes before k+1 if fairness requires it.
pub fn keeps_the_rules(
    machine: &FermiMachine,
    kernel: &TemplateKernel,
    fairness: Fairness,
    schedule: &[CycleUse],
) -> bool {
    let code = &kernel.code;
    let mut at = vec![0; kernel.warps];
    for used in schedule {
        for memory in [false, true] {
            let requests = |w: &usize| code.get(at[*w]).is_some_and(|(op, _)| op.is_memory() == memory);
            let served: Vec<usize> =
                used.iter().map(|(w, _)| *w).filter(|w| *w < at.len() && requests(w)).collect();
            let left: Vec<usize> =
                (0..kernel.warps).filter(requests).filter(|w| !served.contains(w)).collect();
            let slots = if memory { machine.memory_slots } else { machine.arithmetic_slots } as usize;
            if served.len() > slots || !left.is_empty() && served.len() < slots {
                return false;
            }
            let rank = |w: &usize| code[at[*w]].1;
            let latest = served.iter().map(rank).max();
            if fairness == Fairness::SubBlock && left.iter().any(|w| Some(rank(w)) < latest) {
                return false;
            }
        }
        for (warp, op) in used {
            match at.get(*warp).and_then(|at| code.get(*at)) {
                Some((next, _)) if next == op => at[*warp] += 1,
                _ => return false,
            }
        }
    }
    at.iter().all(|at| *at == code.len())
}
