//! A record of results, as far as a report needs it.

use std::borrow::Cow;

use warpbound_judge::sweep::{Field, Meaning, Place, Row, parts_in};

/// A point and its results.
#[derive(Clone, Debug, PartialEq)]
pub struct Read<'r> {
    pub point: u64,
    pub kernel: &'r str,
    pub machine: &'r str,
    pub policy: &'r str,
    /// The values of the axes, in their order; empty if the record has none.
    pub axes: Vec<Cow<'r, str>>,
    pub makespan: Option<u64>,
    pub warp_instructions: Option<u64>,
    pub verdict: Option<&'r str>,
    /// The overestimation of each bound, and whether it is exceeded.
    pub bounds: Vec<(Option<f64>, bool)>,
    /// The parts of the smallest proved bound, if they are known.
    pub parts: Vec<(&'r str, u64)>,
    pub error: Option<&'r str>,
}

/// The fields that a report reads of a record.
#[derive(Clone, Debug, PartialEq)]
pub struct Places {
    point: Place,
    kernel: Place,
    machine: Place,
    policy: Place,
    axes: Vec<Place>,
    makespan: Place,
    warp_instructions: Place,
    verdict: Place,
    /// The overestimation and the verdict of each bound.
    bounds: Vec<[Place; 2]>,
    parts: Place,
    error: Place,
}

impl Places {
    /// Returns the fields of records with these axes and bounds.
    pub fn of(meaning: &Meaning) -> Self {
        Self {
            point: Place::of("point"),
            kernel: Place::of("kernel"),
            machine: Place::of("machine"),
            policy: Place::of("policy"),
            axes: meaning.axes.iter().map(|axis| Place::of(axis)).collect(),
            makespan: Place::of("makespan"),
            warp_instructions: Place::of("warp_instructions"),
            verdict: Place::of("verdict"),
            bounds: meaning.bounds.iter().map(|bound| Place::of_bound(bound)).collect(),
            parts: Place::of("parts"),
            error: Place::of("error"),
        }
    }

    /// Reads a record.
    ///
    /// # Errors
    /// If the record lacks a required field.
    pub fn read<'r>(&mut self, row: &'r Row<'_>) -> Result<Read<'r>, String> {
        let natural = |place: &mut Place| place.in_row(row).and_then(Field::natural);
        let word = |place: &mut Place| place.in_row(row).and_then(Field::text);
        let required = |place: &mut Place| {
            let found = place.in_row(row).and_then(Field::text);
            found.ok_or_else(|| format!("`{}` is not there, or is no text", place.name()))
        };
        let of_bound = |[over, verdict]: &mut [Place; 2]| {
            (over.in_row(row).and_then(Field::number), word(verdict) == Some("violated"))
        };
        let axes = self.axes.iter_mut().map(|axis| axis.in_row(row).map_or(Cow::default(), Field::written));
        Ok(Read {
            point: natural(&mut self.point).ok_or("`point` is not there, or is no number")?,
            kernel: required(&mut self.kernel)?,
            machine: required(&mut self.machine)?,
            policy: required(&mut self.policy)?,
            axes: axes.collect(),
            makespan: natural(&mut self.makespan),
            warp_instructions: natural(&mut self.warp_instructions),
            verdict: word(&mut self.verdict),
            bounds: self.bounds.iter_mut().map(of_bound).collect(),
            parts: word(&mut self.parts).map_or_else(Vec::new, parts_in),
            error: word(&mut self.error),
        })
    }
}

impl Read<'_> {
    pub fn is_violated(&self) -> bool {
        self.verdict == Some("violated")
    }

    /// Returns the smallest overestimation and its bound.
    pub fn least(&self) -> Option<(usize, f64)> {
        let known = self.bounds.iter().enumerate().filter_map(|(bound, (over, _))| Some((bound, (*over)?)));
        known.min_by(|a, b| a.1.total_cmp(&b.1))
    }
}
