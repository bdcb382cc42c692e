//! What a formula draws of the points of results.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

use super::formula::{Formula, Summary, Term};
use super::names::Names;
use super::units::with_unit;
use super::values::{Values, shown};
use crate::count;
use crate::plot::{Across, Line, Panel, Panels, Scale};
use warpbound_bound::Standing;
use warpbound_core::base::ask_memory;
use warpbound_judge::sweep::{Field, Meaning, Place, Row};

/// The largest number that is drawn.
const LARGEST: f64 = 1e100;
/// The most lines of a panel, panels, and values from left to right.
const MAX_LINES: usize = 12;
const MAX_PANELS: usize = 60;
const MAX_VALUES: usize = 500;
/// The most boxes of a panel.
const MAX_BOXES: usize = 60;
/// The number of values after which the memory is checked again.
const ASKED: u64 = 1 << 16;
/// What can be drawn besides the columns.
const DERIVED: [&str; 4] = ["cycles", "ipc", "slowdown", "overestimation"];

/// The numbers of a panel, a line and a value from left to right.
type At = (usize, usize, usize);

/// A point of the results.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Measured {
    /// The points with the same number differ only in the column of the lines.
    alike: u32,
    at: At,
    y: f64,
}

/// What a formula needs of the points of results. It does not grow with their number, except for
/// spreads and for slowdowns, which relate points to each other.
#[derive(Clone, Debug, PartialEq)]
pub struct PlotData {
    formula: Formula,
    /// The fields of the formula, those that its value is derived from, and the overestimations of
    /// proved bounds.
    y: Place,
    x: Option<Place>,
    line: Option<Place>,
    panel: Option<Place>,
    makespan: Place,
    warp_instructions: Place,
    proved: Vec<Place>,
    /// For slowdowns: the columns that tell the points of the present source apart, the numbers of
    /// their words, and the numbers of the points that differ only in the column of the lines.
    identity: Vec<Place>,
    words: HashMap<String, u32>,
    alike: HashMap<Box<[u32]>, u32>,
    panels: Names,
    lines: Names,
    xs: Names,
    /// The values, by panel and line, and by their place from left to right.
    values: BTreeMap<(usize, usize), BTreeMap<usize, Values>>,
    /// The points, for slowdowns.
    points: Vec<Measured>,
    /// The number of values that are kept.
    kept: u64,
    /// The number of records without a value, and of those whose value has no place on a
    /// logarithmic axis.
    without: u64,
    not_positive: u64,
    /// Notes below the plot.
    notes: Vec<String>,
}

impl PlotData {
    /// Returns no data.
    pub fn new(formula: Formula) -> Self {
        let all = warpbound_bound::all();
        let proved = all.iter().filter(|bound| bound.standing() == Standing::Proved);
        let place = |name: &String| Place::of(name);
        Self {
            y: Place::of(&formula.y.name),
            x: formula.x.as_ref().map(|x| Place::of(&x.name)),
            line: formula.lines.as_ref().map(place),
            panel: formula.panels.as_ref().map(place),
            makespan: Place::of("makespan"),
            warp_instructions: Place::of("warp_instructions"),
            proved: proved.map(|bound| Place::of(&format!("{}_overestimation", bound.name()))).collect(),
            formula,
            identity: Vec::new(),
            words: HashMap::new(),
            alike: HashMap::new(),
            panels: Names::default(),
            lines: Names::default(),
            xs: Names::default(),
            values: BTreeMap::new(),
            points: Vec::new(),
            kept: 0,
            without: 0,
            not_positive: 0,
            notes: Vec::new(),
        }
    }

    /// Checks that results with these columns have all that the formula names.
    ///
    /// # Errors
    /// There is no column of a name.
    pub fn check(&self, columns: &[String]) -> Result<(), String> {
        let Formula { y, x, lines, panels, .. } = &self.formula;
        let y = Some(&y.name).filter(|name| !DERIVED.contains(&name.as_str()));
        let names = [y, x.as_ref().map(|x| &x.name), lines.as_ref(), panels.as_ref()];
        match names.into_iter().flatten().find(|name| !columns.contains(name)) {
            Some(name) => Err(unknown(name, columns.iter())),
            None => Ok(()),
        }
    }

    /// Starts a source, whose records may have other columns.
    pub fn begin(&mut self) {
        self.identity.clear();
    }

    /// Adds a note below the plot.
    pub fn note(&mut self, note: String) {
        self.notes.push(note);
    }

