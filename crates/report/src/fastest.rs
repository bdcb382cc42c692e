//! The report of `compare --over`: which policy is the fastest at each value of a setting, and why.

use std::fmt::Write;

use serde::Serialize;

use super::cause::Cause;
use super::compare::Makespan;
use super::output::{Origin, Output, Report};
use super::style::Style;
use super::table::Table;
use super::{Fraction, count, grouped};

/// A kernel under several policies, for several values of a setting.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct FastestResult {
    /// The name of the kernel or program.
    pub kernel: String,
    /// The machine without the setting.
    #[serde(flatten)]
    pub origin: Origin,
    /// The setting, as `--over` names it.
    pub setting: String,
    /// The makespans at each value, in the order of the values.
    pub points: Vec<PointOfSetting>,
    /// The ranges of consecutive values with the same fastest policies.
    pub ranges: Vec<Range>,
}

/// The makespans at a value of the setting.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PointOfSetting {
    /// The value.
    pub value: String,
    /// The makespan under each policy, in cycles.
    pub makespans: Vec<Makespan>,
    /// The policies with the smallest makespan.
    pub fastest: Vec<String>,
}

/// Consecutive values of the setting with the same fastest policies.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Range {
    /// The first value.
    pub first: String,
    /// The last value.
    pub last: String,
    /// The number of values.
    pub values: usize,
    /// The policies with the smallest makespan.
    pub fastest: Vec<String>,
    /// Where the fastest policy leads most; absent if all policies take the same time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lead: Option<Lead>,
}

/// The lead of the fastest policy over the next one.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Lead {
    /// The value of the setting.
    pub value: String,
    /// The policy that is next.
    pub next: String,
    /// Its makespan minus the smallest one, in cycles.
    pub cycles: u64,
    /// This difference over the smallest makespan.
    pub share: Fraction,
    /// The largest causes of the difference; empty for a program, whose runs have no single critical
    /// path.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub causes: Vec<Cause>,
    /// The cycles that the slower policy spends less elsewhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spent_less: Option<u64>,
    /// The command that states them in full.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
}

impl PointOfSetting {
    /// Returns the point with these makespans.
    pub fn new(value: String, makespans: Vec<Makespan>) -> Self {
        let smallest = makespans.iter().map(|one| one.makespan).min();
        let is_fastest = |one: &&Makespan| Some(one.makespan) == smallest;
        let fastest = makespans.iter().filter(is_fastest).map(|one| one.policy.clone()).collect();
        Self { value, makespans, fastest }
    }

    /// Returns how far the fastest policy is ahead of the next one that takes longer.
    fn lead(&self) -> Option<Lead> {
        let smallest = self.makespans.iter().map(|one| one.makespan).min()?;
        let slower = self.makespans.iter().filter(|one| one.makespan > smallest);
        let next = slower.min_by_key(|one| one.makespan)?;
        let cycles = next.makespan - smallest;
        Some(Lead {
            value: self.value.clone(),
            next: next.policy.clone(),
            cycles,
            share: Fraction(cycles as f64 / smallest.max(1) as f64),
            causes: Vec::new(),
            spent_less: None,
            command: None,
        })
    }
}

impl FastestResult {
    /// Returns the report of a kernel with these points, without causes.
    pub fn new(kernel: String, origin: Origin, setting: String, points: Vec<PointOfSetting>) -> Self {
        let range = |points: &[PointOfSetting]| {
            let leads = points.iter().filter_map(PointOfSetting::lead);
            // the first of several that are equal
            let lead = leads.reduce(|most, next| if next.share > most.share { next } else { most });
            Range {
                first: points[0].value.clone(),
                last: points[points.len() - 1].value.clone(),
                values: points.len(),
                fastest: points[0].fastest.clone(),
                lead,
            }
        };
        let ranges = points.chunk_by(|a, b| a.fastest == b.fastest).map(range).collect();
        Self { kernel, origin, setting, points, ranges }
    }

    fn text(&self, style: Style) -> String {
        let points = count(self.points.len(), "value");
        let mut text = style.fill(&format!(
            "{} on {}: the fastest policy for {points} of {}\n",
            self.kernel, self.origin.machine, self.setting
        ));
        for range in &self.ranges {
            text.push_str(&style.fill(&format!("  {}\n", range.text(&self.setting, self.points.len()))));
        }
        text.push('\n');
        text.push_str(&self.table().render(2, style.width));
        for (range, lead) in self.ranges.iter().filter_map(|range| Some((range, range.lead.as_ref()?))) {
            text.push_str(&lead.text(&range.fastest, &self.setting, style));
        }
        text
    }

