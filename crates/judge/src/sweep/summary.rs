//! The summary of results as a whole.

use super::row::{Field, Place, Row};

/// The largest number of errors and of violated points that are listed.
const NAMED: usize = 10;

/// The points that failed for the same reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The error.
    pub error: String,
    /// The number of the first of these points.
    pub first: u64,
    /// The number of these points.
    pub points: u64,
}

/// Sums over records, which are added one by one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Summary {
    /// The number of records.
    pub points: u64,
    /// The number of records with an error.
    pub failed: u64,
    /// The number of records in which a gating bound is exceeded.
    pub violated: u64,
    /// The number of records in which a gating bound holds and none is exceeded.
    pub holds: u64,
    /// The number of records without an error and without a verdict: no gating bound applies, or
    /// the verdict is undecided.
    pub not_judged: u64,
    /// The first points that are not judged.
    pub unjudged: Vec<u64>,
    /// The errors of points that failed, each text once, in the order of the points.
    pub errors: Vec<Failure>,
    /// The first points that are violated.
    pub violations: Vec<u64>,
    /// Each bound under each policy, in the order of occurrence.
    pub bounds: Vec<BoundSummary>,
    /// For each bound, the places of its overestimation and of its verdict.
    places: Vec<[Place; 2]>,
}

/// A bound under a policy, over all points to which it applies.
#[derive(Clone, Debug, PartialEq)]
pub struct BoundSummary {
    /// The bound.
    pub bound: &'static str,
    /// The policy.
    pub policy: String,
    /// The number of points to which it applies.
    pub points: u64,
    /// The number of points that exceed it.
    pub violated: u64,
    /// The sum of (bound - makespan) / makespan.
    sum: f64,
    /// The largest (bound - makespan) / makespan.
    pub most: f64,
}

impl BoundSummary {
    /// Returns the mean of (bound - makespan) / makespan.
    pub fn mean(&self) -> f64 {
        if self.points == 0 { 0.0 } else { self.sum / self.points as f64 }
    }
}

impl Summary {
    /// Adds a record.
    pub fn add(&mut self, record: &Row<'_>, bounds: &[&'static str]) {
        self.points += 1;
        let point = record.get("point").and_then(Field::natural).unwrap_or(0);
        let text = |name: &str| record.get(name).and_then(Field::text);
        let error = text("error");
        if let Some(error) = error {
            self.failed += 1;
            let can_add = self.errors.len() < NAMED;
            match self.errors.iter_mut().find(|known| known.error == error) {
                Some(known) => known.points += 1,
                None if can_add => {
                    self.errors.push(Failure { error: error.to_owned(), first: point, points: 1 });
                }
                None => {}
            }
        }
        match text("verdict") {
            Some("violated") => {
                self.violated += 1;
                if self.violations.len() < NAMED {
                    self.violations.push(point);
                }
            }
            Some("holds") => self.holds += 1,
            // a point that failed is already counted above
            _ if error.is_some() => {}
            _ => {
                self.not_judged += 1;
                if self.unjudged.len() < NAMED {
                    self.unjudged.push(point);
                }
            }
        }
        let policy = text("policy").unwrap_or("");
        let missing = bounds.iter().skip(self.places.len());
        self.places.extend(missing.map(|bound| Place::of_bound(bound)));
        for (bound, [over, verdict]) in bounds.iter().zip(&mut self.places) {
            let Some(over) = over.in_row(record).and_then(Field::number) else { continue };
            let known = self.bounds.iter().position(|row| row.bound == *bound && row.policy == policy);
            let index = known.unwrap_or_else(|| {
                self.bounds.push(BoundSummary {
                    bound,
                    policy: policy.to_owned(),
                    points: 0,
                    violated: 0,
                    sum: 0.0,
                    most: f64::NEG_INFINITY,
                });
                self.bounds.len() - 1
            });
            let row = &mut self.bounds[index];
            row.points += 1;
            let verdict = verdict.in_row(record).and_then(Field::text);
            row.violated += u64::from(verdict == Some("violated"));
            row.sum += over;
            row.most = row.most.max(over);
        }
    }

    /// Returns the bounds, grouped by name.
    pub fn by_bound(&self, bounds: &[&'static str]) -> Vec<&BoundSummary> {
        bounds.iter().flat_map(|name| self.bounds.iter().filter(move |row| row.bound == *name)).collect()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::row::RowReader;
    use super::*;

    #[test]
    fn every_point_is_in_exactly_one_count() {
        let mut summary = Summary::default();
        let records = [
            json!({ "point": 0, "verdict": "holds" }),
            json!({ "point": 1, "verdict": "violated" }),
            json!({ "point": 2, "verdict": "not-applicable" }),
            json!({ "point": 3, "verdict": "undecided" }),
            json!({ "point": 4, "error": "no such file" }),
            json!({ "point": 5, "verdict": null }),
        ];
        let mut reader = RowReader::default();
        for record in &records {
            summary.add(&reader.convert(record).unwrap(), &[]);
        }
        let Summary { points, failed, violated, holds, not_judged, .. } = summary;
        assert_eq!((points, holds, violated, failed, not_judged), (6, 1, 1, 1, 3));
        assert_eq!(points, holds + violated + failed + not_judged);
        assert_eq!(summary.unjudged, [2, 3, 5]);
    }
}
