//! The share of one block in [`Rbb`](crate::Rbb) or [`Plb`](crate::Plb).

use std::cmp::Reverse;
use std::collections::BTreeMap;

use crate::parts::{Services, add_each};
use crate::section::SectionAnalysis;
use crate::sharing::{Loads, by_sub_core};
use warpbound_core::base::{Cycles, UnitId, WarpId};
use warpbound_core::machine::SubCores;

/// The share of one block in the bound of its launch, collected section by section. A *stage* is a
/// section in which some warp has an instruction. [`proofs::rbb`](crate::proofs::rbb) defines the
/// *chain* of a block. All numbers are in cycles unless they are counts; in a share for
/// [`Plb`](crate::Plb) they are in units of service.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BlockShare {
    /// S: the sum of the initiations of all instructions.
    pub work: u64,
    /// L: the sum over the stages of the largest load of a sub-core.
    pub load: u64,
    /// D: the sum over the stages of the largest C(w) - S(w).
    pub surplus: i128,
    /// H: the most by which an issue of the block comes after the initiations of everything that
    /// the block's chain issued before it; at least 0.
    pub peak: i128,
    /// The number of stages.
    pub stages: u64,
    /// The work of a stage that a chain can count once more when it returns to the stage on another
    /// sub-core: the loads of the stage's other sub-cores on private units, each with its number of
    /// occurrences. They add up to `work - load`.
    pub repeats: BTreeMap<u64, u64>,
    /// The most work that earlier stages may have queued on the private units of one sub-core when
    /// a stage begins.
    pub left: u64,
    /// The services by resource, if the share is one of [`Plb`](crate::Plb).
    pub services: Services,
    /// In a share for [`Plb`](crate::Plb): the sum over the sections of the largest number of accesses of a
    /// warp that may go to DRAM.
    pub visits: u64,
    /// The sum over the stages of the largest C(w).
    pub alone: u64,
    /// The load of each sub-core over all stages, by the warp ids of the sub-core modulo the number
    /// of sub-cores.
    pub of_class: [u64; SubCores::MAX],
    /// A mask of the sub-cores that have instructions of the block.
    pub classes: u8,
    /// The same loads by unit; empty in a share for [`Plb`](crate::Plb).
    pub by_unit: ByUnit,
}

/// The loads of a block by unit, and the parts of its chain: in each stage, the chain contains the
/// warp with the largest C(w) - S(w).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ByUnit {
    /// The parts of L: the sum over the stages of the loads of the sub-core with the largest load.
    pub(super) load: Vec<u64>,
    /// The loads of each sub-core, in rows of units.
    pub(super) of_class: Vec<u64>,
    /// The sum of C(w) of the chain.
    pub(super) alone: u64,
    /// The sum of S(w) of the chain.
    pub(super) own: u64,
    /// The loads of the sub-cores of the chain's warps without the chain itself.
    pub(super) beside: Vec<u64>,
    /// The sub-core of the chain's last warp.
    pub(super) class: usize,
}

impl ByUnit {
    fn add_section(&mut self, section: &SectionAnalysis, loads: &Loads, chain: WarpId) {
        let (units, class) = (section.units(), section.sub_core(chain));
        let row = |class: usize| &loads.by_unit[class * units..][..units];
        let cores = 0..section.sub_cores().count();
        // if several sub-cores have the largest load, the chain's own is preferred
        let largest = cores.max_by_key(|&core| (loads.private[core], core == class, Reverse(core)));
        let cycles = |row: &[Cycles]| row.iter().map(|cycles| cycles.get()).collect::<Vec<_>>();
        add_each(&mut self.load, &cycles(row(largest.unwrap_or(class))));
        add_each(&mut self.of_class, &cycles(&loads.by_unit));
        let others = row(class).iter().zip(section.uses(chain)).map(|(&all, own)| all - own.init);
        add_each(&mut self.beside, &cycles(&others.collect::<Vec<_>>()));
        self.alone += section.warps()[chain.index()].lone().isolated.get();
        self.own += section.uses(chain).iter().map(|used| used.init.get()).sum::<u64>();
        self.class = class;
    }
}

