//! A plot of any column of results against another one, chosen by a formula such as
//! `cycles ~ mem_latency | policy / kernel`.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::fmt;

use serde_json::Value;

use super::names::Names;
use crate::plot::{Across, Line, Panel, Panels};
use warpbound_bound::Standing;
use warpbound_judge::sweep::Meaning;

/// The largest number that is drawn.
const LARGEST: f64 = 1e100;
/// The most lines of a panel, panels, and values from left to right.
const MAX_LINES: usize = 12;
const MAX_PANELS: usize = 60;
const MAX_VALUES: usize = 500;

/// What is plotted against what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Formula {
    y: String,
    x: String,
    /// The column with a line for each of its values.
    lines: Option<String>,
    /// The column with a panel for each of its values.
    panels: Option<String>,
}

impl Formula {
    /// The form of a formula, for messages.
    pub const FORM: &'static str = "Y ~ X | LINES / PANELS";

    /// Returns the formula of a plot with a line for each policy.
    pub(super) fn over(y: &str, axis: &str) -> Self {
        Self { y: y.to_owned(), x: axis.to_owned(), lines: Some("policy".to_owned()), panels: None }
    }

    /// Parses `Y ~ X | LINES / PANELS`, of which the last two parts may be left out.
    ///
    /// # Errors
    /// The text has no such form.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (y, rest) = text.split_once('~').ok_or("there is no `~` between what is drawn and the axis")?;
        let (rest, panels) = match rest.split_once('/') {
            Some((rest, panels)) => (rest, Some(panels)),
            None => (rest, None),
        };
        let (x, lines) = match rest.split_once('|') {
            Some((x, lines)) => (x, Some(lines)),
            None => (rest, None),
        };
        let name = |part: &str| match part.trim() {
            "" => Err("a part of it is empty".to_owned()),
            part if part.contains(['~', '|', '/']) => Err(format!("`{part}` is no name of a column")),
            part => Ok(part.to_owned()),
        };
        Ok(Self {
            y: name(y)?,
            x: name(x)?,
            lines: lines.map(name).transpose()?,
            panels: panels.map(name).transpose()?,
        })
    }
}

impl fmt::Display for Formula {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ~ {}", self.y, self.x)?;
        self.lines.iter().try_for_each(|lines| write!(f, " | {lines}"))?;
        self.panels.iter().try_for_each(|panels| write!(f, " / {panels}"))
    }
}

/// The numbers of a panel, a line and a value from left to right.
type Place = (usize, usize, usize);

/// A point of the results.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Measured {
    /// The points with the same number differ only in the column of the lines.
    alike: u32,
    place: Place,
    y: f64,
}

/// The sum and the number of the values at each place of a line.
type Sums = BTreeMap<usize, (f64, u64)>;

/// What a formula needs of the points of results. It does not grow with their number, except for
/// slowdowns, which relate points to each other.
#[derive(Clone, Debug, PartialEq)]
pub struct PlotData {
    formula: Formula,
    /// The columns with the overestimation of a proved bound.
    proved: Vec<String>,
    /// For slowdowns: the columns that tell the points of the present source apart, and the numbers of
    /// the points that differ only in the column of the lines.
    identity: Vec<String>,
    alike: HashMap<String, u32>,
    panels: Names,
    lines: Names,
    xs: Names,
    /// The sums, by panel and line.
    sums: BTreeMap<(usize, usize), Sums>,
    /// The points, for slowdowns.
    points: Vec<Measured>,
    /// The number of records without a value.
    without: u64,
}

impl PlotData {
    /// Returns no data.
    pub fn new(formula: Formula) -> Self {
        let all = warpbound_bound::all();
        let proved = all.iter().filter(|bound| bound.standing() == Standing::Proved);
        Self {
            formula,
            proved: proved.map(|bound| format!("{}_overestimation", bound.name())).collect(),
            identity: Vec::new(),
            alike: HashMap::new(),
            panels: Names::default(),
            lines: Names::default(),
            xs: Names::default(),
            sums: BTreeMap::new(),
            points: Vec::new(),
            without: 0,
        }
    }

