//! What the units of an SM are called in traces, sub-core by sub-core.

use super::Issue;
use crate::base::UnitId;
use crate::machine::{Machine, SubCores};

/// The instances of the units of a machine: with several sub-cores, a unit that is not shared
/// exists once on each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UnitInstances {
    sub_cores: SubCores,
    units: Vec<String>,
    /// In the order of units, then sub-cores.
    names: Vec<String>,
    /// By unit: the place of its first instance.
    first: Vec<usize>,
}

impl UnitInstances {
    /// Those of a machine: `fp32` with one sub-core and where it is shared, else `fp32[0]`,
    /// `fp32[1]` and so on.
    pub fn new(machine: &Machine) -> Self {
        let sub_cores = machine.sub_cores();
        let units = machine.units().iter().map(|unit| unit.name.clone()).collect();
        let mut instances = Self { sub_cores, units, ..Self::default() };
        for (index, unit) in machine.units().iter().enumerate() {
            instances.first.push(instances.names.len());
            match sub_cores.instances(UnitId::from_index(index)) {
                1 => instances.names.push(unit.name.clone()),
                count => instances.names.extend((0..count).map(|core| format!("{}[{core}]", unit.name))),
            }
        }
        instances
    }

    /// One of each of these, on one sub-core.
    pub fn one_each<'n>(names: impl IntoIterator<Item = &'n str>) -> Self {
        let names: Vec<String> = names.into_iter().map(str::to_owned).collect();
        let (units, first) = (names.clone(), (0..names.len()).collect());
        Self { sub_cores: SubCores::ONE, units, first, names }
    }

    /// How many sub-cores there are.
    pub fn sub_cores(&self) -> usize {
        self.sub_cores.count()
    }

    /// The names of the units, in order.
    pub fn units(&self) -> &[String] {
        &self.units
    }

    /// The names of the instances; units in order, and of each unit the sub-cores in order.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Where an instruction executed: index in [`UnitInstances::names`].
    pub fn of(&self, issue: &Issue) -> usize {
        let first = self.first.get(issue.unit.index()).copied().unwrap_or(self.names.len());
        if self.sub_cores.is_shared(issue.unit) { first } else { first + usize::from(issue.sub_core) }
    }

    /// The name of where an instruction executed.
    pub fn name(&self, issue: &Issue) -> &str {
        self.names.get(self.of(issue)).map_or("", String::as_str)
    }
}