    /// Adds a record of results.
    ///
    /// # Errors
    /// The record has no column of a name in the formula.
    pub fn add(&mut self, record: &Row<'_>) -> Result<(), String> {
        let value = self.value(record)?;
        let x = self.x.as_mut().map_or(Ok(Cow::from("")), |place| word(place, record))?;
        let line = self.line.as_mut().map_or(Ok(Cow::from("")), |place| word(place, record))?;
        let panel = self.panel.as_mut().map_or(Ok(Cow::from("")), |place| word(place, record))?;
        if let Some(large) = value.filter(|value| value.abs() > LARGEST) {
            return Err(format!("{large:e} is too large to draw"));
        }
        let Some(y) = value.filter(|value| value.is_finite()) else {
            self.without += 1;
            return Ok(());
        };
        if self.formula.y.is_log && y <= 0.0 {
            self.not_positive += 1;
            return Ok(());
        }
        let numbers = (self.panels.number(&panel), self.lines.number(&line), self.xs.number(&x));
        let (Some(panel), Some(line), Some(x)) = numbers else {
            // there are more values than are drawn, which is an error of the plot
            return Ok(());
        };
        let at = (panel, line, x);
        if self.formula.summary != Summary::Mean || self.formula.y.name == "slowdown" {
            self.ask_memory()?;
        }
        if self.formula.y.name != "slowdown" {
            self.put(at, y);
            return Ok(());
        }
        let alike = self.number_of_alike(record);
        self.points.push(Measured { alike, at, y });
        Ok(())
    }

    /// Returns what is drawn of a record.
    fn value(&mut self, record: &Row<'_>) -> Result<Option<f64>, String> {
        let number = |place: &mut Place| place.in_row(record).and_then(Field::number);
        Ok(match self.formula.y.name.as_str() {
            "cycles" | "slowdown" => number(&mut self.makespan),
            "ipc" => {
                let both = number(&mut self.warp_instructions).zip(number(&mut self.makespan));
                both.map(|(count, cycles)| count / cycles)
            }
            "overestimation" => self.proved.iter_mut().filter_map(number).min_by(f64::total_cmp),
            name => match self.y.in_row(record) {
                None => return Err(unknown(name, record.names())),
                Some(Field::Text(text)) => return Err(format!("`{name}` is no number: {text}")),
                Some(value) => value.number(),
            },
        })
    }

    /// Returns the number of the points that differ from this one only in the column of the lines.
    fn number_of_alike(&mut self, record: &Row<'_>) -> u32 {
        if self.identity.is_empty() {
            let columns: Vec<String> = record.names().cloned().collect();
            let mut names = Meaning::of(&columns).axes;
            names.extend(["kernel", "seed", "draw", "machine", "policy"].map(str::to_owned));
            // kernels are not compared with each other
            let lines = self.formula.lines.as_deref().filter(|name| *name != "kernel");
            names.retain(|name| name != lines.unwrap_or("policy"));
            self.identity = names.iter().map(|name| Place::of(name)).collect();
        }
        let mut key = Vec::with_capacity(self.identity.len());
        for place in &mut self.identity {
            let word = place.in_row(record).map_or(Cow::default(), Field::written);
            let next = self.words.len() as u32;
            let number = self.words.get(&*word).copied();
            key.push(number.unwrap_or_else(|| *self.words.entry(word.into_owned()).or_insert(next)));
        }
        let next = self.alike.len() as u32;
        *self.alike.entry(key.into_boxed_slice()).or_insert(next)
    }

    /// Checks that there is memory for another value, now and then.
    fn ask_memory(&mut self) -> Result<(), String> {
        self.kept += 1;
        if !self.kept.is_multiple_of(ASKED) {
            return Ok(());
        }
        // a growing vector exists twice while it is copied
        let of_alike = size_of::<(Box<[u32]>, u32)>() + 4 * self.identity.len() + 16;
        let bytes = 2 * self.kept * size_of::<Measured>() as u64 + (self.alike.len() * of_alike) as u64;
        ask_memory(bytes).map_err(|too_much| format!("the plot of {} points {too_much}", self.kept))
    }

    fn put(&mut self, (panel, line, x): At, y: f64) {
        let empty = || match self.formula.summary {
            Summary::Mean => Values::Sum(0.0, 0),
            Summary::Box | Summary::Ecdf => Values::All(Vec::new()),
        };
        match self.values.entry((panel, line)).or_default().entry(x).or_insert_with(empty) {
            Values::Sum(sum, count) => (*sum, *count) = (*sum + y, *count + 1),
            Values::All(all) => all.push(y),
        }
    }

