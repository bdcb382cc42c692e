//! Tables of measured cycles, or other numbers.

use std::collections::HashSet;
use std::ops::Range;
use std::path::{Path, PathBuf};

use crate::measurements::fields;
use warpbound_core::diag::{Diagnostic, Diagnostics, SourceText, closest};
use warpbound_judge::load::read;

/// The largest table that is read, in bytes.
const BYTES: u64 = 1 << 28;
/// The columns that every table has, besides that of the metric.
const NEEDED: [&str; 6] = ["gpu", "kernel", "launch", "code", "blocks", "equal"];

/// A launch in a table.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    pub gpu: String,
    pub kernel: String,
    /// The number of the launch, from 0.
    pub launch: u64,
    /// The digest of the kernel, see [`crate::commands::bundle::digest_of`].
    pub code: String,
    pub blocks: u64,
    /// Whether the results on the GPU are those of the functional run: `yes`, `no` or `failed`.
    pub equal: String,
    /// The measured number; `None` if it was not measured.
    pub measured: Option<f64>,
}

/// A table of measurements.
#[derive(Clone, Debug)]
pub struct MeasuredTable {
    /// The name of the file in messages.
    pub file: String,
    pub path: PathBuf,
    pub rows: Vec<Row>,
}

impl MeasuredTable {
    /// Reads a table with a column for this metric.
    ///
    /// # Errors
    /// Everything that is wrong with the file, with its place.
    pub fn read(name: &str, metric: &str) -> Result<Self, Diagnostics> {
        let path = Path::new(name);
        let bytes = read::text(path, BYTES)?;
        let text = String::from_utf8(bytes.to_vec())
            .map_err(|_| Diagnostic::general(name, "this is not UTF-8 text"))?;
        let rows = Reading { file: name, problems: Diagnostics::new() }.rows(&text, metric)?;
        Ok(Self { file: name.to_owned(), path: path.to_owned(), rows })
    }
}

struct Reading<'a> {
    file: &'a str,
    problems: Diagnostics,
}

/// A field of a row: its text and its place in the line.
type Field = (String, Range<usize>);

impl Reading<'_> {
    fn rows(mut self, text: &str, metric: &str) -> Result<Vec<Row>, Diagnostics> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let mut lines =
            text.lines().enumerate().filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
        let Some((index, heading)) = lines.next() else {
            return Err(Diagnostic::general(self.file, "there is no table in it").into());
        };
        let names = fields(heading, b',').map_err(|why| self.at(index, heading, 0..heading.len(), why))?;
        let places = self.columns(index, heading, &names, metric)?;
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
            if let Some(row) = self.row(index, line, &found, &places) {
                if !known.insert((row.gpu.clone(), row.kernel.clone(), row.launch)) {
                    let message = format!("launch {} of `{}` has a row already", row.launch, row.kernel);
                    let problem = self.at(index, line, found[places[1]].1.clone(), message);
                    self.problems.push(problem.hint("leave one of the rows out"));
                    continue;
                }
                rows.push(row);
            }
        }
        if rows.is_empty() && self.problems.is_empty() {
            self.problems.push(Diagnostic::general(self.file, "the table has no row"));
        }
        self.problems.into_result(rows)
    }

    /// Returns the indices of the needed columns, and of that of the metric.
    fn columns(
        &self,
        index: usize,
        heading: &str,
        names: &[Field],
        metric: &str,
    ) -> Result<Vec<usize>, Diagnostics> {
        let mut problems = Diagnostics::new();
        let mut places = Vec::new();
        let known: Vec<&str> = names.iter().map(|(name, _)| name.as_str()).collect();
        for wanted in NEEDED.into_iter().chain([metric]) {
            let mut found = names.iter().enumerate().filter(|(_, (name, _))| name == wanted);
            match (found.next(), found.next()) {
                (Some((at, _)), None) => places.push(at),
                (Some(_), Some((_, (_, place)))) => {
                    let message = format!("two columns are called `{wanted}`");
                    problems.push(self.at(index, heading, place.clone(), message).hint("rename one of them"));
                }
                (None, _) => {
                    let message = format!("there is no column `{wanted}`");
                    let near = closest(wanted, known.iter().copied());
                    let near = near.map_or(String::new(), |near| format!("did you mean `{near}`? "));
                    let hint = if wanted == metric {
                        format!("{near}--metric names the column of the measured numbers")
                    } else {
                        format!("{near}needed are {} and the metric", NEEDED.join(", "))
                    };
                    problems.push(self.at(index, heading, 0..heading.len(), message).hint(hint));
                }
            }
        }
        problems.into_result(places)
    }

    fn row(&mut self, index: usize, line: &str, found: &[Field], places: &[usize]) -> Option<Row> {
        let text = |column: usize| found[places[column]].0.clone();
        let mut wrong = |column: usize, message: String, hint: &str| {
            let problem = self.at(index, line, found[places[column]].1.clone(), message);
            self.problems.push(problem.hint(hint));
        };
        for column in [0, 1, 3] {
            if text(column).is_empty() {
                wrong(column, format!("the field `{}` is empty", NEEDED[column]), "every row needs it");
                return None;
            }
        }
        let number = |column: usize| text(column).parse::<u64>().ok();
        let Some(launch) = number(2) else {
            wrong(2, format!("`{}` is not the number of a launch", text(2)), "launches are counted from 0");
            return None;
        };
        let Some(blocks) = number(4).filter(|blocks| *blocks > 0) else {
            wrong(4, format!("`{}` is not a number of blocks", text(4)), "a launch has at least one block");
            return None;
        };
        let equal = text(5);
        if !["yes", "no", "failed"].contains(&equal.as_str()) {
            wrong(
                5,
                format!("`{equal}` does not state whether the results were equal"),
                "write yes, no or failed",
            );
            return None;
        }
        let measured = match text(6) {
            empty if empty.is_empty() => None,
            text => match text.parse::<f64>() {
                Ok(number) if number > 0.0 && number.is_finite() => Some(number),
                _ => {
                    wrong(
                        6,
                        format!("`{text}` is not a measured number"),
                        "it has to be above 0; leave the field empty if it was not measured",
                    );
                    return None;
                }
            },
        };
        Some(Row { gpu: text(0), kernel: text(1), launch, code: text(3), blocks, equal, measured })
    }

    fn at(&self, index: usize, line: &str, place: Range<usize>, message: String) -> Diagnostic {
        let mut problem = SourceText::new(self.file, line).error(place, message);
        problem.line = u32::try_from(index + 1).unwrap_or(u32::MAX);
        problem
    }
}
