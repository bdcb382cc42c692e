//! Sums over the records of results.

use std::collections::BTreeMap;

use serde_json::Value;

use super::formula::{Formula, PlotData};
use super::names::Names;
use super::parts::MeanParts;
use super::record::Read;
use super::singles::Singles;
use super::spread::Spread;
use crate::explain::Explained;
use crate::wcet::WcetResult;
use warpbound_judge::sweep::{Manifest, Meaning};

/// The most combinations of kernel, machine and policy with sums of their own.
const GROUPS: usize = 20_000;
/// The most distinct errors that are kept.
const ERRORS: usize = 100;
/// The most values of an axis that is shown.
const AXIS_VALUES: usize = 64;

/// The most critical paths on a page.
const EXPLAINED: usize = 20;
/// The most kernels on a page for which methods are compared.
const WORST_CASES: usize = 50;

/// A source of results.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// The name of the folder or file.
    pub name: String,
    /// The manifest of the results; `None` for a file without its folder.
    pub manifest: Option<Manifest>,
    /// The number of points that were read.
    pub points: u64,
}

/// Sums over some points.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sums {
    /// The number of points.
    pub points: u64,
    /// The number of points at which a gating bound is exceeded.
    pub violated: u64,
    /// The number of points with an error.
    pub failed: u64,
    pub(super) makespan: u64,
    pub(super) warp_instructions: u64,
    /// The number of points that the two sums above include.
    pub(super) measured: u64,
    /// For each bound: the points to which it applies, and the sum and the maximum of their
    /// overestimations.
    pub(super) bounds: Vec<(u64, f64, f64)>,
}

impl Sums {
    fn add(&mut self, read: &Read<'_>) {
        self.points += 1;
        self.violated += u64::from(read.is_violated());
        self.failed += u64::from(read.error.is_some());
        if let (Some(makespan), Some(instructions)) = (read.makespan, read.warp_instructions) {
            self.measured += 1;
            self.makespan = self.makespan.saturating_add(makespan);
            self.warp_instructions = self.warp_instructions.saturating_add(instructions);
        }
        self.bounds.resize(self.bounds.len().max(read.bounds.len()), (0, 0.0, f64::NEG_INFINITY));
        for ((points, sum, most), (over, _)) in self.bounds.iter_mut().zip(&read.bounds) {
            if let Some(over) = over {
                *points += 1;
                *sum += over;
                *most = most.max(*over);
            }
        }
    }

    /// Returns the mean overestimation of a bound.
    pub fn mean(&self, bound: usize) -> Option<f64> {
        self.bounds.get(bound).filter(|(points, ..)| *points > 0).map(|(points, sum, _)| sum / *points as f64)
    }

    /// Returns the largest overestimation of a bound.
    pub fn most(&self, bound: usize) -> Option<f64> {
        self.bounds.get(bound).filter(|(points, ..)| *points > 0).map(|(_, _, most)| *most)
    }

    /// Returns the number of warp instructions per cycle.
    pub fn per_cycle(&self) -> Option<f64> {
        (self.makespan > 0).then(|| self.warp_instructions as f64 / self.makespan as f64)
    }
}

/// Points that failed with the same error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Failure {
    pub error: String,
    pub points: u64,
    /// The source and the index of the first point.
    pub first: (usize, u64),
}

/// The sum and number of overestimations, by policy, bound and value.
pub(super) type ByValue = BTreeMap<(usize, usize, String), (f64, u64)>;

/// The results of all sources.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Collected {
    /// The sources in the order in which they were given.
    pub sources: Vec<Source>,
    /// The axes and bounds of all sources together.
    pub(super) meaning: Meaning,
    /// The axes and bounds of the source that is being read, and their places in `meaning`.
    current: Option<(Meaning, Vec<usize>, Vec<usize>)>,
    /// The sums over all points.
    pub total: Sums,
    pub(super) holds: u64,
    /// The number of points that failed and are violated.
    pub(super) failed_and_violated: u64,
    pub(super) kernels: Names,
    pub(super) machines: Names,
    pub(super) policies: Names,
    pub(super) groups: BTreeMap<(usize, usize, usize), Sums>,
    pub(super) by_kernel: BTreeMap<usize, Sums>,
    /// The number of points in combinations beyond the limit.
    pub(super) ungrouped: u64,
    /// The distribution of overestimations, by bound and policy.
    pub(super) spreads: BTreeMap<(usize, usize), Spread>,
    /// The sums by the values of each axis; `None` for an axis with too many values.
    pub(super) by_axis: Vec<Option<ByValue>>,
    /// Cycles and instructions per cycle against each axis, by policy.
    pub(super) over_axes: Vec<PlotData>,
    /// The parts of the smallest proved bounds, by machine.
    pub(super) parts: BTreeMap<usize, MeanParts>,
    pub(super) errors: Vec<Failure>,
    pub(super) singles: Singles,
    /// The critical paths, each with the name of its source.
    pub(super) explained: Vec<(String, Explained)>,
    /// The compared methods, by kernel.
    pub(super) worst_cases: Vec<WcetResult>,
}

