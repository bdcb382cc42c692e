//! The judgement of a pWCET curve against further runs and against other methods.

use serde::Serialize;

use super::{PwcetResult, number, probability, time};
use crate::style::Style;
use crate::table::Table;
use crate::wcet::{About, AllPathsValue, Explored};
use crate::{Fraction, count};
use warpbound_pwcet::curve::Pwcet;
use warpbound_pwcet::exceeded::{Exceeded, Longer};

/// The columns of the table of further runs.
pub(super) const EXCEEDED: [&str; 8] =
    ["exceeded with", "expected", "time", "longer", "", "upper limit", "longer", ""];

/// Counts over the further runs.
#[derive(Clone, Debug, Default)]
pub struct Further {
    /// The number of the first run.
    pub from: u64,
    /// The number of runs.
    pub runs: u64,
    /// The longest time, and the first run that took it.
    pub longest: Option<(u64, u64)>,
    /// For each time of the curve, the number of runs that took longer, and the number of runs that
    /// exceed the upper limit of its confidence interval.
    pub above: Vec<[u64; 2]>,
    /// For each bound on the paths of these runs: its name, whether it is proved, and its largest
    /// value, or `None` if a run has none.
    pub bounds: Vec<(&'static str, bool, Option<u64>)>,
}

/// The comparison of the curve with further runs, which may exceed it, and with other methods.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Judged {
    /// The number of the first of the further runs.
    pub from: u64,
    /// The number of further runs.
    pub runs: u64,
    /// The longest of the further runs.
    pub longest: u64,
    /// The number of the longest run.
    pub longest_run: u64,
    /// How many runs exceeded each time of the curve.
    pub exceeded: Vec<Exceeded>,
    /// The pWCET at the exceedance probability 1e-9.
    pub at_1e_9: f64,
    /// Whether this pWCET is less than the time of a run.
    pub below_run: bool,
    /// Whether this pWCET is less than the worst schedule of the paths of a run.
    pub below_schedule: bool,
    /// The other methods.
    pub others: Vec<Other>,
}

/// Another method.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Other {
    /// The name: `explored`, the name of a bound on the paths of the further runs, or `static`.
    pub name: &'static str,
    /// What the value holds for.
    pub about: About,
    /// The only policy that the value holds for, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub policy: Option<String>,
    /// The value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<u64>,
    /// (pWCET at 1e-9 - value) / value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pwcet_overestimation: Option<Fraction>,
    /// Why there is no value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

impl Judged {
    /// Returns the judgement of a curve.
    pub fn new(pwcet: &Pwcet, further: &Further, explored: &Explored, found: &AllPathsValue) -> Self {
        let at_1e_9 = pwcet.accuracy.time;
        let (longest, longest_run) = further.longest.unwrap_or((0, further.from));
        let exceeded = pwcet.points.iter().zip(&further.above).map(|(point, &[above, above_limit])| {
            let longer = |time, above| Longer::new(point.probability, time, further.runs, above);
            Exceeded {
                probability: point.probability,
                by_curve: longer(point.time, above),
                by_upper_limit: point.upper_limit().map(|limit| longer(limit, above_limit)),
            }
        });
        let other = |name, about, value: Result<u64, String>| Other {
            name,
            about,
            policy: None,
            value: value.as_ref().ok().copied(),
            pwcet_overestimation: value
                .as_ref()
                .ok()
                .filter(|value| **value > 0)
                .map(|value| Fraction((at_1e_9 - *value as f64) / *value as f64)),
            note: value.err(),
        };
        let worst = match explored {
            Explored::Worst(cycles, _) => Ok(cycles.cycles().get()),
            Explored::Missing(why) => Err(why.clone()),
        };
        let below = |cycles: u64| at_1e_9 < cycles as f64;
        let mut others = vec![other("explored", About::Paths, worst.clone())];
        for (name, proved, value) in &further.bounds {
            let (about, policy) = About::of_bound(name, *proved);
            if let Some(value) = value {
                others.push(Other { policy, ..other(name, about, Ok(*value)) });
            }
        }
        let all = match found {
            AllPathsValue::Bound(value) => Ok(value.cycles().get()),
            AllPathsValue::Missing(why) => Err(why.clone()),
        };
        others.push(other("static", About::All, all));
        Self {
            from: further.from,
            runs: further.runs,
            longest,
            longest_run,
            exceeded: exceeded.collect(),
            at_1e_9,
            below_run: below(longest),
            below_schedule: worst.is_ok_and(below),
            others,
        }
    }

