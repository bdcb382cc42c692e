//! Tables of measured cycles, or other numbers.

mod row;

use std::collections::HashSet;
use std::ops::Range;
use std::path::{Path, PathBuf};

use crate::measurements::fields;
pub use row::{Bundled, Launches, Own, Row};
use warpbound_core::diag::{Diagnostic, Diagnostics, SourceText, closest};
use warpbound_judge::load::read;

/// The largest table that is read, in bytes.
const BYTES: u64 = 1 << 28;
/// The columns that every table of scripts/measure-on-card.py has, besides that of the metric.
const OF_BUNDLES: [&str; 6] = ["gpu", "kernel", "launch", "code", "blocks", "equal"];
/// The column that every other table has, besides that of the metric.
const OF_OTHERS: [&str; 1] = ["kernel"];
/// The columns that such a table may have.
const OPTIONAL: [&str; 5] = ["name", "gpu", "options", "less", "per"];
/// The column that only tables of scripts/measure-on-card.py have.
const CODE: &str = "code";
/// The default metric of tables of scripts/measure-on-card.py, and of others.
const METRIC: [&str; 2] = ["clock_cycles", "cycles"];

/// A table of measurements.
#[derive(Clone, Debug)]
pub struct MeasuredTable {
    /// The name of the file in messages.
    pub file: String,
    pub path: PathBuf,
    /// The name of the column with the measured numbers.
    pub metric: String,
    pub rows: Vec<Row>,
}

impl MeasuredTable {
    /// Reads a table with a column for this metric, or for the default one.
    ///
    /// # Errors
    /// Everything that is wrong with the file, with its place.
    pub fn read(name: &str, metric: Option<&str>) -> Result<Self, Diagnostics> {
        let path = Path::new(name);
        let bytes = read::text(path, BYTES)?;
        let text = String::from_utf8(bytes.to_vec())
            .map_err(|_| Diagnostic::general(name, "this is not UTF-8 text"))?;
        let reading = Reading { file: name, problems: Diagnostics::new() };
        let (metric, rows) = reading.rows(&text, metric)?;
        Ok(Self { file: name.to_owned(), path: path.to_owned(), metric, rows })
    }
}

struct Reading<'a> {
    file: &'a str,
    problems: Diagnostics,
}

/// A field of a row: its text and its place in the line.
type Field = (String, Range<usize>);

/// The columns of a table that are read, by name, with their indices.
type Columns = Vec<(String, usize)>;

impl Reading<'_> {
    fn rows(mut self, text: &str, metric: Option<&str>) -> Result<(String, Vec<Row>), Diagnostics> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let mut lines =
            text.lines().enumerate().filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
        let Some((index, heading)) = lines.next() else {
            return Err(Diagnostic::general(self.file, "there is no table in it").into());
        };
        let names = fields(heading, b',').map_err(|why| self.at(index, heading, 0..heading.len(), why))?;
        let of_bundles = names.iter().any(|(name, _)| name == CODE);
        let metric = metric.unwrap_or(METRIC[usize::from(!of_bundles)]);
        let columns = self.columns(index, heading, &names, (of_bundles, metric))?;
        let (mut rows, mut known): (Vec<Row>, _) = (Vec::new(), HashSet::new());
        for (index, line) in lines {
            let found = match fields(line, b',') {
                Ok(found) if found.len() == names.len() => found,
                Ok(found) => {
                    let message =
                        format!("this row has {} columns, the first line names {}", found.len(), names.len());
                    let problem = self.at(index, line, 0..line.len(), message);
                    self.problems.push(problem.hint("write one field for each column; a field may be empty"));
                    continue;
                }
                Err(why) => {
                    let problem = self.at(index, line, 0..line.len(), why);
                    self.problems.push(problem);
                    continue;
                }
            };
            let field = |name: &str| {
                let column = columns.iter().find(|(known, _)| known == name);
                column.map_or(("", 0..line.len()), |&(_, at)| (found[at].0.as_str(), found[at].1.clone()))
            };
            let row = if of_bundles { row::bundled(&field, metric) } else { row::own(&field, metric) };
            let key = |row: &Row| (row.gpu.clone(), row.name.clone(), row.launch());
            let row = row.and_then(|row| match known.insert(key(&row)) {
                true => Ok(row),
                false => Err(row.twice(field("kernel").1)),
            });
            match row {
                Ok(row) => rows.push(row),
                Err((place, message, hint)) => {
                    let problem = self.at(index, line, place, message);
                    self.problems.push(problem.hint(hint));
                }
            }
        }
        if rows.is_empty() && self.problems.is_empty() {
            self.problems.push(Diagnostic::general(self.file, "the table has no row"));
        }
        self.problems.into_result((metric.to_owned(), rows))
    }

    /// Returns the columns to read: those that are needed, that of the metric, and those that a table
    /// of this kind may have.
    fn columns(
        &self,
        index: usize,
        heading: &str,
        names: &[Field],
        (of_bundles, metric): (bool, &str),
    ) -> Result<Columns, Diagnostics> {
        let mut problems = Diagnostics::new();
        let mut columns = Columns::new();
        let known: Vec<&str> = names.iter().map(|(name, _)| name.as_str()).collect();
        let (needed, optional): (&[&str], &[&str]) =
            if of_bundles { (&OF_BUNDLES, &[]) } else { (&OF_OTHERS, &OPTIONAL) };
        for wanted in needed.iter().copied().chain([metric]).chain(optional.iter().copied()) {
            let mut found = names.iter().enumerate().filter(|(_, (name, _))| name == wanted);
            match (found.next(), found.next()) {
                (Some((at, _)), None) => columns.push((wanted.to_owned(), at)),
                (Some(_), Some((_, (_, place)))) => {
                    let message = format!("two columns are called `{wanted}`");
                    problems.push(self.at(index, heading, place.clone(), message).hint("rename one of them"));
                }
                (None, _) if optional.contains(&wanted) => {}
                (None, _) => {
                    let message = format!("there is no column `{wanted}`");
                    let near = closest(wanted, known.iter().copied());
                    let near = near.map_or(String::new(), |near| format!("did you mean `{near}`? "));
                    let hint = if wanted == metric {
                        format!("{near}--metric names the column of the measured numbers")
                    } else {
                        format!("{near}needed are {} and the metric", needed.join(", "))
                    };
                    problems.push(self.at(index, heading, 0..heading.len(), message).hint(hint));
                }
            }
        }
        problems.into_result(columns)
    }

    fn at(&self, index: usize, line: &str, place: Range<usize>, message: String) -> Diagnostic {
        let mut problem = SourceText::new(self.file, line).error(place, message);
        problem.line = u32::try_from(index + 1).unwrap_or(u32::MAX);
        problem
    }
}
