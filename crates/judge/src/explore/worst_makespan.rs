//! The result of a search for the worst case.

/// The largest makespan found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WorstMakespan {
    /// The makespan in cycles; some work-conserving schedule attains it.
    pub makespan: u64,
    /// Whether every schedule was covered.
    pub exact: bool,
    /// The number of distinct states.
    pub states: u64,
    /// The number of schedules that the states represent; schedules differ if warps issue in a
    /// different order.
    pub schedules: f64,
}
