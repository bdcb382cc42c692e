//! What operations cost because no two results leave a unit together, and no more results leave all units
//! together than there are result buses.
//!
//! With a collector, an operation does not start if its result would leave together with those of others,
//! and all units may be idle meanwhile. Lemma 5 of [`crate::proofs::plb`] states who pays for such cycles:
//! operations that take longer and have started before, or the one that waits.

use std::collections::{BTreeMap, BTreeSet};

use warpbound_core::base::UnitId;
use warpbound_core::machine::{OpTiming, SubCores};

/// The largest number of units for which every choice of those that pay is tried.
const MOST_UNITS: usize = 10;

/// What the operations of a unit pay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Payment {
    /// An operation pays this for operations of the duration `shorter` that it makes wait. If `duration` is
    /// given, only operations of that duration pay.
    Longer { shorter: u64, duration: Option<u64>, service: u64 },
    /// An operation of this duration pays this for its own wait.
    Shorter { duration: u64, service: u64 },
}

/// The payments of the operations of a program.
#[derive(Clone, Debug, Default)]
pub(super) struct Leaving {
    of_unit: BTreeMap<UnitId, Vec<Payment>>,
}

/// The operations of a unit in the program.
struct Operations {
    timings: Vec<OpTiming>,
    /// The number of instances of the unit on the SM.
    instances: u64,
    /// Whether all operations of an instance wait in the same output.
    one_output: bool,
}

impl Operations {
    fn count(&self, counts: impl Fn(&OpTiming) -> bool) -> u64 {
        self.timings.iter().filter(|op| counts(op)).count() as u64
    }

    fn durations(&self) -> BTreeSet<u64> {
        self.timings.iter().map(duration).collect()
    }
}

impl Leaving {
    /// Takes the timings of all operations on units of a program. Services are in units of which there are
    /// `scale` per cycle, which is a multiple of the number of result buses.
    pub fn new(
        ops: impl Iterator<Item = OpTiming>,
        sub_cores: SubCores,
        buses: Option<u64>,
        scale: u64,
    ) -> Self {
        let mut units: BTreeMap<UnitId, Operations> = BTreeMap::new();
        for op in ops {
            let of_unit = units.entry(op.unit).or_insert_with(|| Operations {
                timings: Vec::new(),
                instances: sub_cores.instances(op.unit) as u64,
                one_output: !sub_cores.is_shared(op.unit),
            });
            of_unit.timings.push(op);
        }
        let mut leaving =
            Self { of_unit: units.iter().map(|(&unit, ops)| (unit, at_unit(ops, scale))).collect() };
        if let Some(buses) = buses {
            let durations: BTreeSet<u64> = units.values().flat_map(Operations::durations).collect();
            for shorter in durations {
                leaving.add_on_buses(&units, shorter, buses, scale);
            }
        }
        leaving
    }

    /// Adds what operations pay because those of the duration `shorter` wait for result buses.
    fn add_on_buses(&mut self, units: &BTreeMap<UnitId, Operations>, shorter: u64, buses: u64, scale: u64) {
        let is_waiting = |ops: &Operations| ops.durations().contains(&shorter);
        let waiting: Vec<UnitId> =
            units.iter().filter(|(_, ops)| is_waiting(ops)).map(|(&unit, _)| unit).collect();
        let only = match waiting[..] {
            [unit] if units[&unit].instances == 1 => Some(unit),
            _ => None,
        };
        // the units with longer operations, and how many
        let blocking: Vec<(UnitId, u64)> = units
            .iter()
            .map(|(&unit, ops)| (unit, ops.count(|op| delays(op, shorter))))
            .filter(|&(unit, longer)| longer > 0 && Some(unit) != only)
            .collect();
        let all: u64 = blocking.iter().map(|(_, longer)| longer).sum();
        // what it costs that each longer operation of these units pays (a mask), if the results of the other
        // units never take all buses then
        let chosen = |choice: usize| {
            let of_choice = |pays: bool| {
                let each = blocking.iter().enumerate().filter(move |(at, _)| (choice >> at & 1 == 1) == pays);
                each.map(|(_, &unit)| unit)
            };
            let together: u64 = of_choice(false).map(|(unit, _)| units[&unit].instances).sum();
            let has_own = waiting.iter().all(|unit| of_choice(false).any(|(other, _)| other == *unit));
            let may_wait = together.saturating_sub(u64::from(has_own)) >= buses;
            let cost: u64 = of_choice(true).map(|(_, longer)| longer).sum();
            (!may_wait).then_some((cost.saturating_mul(buses), choice))
        };
        let choices = if blocking.len() <= MOST_UNITS { 1_usize << blocking.len() } else { 0 };
        let best = (0..choices).filter_map(chosen).min().filter(|&(cost, _)| cost <= all);
        for (at, &(unit, _)) in blocking.iter().enumerate() {
            let service = match best {
                Some((_, choice)) if choice >> at & 1 == 0 => continue,
                Some(_) => scale,
                None => scale / buses,
            };
            let payment = Payment::Longer { shorter, duration: None, service };
            self.of_unit.entry(unit).or_default().push(payment);
        }
    }

