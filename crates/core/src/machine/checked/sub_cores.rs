//! The assignment of warps to sub-cores, and the units that sub-cores share.

use super::units::Unit;
use crate::base::{UnitId, WarpMask};

/// The division of an SM into sub-cores (`warpbound::model`, section 6).
///
/// A warp stays on the sub-core of its slot, `slot mod count`. Each sub-core has its own instance
/// of each unit, except for shared units, of which there is a single *instance* for all sub-cores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SubCores {
    count: u8,
    /// The mask of shared units; empty if there is only one sub-core.
    shared: u64,
}

impl SubCores {
    /// The maximum number of sub-cores.
    pub const MAX: usize = 4;

    /// An SM that is not divided.
    pub const ONE: Self = Self { count: 1, shared: 0 };

    /// Creates `count` sub-cores (1 to [`SubCores::MAX`]) for a machine with these units (at most
    /// 64).
    #[inline]
    pub fn new(count: usize, units: &[Unit]) -> Self {
        Self::sharing(count, &units.iter().map(|unit| unit.shared).collect::<Vec<_>>())
    }

    /// Creates `count` sub-cores; `units` states for each unit whether it is shared.
    #[inline]
    pub fn sharing(count: usize, units: &[bool]) -> Self {
        let count = count.clamp(1, Self::MAX);
        let bit = |(index, &shared): (usize, &bool)| u64::from(shared && count > 1) << index;
        Self { count: count as u8, shared: units.iter().take(64).enumerate().map(bit).sum() }
    }

    /// Returns the number of sub-cores.
    #[inline]
    pub fn count(self) -> usize {
        usize::from(self.count)
    }

    /// Returns the sub-core of a warp slot. If a single block is resident, a warp's slot is its id.
    #[inline]
    pub fn of_slot(self, slot: usize) -> usize {
        slot % self.count()
    }

    /// Returns the warp slots of a sub-core.
    #[inline]
    pub fn slots(self, sub_core: usize) -> WarpMask {
        let every = match self.count {
            1 => u64::MAX,
            2 => 0x5555_5555_5555_5555,
            3 => 0x9249_2492_4924_9249,
            _ => 0x1111_1111_1111_1111,
        };
        WarpMask::from_bits_retain(every << sub_core)
    }

    /// Returns whether instructions of different sub-cores compete for this unit.
    #[inline]
    pub fn is_shared(self, unit: UnitId) -> bool {
        self.shared >> unit.get() & 1 == 1
    }

    /// Returns whether there is a unit for which instructions of different sub-cores compete.
    #[inline]
    pub fn share(self) -> bool {
        self.shared != 0
    }

    /// Returns the number of instances of a unit.
    #[inline]
    pub fn instances(self, unit: UnitId) -> usize {
        if self.is_shared(unit) { 1 } else { self.count() }
    }

    /// Returns the index of the instance of a unit that a sub-core uses. It is less than `units *
    /// count` on a machine with `units` units; with one sub-core it is the unit's index.
    #[inline]
    pub fn instance(self, unit: UnitId, sub_core: usize, units: usize) -> usize {
        if self.is_shared(unit) { unit.index() } else { sub_core * units + unit.index() }
    }
}

impl Default for SubCores {
    #[inline]
    fn default() -> Self {
        Self::ONE
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::Cycles;

    fn unit(shared: bool) -> Unit {
        let (name, source) = (String::new(), String::new());
        Unit { name, init: Cycles::ONE, lat: Cycles::ZERO, shared, source }
    }

    #[test]
    fn every_slot_is_on_one_sub_core() {
        for count in 1..=SubCores::MAX {
            let cores = SubCores::new(count, &[]);
            for slot in 0..64 {
                let owners: Vec<usize> = (0..count).filter(|&core| cores.slots(core).has(slot)).collect();
                assert_eq!(owners, [cores.of_slot(slot)], "{count} sub-cores, slot {slot}");
            }
        }
    }

    #[test]
    fn instances_are_distinct_but_for_shared_units() {
        let units = [unit(false), unit(true), unit(false)];
        let cores = SubCores::new(3, &units);
        let all = |unit: usize| -> Vec<usize> {
            (0..3).map(|core| cores.instance(UnitId::from_index(unit), core, units.len())).collect()
        };
        assert_eq!((all(0), all(1), all(2)), (vec![0, 3, 6], vec![1, 1, 1], vec![2, 5, 8]));
        assert_eq!((cores.instances(UnitId::new(0)), cores.instances(UnitId::new(1))), (3, 1));
        // nothing is shared on a machine with one sub-core
        let one = SubCores::new(1, &units);
        assert!(!one.is_shared(UnitId::new(1)) && !one.share());
        assert_eq!(one.instance(UnitId::new(2), 0, units.len()), 2);
    }
}
