//! Loops found in what a warp did: the one that used up the fuel, and the one that only waits.

use std::collections::BTreeMap;

use super::warp::Warp;
use crate::base::Pc;
use crate::path::Step;
use crate::program::{Program, Sem};

/// How many of the last steps are looked at.
const WINDOW: usize = 1 << 16;

/// `file:line` of the loop that a path was in at last, from its head to its backward branch: the
/// backward branch taken most often in the last steps.
pub(super) fn hot_loop(program: &Program, steps: &[Step]) -> Option<String> {
    let window = &steps[steps.len().saturating_sub(WINDOW)..];
    let mut taken: BTreeMap<(Pc, Pc), u32> = BTreeMap::new();
    for pair in window.windows(2) {
        let (from, to) = (pair[0].pc(), pair[1].pc());
        if to <= from && branches_to(program, from, to) {
            *taken.entry((to, from)).or_default() += 1;
        }
    }
    // of equally frequent ones the innermost, which starts last
    let ((head, branch), _) = taken.into_iter().max_by_key(|&((head, _), count)| (count, head))?;
    Some(span(program, head, branch))
}

fn branches_to(program: &Program, from: Pc, to: Pc) -> bool {
    match program.instrs.get(from.index()).map(|instr| &instr.sem) {
        Some(Sem::Branch { target, .. }) => *target == to,
        Some(Sem::BranchTable { targets, .. }) => targets.contains(&to),
        _ => false,
    }
}

/// `file:first to file:last`.
fn span(program: &Program, first: Pc, last: Pc) -> String {
    format!("{} to {}", program.place(first), program.place(last))
}

/// Finds out whether a warp makes progress. If it comes back to exactly the state it had, it will
/// do so for ever, until another warp changes what it reads: it polls memory.
#[derive(Debug, Default)]
pub(super) struct Probe {
    seen: Option<Warp>,
}

impl Probe {
    /// Instructions to watch a warp for.
    pub(super) const LENGTH: u32 = 1 << 12;

    /// Remembers the state of a warp.
    pub(super) fn remember(&mut self, warp: &Warp) {
        match &mut self.seen {
            Some(seen) => seen.clone_from(warp),
            None => self.seen = Some(warp.clone()),
        }
    }

    /// Whether the warp is in the remembered state again.
    pub(super) fn returned(&self, warp: &Warp) -> bool {
        self.seen.as_ref().is_some_and(|seen| {
            seen.stack.top() == warp.stack.top()
                && seen.stack == warp.stack
                && seen.registers == warp.registers
        })
    }

    /// Where the warp polls: `steps` are those since it was remembered.
    pub(super) fn place(program: &Program, steps: &[Step]) -> String {
        let pcs = || steps.iter().map(|step| step.pc());
        match (pcs().min(), pcs().max()) {
            (Some(first), Some(last)) => span(program, first, last),
            _ => program.file.clone(),
        }
    }
}