    /// Checks that results with these columns have all that the formula names.
    ///
    /// # Errors
    /// There is no column of a name.
    pub fn check(&self, columns: &[String]) -> Result<(), String> {
        let Formula { y, x, lines, panels } = &self.formula;
        let is_derived = DERIVED.contains(&y.as_str());
        let names = [Some(y).filter(|_| !is_derived), Some(x), lines.as_ref(), panels.as_ref()];
        match names.into_iter().flatten().find(|name| !columns.contains(name)) {
            Some(name) => Err(unknown(name, columns.iter())),
            None => Ok(()),
        }
    }

    /// Starts a source, whose records may have other columns.
    pub fn begin(&mut self) {
        self.identity.clear();
    }

    /// Adds a record of results.
    ///
    /// # Errors
    /// The record has no column of a name in the formula.
    pub fn add(&mut self, record: &Value) -> Result<(), String> {
        let Value::Object(fields) = record else { return Err("a record is an object".to_owned()) };
        let word = |name: &str| match fields.get(name) {
            None => Err(unknown(name, fields.keys())),
            Some(Value::String(text)) => Ok(Cow::from(text)),
            Some(Value::Null) => Ok(Cow::from("")),
            Some(other) => Ok(Cow::from(other.to_string())),
        };
        let y = self.formula.y.as_str();
        let number = |name: &str| fields.get(name).and_then(Value::as_f64);
        let value = match y {
            "cycles" | "slowdown" => number("makespan"),
            "ipc" => {
                number("warp_instructions").zip(number("makespan")).map(|(count, cycles)| count / cycles)
            }
            "overestimation" => self.proved.iter().filter_map(|name| number(name)).min_by(f64::total_cmp),
            name if fields.contains_key(name) => match &fields[name] {
                Value::String(text) => return Err(format!("`{name}` is no number: {text}")),
                value => value.as_f64(),
            },
            name => return Err(unknown(name, fields.keys())),
        };
        let x = word(&self.formula.x)?;
        let line = self.formula.lines.as_deref().map_or(Ok(Cow::from("")), word)?;
        let panel = self.formula.panels.as_deref().map_or(Ok(Cow::from("")), word)?;
        if let Some(large) = value.filter(|value| value.abs() > LARGEST) {
            return Err(format!("{large:e} is too large to draw"));
        }
        let Some(y) = value.filter(|value| value.is_finite()) else {
            self.without += 1;
            return Ok(());
        };
        let numbers = (self.panels.number(&panel), self.lines.number(&line), self.xs.number(&x));
        let (Some(panel), Some(line), Some(x)) = numbers else {
            // there are more values than are drawn, which is an error of the plot
            return Ok(());
        };
        let place = (panel, line, x);
        if self.formula.y != "slowdown" {
            self.put(place, y);
            return Ok(());
        }
        if self.identity.is_empty() {
            let columns: Vec<String> = fields.keys().cloned().collect();
            self.identity = Meaning::of(&columns).axes;
            self.identity.extend(["kernel", "seed", "draw", "machine", "policy"].map(str::to_owned));
        }
        let others = self.identity.iter().filter(|name| Some(*name) != self.formula.lines.as_ref());
        let words: Vec<Cow<str>> = others.map(|name| word(name).unwrap_or_default()).collect();
        let next = self.alike.len() as u32;
        let alike = *self.alike.entry(words.join("\u{1f}")).or_insert(next);
        self.points.push(Measured { alike, place, y });
        Ok(())
    }

    fn put(&mut self, (panel, line, x): Place, y: f64) {
        let (sum, count) = self.sums.entry((panel, line)).or_default().entry(x).or_default();
        (*sum, *count) = (*sum + y, *count + 1);
    }

