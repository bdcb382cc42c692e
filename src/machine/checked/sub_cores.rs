//! Which warp is on which sub-core, and which units the sub-cores share.

use super::units::Unit;
use crate::base::{UnitId, WarpMask};

/// How the SM is divided ([the model](crate::model#6-sub-cores), section 6).
///
/// A warp stays on the sub-core of its slot, `slot mod count`. Every sub-core has each unit for
/// itself, except for shared units, of which there is one for all. An *instance* is a unit as it
/// exists: a shared unit, or a unit of one sub-core.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SubCores {
    count: u8,
    /// By unit. With one sub-core there is nobody to share with.
    shared: u64,
}

impl SubCores {
    /// The most there can be.
    pub const MAX: usize = 4;

    /// The whole SM.
    pub const ONE: Self = Self { count: 1, shared: 0 };

    /// This many, 1 to [`SubCores::MAX`], on a machine with these units, at most 64.
    pub fn new(count: usize, units: &[Unit]) -> Self {
        Self::sharing(count, &units.iter().map(|unit| unit.shared).collect::<Vec<_>>())
    }

    /// This many, with one entry for each unit: whether they share it.
    pub fn sharing(count: usize, units: &[bool]) -> Self {
        let count = count.clamp(1, Self::MAX);
        let bit = |(index, &shared): (usize, &bool)| u64::from(shared && count > 1) << index;
        Self { count: count as u8, shared: units.iter().take(64).enumerate().map(bit).sum() }
    }

    /// How many.
    pub fn count(self) -> usize {
        usize::from(self.count)
    }

    /// The sub-core of a warp slot. Where one block is resident, a warp's slot is its id.
    pub fn of_slot(self, slot: usize) -> usize {
        slot % self.count()
    }

    /// The slots of a sub-core.
    pub fn slots(self, sub_core: usize) -> WarpMask {
        let every = match self.count {
            1 => u64::MAX,
            2 => 0x5555_5555_5555_5555,
            3 => 0x9249_2492_4924_9249,
            _ => 0x1111_1111_1111_1111,
        };
        WarpMask::from_bits_retain(every << sub_core)
    }

    /// Whether instructions of different sub-cores meet in this unit.
    pub fn is_shared(self, unit: UnitId) -> bool {
        self.shared >> unit.get() & 1 == 1
    }

    /// Whether there is a unit in which instructions of different sub-cores can meet.
    pub fn share(self) -> bool {
        self.shared != 0
    }

    /// How many instances of a unit there are.
    pub fn instances(self, unit: UnitId) -> usize {
        if self.is_shared(unit) { 1 } else { self.count() }
    }

    /// The number of a unit's instance that instructions of a sub-core use: on a machine with
    /// `units` units below `units * count`, and the unit's own number with one sub-core.
    #[inline]
    pub fn instance(self, unit: UnitId, sub_core: usize, units: usize) -> usize {
        if self.is_shared(unit) { unit.index() } else { sub_core * units + unit.index() }
    }
}

impl Default for SubCores {
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
                let with: Vec<usize> = (0..count).filter(|&core| cores.slots(core).has(slot)).collect();
                assert_eq!(with, [cores.of_slot(slot)], "{count} sub-cores, slot {slot}");
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
