//! The record of a point: a line of JSON, a line of CSV.

use std::borrow::Cow;
use std::fmt::Write;

use serde::ser::{Serialize, SerializeMap, Serializer};

use super::columns::{AFTER, RUN, of_bounds, of_stalls};
use super::points::{Point, Points};
use super::row::{Field, Place, Row};
use crate::check::{JudgedApplication, JudgedLaunch, overestimation};
use warpbound_bound::{Bound, Standing};
use warpbound_core::diag::printable_json;
use warpbound_trace::trace::{StallReason, quoted};

/// The contents of a column.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// No value: null in JSON, empty in CSV.
    Empty,
    /// A count or a number of cycles.
    Number(u64),
    /// The ratio of bound to makespan, less one; six digits after the decimal point.
    Fraction(f64),
    /// A word.
    Text(String),
}

impl Cell {
    /// Creates the cell of a value of an axis, as a number if it is one.
    fn of_word(word: &str) -> Self {
        word.parse().map_or_else(|_| Self::Text(word.to_owned()), Self::Number)
    }

    fn of(number: Option<u64>) -> Self {
        number.map_or(Self::Empty, Self::Number)
    }
}

impl Serialize for Cell {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Empty => serializer.serialize_none(),
            Self::Number(number) => serializer.serialize_u64(*number),
            Self::Fraction(fraction) => serializer.serialize_f64((fraction * 1e6).round() / 1e6),
            Self::Text(text) => serializer.serialize_str(text),
        }
    }
}

/// The columns of a plan's results, the same for all of its points.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Columns {
    names: Vec<String>,
    launch_options: Vec<String>,
}

impl Columns {
    /// Creates the columns of these points.
    pub fn new(points: &Points, bounds: &[Box<dyn Bound>]) -> Self {
        let launch_options: Vec<String> = points.launch_options().into_iter().map(str::to_owned).collect();
        let mut names: Vec<String> = vec!["point".to_owned(), "kernel".to_owned()];
        names.extend(launch_options.iter().cloned());
        names.push("seed".to_owned());
        names.extend(points.draws().map(|_| "draw".to_owned()));
        names.push("machine".to_owned());
        names.extend(points.settings().iter().map(|axis| axis.name.clone()));
        names.push("policy".to_owned());
        names.extend(RUN.map(str::to_owned));
        names.extend(of_bounds(bounds));
        names.extend(of_stalls());
        names.extend(AFTER.map(str::to_owned));
        Self { names, launch_options }
    }

    /// Returns the names, in order.
    pub fn names(&self) -> &[String] {
        &self.names
    }
}

/// The result of a point.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    cells: Vec<Cell>,
}

/// The contents of the column of races if they were not looked for.
const NOT_LOOKED_FOR: &str = "not looked for";

impl Record {
    /// Creates the record of a judged run; if there is an error, it has the results from before the
    /// error.
    pub fn new(
        columns: &Columns,
        points: &Points,
        point: &Point,
        run: Option<&Measured>,
        error: Option<String>,
    ) -> Self {
        let mut cells = vec![Cell::Number(point.number), Cell::Text(point.kernel.to_owned())];
        cells.extend(columns.launch_options.iter().map(|option| {
            let chosen = point.launch.iter().find(|(name, _)| name == option);
            chosen.map_or(Cell::Empty, |(_, value)| Cell::of_word(value))
        }));
        cells.push(Cell::Number(point.seed));
        cells.extend(point.draw.map(Cell::Number));
        cells.push(Cell::Text(point.machine.to_owned()));
        cells.extend(point.settings.iter().map(|(_, value)| Cell::of_word(value)));
        cells.push(Cell::Text(points.policies()[point.policy].to_string()));
        let end = columns.names.len() - AFTER.len();
        if let Some(run) = run {
            cells.extend(run.cells(error.is_some()));
            let total = &run.judged.total;
            let parts = if error.is_some() { None } else { parts_of_smallest(total) };
            cells.push(parts.map_or(Cell::Empty, Cell::Text));
            cells.push(match total.races_not_looked_for {
                None => Cell::Number(total.races.len() as u64),
                Some(_) => Cell::Text(NOT_LOOKED_FOR.to_owned()),
            });
        } else {
            cells.resize(end + 2, Cell::Empty);
        }
        cells.push(error.map_or(Cell::Empty, Cell::Text));
        debug_assert_eq!(cells.len(), columns.names.len());
        Self { cells }
    }

    /// Returns the contents of a column, if they are a number.
    pub fn number(&self, columns: &Columns, name: &str) -> Option<u64> {
        let column = columns.names.iter().position(|known| known == name)?;
        match self.cells.get(column) {
            Some(Cell::Number(number)) => Some(*number),
            _ => None,
        }
    }

    /// Returns the makespan.
    ///
    /// # Errors
    /// Returns the reason why there is none.
    pub fn makespan(&self, columns: &Columns) -> Result<u64, String> {
        if let Some(Cell::Text(error)) = self.cells.last() {
            return Err(error.clone());
        }
        self.number(columns, "makespan").ok_or_else(|| "it has no makespan".to_owned())
    }

