//! The columns that the results of every plan have.

use warpbound_bound::Bound;
use warpbound_core::machine::FORMER_POLICY_SETTING;
use warpbound_trace::trace::StallReason;

/// The columns with fixed names that identify the point; `draw` exists only if something is drawn.
const BEFORE: [&str; 6] = ["point", "kernel", "seed", "draw", "machine", "policy"];
/// The columns of the run.
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
/// The columns at the end.
pub const AFTER: [&str; 3] = ["parts", "races", "error"];

/// Returns whether every plan has a column of this name, apart from those of bounds and stalls.
fn is_of_every_plan(name: &str) -> bool {
    BEFORE.iter().chain(&RUN).chain(&AFTER).any(|fixed| *fixed == name)
}

/// Returns whether the name is reserved: every plan has a column of this name, or no plan may have
/// one.
pub fn is_fixed(name: &str, bounds: &[Box<dyn Bound>]) -> bool {
    is_of_every_plan(name)
        || name == FORMER_POLICY_SETTING
        || of_bounds(bounds).chain(of_stalls()).any(|fixed| fixed == name)
}

/// Returns the columns of bounds: the value, its overestimation relative to the makespan, and the
/// verdict.
pub fn of_bounds(bounds: &[Box<dyn Bound>]) -> impl Iterator<Item = String> {
    bounds.iter().flat_map(|bound| {
        let name = bound.name();
        [name.to_owned(), format!("{name}_overestimation"), format!("{name}_verdict")]
    })
}

/// Returns the columns of idle issue slots, by reason.
pub fn of_stalls() -> impl Iterator<Item = String> {
    StallReason::ALL.iter().map(|reason| format!("idle_{}", reason.name().replace('-', "_")))
}

/// The columns of axes and bounds in results that any version wrote, identified by their names
/// alone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Meaning {
    /// The launch options and machine settings that vary.
    pub axes: Vec<String>,
    /// The bounds.
    pub bounds: Vec<String>,
}

impl Meaning {
    /// Identifies these columns.
    pub fn of(columns: &[String]) -> Self {
        let has = |name: String| columns.contains(&name);
        let is_bound = |name: &str| has(format!("{name}_overestimation")) && has(format!("{name}_verdict"));
        let bounds: Vec<String> = columns.iter().filter(|name| is_bound(name)).cloned().collect();
        let of_bound = |name: &str| {
            let bound = name
                .strip_suffix("_overestimation")
                .or_else(|| name.strip_suffix("_verdict"))
                .unwrap_or(name);
            bounds.iter().any(|known| known == bound)
        };
        let stalls: Vec<String> = of_stalls().collect();
        let is_axis = |name: &str| {
            !is_of_every_plan(name) && !of_bound(name) && !stalls.iter().any(|stall| stall == name)
        };
        let axes = columns.iter().filter(|name| is_axis(name)).cloned().collect();
        Self { axes, bounds }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_identified_by_their_names() {
        let names =
            ["point", "kernel", "block", "seed", "machine", "mem_latency", "policy", "makespan", "verdict"];
        let bounds = ["gub", "gub_overestimation", "gub_verdict", "idle_drain", "races", "error"];
        let columns: Vec<String> = names.iter().chain(&bounds).map(|name| (*name).to_owned()).collect();
        let meaning = Meaning::of(&columns);
        assert_eq!(meaning.axes, ["block", "mem_latency"]);
        assert_eq!(meaning.bounds, ["gub"]);
    }
}