    /// Returns the plot.
    ///
    /// # Errors
    /// No record has a value, or there are too many lines, panels or values.
    pub fn panels(mut self) -> Result<Panels, String> {
        if self.points.is_empty() && self.values.is_empty() {
            let Formula { y, .. } = &self.formula;
            if self.not_positive > 0 {
                return Err(format!(
                    "no value of `{}` is positive, so that none has a place on a logarithmic axis",
                    y.name
                ));
            }
            return Err(format!("none of {} records has a value of `{}`", self.without, y.name));
        }
        self.is_few_enough()?;
        self.relate_to_the_best();
        let (across, places) = self.across();
        let are_means = self
            .values
            .values()
            .flat_map(BTreeMap::values)
            .any(|values| matches!(values, Values::Sum(_, 2..)));
        let titles = self.panels.list().iter();
        let mut panels: Vec<Panel> =
            titles.map(|title| Panel { title: title.clone(), lines: Vec::new() }).collect();
        for ((panel, name), values) in std::mem::take(&mut self.values) {
            let placed = values.into_iter().filter_map(|(x, values)| Some((places[x]?, values)));
            let mut placed: Vec<(f64, Values)> = placed.collect();
            placed.sort_by(|a, b| a.0.total_cmp(&b.0));
            if !placed.is_empty() {
                panels[panel].lines.push(Line { name, shown: shown(self.formula.summary, placed) });
            }
        }
        if panels.iter().all(|panel| panel.lines.is_empty()) {
            return Err("no value of the axis is positive, so that none has a place on it".to_owned());
        }
        let notes = self.all_notes(&places);
        let Formula { summary, y, x, lines, .. } = &self.formula;
        let is_share = y.name.ends_with("overestimation");
        let (title, x_title, y_title) = self.titles(are_means);
        let scale = |term: &Term| if term.is_log { Scale::Log } else { Scale::Linear };
        let y_scale = match (summary, y.is_log) {
            (Summary::Ecdf, _) => Scale::FromZero,
            (_, true) => Scale::Log,
            // nothing is faster than the fastest, and the spread is what boxes show
            (Summary::Box, false) => Scale::Linear,
            (Summary::Mean, false) if y.name == "slowdown" => Scale::Linear,
            (Summary::Mean, false) => Scale::FromZero,
        };
        let across = match (summary, across) {
            (Summary::Ecdf, _) => Across::Numbers(scale(y)),
            (_, Across::Numbers(_)) => Across::Numbers(x.as_ref().map_or(Scale::Linear, scale)),
            (_, words) => words,
        };
        Ok(Panels {
            title,
            x_title,
            y_title,
            across,
            y_scale,
            percent: if *summary == Summary::Ecdf { (is_share, true) } else { (false, is_share) },
            names: if lines.is_some() { self.lines.list().to_vec() } else { Vec::new() },
            panels,
            notes,
        })
    }

    fn is_few_enough(&self) -> Result<(), String> {
        let boxes = self.formula.summary == Summary::Box;
        for (what, names, most) in [
            ("lines", &self.lines, MAX_LINES),
            ("panels", &self.panels, MAX_PANELS),
            ("values from left to right", &self.xs, if boxes { MAX_BOXES } else { MAX_VALUES }),
        ] {
            let count = names.list().len();
            if count > most {
                return Err(format!("the plot would have {count} {what}, more than {most}"));
            }
        }
        Ok(())
    }

    /// Returns the axis from left to right, and the place of each of its values.
    fn across(&mut self) -> (Across, Vec<Option<f64>>) {
        let xs = self.xs.list();
        let is_log = self.formula.x.as_ref().is_some_and(|x| x.is_log);
        match as_numbers(xs) {
            // boxes stand side by side, in the order of their numbers
            Some(numbers) if self.formula.summary == Summary::Box => {
                let mut order: Vec<usize> = (0..xs.len()).collect();
                order.sort_by(|a, b| numbers[*a].total_cmp(&numbers[*b]));
                let mut places = vec![None; xs.len()];
                order.iter().enumerate().for_each(|(place, x)| places[*x] = Some(place as f64));
                (Across::Words(order.iter().map(|x| xs[*x].clone()).collect()), places)
            }
            Some(numbers) => {
                let place = |number: f64| Some(number).filter(|number| !is_log || *number > 0.0);
                (Across::Numbers(Scale::Linear), numbers.into_iter().map(place).collect())
            }
            None => {
                let places = (0..xs.len()).map(|place| Some(place as f64)).collect();
                (Across::Words(xs.to_vec()), places)
            }
        }
    }

