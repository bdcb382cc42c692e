//! The functional units, and the op classes that run on them.

use std::collections::BTreeMap;

use super::range::{Check, MAX_TIME};
use crate::base::{Cycles, UnitId};
use crate::diag::closest;
use crate::isa::BARRIER;
use crate::machine::written::{MachineSpec, OpSpec, TimedOpSpec, UnitSpec};

/// The maximum number of units of a machine with a pipeline: its engine uses one bit for each of
/// them, and for the load/store unit, in every sub-core.
pub const MAX_DETAILED_UNITS: usize = 15;

/// A functional unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unit {
    /// The name of the unit.
    pub name: String,
    /// The initiation interval: the number of cycles for which an instruction occupies the unit.
    pub init: Cycles,
    /// The number of pipelined cycles from the end of the initiation to the result.
    pub lat: Cycles,
    /// Whether all sub-cores share one instance.
    pub shared: bool,
    /// The source of the numbers; may be empty.
    pub source: String,
}

/// The unit of an op class, and its timing there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpTiming {
    /// The unit.
    pub unit: UnitId,
    /// The initiation interval: the number of cycles for which the instruction occupies the unit,
    /// at least 1.
    pub init: Cycles,
    /// The number of pipelined cycles from the end of the initiation to the result.
    pub lat: Cycles,
}

/// The units of a machine, and the op classes that are mapped to them.
#[derive(Clone, Debug)]
pub struct Units {
    /// The units, indexed by [`UnitId`].
    list: Vec<Unit>,
    ops: BTreeMap<String, OpTiming>,
}

impl Units {
    /// Returns the units of a machine, including a unit for barriers, and whether they are valid.
    /// Invalid ones may only be used to check the names that refer to them.
    pub(super) fn of(spec: &MachineSpec, check: &mut Check) -> (Self, bool) {
        let mut units = Self { list: Vec::new(), ops: BTreeMap::new() };
        let fine = check.finds_nothing(|check| {
            units.add_units(&spec.units, &mut check.part("units"));
            units.add_ops(&spec.ops, &mut check.part("ops"));
            units.add_barrier();
            let (most, of) =
                if spec.pipeline.is_some() { (MAX_DETAILED_UNITS, " with a pipeline") } else { (64, "") };
            let count = units.list.len();
            if count > most {
                check.problem("units", format!("{count} units; at most {most} are supported{of}"), "");
            }
        });
        (units, fine)
    }

    fn add_units(&mut self, written: &BTreeMap<String, UnitSpec>, check: &mut Check) {
        for (name, UnitSpec { init, lat, shared, source }) in written {
            check_timing(Some(*init), Some(*lat), &mut check.entry(name));
            self.list.push(Unit {
                name: name.clone(),
                init: Cycles::new(*init),
                lat: Cycles::new(*lat),
                shared: *shared,
                source: source.clone(),
            });
        }
    }

    fn add_ops(&mut self, written: &BTreeMap<String, OpSpec>, check: &mut Check) {
        let id = |(index, unit): (usize, &Unit)| (unit.name.clone(), UnitId::from_index(index.min(255)));
        let by_name: BTreeMap<String, UnitId> = self.list.iter().enumerate().map(id).collect();
        let names = || by_name.keys().map(String::as_str);
        for (op, placed) in written {
            let check = &mut check.entry(op);
            let (unit_name, init, lat) = match placed {
                OpSpec::Unit(unit) => (unit, None, None),
                OpSpec::Timed(TimedOpSpec { unit, init, lat, source: _ }) => (unit, *init, *lat),
            };
            let Some(&unit) = by_name.get(unit_name) else {
                let hint = closest(unit_name, names()).map_or_else(
                    || format!("units of this machine: {}", names().collect::<Vec<_>>().join(", ")),
                    |name| format!("did you mean `{name}`?"),
                );
                let message = format!("op `{op}` runs on unit `{unit_name}`, which does not exist");
                check.problem("", message, &hint);
                continue;
            };
            check_timing(init, lat, check);
            let unit_timing = &self.list[unit.index()];
            let timing = OpTiming {
                unit,
                init: init.map_or(unit_timing.init, Cycles::new),
                lat: lat.map_or(unit_timing.lat, Cycles::new),
            };
            self.ops.insert(op.clone(), timing);
        }
    }

    /// Adds a unit for barriers (initiation interval 1, latency 0), unless the machine maps them.
    fn add_barrier(&mut self) {
        if !self.ops.contains_key(BARRIER) {
            let unit = UnitId::from_index(self.list.len().min(255));
            self.list.push(Unit {
                name: BARRIER.to_owned(),
                init: Cycles::ONE,
                lat: Cycles::ZERO,
                shared: false,
                source: "the default: a unit of its own".to_owned(),
            });
            self.ops.insert(BARRIER.to_owned(), OpTiming { unit, init: Cycles::ONE, lat: Cycles::ZERO });
        }
    }

    /// Returns the units, indexed by [`UnitId`].
    #[inline]
    pub fn list(&self) -> &[Unit] {
        &self.list
    }

    /// Returns the op classes and families that are mapped, in alphabetical order.
    #[inline]
    pub fn ops(&self) -> impl Iterator<Item = (&str, OpTiming)> {
        self.ops.iter().map(|(name, timing)| (name.as_str(), *timing))
    }

    /// Returns the unit and timing to which exactly this op class or family is mapped.
    #[inline]
    pub fn op(&self, name: &str) -> Option<OpTiming> {
        self.ops.get(name).copied()
    }
}

fn check_timing(init: Option<u64>, lat: Option<u64>, check: &mut Check) {
    if let Some(init) = init {
        let hint = "an initiation occupies the unit for at least one cycle";
        check.range_with_hint("init", init, 1..=MAX_TIME, if init == 0 { hint } else { "" });
    }
    if let Some(lat) = lat {
        check.range("lat", lat, 0..=MAX_TIME);
    }
}