    /// Returns what an operation pays.
    pub fn cost(&self, op: OpTiming) -> u64 {
        let pays = |payment: &Payment| match *payment {
            Payment::Longer { shorter, duration: only, service } => {
                let is_one = only.is_none_or(|only| only == duration(&op));
                if is_one && delays(&op, shorter) { service } else { 0 }
            }
            Payment::Shorter { duration: of, service } if of == duration(&op) => service,
            Payment::Shorter { .. } => 0,
        };
        self.of_unit.get(&op.unit).into_iter().flatten().map(pays).fold(0, u64::saturating_add)
    }
}

/// Returns what the operations of a unit pay because no two results leave it together.
fn at_unit(ops: &Operations, scale: u64) -> Vec<Payment> {
    let mut payments = Vec::new();
    let durations = ops.durations();
    for &shorter in &durations {
        let same = ops.count(|op| duration(op) == shorter);
        for &longer in durations.range(shorter + 1..) {
            let delaying = || ops.timings.iter().filter(|op| duration(op) == longer && delays(op, shorter));
            let Some(apart) = delaying().map(|op| op.init.get().max(1)).min() else { continue };
            let waits = (longer - shorter) / apart;
            payments.push(if ops.one_output && same.saturating_mul(waits) <= delaying().count() as u64 {
                Payment::Shorter { duration: shorter, service: waits.saturating_mul(scale) }
            } else {
                Payment::Longer { shorter, duration: Some(longer), service: scale }
            });
        }
    }
    payments
}

/// Returns the number of cycles from the start of an operation until its result leaves the unit.
fn duration(op: &OpTiming) -> u64 {
    (op.init + op.lat).get()
}

/// Returns whether an operation may make one of this duration wait that starts later, while its unit is
/// idle.
fn delays(op: &OpTiming, shorter: u64) -> bool {
    duration(op).checked_sub(shorter).is_some_and(|later| later > 0 && later >= op.init.get())
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpbound_core::base::Cycles;

    fn op(unit: usize, init: u64, lat: u64) -> OpTiming {
        OpTiming { unit: UnitId::from_index(unit), init: Cycles::new(init), lat: Cycles::new(lat) }
    }

    fn costs(ops: &[OpTiming], buses: Option<u64>) -> Vec<u64> {
        let leaving = Leaving::new(ops.iter().copied(), SubCores::ONE, buses, 2);
        ops.iter().map(|&op| leaving.cost(op)).collect()
    }

    #[test]
    fn the_rarer_operations_pay() {
        // one branch waits for one of the three others: those that leave within its wait have started two
        // cycles apart, and the last one still occupies the unit when the first one leaves
        assert_eq!(costs(&[op(0, 1, 0), op(0, 2, 2), op(0, 2, 2), op(0, 2, 2)], None), [2, 0, 0, 0]);
        assert_eq!(costs(&[op(0, 1, 0), op(0, 1, 0), op(0, 2, 2)], None), [0, 0, 2]);
        // results that leave 5 cycles after their start are written while their unit is occupied
        assert_eq!(costs(&[op(0, 2, 2), op(0, 3, 2)], None), [0, 0]);
    }

    #[test]
    fn results_of_the_own_unit_take_no_bus_that_counts() {
        // two units never take both buses of a third one's operation if one of them is its own
        assert_eq!(costs(&[op(0, 1, 0), op(0, 2, 2), op(1, 1, 3)], Some(2)), [2, 0, 0]);
        // the results of units 1 and 2 take both buses, and the one that is rarer pays
        let ops = [op(0, 1, 0), op(1, 1, 3), op(1, 1, 3), op(1, 1, 3), op(2, 8, 13)];
        assert_eq!(costs(&ops, Some(2)), [0, 0, 0, 0, 2]);
    }
}
