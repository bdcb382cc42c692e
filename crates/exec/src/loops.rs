//! The search for the loop that used up the fuel, in the path of a warp.

use std::collections::BTreeMap;

use warpbound_core::base::Pc;
use warpbound_core::path::Step;
use warpbound_core::program::sem::straight;
use warpbound_core::program::{KernelCode, Sem};

/// The number of last steps that are searched.
const WINDOW: usize = 1 << 16;

/// Returns `file:line` of the last loop of a path, from its header to its back edge: the back edge
/// taken most often in the last steps.
pub(super) fn hot_loop(program: &KernelCode, steps: &[Step]) -> Option<String> {
    let window = &steps[steps.len().saturating_sub(WINDOW)..];
    let mut taken: BTreeMap<(Pc, Pc), u32> = BTreeMap::new();
    for pair in window.windows(2) {
        let (from, to) = (pair[0].pc(), pair[1].pc());
        if to <= from && branches_to(program, from, to) {
            *taken.entry((to, from)).or_default() += 1;
        }
    }
    // among equally frequent loops, the innermost one, which starts last
    let ((head, branch), _) = taken.into_iter().max_by_key(|&((head, _), count)| (count, head))?;
    Some(span(program, head, branch))
}

fn branches_to(program: &KernelCode, from: Pc, to: Pc) -> bool {
    match program.instrs.get(from.index()).map(|instr| &instr.sem) {
        Some(Sem::Branch { target, .. }) => *target == to,
        Some(Sem::BranchTable { targets, .. }) => targets.contains(&to),
        Some(straight!() | Sem::Call(_) | Sem::CallPointer(_)) | None => false,
        Some(Sem::OpenRegion { .. } | Sem::CloseRegion { .. }) => false,
        Some(Sem::LeaveRegion { .. } | Sem::Yield | Sem::EndCollective) => false,
        Some(Sem::Collect { onward, .. }) => *onward == to,
        Some(Sem::Return { .. } | Sem::Exit | Sem::Trap { .. }) => false,
    }
}

/// Formats a range as `file:first to file:last`.
fn span(program: &KernelCode, first: Pc, last: Pc) -> String {
    format!("{} to {}", program.place(first), program.place(last))
}