    /// Returns the titles of the plot and of its axes.
    fn titles(&self, are_means: bool) -> (String, String, String) {
        let Formula { summary, y, x, lines, panels } = &self.formula;
        let called = if y.name == "ipc" { "IPC" } else { &y.name };
        let y = y.name.as_str();
        let by: Vec<&str> = [lines, panels].into_iter().flatten().map(String::as_str).collect();
        let by = if by.is_empty() { String::new() } else { format!(" by {}", by.join(" and ")) };
        let against = x.as_ref().map_or_else(String::new, |x| format!(" against {}", x.name));
        let x_title = x.as_ref().map_or_else(String::new, |x| with_unit(&x.name));
        match summary {
            Summary::Ecdf => (
                format!("cumulative distribution of {called}{by}"),
                with_unit(y),
                "share of points".to_owned(),
            ),
            Summary::Box => (format!("spread of {called}{against}{by}"), x_title, with_unit(y)),
            Summary::Mean => {
                let mean = if are_means { "mean " } else { "" };
                (format!("{mean}{called}{against}{by}"), x_title, format!("{mean}{}", with_unit(y)))
            }
        }
    }

    /// Returns the notes below the plot.
    fn all_notes(&self, places: &[Option<f64>]) -> Vec<String> {
        let mut notes = self.notes.clone();
        let points = |number: u64| count(usize::try_from(number).unwrap_or(usize::MAX), "point");
        if self.formula.summary == Summary::Box {
            notes.push("A box ends at the quartiles, its line is the median, the diamond is the mean; the whiskers end at the minimum and the maximum.".to_owned());
        }
        if self.without > 0 {
            notes.push(format!(
                "{} without a value of {} left out.",
                points(self.without),
                self.formula.y.name
            ));
        }
        if self.not_positive > 0 {
            let values = points(self.not_positive);
            notes.push(format!("{values} whose value is not positive left out."));
        }
        let unplaced = places.iter().filter(|place| place.is_none()).count();
        if unplaced > 0 {
            let what = self.formula.x.as_ref().map_or("", |x| x.name.as_str());
            notes.push(format!("{} of {what} not positive and left out.", count(unplaced, "value")));
        }
        notes
    }

    /// Adds each point of a slowdown, divided by the smallest of those that differ only in their
    /// line.
    fn relate_to_the_best(&mut self) {
        let mut best = vec![f64::INFINITY; self.alike.len()];
        for point in &self.points {
            let least = &mut best[point.alike as usize];
            *least = least.min(point.y);
        }
        for point in std::mem::take(&mut self.points) {
            self.put(point.at, point.y / best[point.alike as usize].max(1.0));
        }
    }
}

/// Returns a field as a word.
fn word<'r>(place: &mut Place, record: &'r Row<'_>) -> Result<Cow<'r, str>, String> {
    match place.in_row(record) {
        Some(field) => Ok(field.written()),
        None => Err(unknown(place.name(), record.names())),
    }
}

