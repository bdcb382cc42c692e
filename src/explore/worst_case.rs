//! What a search for the worst case found.

/// The largest makespan found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Worst {
    /// Cycles; some work-conserving schedule attains it.
    pub makespan: u64,
    /// Whether every schedule was covered.
    pub exact: bool,
    /// Distinct states.
    pub states: u64,
    /// Schedules, told apart by the order in which warps issue, that the states stand for.
    pub schedules: f64,
}
