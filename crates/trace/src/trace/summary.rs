//! Small summaries: the utilisation of each unit, and the order in which warps finished.

use super::{Event, Needs, Observer, WarpFinish};
use warpbound_core::base::{Cycles, UnitId};

/// The number of cycles that each unit spent initiating, and the number of its instructions. With
/// several sub-cores, all instances of the unit are counted together.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct UnitUse {
    units: Vec<(Cycles, u64)>,
}

impl UnitUse {
    /// Creates an empty summary for a machine with this many units.
    #[inline]
    pub fn new(units: usize) -> Self {
        Self { units: vec![(Cycles::ZERO, 0); units] }
    }

    /// Returns the number of cycles in which the unit was initiating. Divided by the makespan times
    /// the number of its instances, it is the utilisation of the unit.
    #[inline]
    pub fn busy(&self, unit: UnitId) -> Cycles {
        self.units.get(unit.index()).map_or(Cycles::ZERO, |(busy, _)| *busy)
    }

    /// Returns the number of instructions that the unit executed.
    #[inline]
    pub fn instructions(&self, unit: UnitId) -> u64 {
        self.units.get(unit.index()).map_or(0, |(_, count)| *count)
    }
}

impl Observer for UnitUse {
    fn needs(&self) -> Needs {
        Needs::EVENTS
    }

    fn on(&mut self, event: &Event) {
        match event {
            Event::Issued(issue) => {
                if let Some((busy, count)) = self.units.get_mut(issue.unit.index()) {
                    *busy += issue.init_end - issue.start;
                    *count += 1;
                }
            }
            Event::Sm(_)
            | Event::BlockStarted(_)
            | Event::Idled(_)
            | Event::BarrierReleased(_)
            | Event::WarpFinished(_)
            | Event::BlockEnded { .. }
            | Event::Sampled(_) => {}
        }
    }
}

/// The warps in the order of their last results; equal ones by block and warp.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FinishOrder {
    warps: Vec<WarpFinish>,
}

impl FinishOrder {
    /// Creates an empty list.
    #[inline]
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the warps seen so far, in order.
    #[inline]
    pub fn warps(&self) -> Vec<WarpFinish> {
        let mut warps = self.warps.clone();
        warps.sort_by_key(|finish| (finish.done, finish.block, finish.warp));
        warps
    }
}

impl Observer for FinishOrder {
    fn needs(&self) -> Needs {
        Needs::IN_ORDER
    }

    fn on(&mut self, event: &Event) {
        match event {
            Event::WarpFinished(finish) => self.warps.push(*finish),
            Event::Sm(_)
            | Event::BlockStarted(_)
            | Event::Idled(_)
            | Event::BarrierReleased(_)
            | Event::Issued(_)
            | Event::BlockEnded { .. }
            | Event::Sampled(_) => {}
        }
    }
}