    /// Returns the plot.
    ///
    /// # Errors
    /// No record has a value, or there are too many lines, panels or values.
    pub fn panels(mut self) -> Result<Panels, String> {
        if self.points.is_empty() && self.sums.is_empty() {
            let formula = &self.formula;
            return Err(format!("none of {} records has a value of `{}`", self.without, formula.y));
        }
        for (what, names, most) in [
            ("lines", &self.lines, MAX_LINES),
            ("panels", &self.panels, MAX_PANELS),
            ("values from left to right", &self.xs, MAX_VALUES),
        ] {
            let count = names.list().len();
            if count > most {
                return Err(format!("the plot would have {count} {what}, more than {most}"));
            }
        }
        self.relate_to_the_best();
        let xs = self.xs.list();
        let (across, places) = match as_numbers(xs) {
            Some(numbers) => (Across::Numbers, numbers),
            None => (Across::Words(xs.to_vec()), (0..xs.len()).map(|place| place as f64).collect()),
        };
        let sums = self.sums;
        let are_means = sums.values().flat_map(BTreeMap::values).any(|(_, count)| *count > 1);
        let mut panels: Vec<Panel> = self
            .panels
            .list()
            .iter()
            .map(|title| Panel { title: title.clone(), lines: Vec::new() })
            .collect();
        for ((panel, line), values) in sums {
            let at = |(x, (sum, count)): (usize, (f64, u64))| (places[x], sum / count as f64);
            let mut points: Vec<(f64, f64)> = values.into_iter().map(at).collect();
            points.sort_by(|a, b| a.0.total_cmp(&b.0));
            panels[panel].lines.push(Line { name: line, points });
        }
        let Formula { y, x, lines, panels: of_panels } = &self.formula;
        let mean = if are_means { "mean " } else { "" };
        let by: Vec<&str> = [lines, of_panels].into_iter().flatten().map(String::as_str).collect();
        let by = if by.is_empty() { String::new() } else { format!(" by {}", by.join(" and ")) };
        Ok(Panels {
            title: format!("{mean}{y} against {x}{by}"),
            x_title: with_unit(x),
            y_title: format!("{mean}{}", with_unit(y)),
            across,
            percent: y.ends_with("overestimation"),
            // nothing is faster than the fastest
            from_zero: y != "slowdown",
            names: if lines.is_some() { self.lines.list().to_vec() } else { Vec::new() },
            panels,
        })
    }

    /// Adds each point of a slowdown, divided by the smallest of those that differ only in their line.
    fn relate_to_the_best(&mut self) {
        let mut best = vec![f64::INFINITY; self.alike.len()];
        for point in &self.points {
            let least = &mut best[point.alike as usize];
            *least = least.min(point.y);
        }
        for point in std::mem::take(&mut self.points) {
            self.put(point.place, point.y / best[point.alike as usize].max(1.0));
        }
    }
}

/// Returns words as numbers, if all of them are.
fn as_numbers(words: &[String]) -> Option<Vec<f64>> {
    words.iter().map(|word| word.parse().ok().filter(|number: &f64| number.abs() <= LARGEST)).collect()
}

/// Returns the name of a column with its unit, if it is known.
fn with_unit(name: &str) -> String {
    let last = name.rsplit('.').next().unwrap_or(name);
    let is_bound = warpbound_bound::all().iter().any(|bound| bound.name() == name);
    match last {
        "ipc" => "warp instructions per cycle".to_owned(),
        "slowdown" => "slowdown (times the fastest)".to_owned(),
        "makespan" => "makespan (cycles)".to_owned(),
        "mem_latency" | "lat" | "init" | "latency" => format!("{name} (cycles)"),
        _ if last.starts_with("idle_") => format!("{name} (issue slots)"),
        _ if is_bound => format!("{name} (cycles)"),
        _ => name.to_owned(),
    }
}