    /// Returns a line of JSON, including the line break.
    pub fn json(&self, columns: &Columns) -> String {
        let line = Line { columns, cells: &self.cells };
        let json = serde_json::to_string(&line).expect("records are plain data");
        printable_json(&json).into_owned() + "\n"
    }
}

/// Returns the parts of the smallest proved bound of a run, if they are known.
fn parts_of_smallest(run: &JudgedLaunch) -> Option<String> {
    let proved = run.judged().filter(|row| row.standing == Standing::Proved);
    let valued = proved.filter_map(|row| Some((row.value.as_ref().ok()?.cycles(), row)));
    let (_, row) = valued.min_by_key(|(value, _)| *value).filter(|(_, row)| !row.parts.is_empty())?;
    let parts: Vec<(&str, u64)> =
        row.parts.iter().map(|part| (part.part.name(), part.cycles.get())).collect();
    Some(parts_cell(row.name, &parts))
}

/// Returns the cell of the column `parts` for a bound with these parts, of which those of the same name
/// are added up.
pub fn parts_cell(bound: &str, parts: &[(&str, u64)]) -> String {
    let mut sums: Vec<(&str, u64)> = Vec::new();
    for &(name, cycles) in parts {
        match sums.iter_mut().find(|(known, _)| *known == name) {
            Some((_, sum)) => *sum = sum.saturating_add(cycles),
            None => sums.push((name, cycles)),
        }
    }
    let sums: Vec<String> = sums.into_iter().map(|(name, cycles)| format!("{name} {cycles}")).collect();
    format!("{bound}: {}", sums.join(", "))
}

/// Returns the parts in a cell of the column `parts`, with their cycles; none if it is not such a
/// cell.
pub fn parts_in(cell: &str) -> Vec<(&str, u64)> {
    let list = cell.split_once(": ").map_or("", |(_, list)| list);
    let words = list.split(", ").filter_map(|part| part.rsplit_once(' '));
    words.filter_map(|(name, cycles)| Some((name, cycles.parse().ok()?))).collect()
}

/// A judged run, and the machine it ran on.
#[derive(Clone, Copy, Debug)]
pub struct Measured<'c> {
    /// The result.
    pub judged: &'c JudgedApplication,
    /// The digest of the machine.
    pub digest: u64,
}

impl Measured<'_> {
    /// Returns the cells from `machine_digest` to the stalls. For a run that failed, only the
    /// verdict is included.
    fn cells(&self, failed: bool) -> Vec<Cell> {
        let checked = &self.judged.total;
        let whole = |cell: Cell| if failed { Cell::Empty } else { cell };
        let number = |number: u64| whole(Cell::Number(number));
        let (launches, blocks) = if self.judged.launches.is_some() {
            (Some(u64::from(checked.launch_blocks)), None)
        } else {
            (Some(1), Some(u64::from(checked.launch_blocks)))
        };
        let mut cells = vec![
            Cell::Text(format!("{:016x}", self.digest)),
            whole(Cell::of(launches)),
            whole(Cell::of(blocks)),
            number(u64::from(checked.resident_blocks)),
            number(checked.warp_instructions),
            number(checked.thread_instructions),
            number(checked.issues),
            number(checked.makespan.get()),
        ];
        let verdict = checked.verdict();
        let is_shown = !failed || verdict.is_violated();
        cells.push(if is_shown { Cell::Text(verdict.name().to_owned()) } else { Cell::Empty });
        for row in &checked.bounds {
            let value = row.value.as_ref().ok().filter(|_| !row.left_out).map(|value| value.cycles());
            let over = value.and_then(|value| overestimation(value, checked.makespan));
            let verdict = row.verdict();
            let is_shown = !row.left_out && (!failed || verdict.is_violated());
            cells.extend([
                whole(Cell::of(value.map(|value| value.get()))),
                whole(over.map_or(Cell::Empty, Cell::Fraction)),
                if is_shown { Cell::Text(verdict.name().to_owned()) } else { Cell::Empty },
            ]);
        }
        cells.extend(StallReason::ALL.iter().map(|reason| number(checked.stalls.get(*reason).get())));
        cells
    }
}

struct Line<'r> {
    columns: &'r Columns,
    cells: &'r [Cell],
}

impl Serialize for Line<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.cells.len()))?;
        for (name, cell) in self.columns.names.iter().zip(self.cells) {
            map.serialize_entry(name, cell)?;
        }
        map.end()
    }
}

/// Returns the first line of the CSV file with these columns.
pub fn csv_heading(columns: &[String]) -> String {
    csv_line(columns.iter().map(|name| quoted(name)))
}

/// Returns the CSV line of a record that was read.
pub fn csv_of_row(columns: &mut [Place], row: &Row<'_>) -> String {
    csv_line(columns.iter_mut().map(|column| match column.in_row(row) {
        Some(Field::Text(text)) => quoted(text),
        None => Cow::Borrowed(""),
        Some(other) => other.written(),
    }))
}

fn csv_line<'f>(fields: impl Iterator<Item = Cow<'f, str>>) -> String {
    let mut line = String::new();
    for (index, field) in fields.enumerate() {
        let comma = if index == 0 { "" } else { "," };
        let _ = write!(line, "{comma}{field}");
    }
    line.push('\n');
    line
}
