//! What results show as a whole.

use serde_json::Value;

/// Errors and violated points that are named.
const NAMED: usize = 10;

/// Points that failed for one reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The error.
    pub error: String,
    /// The first of them.
    pub first: u64,
    /// How many.
    pub points: u64,
}

/// Sums over records, taken one by one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Summary {
    /// Records.
    pub points: u64,
    /// Those with an error.
    pub failed: u64,
    /// Those where a gating bound is exceeded.
    pub violated: u64,
    /// Those where one holds and none is exceeded.
    pub holds: u64,
    /// Those that ran and for which no gating bound says anything: none applies, or the verdict is undecided.
    pub not_judged: u64,
    /// The first of those that are not judged.
    pub unjudged: Vec<u64>,
    /// The errors of points that failed, each text once, in the order of the points.
    pub errors: Vec<Failure>,
    /// The first of those that are violated.
    pub violations: Vec<u64>,
    /// Each bound under each policy, as they come.
    pub bounds: Vec<BoundSummary>,
}

/// A bound under a policy, over all points to which it applies.
#[derive(Clone, Debug, PartialEq)]
pub struct BoundSummary {
    /// The bound.
    pub bound: &'static str,
    /// The policy.
    pub policy: String,
    /// Points to which it applies.
    pub points: u64,
    /// Those that exceed it.
    pub violated: u64,
    /// Sum of (bound - makespan) / makespan.
    sum: f64,
    /// The largest of them.
    pub most: f64,
}

impl BoundSummary {
    /// The mean of (bound - makespan) / makespan.
    pub fn mean(&self) -> f64 {
        if self.points == 0 { 0.0 } else { self.sum / self.points as f64 }
    }
}

impl Summary {
    /// Counts a record.
    pub fn add(&mut self, record: &Value, bounds: &[&'static str]) {
        self.points += 1;
        let point = record["point"].as_u64().unwrap_or(0);
        if let Some(error) = record["error"].as_str() {
            self.failed += 1;
            let room = self.errors.len() < NAMED;
            match self.errors.iter_mut().find(|known| known.error == error) {
                Some(known) => known.points += 1,
                None if room => {
                    self.errors.push(Failure { error: error.to_owned(), first: point, points: 1 });
                }
                None => {}
            }
        }
        match record["verdict"].as_str() {
            Some("violated") => {
                self.violated += 1;
                if self.violations.len() < NAMED {
                    self.violations.push(point);
                }
            }
            Some("holds") => self.holds += 1,
            // a point that failed is counted above
            _ if record["error"].is_string() => {}
            _ => {
                self.not_judged += 1;
                if self.unjudged.len() < NAMED {
                    self.unjudged.push(point);
                }
            }
        }
        let policy = record["policy"].as_str().unwrap_or("");
        for bound in bounds {
            let Some(over) = record[format!("{bound}_over")].as_f64() else { continue };
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
            row.violated += u64::from(record[format!("{bound}_verdict")] == "violated");
            row.sum += over;
            row.most = row.most.max(over);
        }
    }

    /// The bounds, those of one name together.
    pub fn by_bound(&self, bounds: &[&'static str]) -> Vec<&BoundSummary> {
        bounds.iter().flat_map(|name| self.bounds.iter().filter(move |row| row.bound == *name)).collect()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

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
        for record in &records {
            summary.add(record, &[]);
        }
        let Summary { points, failed, violated, holds, not_judged, .. } = summary;
        assert_eq!((points, holds, violated, failed, not_judged), (6, 1, 1, 1, 3));
        assert_eq!(points, holds + violated + failed + not_judged);
        assert_eq!(summary.unjudged, [2, 3, 5]);
    }
}