    fn table(&self) -> Table {
        let policies = self.points.first().map_or(&[][..], |point| &point.makespans);
        let mut heading = vec![self.setting.as_str()];
        heading.extend(policies.iter().map(|one| one.policy.as_str()));
        let words = heading.len();
        heading.push("fastest");
        let mut table = Table::new(heading, &[0, words]);
        for point in &self.points {
            let makespans = point.makespans.iter().map(|one| one.makespan.to_string());
            let cells = std::iter::once(point.value.clone()).chain(makespans);
            table.row(cells.chain([point.fastest.join(" ")]));
        }
        table
    }
}

impl Range {
    fn text(&self, setting: &str, of: usize) -> String {
        let range = match (self.values, self.values == of) {
            (1, false) => format!("at {setting} {}", self.first),
            (_, false) => format!("from {setting} {} to {}", self.first, self.last),
            (_, true) => "at every value".to_owned(),
        };
        match (&self.lead, self.fastest.as_slice()) {
            (None, _) => format!("{range}, all policies take the same time"),
            (Some(_), [one]) => format!("{range}, {one} is the fastest"),
            (Some(_), several) => format!("{range}, {} are equally fast", several.join(" and ")),
        }
    }
}

impl Lead {
    fn text(&self, fastest: &[String], setting: &str, style: Style) -> String {
        let mut text = String::from("\n");
        let sentence = format!(
            "At {setting} {} {} takes {} cycles ({:.1} %) more than {}",
            self.value,
            self.next,
            grouped(self.cycles),
            self.share.0 * 100.0,
            fastest.join(" and ")
        );
        let end = if self.causes.is_empty() { "." } else { "; the largest causes:" };
        text.push_str(&style.fill(&format!("{sentence}{end}\n")));
        for (number, cause) in self.causes.iter().enumerate() {
            text.push_str(&style.fill(&format!("  {}.  {}\n", number + 1, cause.text())));
        }
        if let Some(less) = self.spent_less.filter(|less| *less > 0) {
            let line = format!("  elsewhere {} spends {} cycles less\n", self.next, grouped(less));
            text.push_str(&style.fill(&line));
        }
        if let Some(command) = &self.command {
            // a command is not wrapped, so that it can be copied
            let _ = writeln!(text, "  {command}");
        }
        text
    }
}

impl Report for Output<FastestResult> {
    fn text(&self, style: Style) -> String {
        let texts: Vec<String> = self.results.iter().map(|result| result.text(style)).collect();
        texts.join("\n") + &self.batch.text()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(value: &str, gto: u64, lrr: u64) -> PointOfSetting {
        let of = |policy: &str, makespan| Makespan { policy: policy.to_owned(), makespan };
        PointOfSetting::new(value.to_owned(), vec![of("gto", gto), of("lrr", lrr)])
    }

    #[test]
    fn consecutive_values_with_the_same_winner_are_one_range() {
        let origin = Origin { machine: "m".to_owned(), machine_digest: "0".to_owned(), clock_khz: None };
        let points = vec![
            point("1", 100, 110),
            point("2", 100, 150),
            point("3", 90, 90),
            point("4", 120, 100),
            point("5", 100, 101),
        ];
        let result = FastestResult::new("k".to_owned(), origin, "x".to_owned(), points);
        let ranges: Vec<(&str, &str, Vec<String>)> = result
            .ranges
            .iter()
            .map(|range| (range.first.as_str(), range.last.as_str(), range.fastest.clone()))
            .collect();
        let names = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>();
        let expected = [
            ("1", "2", names(&["gto"])),
            ("3", "3", names(&["gto", "lrr"])),
            ("4", "4", names(&["lrr"])),
            ("5", "5", names(&["gto"])),
        ];
        assert_eq!(ranges, expected);
        let lead = result.ranges[0].lead.as_ref().unwrap();
        assert_eq!((lead.value.as_str(), lead.cycles, lead.share), ("2", 50, Fraction(0.5)));
        assert_eq!(result.ranges[1].lead, None);
        let text = result.text(Style::default());
        assert!(text.contains("from x 1 to 2, gto is the fastest\n"), "{text}");
        assert!(text.contains("at x 3, all policies take the same time\n"), "{text}");
    }
}
