//! The names of the units of an SM in traces, sub-core by sub-core.

use super::Issue;
use warpbound_core::base::UnitId;
use warpbound_core::machine::{Machine, SubCores};

/// The instances of the units of a machine: with several sub-cores, each sub-core has its own
/// instance of a unit that is not shared.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UnitInstances {
    sub_cores: SubCores,
    units: Vec<String>,
    /// The names, in the order of units, then sub-cores.
    names: Vec<String>,
    /// For each unit, the index of its first instance.
    first: Vec<usize>,
}

impl UnitInstances {
    /// Returns the instances of a machine. The name is `fp32` if there is one sub-core or the unit
    /// is shared, otherwise `fp32[0]`, `fp32[1]` and so on.
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

    /// Returns one instance of each of these units, on one sub-core.
    #[inline]
    pub fn one_each<'n>(names: impl IntoIterator<Item = &'n str>) -> Self {
        let names: Vec<String> = names.into_iter().map(str::to_owned).collect();
        let (units, first) = (names.clone(), (0..names.len()).collect());
        Self { sub_cores: SubCores::ONE, units, first, names }
    }

    /// Returns the number of sub-cores.
    #[inline]
    pub fn sub_cores(&self) -> usize {
        self.sub_cores.count()
    }

    /// Returns the names of the units, in order.
    #[inline]
    pub fn units(&self) -> &[String] {
        &self.units
    }

    /// Returns the names of the instances: the units in order, and for each unit the sub-cores in
    /// order.
    #[inline]
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Returns the instance on which an instruction executed, as an index in
    /// [`UnitInstances::names`].
    #[inline]
    pub fn of(&self, issue: &Issue) -> usize {
        let first = self.first.get(issue.unit.index()).copied().unwrap_or(self.names.len());
        if self.sub_cores.is_shared(issue.unit) { first } else { first + usize::from(issue.sub_core) }
    }

    /// Returns the name of the instance on which an instruction executed.
    #[inline]
    pub fn name(&self, issue: &Issue) -> &str {
        self.names.get(self.of(issue)).map_or("", String::as_str)
    }
}
