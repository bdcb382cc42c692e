//! Interference between sub-cores: the load of other sub-cores on the shared units that a warp
//! uses.

use super::section::SectionAnalysis;
use warpbound_core::base::{Cycles, UnitId, WarpId};
use warpbound_core::machine::SubCores;

/// Returns the inits of the warps of each sub-core on each unit: one row of units per sub-core.
fn inits(section: &SectionAnalysis) -> Vec<Cycles> {
    let units = section.units();
    let mut inits = vec![Cycles::ZERO; section.sub_cores().count() * units];
    for warp in section.ids() {
        let sums = &mut inits[section.sub_core(warp) * units..][..units];
        for (sum, used) in sums.iter_mut().zip(section.uses(warp)) {
            *sum += used.init;
        }
    }
    inits
}

/// For each warp, the initiations of the warps of *other* sub-cores on shared units that it uses.
#[derive(Clone, Debug)]
pub(super) struct FromOthers<'s> {
    section: &'s SectionAnalysis,
    /// The sums of the inits, see [`inits`]. Empty if no unit is shared.
    inits: Vec<Cycles>,
}

impl<'s> FromOthers<'s> {
    pub(super) fn new(section: &'s SectionAnalysis) -> Self {
        let shared = section.sub_cores().share();
        Self { section, inits: if shared { inits(section) } else { Vec::new() } }
    }

    /// Returns the sum for one warp.
    pub(super) fn on(&self, own: WarpId) -> Cycles {
        self.by_unit(own).map(|(_, others)| others).sum()
    }

    /// Returns the sum for one warp on each unit that is not private.
    pub(super) fn by_unit(&self, own: WarpId) -> impl Iterator<Item = (UnitId, Cycles)> + use<'_> {
        let (section, cores) = (self.section, self.section.sub_cores());
        let units = if self.inits.is_empty() { 0 } else { section.units() };
        let used = (0..units)
            .map(UnitId::from_index)
            .filter(move |&unit| cores.is_shared(unit) && section.unit_use(own, unit).is_used());
        used.map(move |unit| {
            let other = (0..cores.count()).filter(|&core| core != section.sub_core(own));
            (unit, other.map(|core| self.inits[core * units + unit.index()]).sum())
        })
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
    /// The inits that can delay each sub-core on each unit: one row of units per sub-core.
    pub by_unit: Vec<Cycles>,
}

impl Loads {
    pub(super) fn new(section: &SectionAnalysis) -> Self {
        let (cores, units) = (section.sub_cores(), section.units());
        let mut loads =
            Self { private: [Cycles::ZERO; SubCores::MAX], shared: Cycles::ZERO, by_unit: inits(section) };
        for unit in (0..units).map(UnitId::from_index) {
            let on_cores = (0..cores.count()).map(|core| core * units + unit.index());
            if cores.is_shared(unit) {
                let all: Cycles = on_cores.clone().map(|place| loads.by_unit[place]).sum();
                on_cores.for_each(|place| loads.by_unit[place] = all);
                loads.shared += all;
            } else {
                for (private, place) in loads.private.iter_mut().zip(on_cores) {
                    *private += loads.by_unit[place];
                }
            }
        }
        loads
    }

    /// Returns the inits that can delay a sub-core.
    pub(super) fn of(&self, sub_core: usize) -> Cycles {
        self.private[sub_core] + self.shared
    }
}