/// What can be drawn besides the columns.
const DERIVED: [&str; 4] = ["cycles", "ipc", "slowdown", "overestimation"];

/// Returns the message about a name that is no column.
fn unknown<'k>(name: &str, columns: impl Iterator<Item = &'k String>) -> String {
    let mut columns: Vec<&str> = columns.map(String::as_str).collect();
    columns.extend(DERIVED);
    columns.sort_unstable();
    columns.retain(|name| *name != "checksum");
    let what = if DERIVED.contains(&name) {
        "can only be drawn, and is no column for an axis"
    } else {
        "is no column of the results"
    };
    format!("`{name}` {what}; there are: {}", columns.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data(formula: &str) -> PlotData {
        let mut data = PlotData::new(Formula::parse(formula).unwrap());
        for (kernel, lat, policy, makespan) in [
            ("a", 400, "gto", 40),
            ("a", 100, "gto", 10),
            ("a", 100, "lrr", 20),
            ("b", 100, "lrr", 60),
            ("b", 100, "gto", 60),
        ] {
            let record = serde_json::json!({"kernel": kernel, "lat": lat, "policy": policy, "makespan": makespan,
                "warp_instructions": 20, "gub_overestimation": 0.1, "iwb_overestimation": 0.5, "error": null});
            data.add(&record).unwrap();
        }
        data
    }

    #[test]
    fn lines_are_means_of_the_points_at_each_value() {
        let plot = data("cycles ~ lat | policy").panels().unwrap();
        assert_eq!(
            (plot.names.as_slice(), plot.panels.len()),
            (&["gto".to_owned(), "lrr".to_owned()][..], 1)
        );
        assert_eq!(plot.panels[0].lines[0].points, [(100.0, 35.0), (400.0, 40.0)]);
        assert_eq!(plot.panels[0].lines[1].points, [(100.0, 40.0)]);
        assert_eq!(plot.y_title, "mean cycles");
    }

    #[test]
    fn panels_words_and_derived_values() {
        let plot = data("slowdown ~ policy / kernel").panels().unwrap();
        assert_eq!(plot.across, Across::Words(vec!["gto".to_owned(), "lrr".to_owned()]));
        let plot = data("slowdown ~ lat | policy / kernel").panels().unwrap();
        assert_eq!(plot.panels[0].lines[1].points, [(100.0, 2.0)]);
        assert_eq!(plot.panels[1].lines[1].points, [(100.0, 1.0)]);
        assert_eq!(
            data("ipc ~ kernel").panels().unwrap().panels[0].lines[0].points[0],
            (0.0, (0.5 + 2.0 + 1.0) / 3.0)
        );
        // the bound of the paper is not proved
        assert_eq!(data("overestimation ~ lat").panels().unwrap().panels[0].lines[0].points[0].1, 0.5);
    }

    #[test]
    fn what_cannot_be_drawn_is_refused() {
        for (formula, message) in [("cycles", "no `~`"), ("cycles ~ ", "empty"), ("a ~ b | c | d", "no name")]
        {
            assert!(Formula::parse(formula).unwrap_err().contains(message), "{formula}");
        }
        let record = serde_json::json!({"kernel": "a", "makespan": null});
        let add = |formula: &str| PlotData::new(Formula::parse(formula).unwrap()).add(&record);
        assert!(
            add("cycles ~ lat")
                .unwrap_err()
                .contains("`lat` is no column of the results; there are: cycles, ipc, kernel")
        );
        assert!(add("kernel ~ kernel").unwrap_err().contains("no number"));
        let mut none = PlotData::new(Formula::parse("cycles ~ kernel").unwrap());
        none.add(&record).unwrap();
        assert!(none.panels().unwrap_err().contains("none of 1 records"));
        assert_eq!(Formula::parse("a~b|c/d").unwrap().to_string(), "a ~ b | c / d");
    }
}