/// Returns words as numbers, if all of them are.
fn as_numbers(words: &[String]) -> Option<Vec<f64>> {
    words.iter().map(|word| word.parse().ok().filter(|number: &f64| number.abs() <= LARGEST)).collect()
}

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
    use serde_json::{Value, json};

    use super::*;
    use crate::plot::Shown;
    use warpbound_judge::sweep::RowReader;

    fn add(data: &mut PlotData, record: &Value) -> Result<(), String> {
        data.add(&RowReader::default().convert(record)?)
    }

    fn data(formula: &str) -> PlotData {
        let mut data = PlotData::new(Formula::parse(formula).unwrap());
        for (kernel, lat, policy, makespan) in [
            ("a", 400, "gto", 40),
            ("a", 100, "gto", 10),
            ("a", 100, "lrr", 20),
            ("b", 100, "lrr", 60),
            ("b", 100, "gto", 60),
        ] {
            let record = json!({"kernel": kernel, "lat": lat, "policy": policy, "makespan": makespan,
                "warp_instructions": 20, "gub_overestimation": 0.1, "iwb_overestimation": 0.5, "error": null});
            add(&mut data, &record).unwrap();
        }
        data
    }

    fn points(plot: &Panels, panel: usize, line: usize) -> &[(f64, f64)] {
        match &plot.panels[panel].lines[line].shown {
            Shown::Points(points) | Shown::Corners(points) => points,
            Shown::Spreads(_) => panic!("these are spreads"),
        }
    }

    #[test]
    fn lines_are_means_of_the_points_at_each_value() {
        let plot = data("cycles ~ lat | policy").panels().unwrap();
        assert_eq!(
            (plot.names.as_slice(), plot.panels.len()),
            (&["gto".to_owned(), "lrr".to_owned()][..], 1)
        );
        assert_eq!(points(&plot, 0, 0), [(100.0, 35.0), (400.0, 40.0)]);
        assert_eq!(points(&plot, 0, 1), [(100.0, 40.0)]);
        assert_eq!((plot.y_title.as_str(), &plot.across), ("mean cycles", &Across::Numbers(Scale::Linear)));
        let plot = data("log(cycles) ~ log(lat) | policy").panels().unwrap();
        assert_eq!((plot.y_scale, plot.across), (Scale::Log, Across::Numbers(Scale::Log)));
    }

    #[test]
    fn panels_words_and_derived_values() {
        let plot = data("slowdown ~ policy / kernel").panels().unwrap();
        assert_eq!(plot.across, Across::Words(vec!["gto".to_owned(), "lrr".to_owned()]));
        let plot = data("slowdown ~ lat | policy / kernel").panels().unwrap();
        assert_eq!(points(&plot, 0, 1), [(100.0, 2.0)]);
        assert_eq!(points(&plot, 1, 1), [(100.0, 1.0)]);
        // without lines, the fastest policy is the measure
        let plot = data("slowdown ~ lat / policy").panels().unwrap();
        assert_eq!(points(&plot, 1, 0), [(100.0, (2.0 + 1.0) / 2.0)]);
        let plot = data("ipc ~ kernel").panels().unwrap();
        assert_eq!(points(&plot, 0, 0)[0], (0.0, (0.5 + 2.0 + 1.0) / 3.0));
        // the bound of the paper is not proved
        assert_eq!(points(&data("overestimation ~ lat").panels().unwrap(), 0, 0)[0].1, 0.5);
    }

    #[test]
    fn spreads_are_boxes_and_distributions() {
        let plot = data("box(cycles) ~ policy").panels().unwrap();
        let Shown::Spreads(boxes) = &plot.panels[0].lines[0].shown else { panic!("{plot:?}") };
        assert_eq!(boxes[0].1.five, [10.0, 25.0, 40.0, 50.0, 60.0]);
        assert!((boxes[0].1.mean - 110.0 / 3.0).abs() < 1e-9);
        // numbers stand side by side, in their order
        let plot = data("box(cycles) ~ lat").panels().unwrap();
        assert_eq!(plot.across, Across::Words(vec!["100".to_owned(), "400".to_owned()]));
        let plot = data("ecdf(cycles) | policy").panels().unwrap();
        assert_eq!(points(&plot, 0, 1), [(20.0, 0.0), (20.0, 0.5), (60.0, 0.5), (60.0, 1.0)]);
        assert_eq!((plot.x_title.as_str(), plot.percent), ("cycles", (false, true)));
        assert_eq!(data("ecdf(slowdown) | policy").panels().unwrap().names.len(), 2);
    }

    #[test]
    fn what_is_left_out_is_said() {
        let mut some = data("log(cycles) ~ lat");
        add(&mut some, &json!({"lat": 100, "makespan": null})).unwrap();
        add(&mut some, &json!({"lat": 100, "makespan": 0})).unwrap();
        some.note("5 of 9 points: the results are not complete.".to_owned());
        let notes = some.panels().unwrap().notes;
        assert_eq!(notes.len(), 3, "{notes:?}");
        assert!(notes[1].contains("1 point without a value of cycles") && notes[2].contains("not positive"));
        assert!(data("cycles ~ lat").panels().unwrap().notes.is_empty());
    }

    #[test]
    fn what_cannot_be_drawn_is_refused() {
        let record = json!({"kernel": "a", "makespan": null, "zero": 0});
        let add_to = |formula: &str| add(&mut PlotData::new(Formula::parse(formula).unwrap()), &record);
        assert!(
            add_to("cycles ~ lat")
                .unwrap_err()
                .contains("`lat` is no column of the results; there are: cycles, ipc, kernel")
        );
        assert!(add_to("kernel ~ kernel").unwrap_err().contains("no number"));
        let none = |formula: &str| {
            let mut none = PlotData::new(Formula::parse(formula).unwrap());
            add(&mut none, &record).unwrap();
            none.panels().unwrap_err()
        };
        assert!(none("cycles ~ kernel").contains("none of 1 records"));
        assert!(none("log(zero) ~ kernel").contains("is positive"));
        assert!(none("zero ~ log(zero)").contains("axis is positive"));
    }
}
