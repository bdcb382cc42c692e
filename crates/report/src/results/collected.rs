//! Sums over the records of results.

use std::collections::BTreeMap;

use super::formula::Formula;
use super::names::Names;
use super::parts::MeanParts;
use super::plotted::PlotData;
use super::record::{Places, Read};
use super::singles::Singles;
use super::spread::Spread;
use crate::explain::Explained;
use crate::html::grouped;
use crate::output::Stopped;
use crate::wcet::WcetResult;
use warpbound_judge::sweep::{Manifest, Meaning, Row};

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

impl Source {
    /// Returns what the source lacks of its plan, as a sentence.
    pub fn incomplete(&self) -> Option<String> {
        incomplete(self.points, self.manifest.as_ref()?)
    }
}

/// Returns what results with this number of points lack of their plan, as a sentence.
pub fn incomplete(points: u64, manifest: &Manifest) -> Option<String> {
    let (here, all) = (grouped(points), grouped(manifest.points));
    match manifest.shard {
        Some(shard) => Some(format!("Only shard {shard} of the plan: {here} of {all} points.")),
        None if points < manifest.points => {
            Some(format!("The results are not complete: {here} of {all} points of the plan."))
        }
        None => None,
    }
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

/// The overestimations by the values of an axis.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct ByValue {
    /// The values.
    pub values: Names,
    /// The sum and number of overestimations, by policy, bound and value.
    pub sums: BTreeMap<(usize, usize, usize), (f64, u64)>,
}

/// The source that is being read.
#[derive(Clone, Debug, PartialEq)]
struct Current {
    /// The fields of its records.
    fields: Places,
    /// The places of its axes and of its bounds in those of all sources.
    axes: Vec<usize>,
    bounds: Vec<usize>,
}

/// The results of all sources.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Collected {
    /// The sources in the order in which they were given.
    pub sources: Vec<Source>,
    /// The axes and bounds of all sources together.
    pub(super) meaning: Meaning,
    current: Option<Current>,
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
    /// Why not everything was read, if the reading was stopped.
    pub stopped: Option<Stopped>,
}

impl Collected {
    /// Starts a source; the following records belong to it.
    pub fn begin(&mut self, name: String, manifest: Option<Manifest>) {
        self.sources.push(Source { name, manifest, points: 0 });
        self.current = None;
    }

    /// Returns whether a run exceeds a bound that gates or is proved.
    pub fn is_violated(&self) -> bool {
        self.total.violated > 0 || self.worst_cases.iter().any(WcetResult::is_violated)
    }

    /// Returns what is missing, as sentences.
    pub fn incomplete(&self) -> Vec<String> {
        let several = self.sources.len() > 1;
        let named = |source: &Source| {
            let why = source.incomplete()?;
            Some(if several { format!("{}: {why}", source.name) } else { why })
        };
        let stopped = self.stopped.map(|why| {
            format!("The reading was {} after {} points.", why.text(), grouped(self.total.points))
        });
        self.sources.iter().filter_map(named).chain(stopped).collect()
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
    pub fn add(&mut self, record: &Row<'_>) -> Result<(), String> {
        if self.current.is_none() {
            self.current = Some(self.first_of_source(record));
        }
        let Some(Current { fields, axes, bounds }) = &mut self.current else { return Ok(()) };
        // a record that lacks the axis is of another source
        self.over_axes.iter_mut().for_each(|data| data.add(record).unwrap_or_default());
        let mut read = fields.read(record)?;
        spread_out(&mut read.axes, axes, self.meaning.axes.len());
        spread_out(&mut read.bounds, bounds, self.meaning.bounds.len());
        self.count(&read);
        Ok(())
    }

    /// Identifies the columns of a source by its manifest or its first record.
    fn first_of_source(&mut self, record: &Row<'_>) -> Current {
        let manifest = self.sources.last().and_then(|source| source.manifest.as_ref());
        let columns = manifest.map_or_else(
            || {
                let mut names: Vec<String> = record.names().cloned().collect();
                names.sort_unstable();
                names
            },
            |known| known.columns.clone(),
        );
        let meaning = Meaning::of(&columns);
        let axes = places(&mut self.meaning.axes, &meaning.axes);
        let bounds = places(&mut self.meaning.bounds, &meaning.bounds);
        let new = self.meaning.axes.get(self.by_axis.len()..).unwrap_or_default().iter();
        self.over_axes
            .extend(new.flat_map(|axis| ["cycles", "ipc"].map(|y| PlotData::new(Formula::over(y, axis)))));
        self.by_axis.resize_with(self.meaning.axes.len(), || Some(ByValue::default()));
        Current { fields: Places::of(&meaning), axes, bounds }
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
            if let Some(over) = over {
                self.spreads.entry((bound, policy)).or_default().add(*over, *exceeded);
            }
        }
        let most = AXIS_VALUES * self.policies.list().len() * read.bounds.len();
        for (known, value) in self.by_axis.iter_mut().zip(&read.axes) {
            if value.is_empty() || known.as_mut().is_some_and(|known| known.add(policy, value, read, most)) {
                continue;
            }
            *known = None;
        }
    }
}