    /// Returns whether some time of the curve is too small.
    pub fn is_contradicted(&self) -> bool {
        self.below_run || self.below_schedule || self.exceeded.iter().any(|at| at.by_curve.contradicted)
    }
}

impl PwcetResult {
    /// Returns the judgement in one line.
    pub(super) fn verdict(&self, judged: &Judged) -> String {
        let accepted = self.analysis.decision.reliable;
        let although = if accepted { ", although the tests accept" } else { ", and the tests do not accept" };
        // the time is not rounded: a run of 2923 cycles takes longer than 2922.6
        let time = match judged.at_1e_9 {
            value if value < 1e15 => format!("{value:.1}"),
            value => number(value),
        };
        if judged.below_run {
            format!("The pWCET at 1e-9, {time}, lies below a run{although}")
        } else if judged.below_schedule {
            format!("The pWCET at 1e-9, {time}, lies below a schedule of the same runs{although}")
        } else if judged.is_contradicted() {
            format!("More runs took longer than the curve allows{although}")
        } else {
            format!("No run contradicts the curve; its time at 1e-9 is {time}")
        }
    }

    /// Returns the rows of the table of further runs.
    pub(super) fn exceeded_rows(&self, judged: &Judged) -> Vec<[String; 8]> {
        let resolution = self.analysis.sample.ties.resolution;
        // rows without expected or actual exceedances would add nothing
        let shown = judged.exceeded.iter().filter(|at| at.by_curve.expected >= 1e-4 || at.by_curve.runs > 0);
        let verdict_of = |of: &Longer| match of.contradicted {
            true => format!("TOO MANY (p {})", number(of.p_value)),
            false => String::new(),
        };
        let row = |at: &Exceeded| {
            let limit = at.by_upper_limit.as_ref();
            [
                probability(at.probability.get()),
                number(at.by_curve.expected),
                time(at.by_curve.time, resolution),
                at.by_curve.runs.to_string(),
                verdict_of(&at.by_curve),
                limit.map_or_else(|| "-".to_owned(), |limit| time(limit.time, resolution)),
                limit.map_or_else(String::new, |limit| limit.runs.to_string()),
                limit.map_or_else(String::new, verdict_of),
            ]
        };
        shown.map(row).collect()
    }

    pub(super) fn other_rows(&self, judged: &Judged) -> Vec<[String; 4]> {
        let row = |other: &Other| {
            [
                other.name.to_owned(),
                other.value.map_or_else(|| "-".to_owned(), |value| value.to_string()),
                other
                    .pwcet_overestimation
                    .map_or_else(|| "-".to_owned(), |over| format!("{:+.1} %", over.0 * 100.0)),
                other.note.clone().unwrap_or_else(|| other.about.text_for(other.policy.as_deref())),
            ]
        };
        judged.others.iter().map(row).collect()
    }

    pub(super) fn judged_text(&self, judged: &Judged, style: Style) -> String {
        let mut text = format!(
            "\n  Judged by {} from number {} on: the longest took {} (number {})\n",
            count(usize::try_from(judged.runs).unwrap_or(usize::MAX), "further run"),
            judged.from,
            judged.longest,
            judged.longest_run
        );
        let mut table = Table::new(EXCEEDED, &[0, 4, 7]);
        self.exceeded_rows(judged).into_iter().for_each(|row| table.row(row));
        text.push_str(&table.render(2, style.width));
        let mut table = Table::new(["method", &self.unit, "pWCET over it", "holds for"], &[0, 3]);
        self.other_rows(judged).into_iter().for_each(|row| table.row(row));
        text.push_str(&table.render(2, style.width));
        let verdict = self.verdict(judged);
        let verdict = if judged.is_contradicted() { style.paint("33", &verdict) } else { verdict };
        text.push_str(&style.fill(&format!("  {verdict}\n")));
        text
    }
}
