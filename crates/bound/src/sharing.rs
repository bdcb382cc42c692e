//! Interference between sub-cores: the load of other sub-cores on the shared units that a warp
//! uses.

use super::section::SectionAnalysis;
use warpbound_core::base::{Cycles, UnitId, WarpId};
use warpbound_core::machine::SubCores;

/// For each warp, the initiations of the warps of *other* sub-cores on shared units that it uses.
#[derive(Clone, Debug)]
pub(super) struct FromOthers<'s> {
    section: &'s SectionAnalysis,
    /// The sum of the inits on shared units, by sub-core and unit. Empty if no unit is shared.
    inits: Vec<Cycles>,
}

impl<'s> FromOthers<'s> {
    pub(super) fn new(section: &'s SectionAnalysis) -> Self {
        let cores = section.sub_cores();
        let mut inits = Vec::new();
        if cores.share() {
            inits.resize(cores.count() * section.units(), Cycles::ZERO);
            for warp in section.ids() {
                let sums = &mut inits[section.sub_core(warp) * section.units()..][..section.units()];
                for (sum, used) in sums.iter_mut().zip(section.uses(warp)) {
                    *sum += used.init;
                }
            }
        }
        Self { section, inits }
    }

    /// Returns the sum for one warp.
    pub(super) fn on(&self, own: WarpId) -> Cycles {
        if self.inits.is_empty() {
            return Cycles::ZERO;
        }
        let units = self.section.units();
        let used = (0..units).map(UnitId::from_index).filter(|&unit| {
            self.section.sub_cores().is_shared(unit) && self.section.unit_use(own, unit).is_used()
        });
        let cores = 0..self.section.sub_cores().count();
        let others = |unit: UnitId| {
            let other = cores.clone().filter(|&core| core != self.section.sub_core(own));
            other.map(|core| self.inits[core * units + unit.index()]).sum::<Cycles>()
        };
        used.map(others).sum()
    }
}

/// Returns whether warps of different sub-cores use a common shared unit in this section.
pub(super) fn meet(section: &SectionAnalysis) -> bool {
    let cores = section.sub_cores();
    cores.share()
        && (0..section.units()).map(UnitId::from_index).filter(|&unit| cores.is_shared(unit)).any(|unit| {
            let mut users = section.ids().filter(|&warp| section.unit_use(warp, unit).is_used());
            let first = users.next().map(|warp| section.sub_core(warp));
            users.any(|warp| Some(section.sub_core(warp)) != first)
        })
}

/// Adds up one number per warp by sub-core.
pub(super) fn by_sub_core(
    section: &SectionAnalysis,
    of: impl Fn(WarpId) -> Cycles,
) -> [Cycles; SubCores::MAX] {
    let mut sums = [Cycles::ZERO; SubCores::MAX];
    for warp in section.ids() {
        sums[section.sub_core(warp)] += of(warp);
    }
    sums
}

/// The inits of a section, split by the sub-cores that they can delay.
pub(super) struct Loads {
    /// The inits of each sub-core's warps on its private units, by sub-core.
    pub private: [Cycles; SubCores::MAX],
    /// The inits of all warps on shared units.
    pub shared: Cycles,
}

impl Loads {
    pub(super) fn new(section: &SectionAnalysis) -> Self {
        let cores = section.sub_cores();
        let on = |warp: WarpId, shared: bool| -> Cycles {
            let units = section.uses(warp).iter().enumerate();
            let selected = units.filter(|(unit, _)| cores.is_shared(UnitId::from_index(*unit)) == shared);
            selected.map(|(_, used)| used.init).sum()
        };
        Self {
            private: by_sub_core(section, |warp| on(warp, false)),
            shared: section.ids().map(|warp| on(warp, true)).sum(),
        }
    }

    /// Returns the inits that can delay a sub-core.
    pub(super) fn of(&self, sub_core: usize) -> Cycles {
        self.private[sub_core] + self.shared
    }
}
