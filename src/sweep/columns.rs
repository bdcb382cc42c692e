//! The columns that every plan's results have.

use crate::bound::Bound;
use crate::trace::StallReason;

/// Columns that say which point it is and have a name of their own.
const BEFORE: [&str; 5] = ["point", "kernel", "seed", "machine", "policy"];
/// Columns of the run.
pub const RUN: [&str; 9] = [
    "machine_digest",
    "launches",
    "blocks",
    "resident_blocks",
    "warp_instructions",
    "thread_instructions",
    "issues",
    "makespan",
    "verdict",
];
/// Columns at the end.
pub const AFTER: [&str; 2] = ["races", "error"];

/// Whether every plan has a column of this name, or none may.
pub fn is_fixed(name: &str, bounds: &[Box<dyn Bound>]) -> bool {
    BEFORE.iter().chain(&RUN).chain(&AFTER).any(|fixed| *fixed == name)
        || name == "scheduler"
        || of_bounds(bounds).chain(of_stalls()).any(|fixed| fixed == name)
}

/// The value of a bound, how far it is above the makespan, and what became of it.
pub fn of_bounds(bounds: &[Box<dyn Bound>]) -> impl Iterator<Item = String> {
    bounds.iter().flat_map(|bound| {
        let name = bound.name();
        [name.to_owned(), format!("{name}_over"), format!("{name}_verdict")]
    })
}

/// Idle issue slots by reason.
pub fn of_stalls() -> impl Iterator<Item = String> {
    StallReason::ALL.iter().map(|reason| format!("idle_{}", reason.name().replace('-', "_")))
}
