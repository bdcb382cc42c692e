//! What `sweep` and `merge` print: how far the results are, and what they show as a whole.

use std::fmt::Write;

use serde::Serialize;

use super::output::{Output, Report};
use super::style::Style;
use super::table::Table;
use super::verdict::Status;
use super::{Fraction, count};
use crate::sweep::{Failure, Manifest, Summary};

/// A folder of results.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SweepResult {
    /// The folder.
    pub out: String,
    /// Digest of the plan and of all that it names, hexadecimal.
    pub plan_digest: String,
    /// Points of the plan.
    pub plan_points: u64,
    /// The part of them that is to be here, as in `2/4`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shard: Option<String>,
    /// How many points are to be here.
    pub wanted: u64,
    /// Points that are here.
    pub points: u64,
    /// Points with an error.
    pub failed: u64,
    /// Points where a gating bound holds and none is exceeded.
    pub holds: u64,
    /// Points where a gating bound is exceeded.
    pub violated: u64,
    /// Points that ran and for which no gating bound says anything: none applies, or the verdict is undecided.
    pub not_judged: u64,
    /// The first points where a gating bound is exceeded.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub violations: Vec<u64>,
    /// The first points that are not judged.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unjudged: Vec<u64>,
    /// The errors of points that failed, each once.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub failures: Vec<PointError>,
    /// Each bound under each policy.
    pub bounds: Vec<BoundOverPoints>,
}

/// Points that failed for one reason.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PointError {
    /// How many.
    pub points: u64,
    /// The first of them.
    pub first: u64,
    /// The error, as in the results.
    pub error: String,
}

/// A bound under a policy, over all points to which it applies.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct BoundOverPoints {
    /// The bound.
    pub bound: &'static str,
    /// The policy.
    pub policy: String,
    /// How many points.
    pub points: u64,
    /// What became of it: violated if it is at one of them.
    pub status: Status,
    /// Points that exceed it.
    pub violated: u64,
    /// Mean of (bound - makespan) / makespan.
    pub mean_overestimation: Fraction,
    /// The largest.
    pub max_overestimation: Fraction,
}

impl SweepResult {
    /// Of a folder with this manifest, over these results.
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
            let heading = ["bound", "policy", "points", "mean over", "max over", "violated"];
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
