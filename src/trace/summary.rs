//! Small sums: how busy each unit was, in which order warps finished.

use super::{Issue, Observer, WarpFinish};
use crate::base::{Cycles, UnitId};

/// Cycles each unit spent initiating, and how many instructions; with several sub-cores, all
/// instances of the unit together.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct UnitUse {
    units: Vec<(Cycles, u64)>,
}

impl UnitUse {
    /// For a machine with this many units.
    pub fn new(units: usize) -> Self {
        Self { units: vec![(Cycles::ZERO, 0); units] }
    }

    /// Cycles in which the unit was initiating; over the makespan, times the number of its instances,
    /// that is its utilisation.
    pub fn busy(&self, unit: UnitId) -> Cycles {
        self.units.get(unit.index()).map_or(Cycles::ZERO, |(busy, _)| *busy)
    }

    /// Instructions the unit executed.
    pub fn instructions(&self, unit: UnitId) -> u64 {
        self.units.get(unit.index()).map_or(0, |(_, count)| *count)
    }
}

impl Observer for UnitUse {
    fn wants_order(&self) -> bool {
        false
    }

    fn issued(&mut self, issue: &Issue) {
        if let Some((busy, count)) = self.units.get_mut(issue.unit.index()) {
            *busy += issue.init_end - issue.start;
            *count += 1;
        }
    }
}

/// The warps in the order of their last results; equal ones by block and warp.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FinishOrder {
    warps: Vec<WarpFinish>,
}

impl FinishOrder {
    /// Empty.
    pub fn new() -> Self {
        Self::default()
    }

    /// The warps seen so far, in order.
    pub fn warps(&self) -> Vec<WarpFinish> {
        let mut warps = self.warps.clone();
        warps.sort_by_key(|finish| (finish.done, finish.block, finish.warp));
        warps
    }
}

impl Observer for FinishOrder {
    fn warp_finished(&mut self, finish: &WarpFinish) {
        self.warps.push(*finish);
    }
}
