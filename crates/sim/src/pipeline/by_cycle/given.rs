//! What all SMs of a launch share and nothing changes.

use warpbound_core::base::{RegId, UnitId};
use warpbound_core::machine::{Machine, Pipeline};
use warpbound_core::program::TimingTable;

/// A machine with a pipeline, and the timing of a program on it.
pub struct Given<'a> {
    pub(super) table: &'a TimingTable,
    pub(super) machine: &'a Machine,
    pub(super) settings: &'a Pipeline,
    /// For each unit, with the load/store unit last, its rank in the order of entry to the
    /// collector.
    pub(super) kinds: Vec<usize>,
}

impl<'a> Given<'a> {
    /// Returns the data of a machine; `None` if it has no pipeline.
    pub fn new(machine: &'a Machine, table: &'a TimingTable) -> Option<Self> {
        let settings = machine.pipeline()?;
        Some(Self { table, machine, settings, kinds: kinds(machine, settings) })
    }

    /// Returns the number of the load/store unit.
    pub(super) fn memory(&self) -> usize {
        self.table.units()
    }

    pub(super) fn instance(&self, unit: usize, sub_core: usize) -> usize {
        self.table.sub_cores().instance(UnitId::from_index(unit), sub_core, self.table.units())
    }

    /// Returns the bank of a register of a warp.
    pub(super) fn bank(&self, reg: RegId, slot: usize, sub_core: usize) -> usize {
        let all = self.settings.collector.map_or(0, |collector| collector.banks as usize);
        let banks = (all / self.table.sub_cores().count()).max(1);
        sub_core * banks + (self.table.reg_number(reg) + slot) % banks
    }
}

/// Returns the order of the units at the collector; the last element is the load/store unit.
fn kinds(machine: &Machine, settings: &Pipeline) -> Vec<usize> {
    let named = |name: &str| settings.collect.iter().position(|other| other == name);
    let units = machine.units().iter().map(|unit| unit.name.as_str());
    let mut ranks: Vec<(usize, usize)> =
        units.enumerate().map(|(unit, name)| named(name).map_or((2, unit), |place| (1, place))).collect();
    // units without a configured position follow the others, except for the load/store unit, which
    // comes first
    ranks.push(named("memory").map_or((0, 0), |place| (1, place)));
    let mut order: Vec<usize> = (0..ranks.len()).collect();
    order.sort_by_key(|&unit| ranks[unit]);
    (0..ranks.len()).map(|unit| order.iter().position(|&other| other == unit).unwrap()).collect()
}