impl ByValue {
    /// Adds the overestimations of a record. Returns whether there are no more than `most` sums.
    fn add(&mut self, policy: usize, value: &str, read: &Read<'_>, most: usize) -> bool {
        if read.bounds.iter().all(|(over, _)| over.is_none()) {
            return true;
        }
        let Some(value) = self.values.number(value) else { return false };
        for (bound, (over, _)) in read.bounds.iter().enumerate() {
            if let Some(over) = over {
                let (sum, points) = self.sums.entry((policy, bound, value)).or_default();
                *sum += over;
                *points += 1;
            }
        }
        self.sums.len() <= most
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

/// Puts values at their places among `length`, unless they are there already.
fn spread_out<T: Clone + Default>(values: &mut Vec<T>, places: &[usize], length: usize) {
    if places.iter().copied().eq(0..length) {
        return;
    }
    let mut all = vec![T::default(); length];
    for (value, place) in values.drain(..).zip(places) {
        all[*place] = value;
    }
    *values = all;
}

#[cfg(test)]
pub(super) mod tests {
    use serde_json::Value;

    use super::*;
    use warpbound_judge::sweep::RowReader;

    /// Adds a record that is given as JSON.
    pub(in super::super) fn add(all: &mut Collected, record: &Value) -> Result<(), String> {
        all.add(&RowReader::default().convert(record)?)
    }

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
            add(&mut all, &record(point, ["k", "l"][point as usize % 2], 100 * (1 + point % 3), 0.5))
                .unwrap();
        }
        add(&mut all, &record(5000, "k", 100, -0.25)).unwrap();
        let failed = serde_json::json!({"point": 5001, "kernel": "k", "machine": "m", "policy": "lrr", "error": "no memory"});
        add(&mut all, &failed).unwrap();
        assert_eq!((all.total.points, all.total.violated, all.total.failed, all.holds), (5002, 1, 1, 5000));
        assert_eq!((all.groups.len(), all.singles.all().count()), (3, 1 + 1 + super::super::singles::WORST));
        assert_eq!(all.by_axis[0].as_ref().unwrap().sums.len(), 3);
        assert_eq!(all.errors, [Failure { error: "no memory".to_owned(), points: 1, first: (0, 5001) }]);
        assert_eq!(all.groups[&(1, 0, 0)].mean(0), Some(0.5));
        assert_eq!(all.groups[&(1, 0, 0)].per_cycle(), Some(0.5));
        assert!(add(&mut all, &serde_json::json!({"kernel": "k"})).unwrap_err().contains("`point`"));
        assert!(add(&mut all, &serde_json::json!([1])).is_err());
    }

    #[test]
    fn an_axis_with_many_values_is_not_kept() {
        let mut all = Collected::default();
        all.begin("a".to_owned(), None);
        (0..200).for_each(|point| add(&mut all, &record(point, "k", point, 0.5)).unwrap());
        assert_eq!(all.by_axis, [None]);
    }

    #[test]
    fn sources_with_other_columns_are_put_together_by_name() {
        let mut all = Collected::default();
        all.begin("a".to_owned(), None);
        add(&mut all, &record(0, "k", 100, 0.5)).unwrap();
        all.begin("b".to_owned(), None);
        let other = serde_json::json!({"point": 0, "kernel": "k", "machine": "m", "policy": "gto", "block": 32,
            "iwb": 1, "iwb_overestimation": 2.0, "iwb_verdict": "holds", "gub": 1, "gub_overestimation": 1.5, "gub_verdict": "holds"});
        add(&mut all, &other).unwrap();
        assert_eq!(all.meaning.axes, ["mem_latency", "block"]);
        assert_eq!(all.meaning.bounds, ["gub", "iwb"]);
        assert_eq!((all.spreads[&(0, 0)].mean(), all.spreads[&(1, 0)].mean()), (Some(1.0), Some(2.0)));
    }
}