impl Collected {
    /// Starts a source; the following records belong to it.
    pub fn begin(&mut self, name: String, manifest: Option<Manifest>) {
        self.sources.push(Source { name, manifest, points: 0 });
        self.current = None;
    }

    /// Adds the critical path of a run of the current source; paths beyond the limit are left out.
    pub fn explain(&mut self, explained: Explained) {
        if self.explained.len() < EXPLAINED {
            let source = self.sources.last().map_or(String::new(), |source| source.name.clone());
            self.explained.push((source, explained));
        }
    }

    /// Adds the results of `wcet` for a kernel; kernels beyond the limit are left out.
    pub fn compare(&mut self, methods: WcetResult) {
        if self.worst_cases.len() < WORST_CASES {
            self.worst_cases.push(methods);
        }
    }

    /// Adds a record of the current source.
    ///
    /// # Errors
    /// If the record lacks a required field.
    pub fn add(&mut self, record: &Value) -> Result<(), String> {
        let Value::Object(fields) = record else {
            return Err("a record is an object".to_owned());
        };
        if self.current.is_none() {
            let manifest = self.sources.last().and_then(|source| source.manifest.as_ref());
            let columns =
                manifest.map_or_else(|| fields.keys().cloned().collect(), |known| known.columns.clone());
            let meaning = Meaning::of(&columns);
            let axes = places(&mut self.meaning.axes, &meaning.axes);
            let bounds = places(&mut self.meaning.bounds, &meaning.bounds);
            let new = self.meaning.axes.get(self.by_axis.len()..).unwrap_or_default().iter();
            self.over_axes.extend(
                new.flat_map(|axis| ["cycles", "ipc"].map(|y| PlotData::new(Formula::over(y, axis)))),
            );
            self.by_axis.resize_with(self.meaning.axes.len(), || Some(ByValue::new()));
            self.current = Some((meaning, axes, bounds));
        }
        let (meaning, axes, bounds) = self.current.as_ref().expect("it has just been set");
        // a record that lacks the axis is of another source
        self.over_axes.iter_mut().for_each(|data| data.add(record).unwrap_or_default());
        let mut read = Read::new(record, meaning)?;
        read.axes = spread_out(&read.axes, axes, self.meaning.axes.len());
        read.bounds = spread_out(&read.bounds, bounds, self.meaning.bounds.len());
        self.count(&read);
        Ok(())
    }

    fn count(&mut self, read: &Read<'_>) {
        let number = self.sources.len() - 1;
        self.sources[number].points += 1;
        self.total.add(read);
        self.holds += u64::from(read.verdict == Some("holds") && read.error.is_none());
        self.failed_and_violated += u64::from(read.is_violated() && read.error.is_some());
        self.singles.add(number, read);
        if let Some(error) = read.error {
            let below_limit = self.errors.len() < ERRORS;
            match self.errors.iter_mut().find(|known| known.error == error) {
                Some(known) => known.points += 1,
                None if below_limit => {
                    let first = (number, read.point);
                    self.errors.push(Failure { error: error.to_owned(), points: 1, first });
                }
                None => {}
            }
        }
        let kernel = self.kernels.number(read.kernel);
        let machine = self.machines.number(read.machine);
        let policy = self.policies.number(read.policy);
        let (Some(kernel), Some(machine), Some(policy)) = (kernel, machine, policy) else {
            self.ungrouped += 1;
            return;
        };
        self.by_kernel.entry(kernel).or_default().add(read);
        self.parts.entry(machine).or_default().add(&read.parts);
        let below_limit = self.groups.len() < GROUPS;
        match self.groups.get_mut(&(kernel, machine, policy)) {
            Some(group) => group.add(read),
            None if below_limit => self.groups.entry((kernel, machine, policy)).or_default().add(read),
            None => self.ungrouped += 1,
        }
        for (bound, (over, exceeded)) in read.bounds.iter().enumerate() {
            let Some(over) = over else { continue };
            self.spreads.entry((bound, policy)).or_default().add(*over, *exceeded);
            for (values, value) in self.by_axis.iter_mut().zip(&read.axes) {
                let Some(known) = values else { continue };
                let key = (policy, bound, value.clone());
                if !value.is_empty() {
                    let (sum, points) = known.entry(key).or_default();
                    *sum += over;
                    *points += 1;
                    if known.len() > AXIS_VALUES * self.policies.list().len() * read.bounds.len() {
                        *values = None;
                    }
                }
            }
        }
    }
}