impl BlockShare {
    /// Adds the block's next section.
    pub fn add_section(&mut self, section: &SectionAnalysis) {
        let (mut surplus, mut peak, mut alone) = (i128::MIN, i128::MIN, 0);
        let mut chain = WarpId::new(0);
        for (id, warp) in section.ids().zip(section.warps()).filter(|(_, warp)| warp.instructions > 0) {
            let inits: u64 = section.uses(id).iter().map(|used| used.init.get()).sum();
            let lone = warp.lone();
            let isolated = lone.isolated.get();
            let over = i128::from(isolated) - i128::from(inits);
            if over > surplus {
                (surplus, chain) = (over, id);
            }
            peak = peak.max(over).max(i128::from(lone.ahead.get()));
            alone = alone.max(isolated);
            self.classes |= 1 << section.sub_core(id);
        }
        if surplus == i128::MIN {
            return;
        }
        let loads = Loads::new(section);
        self.by_unit.add_section(section, &loads, chain);
        self.add_loads(loads.private.map(Cycles::get), loads.shared.get(), section.sub_cores());
        self.left = self.left.max(left(section));
        self.peak = self.peak.max(self.surplus + peak).max(0);
        self.surplus += surplus;
        self.alone += alone;
        self.stages += 1;
    }

    /// Adds the loads of a stage: those that only one sub-core can wait for, by sub-core, and those
    /// that all can wait for.
    pub(crate) fn add_loads(&mut self, mut private: [u64; SubCores::MAX], shared: u64, sub_cores: SubCores) {
        for (sum, private) in self.of_class.iter_mut().zip(private).take(sub_cores.count()) {
            *sum = sum.saturating_add(private).saturating_add(shared);
        }
        private.sort_unstable();
        let [others @ .., largest] = private;
        for other in others.into_iter().filter(|&other| other > 0) {
            *self.repeats.entry(other).or_default() += 1;
        }
        // a share that is too large has the largest number
        let load = largest.saturating_add(shared);
        self.work = others.into_iter().fold(self.work.saturating_add(load), u64::saturating_add);
        self.load = self.load.saturating_add(load);
    }

    /// Returns a number that none of the numbers of the share exceeds, except for `left`; `None` if
    /// there is none that fits.
    pub(super) fn largest(&self) -> Option<u64> {
        let surplus = u64::try_from(self.surplus.max(self.peak).max(0)).ok()?;
        [self.alone, surplus, self.stages].into_iter().try_fold(self.work, u64::checked_add)
    }

    /// Returns the most that the block's instructions add to `load` in a chain of another block
    /// that changes its sub-core this many times while the block is resident.
    pub(super) fn repeated(&self, mut changes: u64) -> u64 {
        let left = self.left.saturating_mul(changes);
        let mut sum = 0;
        for (&again, &times) in self.repeats.iter().rev() {
            let taken = times.min(changes);
            sum += again * taken;
            changes -= taken;
        }
        (self.work - self.load).min(left.saturating_add(sum))
    }

    /// Returns the load on each unit of the warps of a sub-core.
    pub(super) fn of_class_by_unit(&self, class: usize) -> &[u64] {
        let units = self.by_unit.load.len();
        self.by_unit.of_class.get(class * units..).map_or(&[], |from| &from[..units])
    }

    /// Returns by how much L exceeds the loads of the sub-cores of the chain's warps.
    pub(super) fn of_other_sub_cores(&self) -> u64 {
        self.load - self.by_unit.own - self.by_unit.beside.iter().sum::<u64>()
    }

    /// Returns the most that one such change adds.
    pub(super) fn largest_repeat(&self) -> u64 {
        self.repeats.last_key_value().map_or(0, |(&again, _)| again).saturating_add(self.left)
    }
}

/// Returns the most work that earlier sections may have queued on the private units of one sub-core
/// when the section begins.
fn left(section: &SectionAnalysis) -> u64 {
    let cores = section.sub_cores();
    if cores.count() == 1 {
        return 0;
    }
    let queued = by_sub_core(section, |warp| {
        let carried = section.long_waits(warp).carried.iter().enumerate();
        carried.filter(|(unit, _)| !cores.is_shared(UnitId::from_index(*unit))).map(|(_, &work)| work).sum()
    });
    queued.into_iter().max().unwrap_or_default().get()
}
