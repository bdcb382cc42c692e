//! The output of `sweep` and `merge`: the progress of the results, and a summary of them.

use std::fmt::Write;

use serde::Serialize;

use super::output::{Output, Report};
use super::style::Style;
use super::table::Table;
use super::verdict::Status;
use super::{Fraction, count};
use warpbound_judge::sweep::{Failure, Manifest, Summary};

/// A folder of results.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SweepResult {
    /// The path of the folder.
    pub out: String,
    /// The digest of the plan and of all files that it names, in hexadecimal.
    pub plan_digest: String,
    /// The number of points of the plan.
    pub plan_points: u64,
    /// The shard of the plan that belongs in this folder, such as `2/4`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shard: Option<String>,
    /// The number of points that belong in this folder.
    pub wanted: u64,
    /// The number of points that are in this folder.
    pub points: u64,
    /// The number of points that failed with an error.
    pub failed: u64,
    /// The number of points at which no gating bound is exceeded and at least one holds.
    pub holds: u64,
    /// The number of points at which a gating bound is exceeded.
    pub violated: u64,
    /// The number of points that ran without a verdict, because no gating bound applies or the
    /// verdict is undecided.
    pub not_judged: u64,
    /// The first points at which a gating bound is exceeded.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub violations: Vec<u64>,
    /// The first points without a verdict.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unjudged: Vec<u64>,
    /// The distinct errors of points that failed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub failures: Vec<PointError>,
    /// Each bound under each policy.
    pub bounds: Vec<BoundOverPoints>,
}

/// Points that failed with the same error.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PointError {
    /// The number of points.
    pub points: u64,
    /// The index of the first of them.
    pub first: u64,
    /// The error, as in the results.
    pub error: String,
}

/// A bound under a policy, over all points to which it applies.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct BoundOverPoints {
    /// The name of the bound.
    pub bound: &'static str,
    /// The policy.
    pub policy: String,
    /// The number of points to which the bound applies.
    pub points: u64,
    /// The verdict: violated if the bound is exceeded at some point.
    pub status: Status,
    /// The number of points at which the bound is exceeded.
    pub violated: u64,
    /// The mean of (bound - makespan) / makespan.
    pub mean_overestimation: Fraction,
    /// The maximum of (bound - makespan) / makespan.
    pub max_overestimation: Fraction,
}

impl SweepResult {
    /// Returns the report of the folder with this manifest and these results.
    pub fn new(
        out: &str,
        manifest: &Manifest,
        wanted: u64,
        summary: &Summary,
        bounds: &[&'static str],
    ) -> Self {
        Self {
            out: out.to_owned(),
            plan_digest: manifest.plan_digest.clone(),
            plan_points: manifest.points,
            shard: manifest.shard.map(|shard| shard.to_string()),
            wanted,
            points: summary.points,
            failed: summary.failed,
            holds: summary.holds,
            violated: summary.violated,
            not_judged: summary.not_judged,
            violations: summary.violations.clone(),
            unjudged: summary.unjudged.clone(),
            failures: summary.errors.iter().map(PointError::new).collect(),
            bounds: summary
                .by_bound(bounds)
                .into_iter()
                .map(|row| BoundOverPoints {
                    bound: row.bound,
                    policy: row.policy.clone(),
                    points: row.points,
                    status: if row.violated > 0 { Status::Violated } else { Status::Holds },
                    violated: row.violated,
                    mean_overestimation: Fraction(row.mean()),
                    max_overestimation: Fraction(row.most),
                })
                .collect(),
        }
    }

    fn text(&self, style: Style) -> String {
        let mut text = String::new();
        let part = self
            .shard
            .as_ref()
            .map_or(String::new(), |shard| format!(" (shard {shard} of {})", self.plan_points));
        let heading = format!(
            "{}: {} of {} points{part}, {} hold, {} {}, {} not judged, {} failed\n",
            style.strong(&self.out),
            self.points,
            self.wanted,
            self.holds,
            self.violated,
            if self.violated > 0 { Status::Violated.text(style) } else { "violated".to_owned() },
            self.not_judged,
            self.failed,
        );
        text.push_str(&style.fill(&heading));
        if !self.bounds.is_empty() {
            let heading = ["bound", "policy", "points", "mean overestimation", "largest", "violated"];
            let mut table = Table::new(heading, &[0, 1]);
            for row in &self.bounds {
                let percent = |over: Fraction| format!("{:.1} %", over.0 * 100.0);
                table.row([
                    row.bound.to_owned(),
                    row.policy.clone(),
                    row.points.to_string(),
                    percent(row.mean_overestimation),
                    percent(row.max_overestimation),
                    row.violated.to_string(),
                ]);
            }
            text.push('\n');
            text.push_str(&table.render(2, style.width));
        }
        let named = |numbers: &[u64], all: u64| {
            let points = numbers.iter().map(u64::to_string).collect::<Vec<_>>().join(", ");
            let more = if all > numbers.len() as u64 { ", ..." } else { "" };
            points + more
        };
        if !self.violations.is_empty() {
            let points = named(&self.violations, self.violated);
            text.push_str(&style.fill(&format!("\nviolated at points {points}\n")));
        }
        if !self.unjudged.is_empty() {
            let points = named(&self.unjudged, self.not_judged);
            text.push_str(&style.fill(&format!(
                "\nno bound is judged at points {points}: `warpbound check` with the settings of such a point says why\n"
            )));
        }
        if !self.failures.is_empty() {
            text.push('\n');
            for PointError { points, first, error } in &self.failures {
                let number = count(*points as usize, "point");
                text.push_str(&style.fill(&format!("{number} failed, the first is {first}: {error}\n")));
            }
            let named: u64 = self.failures.iter().map(|failure| failure.points).sum();
            if self.failed > named {
                let more = count((self.failed - named) as usize, "more point");
                let _ = writeln!(text, "... and {more}; the column `error` has them all");
            }
        }
        let _ = writeln!(text, "\n{0}/results.csv, {0}/results.jsonl", self.out);
        text
    }
}

impl PointError {
    fn new(failure: &Failure) -> Self {
        Self { points: failure.points, first: failure.first, error: failure.error.clone() }
    }
}

impl Report for Output<SweepResult> {
    fn text(&self, style: Style) -> String {
        let mut text: String = self.results.iter().map(|result| result.text(style)).collect();
        text.push_str(&self.batch.text());
        text
    }
}