/// Returns the places of these names in `all`, to which new names are added.
fn places(all: &mut Vec<String>, names: &[String]) -> Vec<usize> {
    let mut places = Vec::new();
    for name in names {
        places.push(all.iter().position(|known| known == name).unwrap_or_else(|| {
            all.push(name.clone());
            all.len() - 1
        }));
    }
    places
}

fn spread_out<T: Clone + Default>(values: &[T], places: &[usize], length: usize) -> Vec<T> {
    let mut all = vec![T::default(); length];
    for (value, place) in values.iter().zip(places) {
        all[*place] = value.clone();
    }
    all
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(in super::super) fn record(point: u64, kernel: &str, latency: u64, over: f64) -> Value {
        let verdict = if over < 0.0 { "violated" } else { "holds" };
        serde_json::json!({
            "point": point, "kernel": kernel, "seed": 0, "machine": "m", "mem_latency": latency, "policy": "gto",
            "warp_instructions": 10, "makespan": 20, "verdict": verdict,
            "gub": 1, "gub_overestimation": over, "gub_verdict": verdict, "races": 0, "error": null,
        })
    }

    #[test]
    fn sums_do_not_grow_with_points() {
        let mut all = Collected::default();
        all.begin("a".to_owned(), None);
        for point in 0..5000 {
            all.add(&record(point, ["k", "l"][point as usize % 2], 100 * (1 + point % 3), 0.5)).unwrap();
        }
        all.add(&record(5000, "k", 100, -0.25)).unwrap();
        let failed = serde_json::json!({"point": 5001, "kernel": "k", "machine": "m", "policy": "lrr", "error": "no memory"});
        all.add(&failed).unwrap();
        assert_eq!((all.total.points, all.total.violated, all.total.failed, all.holds), (5002, 1, 1, 5000));
        assert_eq!((all.groups.len(), all.singles.all().count()), (3, 1 + 1 + super::super::singles::WORST));
        assert_eq!(all.by_axis[0].as_ref().unwrap().len(), 3);
        assert_eq!(all.errors, [Failure { error: "no memory".to_owned(), points: 1, first: (0, 5001) }]);
        assert_eq!(all.groups[&(1, 0, 0)].mean(0), Some(0.5));
        assert_eq!(all.groups[&(1, 0, 0)].per_cycle(), Some(0.5));
        assert!(all.add(&serde_json::json!({"kernel": "k"})).unwrap_err().contains("`point`"));
        assert!(all.add(&serde_json::json!([1])).is_err());
    }

    #[test]
    fn an_axis_with_many_values_is_not_kept() {
        let mut all = Collected::default();
        all.begin("a".to_owned(), None);
        (0..200).for_each(|point| all.add(&record(point, "k", point, 0.5)).unwrap());
        assert_eq!(all.by_axis, [None]);
    }

    #[test]
    fn sources_with_other_columns_are_put_together_by_name() {
        let mut all = Collected::default();
        all.begin("a".to_owned(), None);
        all.add(&record(0, "k", 100, 0.5)).unwrap();
        all.begin("b".to_owned(), None);
        let other = serde_json::json!({"point": 0, "kernel": "k", "machine": "m", "policy": "gto", "block": 32,
            "iwb": 1, "iwb_overestimation": 2.0, "iwb_verdict": "holds", "gub": 1, "gub_overestimation": 1.5, "gub_verdict": "holds"});
        all.add(&other).unwrap();
        assert_eq!(all.meaning.axes, ["mem_latency", "block"]);
        assert_eq!(all.meaning.bounds, ["gub", "iwb"]);
        assert_eq!((all.spreads[&(0, 0)].mean(), all.spreads[&(1, 0)].mean()), (Some(1.0), Some(2.0)));
    }
}
